use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use http::header::{AGE, CACHE_CONTROL};
use http::{HeaderMap, Uri};

use crate::error::FetchError;

/// The time limit for one request, including its response.
pub const TIMEOUT: Duration = Duration::from_secs(5);

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

/// Fetches key sets. [`Https`](crate::Https) implements it; implement it to use another HTTP client, for example one with
/// a proxy.
///
/// The caller enforces [`TIMEOUT`] and repeats failed requests. An implementation must not follow redirects
/// to addresses that are not allowed, and must limit the size of the response.
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

/// `Age` (RFC 9111, section 5.1), if the response is the copy of a cache.
pub(crate) fn age(headers: &HeaderMap) -> Option<u64> {
    let seconds = text_of(headers, AGE.as_str())?.trim().parse().ok()?;
    (seconds > 0).then_some(seconds)
}

/// `Cache-Control: max-age` (RFC 9111, section 5.2.2.1); zero if the response must not be stored.
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
