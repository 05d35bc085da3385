//! The HTTP client for the collector: hyper over rustls, as for the keys of outside issuers.

use std::fmt;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{HeaderMap, HeaderName, HeaderValue};
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper_rustls::{ConfigBuilderExt as _, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use jeton_transport::text_file;
use opentelemetry_http::{HttpClient, HttpError};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceResponse;
use prost::Message as _;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use tokio::runtime::{Builder, Runtime};
use zeroize::Zeroizing;

use super::export::Export;
use super::wrong;
use crate::config::Traces;
use crate::error::{Error, Result};
use crate::limits::{PEM_BYTES, TRACE_EXPORT_TIMEOUT, TRACE_HEADERS_BYTES, TRACE_RESPONSE_BYTES};

type SendFuture<'f> = Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'f>>;

/// Sends spans to the collector.
pub(super) struct Collector {
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    headers: HeaderMap,
    /// The SDK's thread has no runtime. `None` once it has ended.
    runtime: Option<Runtime>,
    export: Arc<Export>,
}

impl Collector {
    pub(super) fn new(traces: &Traces, export: Arc<Export>) -> Result<Collector> {
        let https = HttpsConnectorBuilder::new()
            .with_tls_config(tls(traces)?)
            .https_or_http()
            .enable_http1()
            .build();
        let headers = traces.headers_file.as_deref().map(read_headers);
        let runtime = Builder::new_current_thread().enable_all().build();
        Ok(Collector {
            client: Client::builder(TokioExecutor::new()).build(https),
            headers: headers.transpose()?.unwrap_or_default(),
            runtime: Some(runtime.map_err(Error::System)?),
            export,
        })
    }

    async fn send(&self, mut request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let headers = self.headers.iter();
        (request.headers_mut()).extend(headers.map(|(name, value)| (name.clone(), value.clone())));
        let exchange = async {
            let response = self.client.request(request.map(Full::new)).await?;
            let (head, body) = response.into_parts();
            let body = Limited::new(body, TRACE_RESPONSE_BYTES).collect().await?;
            Ok::<_, HttpError>(Response::from_parts(head, body.to_bytes()))
        };
        let response = tokio::time::timeout(TRACE_EXPORT_TIMEOUT, exchange).await;
        response.map_err(|_| format!("no response within {} s", TRACE_EXPORT_TIMEOUT.as_secs()))?
    }
}

impl HttpClient for Collector {
    /// Blocks: only the thread that exports spans calls it.
    fn send_bytes<'c, 'f>(&'c self, request: Request<Bytes>) -> SendFuture<'f>
    where
        'c: 'f,
        Self: 'f,
    {
        Box::pin(async move {
            let runtime = self
                .runtime
                .as_ref()
                .ok_or("the collector's client has ended")?;
            let response = runtime.block_on(self.send(request));
            let accepted = response
                .as_ref()
                .ok()
                .filter(|one| one.status().is_success());
            let rejected = accepted.map_or(0, |response| rejected_spans(response.body()));
            self.export.note_rejected(rejected);
            self.export.note_cause(match &response {
                Ok(response) => format!("status {}", response.status().as_u16()),
                Err(error) => innermost(&**error),
            });
            response
        })
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        // Dropping a runtime waits, which panics on a thread of another runtime.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl fmt::Debug for Collector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Collector")
    }
}

/// Returns how many spans the collector rejected although it answers with success. An answer that is not protobuf names
/// none.
fn rejected_spans(body: &[u8]) -> u64 {
    let response = ExportTraceServiceResponse::decode(body).unwrap_or_default();
    let rejected = response.partial_success.map(|part| part.rejected_spans);
    u64::try_from(rejected.unwrap_or_default()).unwrap_or_default()
}

/// The innermost cause is the useful one: connection refused, certificate expired.
fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    let mut why = error;
    while let Some(cause) = why.source() {
        why = cause;
    }
    why.to_string()
}

fn tls(traces: &Traces) -> Result<ClientConfig> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| wrong("traces", error.to_string()))?;
    let scheme = traces.endpoint.get(..6).unwrap_or_default();
    if !scheme.eq_ignore_ascii_case("https:") {
        let no_roots = builder.with_root_certificates(RootCertStore::empty());
        return Ok(no_roots.with_no_client_auth());
    }
    let Some(file) = &traces.ca else {
        let with_roots = builder.with_native_roots();
        let no_roots = |error| wrong("traces", format!("no certificate authorities: {error}"));
        return Ok(with_roots.map_err(no_roots)?.with_no_client_auth());
    };
    let invalid = |what: String| wrong("traces.ca", format!("{} {what}", file.display()));
    let pem = text_file::read(file, PEM_BYTES).map_err(invalid)?;
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
        let added = certificate.map(|certificate| roots.add(certificate));
        if !matches!(added, Ok(Ok(()))) {
            return Err(invalid("has a malformed certificate".to_owned()));
        }
    }
    if roots.is_empty() {
        return Err(invalid("has no certificate".to_owned()));
    }
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

/// Reads a line `name: value` for each header. An error names the line, and no value.
fn read_headers(file: &Path) -> Result<HeaderMap> {
    let invalid = |what: String| wrong("traces.headers_file", format!("{} {what}", file.display()));
    let text = Zeroizing::new(text_file::read(file, TRACE_HEADERS_BYTES).map_err(invalid)?);
    let mut headers = HeaderMap::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let (name, value) = line.split_once(':').unwrap_or_default();
        let name = HeaderName::try_from(name.trim());
        let value = HeaderValue::try_from(value.trim());
        let (Ok(name), Ok(mut value)) = (name, value) else {
            let line = index + 1;
            return Err(invalid(format!("line {line}: expected `name: value`")));
        };
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}
