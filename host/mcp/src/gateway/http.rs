//! Streamable HTTP, for clients on this machine.

use std::{convert::Infallible, io, net::SocketAddr, sync::Arc, time::Duration};

use http::{Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Full, combinators::BoxBody};
use hyper::{
    body::{Bytes, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{Desk, Handler, sessions::Sessions};

/// The path that it is served under.
pub const PATH: &str = "/mcp";

/// Bytes of one message: more than any call needs, and less than hurts.
const MESSAGE: usize = 16 << 20;

/// How long a client may take to say what it wants.
const HEADERS: Duration = Duration::from_secs(30);

/// How long connections may take to end when all is over.
const GOODBYE: Duration = Duration::from_secs(2);

type Service = StreamableHttpService<Handler, Sessions>;
type Answer = Response<BoxBody<Bytes, Infallible>>;

/// A desk on an address of this machine.
///
/// Pages in a browser can reach what listens here too. So the names `Host` and `Origin` have to be of this machine, and with a token,
/// each request has to bring it.
pub struct Http {
    listener: TcpListener,
    token: Option<Arc<str>>,
}

impl Http {
    /// Listens on an address, which has to be of this machine alone. With a token, requests without
    /// `Authorization: Bearer TOKEN` are refused.
    pub async fn bind(address: SocketAddr, token: Option<&str>) -> io::Result<Self> {
        if !address.ip().is_loopback() {
            let why = "only this machine may reach it: expected a loopback address, like 127.0.0.1";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        let listener = TcpListener::bind(address).await?;
        Ok(Self { listener, token: token.map(Into::into) })
    }

    /// Where it listens.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves clients until it is to stop. What they have left behind is withdrawn then.
    pub async fn serve(self, desk: Arc<Desk>, stop: CancellationToken) {
        let mut config = StreamableHttpServerConfig::default()
            .with_allowed_origins(["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"])
            .enforce_origin_validation()
            .with_max_request_body_bytes(MESSAGE);
        config.cancellation_token = stop.child_token();
        let sessions = Arc::new(Sessions::new(desk.clone()));
        let service = Service::new(move || Ok(Handler::new(desk.clone())), sessions, config);
        let connections = TaskTracker::new();
        loop {
            let accepted = tokio::select! {
                accepted = self.listener.accept() => accepted,
                () = stop.cancelled() => break,
            };
            match accepted {
                Ok((stream, _)) => {
                    let (service, token) = (service.clone(), self.token.clone());
                    connections.spawn(connection(stream, service, token, stop.clone()));
                }
                Err(error) => {
                    tracing::warn!(target: "serve", %error, "a connection could not be accepted");
                    // Out of file descriptors, most likely: it gets no better by asking at once.
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
        }
        connections.close();
        // A client that does not read is left.
        let _ = tokio::time::timeout(GOODBYE, connections.wait()).await;
    }
}

async fn connection(
    stream: TcpStream,
    service: Service,
    token: Option<Arc<str>>,
    stop: CancellationToken,
) {
    // Its messages are small, and somebody waits for each.
    let _ = stream.set_nodelay(true);
    let answer = service_fn(move |request: Request<Incoming>| {
        let (service, token) = (service.clone(), token.clone());
        async move { Ok::<_, Infallible>(answer(&service, token.as_deref(), request).await) }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADERS)
        .serve_connection(TokioIo::new(stream), answer);
    let mut served = std::pin::pin!(served);
    let ended = tokio::select! {
        ended = served.as_mut() => ended,
        () = stop.cancelled() => {
            served.as_mut().graceful_shutdown();
            served.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(target: "serve", %error, "a connection was lost");
    }
}

async fn answer(service: &Service, token: Option<&str>, request: Request<Incoming>) -> Answer {
    if request.uri().path() != PATH {
        return refused(StatusCode::NOT_FOUND, &format!("MCP is served under {PATH}"));
    }
    if let Some(token) = token
        && !brings(&request, token)
    {
        let mut answer =
            refused(StatusCode::UNAUTHORIZED, "expected `Authorization: Bearer TOKEN`");
        let bearer = header::HeaderValue::from_static("Bearer");
        answer.headers_mut().insert(header::WWW_AUTHENTICATE, bearer);
        return answer;
    }
    service.handle(request).await
}

/// Whether a request has the token. How long that takes to find out says nothing about the token but its length.
fn brings<B>(request: &Request<B>, token: &str) -> bool {
    let value = request.headers().get(header::AUTHORIZATION);
    let Some((scheme, given)) = value.and_then(|value| value.to_str().ok()?.split_once(' ')) else {
        return false;
    };
    let (given, token) = (given.trim().as_bytes(), token.as_bytes());
    let differences = given.iter().zip(token).fold(0, |differences, (a, b)| differences | (a ^ b));
    scheme.eq_ignore_ascii_case("bearer") && given.len() == token.len() && differences == 0
}

fn refused(status: StatusCode, why: &str) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from(format!("{why}\n"))).boxed());
    *answer.status_mut() = status;
    answer
}
