//! Standard input and output as a connection, without a thread between where they are pipes.
//!
//! tokio reads and writes them on threads of its own, because they may be files, which can't be waited for. A pipe can: each
//! message then costs two changes of threads less. What is no pipe, such as the sockets that some agents give, stays tokio's.

use std::sync::Arc;

use rmcp::{
    RoleServer, serve_server,
    service::{RunningService, ServerInitializeError},
    transport::async_rw::AsyncRwTransport,
};
use tokio::io::{AsyncRead, AsyncWrite};

use super::{Dispatcher, Handler, Ingress};

/// Standard input.
pub type Input = Box<dyn AsyncRead + Send + Unpin>;

/// Standard output.
pub type Output = Box<dyn AsyncWrite + Send + Unpin>;

/// Standard input and output as a connection, for the life of the program.
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
        input.unwrap_or_else(|| Box::new(tokio::io::stdin())),
        output.unwrap_or_else(|| Box::new(tokio::io::stdout())),
    )
}

/// Serves the client at standard input and output. Fails if that does not initialize the connection.
///
/// # Panics
///
/// Outside of a tokio runtime.
pub async fn serve_stdio(
    dispatcher: Arc<Dispatcher>,
) -> Result<RunningService<RoleServer, Handler>, ServerInitializeError> {
    let (input, output) = stdio();
    let transport = AsyncRwTransport::new_server(input, output);
    let connection = Ingress::new(transport, dispatcher.clone());
    serve_server(Handler::new(dispatcher), connection).await
}

#[cfg(target_os = "linux")]
mod linux {
    use tokio::net::unix::pipe;

    use super::{Input, Output};

    /// Opened anew, so that nobody who has the same pipe open finds that it does not block any more: standard error may be it too.
    pub(super) fn input() -> Option<Input> {
        Some(Box::new(pipe::OpenOptions::new().open_receiver("/proc/self/fd/0").ok()?))
    }

    pub(super) fn output() -> Option<Output> {
        Some(Box::new(pipe::OpenOptions::new().open_sender("/proc/self/fd/1").ok()?))
    }
}
