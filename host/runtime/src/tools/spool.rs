//! Where results go that are too large to be kept in memory: one file for all of them, without a name, so that nothing is left
//! behind however the program ends.

use std::{
    fmt,
    fs::File,
    io::{self, Read, Write},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use jp_policy_core::response::{Stored, StoredText};

/// Bytes of a result that are kept in memory. Nearly all results are smaller; ten thousand of this size are bearable.
pub(super) const IN_MEMORY: usize = 64 << 10;

/// Characters of a larger result that are kept at hand, for whoever shows it.
const BEGINNING: usize = 4 << 10;

/// Keeps what is too large. Cheap to clone; the clones share the file.
#[derive(Debug, Clone, Default)]
pub(super) struct Spool(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    /// Made when it is needed.
    file: Option<Arc<File>>,
    /// Where the next bytes go.
    end: u64,
    /// How many results are kept. With the last of them all the space is free again.
    kept: usize,
}

impl Spool {
    fn state(&self) -> MutexGuard<'_, State> {
        // Each change is whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a result.
    pub(super) fn begin(&self) -> io::Result<Spooled> {
        let mut state = self.state();
        let file = match &state.file {
            Some(file) => file.clone(),
            None => state.file.insert(Arc::new(tempfile::tempfile()?)).clone(),
        };
        state.kept += 1;
        let kept = Kept { spool: self.clone(), file, pieces: Vec::new(), bytes: 0 };
        Ok(Spooled(Arc::new(kept)))
    }

    /// A text, whole where it is small, and otherwise its beginning and where the whole is kept. A text that can't be put away
    /// stays.
    pub(super) fn put(&self, text: String) -> (String, Option<Stored>) {
        if text.len() <= IN_MEMORY {
            return (text, None);
        }
        let kept = self.begin().and_then(|mut spooled| {
            spooled.push(text.as_bytes())?;
            Ok(spooled)
        });
        match kept {
            Ok(spooled) => (beginning(&text), Some(Stored::new(spooled))),
            Err(_) => (text, None),
        }
    }
}

fn beginning(text: &str) -> String {
    let cut = text.char_indices().nth(BEGINNING).map_or(text.len(), |(place, _)| place);
    format!("{}\n[the beginning of {}]", &text[..cut], bytesize::ByteSize(text.len() as u64))
}

/// A result that is kept outside of memory. Cheap to clone; it is gone with the last clone.
#[derive(Clone)]
pub struct Spooled(Arc<Kept>);

struct Kept {
    spool: Spool,
    file: Arc<File>,
    /// Where its bytes stand: offset and length of each stretch.
    pieces: Vec<(u64, u64)>,
    bytes: u64,
}

impl Spooled {
    /// Adds bytes at its end. Only who has began it does, before there is a clone.
    pub(super) fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        let kept = Arc::get_mut(&mut self.0).ok_or(io::ErrorKind::ResourceBusy)?;
        let length = bytes.len() as u64;
        let at = {
            let mut state = kept.spool.state();
            let at = state.end;
            state.end += length;
            at
        };
        write_at(&kept.file, bytes, at)?;
        match kept.pieces.last_mut() {
            Some((offset, had)) if *offset + *had == at => *had += length,
            _ => kept.pieces.push((at, length)),
        }
        kept.bytes += length;
        Ok(())
    }

    /// How many bytes it has.
    pub fn bytes(&self) -> u64 {
        self.0.bytes
    }

    /// Reads it from its beginning.
    pub fn reader(&self) -> impl Read + '_ {
        Reader { kept: &self.0, piece: 0, read: 0 }
    }
}

impl StoredText for Spooled {
    fn text(&self) -> io::Result<String> {
        let mut text = String::with_capacity(usize::try_from(self.bytes()).unwrap_or(0));
        self.reader().read_to_string(&mut text)?;
        Ok(text)
    }

    fn write_to(&self, out: &mut dyn Write) -> io::Result<()> {
        io::copy(&mut self.reader(), out).map(drop)
    }
}

impl fmt::Debug for Spooled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spooled").field("bytes", &self.bytes()).finish_non_exhaustive()
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        let mut state = self.spool.state();
        state.kept -= 1;
        if state.kept == 0 {
            state.end = 0;
            // Space that is not given back now is given back at the end.
            let _ = self.file.set_len(0);
        }
    }
}

struct Reader<'a> {
    kept: &'a Kept,
    piece: usize,
    read: u64,
}

impl Read for Reader<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while let Some(&(offset, length)) = self.kept.pieces.get(self.piece) {
            let left = usize::try_from(length - self.read).unwrap_or(usize::MAX).min(into.len());
            if length == self.read {
                (self.piece, self.read) = (self.piece + 1, 0);
                continue;
            }
            let read = read_at(&self.kept.file, &mut into[..left], offset + self.read)?;
            self.read += read as u64;
            return Ok(read);
        }
        Ok(0)
    }
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

#[cfg(unix)]
fn read_at(file: &File, into: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, into, at)
}

#[cfg(windows)]
fn write_at(file: &File, mut bytes: &[u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = std::os::windows::fs::FileExt::seek_write(file, bytes, at)?;
        (bytes, at) = (&bytes[written..], at + written as u64);
    }
    Ok(())
}

#[cfg(windows)]
fn read_at(file: &File, into: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, into, at)
}

#[cfg(test)]
#[path = "spool_tests.rs"]
mod tests;
