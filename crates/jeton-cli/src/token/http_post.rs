//! Posts a form, as an OAuth client does: over HTTP/1.1, with or without TLS.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use http::{Request, StatusCode, Uri};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper_rustls::HttpsConnectorBuilder;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use rustls::crypto::aws_lc_rs::default_provider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};
use zeroize::Zeroizing;

use super::server::Address;
use crate::exit::{Failure, Outcome};

/// The time limit of a request.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The longest response, bytes.
const RESPONSE_BYTES: usize = 4 * 1024 * 1024;

/// The response to a form.
pub(super) struct Response {
    pub(super) status: StatusCode,
    pub(super) body: Vec<u8>,
}

/// Posts a form to a path of the server. The authorization is the value of that header.
pub(super) fn post(
    address: &Address,
    path: &str,
    form: Zeroizing<String>,
    authorization: Option<&str>,
) -> Outcome<Response> {
    let base = address.server.trim_end_matches('/');
    let invalid = || {
        Failure::error(format!(
            "--server: {} bytes are not a URL; expected http://HOST:PORT or https://HOST",
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
            "a request for a token requires an https:// URL, except on this machine",
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
    let tls = tls(address)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::error(format!("cannot start the network runtime: {error}")))?;
    runtime.block_on(async {
        match tokio::time::timeout(TIMEOUT, send(tls, request)).await {
            Ok(response) => response,
            Err(_) => Err(Failure::error(format!(
                "no response within {} s",
                TIMEOUT.as_secs()
            ))),
        }
    })
}

async fn send(tls: ClientConfig, request: Request<Full<Bytes>>) -> Outcome<Response> {
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
        Failure::error(format!("cannot reach the server: {cause}"))
            .hint("to start a service, run `jeton serve`; to call another one, add `--server URL`")
    })?;
    let status = response.status();
    let body = Limited::new(response.into_body(), RESPONSE_BYTES);
    let body = body.collect().await.map_err(|_| {
        Failure::error(format!(
            "the response ended early, or has more than {RESPONSE_BYTES} bytes"
        ))
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

fn tls(address: &Address) -> Outcome<ClientConfig> {
    let mut roots = RootCertStore::empty();
    match address.authorities()? {
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
        Some(pem) => {
            roots.add_parsable_certificates(CertificateDer::pem_slice_iter(&pem).flatten());
        }
    }
    let builder = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| Failure::error(format!("cannot use TLS: {error}")))?
        .with_root_certificates(roots);
    let Some((certificate, key)) = address.identity()? else {
        return Ok(builder.with_no_client_auth());
    };
    let chain = CertificateDer::pem_slice_iter(&certificate)
        .flatten()
        .collect();
    let wrong = || Failure::error("--client-key: does not match --client-certificate");
    let key = PrivateKeyDer::from_pem_slice(&key).map_err(|_| wrong())?;
    builder
        .with_client_auth_cert(chain, key)
        .map_err(|_| wrong())
}
