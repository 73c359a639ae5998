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
use subtle::ConstantTimeEq as _;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{Dispatcher, Handler, sessions::Sessions};

/// The path of the URL that MCP is served under.
pub const PATH: &str = "/mcp";

/// Bytes of one message at most: more than any call needs, and less than hurts.
const MAX_MESSAGE: usize = 16 << 20;

/// How long a client may take to send the headers of a request.
const HEADER_TIMEOUT: Duration = Duration::from_secs(30);

/// How long connections may take to end once the server stops.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

type Service = StreamableHttpService<Handler, Sessions>;
type Answer = Response<BoxBody<Bytes, Infallible>>;

/// Serves MCP over streamable HTTP on an address of this machine.
///
/// Pages in a browser can reach what listens here too. So the headers `Host` and `Origin` have to name this machine, and with a
/// token, each request has to have it.
pub struct HttpServer {
    listener: TcpListener,
    token: Option<Arc<str>>,
}

impl HttpServer {
    /// Listens on a loopback address. With a token, requests without `Authorization: Bearer TOKEN` are refused.
    ///
    /// Fails if the address is no loopback address, or can't be listened on.
    pub async fn bind(address: SocketAddr, token: Option<&str>) -> io::Result<Self> {
        if !address.ip().is_loopback() {
            let why = "only this machine may reach it: expected a loopback address, like 127.0.0.1";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        let listener = TcpListener::bind(address).await?;
        Ok(Self { listener, token: token.map(Into::into) })
    }

    /// The address that it listens on.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves clients until `stop` is cancelled. Their calls that have no response are withdrawn then.
    pub async fn serve(self, dispatcher: Arc<Dispatcher>, stop: CancellationToken) {
        let mut config = StreamableHttpServerConfig::default()
            .with_allowed_origins(["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"])
            .enforce_origin_validation()
            .with_max_request_body_bytes(MAX_MESSAGE);
        config.cancellation_token = stop.child_token();
        let sessions = Arc::new(Sessions::new(dispatcher.clone()));
        let service = Service::new(move || Ok(Handler::new(dispatcher.clone())), sessions, config);
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
                    tracing::warn!(target: "gateway", %error, "a connection could not be accepted");
                    // Out of file descriptors, most likely: it gets no better by asking at once.
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
        }
        connections.close();
        // A client that does not read is not waited for.
        let _ = tokio::time::timeout(SHUTDOWN_TIMEOUT, connections.wait()).await;
    }
}

async fn connection(
    stream: TcpStream,
    service: Service,
    token: Option<Arc<str>>,
    stop: CancellationToken,
) {
    // Messages are small, and somebody waits for each.
    let _ = stream.set_nodelay(true);
    let answer = service_fn(move |request: Request<Incoming>| {
        let (service, token) = (service.clone(), token.clone());
        async move { Ok::<_, Infallible>(answer(&service, token.as_deref(), request).await) }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
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
        tracing::debug!(target: "gateway", %error, "a connection was lost");
    }
}

async fn answer(service: &Service, token: Option<&str>, request: Request<Incoming>) -> Answer {
    if request.uri().path() != PATH {
        return refused(StatusCode::NOT_FOUND, &format!("MCP is served under {PATH}"));
    }
    if let Some(token) = token
        && !has_token(&request, token)
    {
        let mut answer =
            refused(StatusCode::UNAUTHORIZED, "expected `Authorization: Bearer TOKEN`");
        let bearer = header::HeaderValue::from_static("Bearer");
        answer.headers_mut().insert(header::WWW_AUTHENTICATE, bearer);
        return answer;
    }
    service.handle(request).await
}

/// Whether a request has the token. The time that this takes depends on no byte of the token, only on its length.
fn has_token<B>(request: &Request<B>, token: &str) -> bool {
    let value = request.headers().get(header::AUTHORIZATION);
    let Some((scheme, given)) = value.and_then(|value| value.to_str().ok()?.split_once(' ')) else {
        return false;
    };
    let is_equal = given.trim().as_bytes().ct_eq(token.as_bytes());
    scheme.eq_ignore_ascii_case("bearer") && bool::from(is_equal)
}

fn refused(status: StatusCode, why: &str) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from(format!("{why}\n"))).boxed());
    *answer.status_mut() = status;
    answer
}
