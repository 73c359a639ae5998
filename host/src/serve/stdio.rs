//! Standard input and output as a connection, without a thread between.
//!
//! tokio reads and writes them on threads of its own, because they may be files, which can't be waited for. An agent gives a pipe
//! or a pair of sockets, and those can: each message then costs two changes of threads less.

use std::{
    io,
    pin::{Pin, pin},
    task::{Context, Poll},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Standard input.
pub struct Input(Box<dyn AsyncRead + Send + Unpin>);

/// Standard output.
pub struct Output(Box<dyn AsyncWrite + Send + Unpin>);

/// Both, for the life of the program.
///
/// # Panics
///
/// Outside of a tokio runtime.
pub fn stdio() -> (Input, Output) {
    #[cfg(target_os = "linux")]
    let (input, output) = (linux::input(), linux::output());
    #[cfg(not(target_os = "linux"))]
    let (input, output) = (None, None);
    (
        Input(input.unwrap_or_else(|| Box::new(tokio::io::stdin()))),
        Output(output.unwrap_or_else(|| Box::new(tokio::io::stdout()))),
    )
}

#[cfg(target_os = "linux")]
mod linux {
    use tokio::{
        io::{AsyncRead, AsyncWrite},
        net::unix::pipe,
    };

    /// Opened anew, so that nobody who has the same pipe open finds that it does not block any more: standard error may be it too.
    pub(super) fn input() -> Option<Box<dyn AsyncRead + Send + Unpin>> {
        Some(Box::new(pipe::OpenOptions::new().open_receiver("/proc/self/fd/0").ok()?))
    }

    pub(super) fn output() -> Option<Box<dyn AsyncWrite + Send + Unpin>> {
        Some(Box::new(pipe::OpenOptions::new().open_sender("/proc/self/fd/1").ok()?))
    }
}

impl AsyncRead for Input {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        pin!(&mut self.0).poll_read(context, buffer)
    }
}

impl AsyncWrite for Output {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        pin!(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        pin!(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        pin!(&mut self.0).poll_shutdown(context)
    }
}
