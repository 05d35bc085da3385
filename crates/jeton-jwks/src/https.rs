//! The HTTPS client.

use std::fmt;
use std::sync::Arc;

#[cfg(feature = "proxy")]
use http::Uri;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, CACHE_CONTROL, HeaderValue, IF_NONE_MATCH, USER_AGENT,
};
use http::{HeaderMap, Request, StatusCode};
use http_body_util::{BodyExt, Empty, LengthLimitError, Limited};
use hyper::body::{Body as _, Bytes, Incoming};
use hyper_rustls::{ConfigBuilderExt, HttpsConnector};
use hyper_util::client::legacy::Client;
#[cfg(feature = "proxy")]
use hyper_util::client::proxy::matcher::Matcher;
use hyper_util::rt::TokioExecutor;
use rustls::crypto::aws_lc_rs::default_provider;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, ConfigBuilder, RootCertStore, WantsVerifier};

use crate::address::check;
use crate::connector::{Connector, Reach};
use crate::error::{AddressError, FetchError};
use crate::fetch::{Fetch, FetchFuture, FetchRequest, FetchResponse, age, decoded, too_large};
use crate::network::may_be_public;

/// Fetches key sets over TLS with the certificate authorities of the operating system. Plain `http` is
/// allowed only for loopback hosts. Redirects are not followed.
pub struct Https {
    client: HttpsClient,
    /// Connects to public addresses only.
    public_client: HttpsClient,
    #[cfg(feature = "proxy")]
    tls: Arc<ClientConfig>,
}

type HttpsClient = Client<HttpsConnector<Connector>, Empty<Bytes>>;

/// A response with an unread body: see [`Https::get`].
#[derive(Debug)]
pub struct Response {
    response: http::Response<Incoming>,
    max_bytes: usize,
}

const MEDIA_TYPES: &str = "application/jwk-set+json, application/json";
const AGENT: &str = concat!("jeton/", env!("CARGO_PKG_VERSION"));

impl Https {
    /// Creates a client that trusts the certificate authorities of the operating system.
    ///
    /// # Errors
    /// [`FetchError::Unreachable`] if the operating system has no certificate authorities.
    pub fn new() -> Result<Self, FetchError> {
        let tls = tls()
            .with_native_roots()
            .map_err(|why| FetchError::Unreachable(why.to_string()))?
            .with_no_client_auth();
        Ok(Self::with_tls(tls))
    }

