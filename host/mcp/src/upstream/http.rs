//! The way to an MCP server on the net.

use std::{collections::HashMap, sync::Once};

use ::http::{HeaderName, HeaderValue};
use jp_policy_config::McpEndpoint;
use reqwest::{
    Client,
    redirect::{Attempt, Policy},
};
use rmcp::transport::{
    DynamicTransportError, StreamableHttpClientTransport,
    streamable_http_client::{StreamableHttpClientTransportConfig, StreamableHttpError},
};

use super::bounded::MESSAGE;

/// Redirects that are followed for one request.
const REDIRECTS: usize = 10;

/// A transport to an endpoint. Nothing is sent yet.
pub(super) fn transport(
    endpoint: &McpEndpoint,
) -> Result<StreamableHttpClientTransport<Client>, String> {
    static CRYPTOGRAPHY: Once = Once::new();
    CRYPTOGRAPHY.call_once(|| {
        // Where the embedding program has chosen one already, that is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
    let mut headers = HashMap::new();
    for (name, value) in &endpoint.headers {
        let header = HeaderName::try_from(name.as_str());
        let header = header.map_err(|error| format!("header `{name}`: {error}"))?;
        let mut value = HeaderValue::try_from(value.as_str())
            .map_err(|error| format!("the value of header `{name}`: {error}"))?;
        // It may be a secret, and is not for logs.
        value.set_sensitive(true);
        headers.insert(header, value);
    }
    let client = Client::builder().redirect(Policy::custom(redirect)).build();
    let client = client.map_err(|error| format!("no HTTP client: {}", chain(&error)))?;
    let config = StreamableHttpClientTransportConfig::with_uri(endpoint.url.as_str())
        .custom_headers(headers)
        .max_sse_event_size(MESSAGE)
        .max_json_response_size(MESSAGE);
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

/// Follows what keeps the message and goes to the same server: the headers may have secrets.
fn redirect(attempt: Attempt<'_>) -> reqwest::redirect::Action {
    let keeps = matches!(attempt.status().as_u16(), 307 | 308);
    let same =
        attempt.previous().last().is_some_and(|from| from.origin() == attempt.url().origin());
    if keeps && same && attempt.previous().len() <= REDIRECTS {
        attempt.follow()
    } else {
        attempt.stop()
    }
}

/// What went wrong on the way, without the names of types that did it.
pub(super) fn of_transport(error: &DynamicTransportError) -> String {
    match error.error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
        // It keeps its cause to itself.
        Some(StreamableHttpError::Client(error)) => chain(error),
        _ => chain(error.error.as_ref()),
    }
}

/// An error with its causes.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let words = error.to_string();
        // Many errors repeat their cause.
        if !text.contains(&words) {
            text.push_str(": ");
            text.push_str(&words);
        }
        cause = error.source();
    }
    text
}
