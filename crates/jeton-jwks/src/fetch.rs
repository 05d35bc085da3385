use std::fmt;
use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::time::Duration;

use http::header::{ACCEPT, AGE, CACHE_CONTROL, ETAG, IF_NONE_MATCH, USER_AGENT};
use http::{HeaderMap, Request, StatusCode, Uri};
use http_body_util::{BodyExt, Empty, LengthLimitError, Limited};
use hyper::body::Bytes;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use jeton::limits;
use rustls::ClientConfig;

use crate::error::FetchError;

/// The time limit for one request, including its response.
pub const TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum length of an `ETag` that is sent back, bytes.
const ETAG_BYTES: usize = 256;

/// A request for a key set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchRequest {
    /// The address.
    pub uri: Uri,
    /// The `ETag` of the cached set. If the set has not changed, the server may answer 304.
    pub etag: Option<String>,
    /// Whether to send `Cache-Control: no-cache` (RFC 9111, section 5.2.1.4), so that no proxy answers from
    /// its copy. This is true when a token names a key that the cached set does not contain.
    pub no_cache: bool,
}

/// The response to a [`FetchRequest`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FetchResponse {
    /// A key set.
    KeySet {
        /// The text of the JWK Set.
        text: String,
        /// Its `ETag`.
        etag: Option<String>,
        /// How long it is fresh (`Cache-Control: max-age`).
        max_age: Option<Duration>,
    },
    /// The cached set has not changed (304).
    NotModified {
        /// How long it is fresh (`Cache-Control: max-age`).
        max_age: Option<Duration>,
    },
}

/// The future of one fetch.
pub type FetchFuture<'a> =
    Pin<Box<dyn Future<Output = Result<FetchResponse, FetchError>> + Send + 'a>>;

/// Fetches key sets. [`Https`] implements it; implement it to use another HTTP client, for example one with
/// a proxy.
///
/// The caller enforces [`TIMEOUT`] and repeats failed requests. An implementation must not follow redirects
/// to addresses that are not allowed, and must limit the size of the response.
pub trait Fetch: Send + Sync + 'static {
    /// Sends one request.
    fn fetch(&self, request: FetchRequest) -> FetchFuture<'_>;
}

/// Fetches key sets over TLS with the certificate authorities of the operating system. Plain `http` is
/// allowed only for loopback hosts.
pub struct Https(Client<HttpsConnector<HttpConnector>, Empty<Bytes>>);

impl Https {
    /// Creates a client that trusts the certificate authorities of the operating system.
    ///
    /// # Errors
    /// [`FetchError::Unreachable`] if the operating system has none.
    pub fn new() -> Result<Self, FetchError> {
        let provider = rustls::crypto::aws_lc_rs::default_provider();
        let builder = HttpsConnectorBuilder::new()
            .with_provider_and_native_roots(provider)
            .map_err(|why| FetchError::Unreachable(why.to_string()))?;
        let connector = builder.https_or_http().enable_http1().build();
        Ok(Self(Client::builder(TokioExecutor::new()).build(connector)))
    }

    /// Creates a client with this TLS configuration.
    #[must_use]
    pub fn with_tls(config: ClientConfig) -> Self {
        let builder = HttpsConnectorBuilder::new().with_tls_config(config);
        let connector = builder.https_or_http().enable_http1().build();
        Self(Client::builder(TokioExecutor::new()).build(connector))
    }

    async fn send(&self, request: FetchRequest) -> Result<FetchResponse, FetchError> {
        let FetchRequest {
            uri,
            etag,
            no_cache,
        } = request;
        let host = uri.host().unwrap_or_default().to_owned();
        let mut request = Request::get(uri)
            .header(ACCEPT, "application/jwk-set+json, application/json")
            .header(
                USER_AGENT,
                concat!("jeton-jwks/", env!("CARGO_PKG_VERSION")),
            );
        if let Some(etag) = &etag {
            request = request.header(IF_NONE_MATCH, etag);
        }
        if no_cache {
            request = request.header(CACHE_CONTROL, "no-cache");
        }
        let request = request
            .body(Empty::new())
            .map_err(|_| FetchError::InvalidAddress)?;
        let response = self.0.request(request).await.map_err(unreachable)?;
        let (parts, body) = response.into_parts();
        let max_age = max_age(&parts.headers);
        if let (true, Some(age)) = (no_cache, age(&parts.headers)) {
            tracing::warn!(
                host,
                age_seconds = age,
                "a caching proxy ignored no-cache and answered with an old copy: new keys are found when it expires"
            );
        }
        match parts.status {
            StatusCode::OK => {}
            StatusCode::NOT_MODIFIED if etag.is_some() => {
                return Ok(FetchResponse::NotModified { max_age });
            }
            other => return Err(FetchError::Status(other.as_u16())),
        }
        let body = Limited::new(body, limits::KEY_SET_BYTES).collect().await;
        let body = body.map_err(|why| match why.is::<LengthLimitError>() {
            true => FetchError::TooLarge,
            false => FetchError::Unreachable(why.to_string()),
        })?;
        let text =
            String::from_utf8(body.to_bytes().to_vec()).map_err(|_| FetchError::InvalidKeySet)?;
        let etag = text_of(&parts.headers, ETAG.as_str()).filter(|etag| etag.len() <= ETAG_BYTES);
        Ok(FetchResponse::KeySet {
            text,
            etag: etag.map(str::to_owned),
            max_age,
        })
    }
}

