//! What a process writes, up to a bound: in memory as far as that is bearable.

use std::{
    borrow::Cow,
    io::{self, Read as _},
};

use tokio::io::{AsyncRead, AsyncReadExt as _};

use super::spool::{IN_MEMORY, Spool, Spooled};

/// Bytes that are read at once: each process that runs has room for two of these.
const CHUNK: usize = 32 << 10;

/// Output, up to a bound; in memory as far as that is bearable.
#[derive(Debug)]
pub(super) struct Captured {
    /// All that is kept; its beginning, where the rest is spooled.
    pub(super) bytes: Vec<u8>,
    /// How many bytes there were.
    pub(super) total: u64,
    bound: usize,
    kind: Kind,
    /// All that is kept, where that is too much for memory.
    spooled: Option<Spooled>,
    /// Why not everything is kept that should be.
    pub(super) failure: Option<io::Error>,
}

/// What is kept of an output that is over its bound.
#[derive(Debug)]
pub(super) enum Kind {
    /// Its beginning, spooled past a few bytes.
    Beginning(Spool),
    /// Its end.
    End,
}

impl Captured {
    pub(super) fn new(bound: usize, kind: Kind) -> Self {
        Self { bytes: Vec::new(), total: 0, bound, kind, spooled: None, failure: None }
    }

    #[cfg(test)]
    pub(super) fn whole(bytes: &[u8]) -> Self {
        let mut captured = Self::new(usize::MAX, Kind::End);
        captured.push(bytes);
        captured
    }

    /// How many bytes are kept.
    pub(super) fn kept(&self) -> u64 {
        self.spooled.as_ref().map_or(self.bytes.len() as u64, Spooled::bytes)
    }

    pub(super) fn is_cut(&self) -> bool {
        self.total > self.kept()
    }

    /// All that is kept.
    pub(super) fn read_back(&self) -> io::Result<Cow<'_, [u8]>> {
        let Some(spooled) = &self.spooled else {
            return Ok(Cow::Borrowed(&self.bytes));
        };
        let mut bytes = Vec::with_capacity(usize::try_from(spooled.bytes()).unwrap_or(0));
        spooled.reader().read_to_end(&mut bytes)?;
        Ok(Cow::Owned(bytes))
    }

    /// The end of a text, for messages.
    pub(super) fn text_end(&self) -> String {
        let text = String::from_utf8_lossy(&self.bytes);
        let text = text.trim();
        if self.is_cut() { format!("...{text}") } else { text.to_owned() }
    }

    fn push(&mut self, chunk: &[u8]) {
        self.total += chunk.len() as u64;
        match &self.kind {
            Kind::End => {
                self.bytes.extend_from_slice(chunk);
                // Cutting at twice the bound keeps the cost of moving bytes linear.
                if self.bytes.len() > self.bound.saturating_mul(2) {
                    self.bytes.drain(..self.bytes.len() - self.bound);
                }
            }
            Kind::Beginning(spool) => {
                let room = usize::try_from(self.bound as u64 - self.kept()).unwrap_or(0);
                let chunk = &chunk[..chunk.len().min(room)];
                if self.failure.is_some() || chunk.is_empty() {
                    return;
                }
                if self.spooled.is_none() && self.bytes.len() + chunk.len() <= IN_MEMORY {
                    return self.bytes.extend_from_slice(chunk);
                }
                if let Err(error) = spool_more(spool, &mut self.spooled, &self.bytes, chunk) {
                    self.failure = Some(error);
                }
            }
        }
    }

    pub(super) fn finish(&mut self) {
        if matches!(self.kind, Kind::End) && self.bytes.len() > self.bound {
            self.bytes.drain(..self.bytes.len() - self.bound);
        }
    }

    /// Reads to the end; what does not fit is read and dropped, so that the process never blocks on a full pipe.
    pub(super) async fn read(&mut self, pipe: Option<impl AsyncRead + Unpin>) {
        let Some(mut pipe) = pipe else {
            return;
        };
        let mut chunk = vec![0; CHUNK];
        while let Ok(length @ 1..) = pipe.read(&mut chunk).await {
            self.push(&chunk[..length]);
        }
    }
}

/// Adds to what is spooled, which begins with what is in memory.
fn spool_more(
    spool: &Spool,
    spooled: &mut Option<Spooled>,
    beginning: &[u8],
    chunk: &[u8],
) -> io::Result<()> {
    let spooled = match spooled {
        Some(spooled) => spooled,
        None => {
            let mut begun = spool.begin()?;
            begun.push(beginning)?;
            spooled.insert(begun)
        }
    };
    spooled.push(chunk)
}
