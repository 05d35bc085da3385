use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use http::header::{AGE, CACHE_CONTROL, ETAG};
use http::{HeaderMap, StatusCode, Uri};
use jeton::error::KeyProblem;
use jeton::limits;

use crate::error::FetchError;

/// The time limit for one request, including its response.
pub const TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum length of an `ETag` that is sent back, bytes.
const ETAG_BYTES: usize = 256;

/// A request for a key set, or for the discovery document that names its address.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FetchRequest {
    /// The address.
    pub uri: Uri,
    /// The `ETag` of the cached set. If the set has not changed, the server may answer 304.
    pub etag: Option<String>,
    /// Whether to send `Cache-Control: no-cache` (RFC 9111, section 5.2.1.4), so that no proxy answers from
    /// its copy. It is true if a token names a key that is not in the cached set.
    pub no_cache: bool,
    /// The maximum length of the response, bytes. The client must not read more.
    pub max_bytes: usize,
    /// Whether to connect to public addresses only. A document of another server named the address, which must
    /// not lead into a private network. Check the addresses after the name is resolved.
    pub public_only: bool,
}

impl FetchRequest {
    /// Creates a request that proxies may answer, without an `ETag`.
    #[must_use]
    pub fn new(uri: Uri) -> Self {
        Self {
            uri,
            etag: None,
            no_cache: false,
            max_bytes: limits::KEY_SET_BYTES,
            public_only: false,
        }
    }

    /// Sets the `ETag` of the cached set.
    #[must_use]
    pub fn etag(self, etag: impl Into<Option<String>>) -> Self {
        let etag = etag.into();
        Self { etag, ..self }
    }

    /// Sends `Cache-Control: no-cache`.
    #[must_use]
    pub fn no_cache(self) -> Self {
        Self {
            no_cache: true,
            ..self
        }
    }

    /// Sets the maximum length of the response, bytes. Default: [`KEY_SET_BYTES`](limits::KEY_SET_BYTES).
    #[must_use]
    pub fn max_bytes(self, max_bytes: usize) -> Self {
        Self { max_bytes, ..self }
    }

    /// Connects to public addresses only.
    #[must_use]
    pub fn public_only(self) -> Self {
        Self {
            public_only: true,
            ..self
        }
    }
}

/// The response to a [`FetchRequest`].
///
/// ```
/// use std::time::Duration;
/// use jeton_jwks::FetchResponse;
///
/// // From the response of any HTTP client.
/// let response = http::Response::builder().header("cache-control", "max-age=300");
/// let response = FetchResponse::from_http(&response.body(r#"{"keys":[]}"#)?)?;
/// let expected = FetchResponse::key_set(r#"{"keys":[]}"#).max_age(Duration::from_secs(300));
/// assert_eq!(response, expected);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchResponse {
    /// The text of the JWK Set or of the document, or `None` if the cached set has not changed.
    pub(crate) text: Option<String>,
    pub(crate) etag: Option<String>,
    pub(crate) max_age: Option<Duration>,
}

impl FetchResponse {
    /// Creates a response with the text of a JWK Set.
    #[must_use]
    pub fn key_set(text: impl Into<String>) -> Self {
        Self {
            text: Some(text.into()),
            etag: None,
            max_age: None,
        }
    }

    /// Creates a response for an unchanged set (304).
    #[must_use]
    pub fn not_modified() -> Self {
        Self {
            text: None,
            etag: None,
            max_age: None,
        }
    }

    /// Reads a response of an HTTP client: its status, `ETag`, `Cache-Control` and body.
    ///
    /// # Errors
    /// [`FetchError::Status`] if the status is neither 200 nor 304, [`FetchError::TooLarge`] if the body has more
    /// than [`KEY_SET_BYTES`](limits::KEY_SET_BYTES), [`FetchError::Html`] if it is an HTML page, and
    /// [`FetchError::InvalidKeySet`] if it is not UTF-8.
    pub fn from_http(response: &http::Response<impl AsRef<[u8]>>) -> Result<Self, FetchError> {
        let headers = response.headers();
        let parsed = match response.status() {
            StatusCode::OK => Self::key_set(text(response.body().as_ref())?),
            StatusCode::NOT_MODIFIED => Self::not_modified(),
            other => return Err(FetchError::Status(other.as_u16())),
        };
        let etag = text_of(headers, ETAG.as_str()).filter(|etag| etag.len() <= ETAG_BYTES);
        Ok(parsed
            .etag(etag.map(str::to_owned))
            .max_age(max_age(headers)))
    }