impl Fetch for Https {
    fn fetch(&self, request: FetchRequest) -> FetchFuture<'_> {
        Box::pin(self.send(request))
    }
}

impl fmt::Debug for Https {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Https")
    }
}

fn unreachable(error: hyper_util::client::legacy::Error) -> FetchError {
    let mut why: &dyn std::error::Error = &error;
    // The innermost cause is the useful one: connection refused, certificate expired.
    while let Some(cause) = why.source() {
        why = cause;
    }
    FetchError::Unreachable(why.to_string())
}

fn text_of<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

/// `Age` (RFC 9111, section 5.1), if the response is the copy of a cache.
fn age(headers: &HeaderMap) -> Option<u64> {
    let seconds = text_of(headers, AGE.as_str())?.trim().parse().ok()?;
    (seconds > 0).then_some(seconds)
}

/// `Cache-Control: max-age` (RFC 9111, section 5.2.2.1); zero if the response must not be stored.
fn max_age(headers: &HeaderMap) -> Option<Duration> {
    let directives = || {
        let all = text_of(headers, CACHE_CONTROL.as_str()).unwrap_or_default();
        all.split(',')
            .map(|directive| directive.trim().to_ascii_lowercase())
    };
    if directives().any(|directive| directive == "no-store" || directive == "no-cache") {
        return Some(Duration::ZERO);
    }
    let seconds = directives().find_map(|directive| {
        let seconds = directive.strip_prefix("max-age=")?;
        seconds.trim_matches('"').parse().ok()
    });
    seconds.map(Duration::from_secs)
}

/// Parses an address and checks that it is allowed.
pub(crate) fn parse_address(text: &str) -> Result<Uri, FetchError> {
    let uri: Uri = text.parse().map_err(|_| FetchError::InvalidAddress)?;
    let authority = uri.authority().ok_or(FetchError::InvalidAddress)?;
    let is_allowed = match uri.scheme_str() {
        Some("https") => true,
        Some("http") => is_loopback_host(authority.host()),
        _ => false,
    };
    match is_allowed && !authority.as_str().contains('@') {
        true => Ok(uri),
        false => Err(FetchError::InvalidAddress),
    }
}

fn is_loopback_host(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn parse_address_requires_https_or_loopback() {
        for fine in [
            "https://id.example/jwks.json",
            "http://127.0.0.1:1/",
            "http://[::1]/",
        ] {
            assert!(parse_address(fine).is_ok(), "{fine}");
        }
        for wrong in [
            "http://id.example/",
            "http://127.0.0.1.id.example/",
            "https://user:secret@id.example/",
            "ftp://id.example/",
            "/jwks.json",
            "",
        ] {
            assert_eq!(
                parse_address(wrong),
                Err(FetchError::InvalidAddress),
                "{wrong}"
            );
        }
    }

    #[test]
    fn max_age_is_read_from_cache_control() {
        for (said, seconds) in [
            ("max-age=300", Some(300)),
            ("public, Max-Age=\"60\" , must-revalidate", Some(60)),
            ("no-store", Some(0)),
            ("max-age=300, no-cache", Some(0)),
            ("max-age=-1", None),
            ("private", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(CACHE_CONTROL, said.parse().unwrap());
            let age = max_age(&headers).map(|age| age.as_secs());
            assert_eq!(age, seconds, "{said}");
        }
        assert_eq!(max_age(&HeaderMap::new()), None);
    }
}