    /// Creates a client that trusts the certificate authorities in this PEM text, and the authorities of the
    /// operating system. Text before, between and after the certificates is ignored.
    ///
    /// ```no_run
    /// # fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// let https = jeton_jwks::Https::with_authorities(&std::fs::read("company-ca.pem")?)?;
    /// let keys = jeton_jwks::RemoteKeySet::builder_with_discovery("https://id.internal.example")
    ///     .fetch(https)
    ///     .build()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`FetchError::InvalidAuthority`] if the text has no certificate, or a malformed one.
    pub fn with_authorities(pem: &[u8]) -> Result<Self, FetchError> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        let mut added = 0;
        for certificate in CertificateDer::pem_slice_iter(pem) {
            let invalid = || FetchError::InvalidAuthority { index: added };
            let certificate = certificate.map_err(|_| invalid())?;
            roots.add(certificate).map_err(|_| invalid())?;
            added += 1;
        }
        if added == 0 {
            return Err(FetchError::InvalidAuthority { index: 0 });
        }
        let tls = tls().with_root_certificates(roots).with_no_client_auth();
        Ok(Self::with_tls(tls))
    }

    /// Creates a client with this TLS configuration, for example with client certificates, with other TLS versions, or
    /// with only your own authorities.
    #[must_use]
    pub fn with_tls(config: ClientConfig) -> Self {
        Self::connecting(Connector::direct, Arc::new(config))
    }

    /// Uses the proxy that the environment names for `https`: `HTTPS_PROXY` or `ALL_PROXY`, except for loopback hosts
    /// and the hosts in `NO_PROXY`. The proxy itself must use `http`. By default, no proxy is used.
    ///
    /// The proxy resolves names. So it must reject names in its private network, because a `jwks_uri` may contain one.
    #[cfg(feature = "proxy")]
    #[must_use]
    pub fn with_proxy_from_environment(self) -> Self {
        let proxies = Arc::new(Matcher::from_env());
        Self::connecting(|reach| Connector::with_proxies(reach, &proxies), self.tls)
    }

    /// Uses this proxy for `https`, except for loopback hosts and the hosts in `except`. `except` has the syntax of
    /// `NO_PROXY`: domains and networks, separated by commas. `proxy` is a URL with `http`. It may contain a user name
    /// and a password.
    ///
    /// The proxy resolves names, as with [`with_proxy_from_environment`](Https::with_proxy_from_environment).
    ///
    /// ```
    /// # fn example() -> Result<(), jeton_jwks::FetchError> {
    /// let https = jeton_jwks::Https::new()?.with_proxy("http://proxy.example:3128", "internal.example")?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`FetchError::InvalidAddress`] if `proxy` is not such a URL.
    #[cfg(feature = "proxy")]
    pub fn with_proxy(self, proxy: &str, except: &str) -> Result<Self, FetchError> {
        let address: Uri = proxy.parse().map_err(|_| AddressError::NotHttpProxy)?;
        if address.scheme_str() != Some("http") || address.host().is_none_or(str::is_empty) {
            return Err(AddressError::NotHttpProxy.into());
        }
        let proxies = Arc::new(Matcher::builder().https(proxy).no(except).build());
        Ok(Self::connecting(
            |reach| Connector::with_proxies(reach, &proxies),
            self.tls,
        ))
    }

    fn connecting(connector: impl Fn(Reach) -> Connector, tls: Arc<ClientConfig>) -> Self {
        let client = |reach| {
            let https = HttpsConnector::from((connector(reach), Arc::clone(&tls)));
            Client::builder(TokioExecutor::new()).build(https)
        };
        Self {
            client: client(Reach::Anywhere),
            public_client: client(Reach::Public),
            #[cfg(feature = "proxy")]
            tls,
        }
    }

    /// Sends one request and returns the response with any status. It is for tools that explain a response. To fetch
    /// keys, use [`RemoteKeySet`](crate::RemoteKeySet).
    ///
    /// The caller must enforce a time limit.
    ///
    /// # Errors
    /// [`FetchError::InvalidAddress`] if the address is not allowed, and [`FetchError::Unreachable`].
    pub async fn get(&self, request: FetchRequest) -> Result<Response, FetchError> {
        check(&request.uri, request.plain_http)?;
        let max_bytes = request.max_bytes;
        let client = match request.public_only {
            false => &self.client,
            true if may_be_public(request.uri.host().unwrap_or_default()) => &self.public_client,
            true => return Err(AddressError::Private.into()),
        };
        let mut get = Request::new(Empty::new());
        *get.uri_mut() = request.uri;
        let headers = get.headers_mut();
        headers.insert(ACCEPT, HeaderValue::from_static(MEDIA_TYPES));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
        let etag = request.etag.map(HeaderValue::try_from);
        if let Some(Ok(etag)) = etag {
            headers.insert(IF_NONE_MATCH, etag);
        }
        if request.no_cache {
            headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        }
        let response = client.request(get).await.map_err(|e| unreachable(&e))?;
        Ok(Response {
            response,
            max_bytes,
        })
    }

    async fn fetch_key_set(&self, request: FetchRequest) -> Result<FetchResponse, FetchError> {
        let host = request.uri.host().unwrap_or_default().to_owned();
        let no_cache = request.no_cache;
        let response = self.get(request).await?;
        if let (true, Some(age)) = (no_cache, age(response.headers())) {
            tracing::warn!(
                host,
                age_seconds = age,
                "a caching proxy ignored no-cache and sent an old copy: new keys are found when the copy expires"
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
        .expect("the provider supports these TLS versions")
}

impl Response {
    /// Returns the status.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.response.status()
    }

    /// Returns the headers.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        self.response.headers()
    }

    /// Reads the body. A body in gzip is decompressed, and a byte order mark is removed.
    ///
    /// # Errors
    /// [`FetchError::TooLarge`] if it has more than [`FetchRequest::max_bytes`], [`FetchError::Unreachable`], and
    /// [`FetchError::InvalidKeySet`] if it is malformed gzip.
    pub async fn body(self) -> Result<Vec<u8>, FetchError> {
        let limit = self.max_bytes;
        let announced = self.response.body().size_hint().lower();
        let body = Limited::new(self.response.into_body(), limit)
            .collect()
            .await;
        let body = body.map_err(|why| {
            if why.is::<LengthLimitError>() {
                too_large(announced.max(limit as u64 + 1), limit)
            } else {
                FetchError::Unreachable(why.to_string())
            }
        })?;
        decoded(body.to_bytes().to_vec(), limit)
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
    if let Some(why) = why.downcast_ref::<AddressError>() {
        return (*why).into();
    }
    FetchError::Unreachable(why.to_string())
}
