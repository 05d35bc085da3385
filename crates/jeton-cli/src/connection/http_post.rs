//! Posts a form, as an OAuth client does: over HTTP/1.1, with or without TLS.

use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use http::{Request, StatusCode, Uri};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper_rustls::HttpsConnectorBuilder;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use zeroize::Zeroizing;

use super::Settings;
use super::failure::unreachable;
use crate::exit::{Failure, Outcome};

/// The time limit of a request.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The longest response, bytes.
const RESPONSE_BYTES: usize = 4 * 1024 * 1024;

/// The response to a form.
pub(crate) struct Response {
    pub(crate) status: StatusCode,
    pub(crate) body: Vec<u8>,
}

/// Posts a form to a path of the server. The authorization is the value of that header.
pub(crate) fn post(
    settings: &Settings,
    path: &str,
    form: Zeroizing<String>,
    authorization: Option<&str>,
) -> Outcome<Response> {
    let base = settings.url.trim_end_matches('/');
    let invalid = || {
        Failure::error(format!(
            "{}: {} bytes are not a URL; expected http://HOST:PORT or https://HOST",
            settings.origin,
            base.len()
        ))
    };
    let uri: Uri = format!("{base}{path}").parse().map_err(|_| invalid())?;
    let is_tls = match uri.scheme_str() {
        Some("https") => true,
        Some("http") => false,
        _ => return Err(invalid()),
    };
    if !is_tls && !is_loopback(&uri) {
        return Err(Failure::error(
            "a request with credentials requires an https:// URL, except on this machine",
        ));
    }
    let mut request = Request::post(uri)
        .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
        .body(Full::new(Bytes::from(form.as_bytes().to_vec())))
        .map_err(|_| invalid())?;
    if let Some(authorization) = authorization {
        let mut value = HeaderValue::try_from(authorization).map_err(|_| {
            Failure::error("the client name or secret has characters that a header cannot contain")
        })?;
        value.set_sensitive(true);
        request.headers_mut().insert(AUTHORIZATION, value);
    }
    let tls = settings.tls()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::error(format!("cannot start the network runtime: {error}")))?;
    let sent = runtime.block_on(async { tokio::time::timeout(TIMEOUT, send(tls, request)).await });
    match sent {
        Ok(Ok(response)) => Ok(response),
        Ok(Err(NoResponse::Unreachable(message))) => Err(unreachable(&message, settings)),
        Ok(Err(NoResponse::Failed(failure))) => Err(failure),
        Err(_) => Err(Failure::error(format!(
            "no response within {} s",
            TIMEOUT.as_secs()
        ))),
    }
}

/// Why there is no response.
enum NoResponse {
    Unreachable(String),
    Failed(Failure),
}

async fn send(
    tls: rustls::ClientConfig,
    request: Request<Full<Bytes>>,
) -> Result<Response, NoResponse> {
    let connector = HttpsConnectorBuilder::new()
        .with_tls_config(tls)
        .https_or_http()
        .enable_http1()
        .build();
    let client = Client::builder(TokioExecutor::new()).build(connector);
    let response = client.request(request).await.map_err(|error| {
        let mut cause: &dyn std::error::Error = &error;
        while let Some(deeper) = cause.source() {
            cause = deeper;
        }
        NoResponse::Unreachable(format!("cannot reach the server: {cause}"))
    })?;
    let status = response.status();
    let body = Limited::new(response.into_body(), RESPONSE_BYTES);
    let body = body.collect().await.map_err(|_| {
        NoResponse::Failed(Failure::error(format!(
            "the response ended early, or has more than {RESPONSE_BYTES} bytes"
        )))
    })?;
    Ok(Response {
        status,
        body: body.to_bytes().to_vec(),
    })
}

fn is_loopback(uri: &Uri) -> bool {
    let host = uri.host().unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    match host.parse::<std::net::IpAddr>() {
        Ok(address) => address.is_loopback(),
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}
