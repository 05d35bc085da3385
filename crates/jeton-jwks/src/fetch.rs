use std::future::Future;
use std::io::Read as _;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use flate2::read::GzDecoder;
use http::header::{AGE, CACHE_CONTROL, ETAG, RETRY_AFTER};
use http::{HeaderMap, StatusCode, Uri};
use jeton::error::KeyProblem;
use jeton::limits;

use crate::address::PlainHttp;
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
    /// Which hosts may use plain `http`.
    pub plain_http: PlainHttp,
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
            plain_http: PlainHttp::Loopback,
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

    /// Sets which hosts may use plain `http`. Default: loopback hosts.
    #[must_use]
    pub fn plain_http(self, plain_http: PlainHttp) -> Self {
        Self { plain_http, ..self }
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

    /// Reads a response of an HTTP client: its status, `ETag`, `Cache-Control`, `Age`, `Retry-After` and body. A byte
    /// order mark is removed. A body in gzip is decompressed, because some servers ignore `Accept-Encoding`.
    ///
    /// # Errors
    /// [`FetchError::Status`] or [`FetchError::RetryAfter`] if the status is neither 200 nor 304,
    /// [`FetchError::TooLarge`] if the body has more than [`KEY_SET_BYTES`](limits::KEY_SET_BYTES),
    /// [`FetchError::Html`] if it is an HTML page, and [`FetchError::InvalidKeySet`] if it is not UTF-8.
    pub fn from_http(response: &http::Response<impl AsRef<[u8]>>) -> Result<Self, FetchError> {
        let headers = response.headers();
        let parsed = match response.status() {
            StatusCode::OK => Self::key_set(text(response.body().as_ref())?),
            StatusCode::NOT_MODIFIED => Self::not_modified(),
            other => return Err(status_error(other.as_u16(), headers)),
        };
        let etag = text_of(headers, ETAG.as_str()).filter(|etag| etag.len() <= ETAG_BYTES);
        Ok(parsed
            .etag(etag.map(str::to_owned))
            .max_age(fresh_for(headers)))
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

fn text(body: &[u8]) -> Result<String, FetchError> {
    if body.len() > limits::KEY_SET_BYTES {
        return Err(too_large(body.len() as u64, limits::KEY_SET_BYTES));
    }
    let body = decoded(body.to_vec(), limits::KEY_SET_BYTES)?;
    // No JSON text begins with this byte.
    if body.trim_ascii_start().starts_with(b"<") {
        return Err(FetchError::Html);
    }
    String::from_utf8(body).map_err(|_| FetchError::InvalidKeySet(KeyProblem::Malformed.into()))
}

/// The first bytes of gzip (RFC 1952, section 2.3.1). No JSON text begins with them.
const GZIP: &[u8] = &[0x1f, 0x8b];

/// The byte order mark in UTF-8. A reader of JSON may ignore it (RFC 8259, section 8.1).
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Decompresses a body in gzip, and removes a byte order mark.
///
/// # Errors
/// [`FetchError::TooLarge`] if the decompressed body has more than `limit` bytes.
pub(crate) fn decoded(body: Vec<u8>, limit: usize) -> Result<Vec<u8>, FetchError> {
    let mut body = body;
    if body.starts_with(GZIP) {
        let mut inflated = Vec::new();
        let most = limit as u64 + 1;
        GzDecoder::new(&*body)
            .take(most)
            .read_to_end(&mut inflated)
            .map_err(|_| FetchError::InvalidKeySet(KeyProblem::Malformed.into()))?;
        if inflated.len() > limit {
            return Err(too_large(most, limit));
        }
        body = inflated;
    }
    if body.starts_with(BYTE_ORDER_MARK) {
        body.drain(..BYTE_ORDER_MARK.len());
    }
    Ok(body)
}

fn status_error(status: u16, headers: &HeaderMap) -> FetchError {
    match (status, retry_after(headers)) {
        (429 | 503, Some(pause)) => FetchError::RetryAfter { status, pause },
        _ => FetchError::Status(status),
    }
}

/// Returns `Retry-After` (RFC 9110, section 10.2.3): seconds, or a time.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = text_of(headers, RETRY_AFTER.as_str())?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let time = httpdate::parse_http_date(text).ok()?;
    Some(time.duration_since(SystemTime::now()).unwrap_or_default())
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

/// Returns how long a response stays fresh: `max-age` without the time that it was in a cache (RFC 9111, section 4.2).
fn fresh_for(headers: &HeaderMap) -> Option<Duration> {
    let in_cache = Duration::from_secs(age(headers).unwrap_or(0));
    Some(max_age(headers)?.saturating_sub(in_cache))
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

    #[test]
    fn retry_after_is_seconds_or_a_time() {
        let past = "Wed, 21 Oct 2015 07:28:00 GMT";
        for (value, seconds) in [
            ("120", Some(120)),
            (" 0 ", Some(0)),
            ("soon", None),
            ("-1", None),
            (past, Some(0)),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, value.parse().unwrap());
            let found = retry_after(&headers).map(|pause| pause.as_secs());
            assert_eq!(found, seconds, "{value}");
        }
        let mut headers = HeaderMap::new();
        let later = SystemTime::now() + Duration::from_secs(1000);
        headers.insert(RETRY_AFTER, httpdate::fmt_http_date(later).parse().unwrap());
        let pause = retry_after(&headers).unwrap();
        assert!(pause > Duration::from_secs(900) && pause <= Duration::from_secs(1000));
    }

    #[test]
    fn body_in_gzip_is_limited_after_decompression() {
        use std::io::Write as _;
        let zip = |text: &[u8]| {
            let mut encoder =
                flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
            encoder.write_all(text).unwrap();
            encoder.finish().unwrap()
        };
        assert_eq!(decoded(zip(b"\xef\xbb\xbf{}"), 5), Ok(b"{}".to_vec()));
        assert_eq!(decoded(zip(&[b' '; 6]), 5), Err(too_large(6, 5)));
        let cut = zip(b"{}")[..8].to_vec();
        assert!(matches!(decoded(cut, 5), Err(FetchError::InvalidKeySet(_))));
    }
}
