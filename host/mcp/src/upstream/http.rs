//! The transport to an MCP server over HTTP.

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

use super::bounded::MAX_MESSAGE;

/// Redirects that are followed for one request at most.
const MAX_REDIRECTS: usize = 10;

/// A transport to an endpoint, which has sent nothing yet. Fails with what is wrong.
pub(super) fn transport(
    endpoint: &McpEndpoint,
) -> Result<StreamableHttpClientTransport<Client>, String> {
    static CRYPTOGRAPHY: Once = Once::new();
    CRYPTOGRAPHY.call_once(|| {
        // If the embedding program has installed a provider, that one is used.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
    let mut headers = HashMap::new();
    for (name, value) in &endpoint.headers {
        let header = HeaderName::try_from(name.as_str());
        let header = header.map_err(|error| format!("header `{name}`: {error}"))?;
        let mut value = HeaderValue::try_from(value.as_str())
            .map_err(|error| format!("the value of header `{name}`: {error}"))?;
        // It may be a secret, so it is kept out of logs.
        value.set_sensitive(true);
        headers.insert(header, value);
    }
    let client = Client::builder().redirect(Policy::custom(redirect)).build();
    let client = client.map_err(|error| format!("no HTTP client: {}", with_causes(&error)))?;
    let config = StreamableHttpClientTransportConfig::with_uri(endpoint.url.as_str())
        .custom_headers(headers)
        .max_sse_event_size(MAX_MESSAGE)
        .max_json_response_size(MAX_MESSAGE);
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

/// Follows a redirect that keeps the request and its origin: the headers may have secrets.
fn redirect(attempt: Attempt<'_>) -> reqwest::redirect::Action {
    let keeps = matches!(attempt.status().as_u16(), 307 | 308);
    let same =
        attempt.previous().last().is_some_and(|from| from.origin() == attempt.url().origin());
    if keeps && same && attempt.previous().len() <= MAX_REDIRECTS {
        attempt.follow()
    } else {
        attempt.stop()
    }
}

/// What went wrong in a transport, with the causes and without names of types.
pub(super) fn transport_error(error: &DynamicTransportError) -> String {
    match error.error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
        // Its `source` does not have the cause.
        Some(StreamableHttpError::Client(error)) => with_causes(error),
        _ => with_causes(error.error.as_ref()),
    }
}

/// An error with its causes.
pub(super) fn with_causes(error: &dyn std::error::Error) -> String {
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
