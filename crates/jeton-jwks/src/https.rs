//! The HTTPS client.

use std::fmt;
use std::sync::Arc;

use http::header::{ACCEPT, CACHE_CONTROL, HeaderValue, IF_NONE_MATCH, USER_AGENT};
use http::{HeaderMap, Request, StatusCode};
use http_body_util::{BodyExt, Empty, LengthLimitError, Limited};
use hyper::body::{Body as _, Bytes, Incoming};
use hyper_rustls::{ConfigBuilderExt, HttpsConnector};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use jeton::limits;
use rustls::crypto::aws_lc_rs::default_provider;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, ConfigBuilder, RootCertStore, WantsVerifier};

use crate::address::check_address;
use crate::connector::Connector;
use crate::error::FetchError;
use crate::fetch::{Fetch, FetchFuture, FetchRequest, FetchResponse, age, too_large};

/// Fetches key sets over TLS with the certificate authorities of the operating system. Plain `http` is
/// allowed only for loopback hosts. Redirects are not followed.
pub struct Https {
    client: Client<HttpsConnector<Connector>, Empty<Bytes>>,
    #[cfg(feature = "proxy")]
    tls: Arc<ClientConfig>,
}

/// A response of which the body has not been read: see [`Https::get`].
#[derive(Debug)]
pub struct Response(http::Response<Incoming>);

const MEDIA_TYPES: &str = "application/jwk-set+json, application/json";
const AGENT: &str = concat!("jeton-jwks/", env!("CARGO_PKG_VERSION"));

impl Https {
    /// Creates a client that trusts the certificate authorities of the operating system.
    ///
    /// # Errors
    /// [`FetchError::Unreachable`] if the operating system has none.
    pub fn new() -> Result<Self, FetchError> {
        let tls = tls()
            .with_native_roots()
            .map_err(|why| FetchError::Unreachable(why.to_string()))?
            .with_no_client_auth();
        Ok(Self::with_tls(tls))
    }

    /// Creates a client that trusts only these certificate authorities, as one PEM block or several: the private
    /// authority of a company, for example.
    ///
    /// # Errors
    /// [`FetchError::InvalidRoots`] if the text has no certificate, or an invalid one.
    ///
    /// ```no_run
    /// use jeton_jwks::{Https, RemoteKeySet};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let roots = std::fs::read("/etc/ssl/company.pem")?;
    /// let keys = RemoteKeySet::builder("https://id.company.example/jwks")
    ///     .fetch(Https::with_roots_pem(&roots)?)
    ///     .build()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn with_roots_pem(pem: &[u8]) -> Result<Self, FetchError> {
        let invalid = |why: &str| FetchError::InvalidRoots(why.to_owned());
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(pem) {
            let certificate = certificate.map_err(|_| invalid("the PEM is malformed"))?;
            roots
                .add(certificate)
                .map_err(|_| invalid("a certificate is malformed"))?;
        }
        if roots.is_empty() {
            return Err(invalid("the PEM has no certificate"));
        }
        let tls = tls().with_root_certificates(roots).with_no_client_auth();
        Ok(Self::with_tls(tls))
    }

    /// Creates a client with this TLS configuration: client certificates, or other versions of TLS. For a private
    /// authority, [`with_roots_pem`](Https::with_roots_pem) is enough.
    #[must_use]
    pub fn with_tls(config: ClientConfig) -> Self {
        Self::connecting(Connector::direct(), Arc::new(config))
    }

    /// Uses the proxy that the environment names for `https`: `HTTPS_PROXY` or `ALL_PROXY`, except for the
    /// hosts in `NO_PROXY`. The proxy itself must use `http`. By default, no proxy is used.
    #[cfg(feature = "proxy")]
    #[must_use]
    pub fn with_proxy_from_environment(self) -> Self {
        Self::connecting(Connector::through_proxy_of_environment(), self.tls)
    }

    fn connecting(connector: Connector, tls: Arc<ClientConfig>) -> Self {
        let https = HttpsConnector::from((connector, Arc::clone(&tls)));
        Self {
            client: Client::builder(TokioExecutor::new()).build(https),
            #[cfg(feature = "proxy")]
            tls,
        }
    }

    /// Sends one request and returns the response, whatever its status is. To fetch keys, use
    /// [`RemoteKeySet`](crate::RemoteKeySet); this is for tools that explain a response.
    ///
    /// The caller enforces a time limit.
    ///
    /// # Errors
    /// [`FetchError::InvalidAddress`] if the address is not allowed, and [`FetchError::Unreachable`].
    pub async fn get(&self, request: FetchRequest) -> Result<Response, FetchError> {
        check_address(&request.uri)?;
        let mut get = Request::new(Empty::new());
        *get.uri_mut() = request.uri;
        let headers = get.headers_mut();
        headers.insert(ACCEPT, HeaderValue::from_static(MEDIA_TYPES));
        headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
        let etag = request.etag.map(HeaderValue::try_from);
        if let Some(Ok(etag)) = etag {
            headers.insert(IF_NONE_MATCH, etag);
        }
        if request.no_cache {
            headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        }
        let response = self
            .client
            .request(get)
            .await
            .map_err(|e| unreachable(&e))?;
        Ok(Response(response))
    }

    async fn fetch_key_set(&self, request: FetchRequest) -> Result<FetchResponse, FetchError> {
        let host = request.uri.host().unwrap_or_default().to_owned();
        let no_cache = request.no_cache;
        let response = self.get(request).await?;
        if let (true, Some(age)) = (no_cache, age(response.headers())) {
            tracing::warn!(
                host,
                age_seconds = age,
                "a caching proxy ignored no-cache and answered with an old copy: new keys are found when it expires"
            );
        }
        let mut whole = http::Response::new(Vec::new());
        *whole.status_mut() = response.status();
        *whole.headers_mut() = response.headers().clone();
        if response.status() == StatusCode::OK {
            *whole.body_mut() = response.body().await?;
        }
        FetchResponse::from_http(&whole)
    }
}

fn tls() -> ConfigBuilder<ClientConfig, WantsVerifier> {
    ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .expect("the provider supports these versions of TLS")
}

impl Response {
    /// Returns the status.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.0.status()
    }

    /// Returns the headers.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        self.0.headers()
    }

    /// Reads the body.
    ///
    /// # Errors
    /// [`FetchError::TooLarge`] if it has more than [`KEY_SET_BYTES`](limits::KEY_SET_BYTES), and
    /// [`FetchError::Unreachable`].
    pub async fn body(self) -> Result<Vec<u8>, FetchError> {
        let limit = limits::KEY_SET_BYTES;
        let announced = self.0.body().size_hint().lower();
        let body = Limited::new(self.0.into_body(), limit).collect().await;
        let body = body.map_err(|why| match why.is::<LengthLimitError>() {
            true => too_large(announced.max(limit as u64 + 1)),
            false => FetchError::Unreachable(why.to_string()),
        })?;
        Ok(body.to_bytes().to_vec())
    }
}

impl Fetch for Https {
    fn fetch(&self, request: FetchRequest) -> FetchFuture<'_> {
        Box::pin(self.fetch_key_set(request))
    }
}

impl fmt::Debug for Https {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Https")
    }
}

fn unreachable(error: &hyper_util::client::legacy::Error) -> FetchError {
    let mut why: &dyn std::error::Error = error;
    // The innermost cause is the useful one: connection refused, certificate expired.
    while let Some(cause) = why.source() {
        why = cause;
    }
    FetchError::Unreachable(why.to_string())
}
