//! Bounds the length of a server's messages, so that one without end is an error.

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

/// Bytes of one message at most. After a longer one the server is ended, and its calls fail: better than that they wait for ever,
/// or that the memory is full.
pub(super) const MAX_MESSAGE: usize = 16 << 20;

/// Reads lines of bounded length. A longer one is an error, and sets `exceeded`.
pub(super) struct BoundedLines<R> {
    inner: R,
    /// Bytes of the line so far.
    length: usize,
    bound: usize,
    exceeded: Arc<AtomicBool>,
}

impl<R> BoundedLines<R> {
    pub(super) fn new(inner: R, bound: usize, exceeded: Arc<AtomicBool>) -> Self {
        Self { inner, length: 0, bound, exceeded }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for BoundedLines<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(context, buffer))?;
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