    /// Sets the `ETag` of the set.
    #[must_use]
    pub fn etag(self, etag: impl Into<Option<String>>) -> Self {
        let etag = etag.into();
        Self { etag, ..self }
    }

    /// Sets how long the set is fresh (`Cache-Control: max-age`).
    #[must_use]
    pub fn max_age(self, max_age: impl Into<Option<Duration>>) -> Self {
        let max_age = max_age.into();
        Self { max_age, ..self }
    }
}

fn text(body: &[u8]) -> Result<&str, FetchError> {
    if body.len() > limits::KEY_SET_BYTES {
        return Err(too_large(body.len() as u64, limits::KEY_SET_BYTES));
    }
    // No JSON text begins with this byte.
    if body.trim_ascii_start().starts_with(b"<") {
        return Err(FetchError::Html);
    }
    str::from_utf8(body).map_err(|_| FetchError::InvalidKeySet(KeyProblem::Malformed.into()))
}

pub(crate) fn too_large(bytes: u64, limit: usize) -> FetchError {
    let limit = limit as u64;
    FetchError::TooLarge { bytes, limit }
}

/// The future of one fetch.
pub type FetchFuture<'a> =
    Pin<Box<dyn Future<Output = Result<FetchResponse, FetchError>> + Send + 'a>>;

/// Fetches key sets and discovery documents. [`Https`](crate::Https) implements it. Implement it to use another HTTP
/// client, for example a client with a proxy.
///
/// The caller enforces [`TIMEOUT`] and repeats failed requests. An implementation must not follow redirects
/// to addresses that are not allowed, and must obey [`FetchRequest::max_bytes`] and [`FetchRequest::public_only`].
/// [`FetchResponse::from_http`] reads the response.
///
/// ```
/// use jeton_jwks::{Fetch, FetchFuture, FetchRequest, FetchResponse, RemoteKeySet};
///
/// /// A set inside the program.
/// struct BuiltIn(&'static str);
///
/// impl Fetch for BuiltIn {
///     fn fetch(&self, _: FetchRequest) -> FetchFuture<'_> {
///         Box::pin(async { Ok(FetchResponse::key_set(self.0)) })
///     }
/// }
///
/// let keys = RemoteKeySet::builder("https://id.example/jwks.json")
///     .fetch(BuiltIn(r#"{"keys":[]}"#))
///     .build()?;
/// # Ok::<(), jeton_jwks::FetchError>(())
/// ```
pub trait Fetch: Send + Sync + 'static {
    /// Sends one request.
    fn fetch(&self, request: FetchRequest) -> FetchFuture<'_>;
}

impl<F: Fetch + ?Sized> Fetch for Arc<F> {
    fn fetch(&self, request: FetchRequest) -> FetchFuture<'_> {
        (**self).fetch(request)
    }
}

pub(crate) fn text_of<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

/// Returns `Age` (RFC 9111, section 5.1), if the response is a cached copy.
pub(crate) fn age(headers: &HeaderMap) -> Option<u64> {
    let seconds = text_of(headers, AGE.as_str())?.trim().parse().ok()?;
    (seconds > 0).then_some(seconds)
}

/// Returns `Cache-Control: max-age` (RFC 9111, section 5.2.2.1), or zero if the response must not be stored.
pub(crate) fn max_age(headers: &HeaderMap) -> Option<Duration> {
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn max_age_is_read_from_cache_control() {
        for (value, seconds) in [
            ("max-age=300", Some(300)),
            ("public, Max-Age=\"60\" , must-revalidate", Some(60)),
            ("no-store", Some(0)),
            ("max-age=300, no-cache", Some(0)),
            ("max-age=-1", None),
            ("private", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(CACHE_CONTROL, value.parse().unwrap());
            let age = max_age(&headers).map(|age| age.as_secs());
            assert_eq!(age, seconds, "{value}");
        }
        assert_eq!(max_age(&HeaderMap::new()), None);
    }
}
