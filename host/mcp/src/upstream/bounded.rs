//! Reads what a server writes, and gives up on one that writes a line without end.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, ready},
};

use tokio::io::{AsyncRead, ReadBuf};

/// Bytes of one message. The answer to a call that is larger is lost, and so is the call: better that it fails than that it waits
/// for ever, or that the memory is full.
pub(super) const MESSAGE: usize = 16 << 20;

/// Lines of bounded length. A longer one is an error, and sets `exceeded`.
pub(super) struct Bounded<R> {
    from: R,
    length: usize,
    bound: usize,
    exceeded: Arc<AtomicBool>,
}

impl<R> Bounded<R> {
    pub(super) fn new(from: R, bound: usize, exceeded: Arc<AtomicBool>) -> Self {
        Self { from, length: 0, bound, exceeded }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Bounded<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.from).poll_read(context, buffer))?;
        let read = &buffer.filled()[before..];
        self.length = match read.iter().rposition(|byte| *byte == b'\n') {
            Some(end) => read.len() - end - 1,
            None => self.length + read.len(),
        };
        if self.length > self.bound {
            self.exceeded.store(true, Ordering::SeqCst);
            return Poll::Ready(Err(io::ErrorKind::InvalidData.into()));
        }
        Poll::Ready(Ok(()))
    }
}
