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

/// How long an address has to answer.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// Longer names of what is known are not sent back, bytes.
const ETAG_BYTES: usize = 256;

/// What is asked of an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The address.
    pub uri: Uri,
    /// What the address called its last answer (`ETag`), if it is still to be had: it may be answered
    /// that it is the same.
    pub known: Option<String>,
    /// Whether a cache on the way must not answer from its copy: the request has
    /// `Cache-Control: no-cache` (RFC 9111, section 5.2.1.4). It is so where a token names a key that is
    /// not in the last answer, which may have been an old copy.
    pub no_cache: bool,
}

/// What it answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The text of a key set.
    Set {
        /// The text.
        text: String,
        /// What the address calls it (`ETag`).
        name: Option<String>,
        /// For how long it is fresh, by the address (`Cache-Control: max-age`).
        max_age: Option<Duration>,
    },
    /// It is what is known.
    Unchanged {
        /// For how long it is fresh, by the address.
        max_age: Option<Duration>,
    },
}

/// What comes of a question.
pub type Asking<'a> = Pin<Box<dyn Future<Output = Result<Answer, FetchError>> + Send + 'a>>;

/// Asks an address for its keys: [`Https`], or a client of one's own, with its proxy say.
///
/// An implementation need not keep time, nor ask twice: that is done around it. It must not follow
/// redirects to where keys may not come from, and not read answers without end.
pub trait Fetch: Send + Sync + 'static {
    /// Asks once.
    fn fetch(&self, question: Question) -> Asking<'_>;
}

/// Asks over TLS, with the authorities of this machine; `http` on this machine alone.
pub struct Https(Client<HttpsConnector<HttpConnector>, Empty<Bytes>>);

impl Https {
    /// A client that trusts the authorities of this machine.
    ///
    /// # Errors
    /// [`FetchError::Unreachable`] if the machine has none.
    pub fn new() -> Result<Self, FetchError> {
        let provider = rustls::crypto::aws_lc_rs::default_provider();
        let builder = HttpsConnectorBuilder::new()
            .with_provider_and_native_roots(provider)
            .map_err(|why| FetchError::Unreachable(why.to_string()))?;
        let connector = builder.https_or_http().enable_http1().build();
        Ok(Self(Client::builder(TokioExecutor::new()).build(connector)))
    }

    /// A client with authorities, and perhaps a certificate, of one's own.
    #[must_use]
    pub fn with_tls(config: ClientConfig) -> Self {
        let builder = HttpsConnectorBuilder::new().with_tls_config(config);
        let connector = builder.https_or_http().enable_http1().build();
        Self(Client::builder(TokioExecutor::new()).build(connector))
    }

    async fn ask(&self, question: Question) -> Result<Answer, FetchError> {
        let host = question.uri.host().unwrap_or_default().to_owned();
        let mut request = Request::get(question.uri)
            .header(ACCEPT, "application/jwk-set+json, application/json")
            .header(
                USER_AGENT,
                concat!("jeton-jwks/", env!("CARGO_PKG_VERSION")),
            );
        if let Some(known) = &question.known {
            request = request.header(IF_NONE_MATCH, known);
        }
        if question.no_cache {
            request = request.header(CACHE_CONTROL, "no-cache");
        }
        let request = request
            .body(Empty::new())
            .map_err(|_| FetchError::Address)?;
        let answer = self.0.request(request).await.map_err(unreachable)?;
        let (parts, body) = answer.into_parts();
        let max_age = max_age(&parts.headers);
        if let (true, Some(age)) = (question.no_cache, age(&parts.headers)) {
            tracing::warn!(
                host,
                age_seconds = age,
                "a cache ignored no-cache and answered with an old copy: new keys are found when it expires"
            );
        }
        match parts.status {
            StatusCode::OK => {}
            StatusCode::NOT_MODIFIED if question.known.is_some() => {
                return Ok(Answer::Unchanged { max_age });
            }
            other => return Err(FetchError::Status(other.as_u16())),
        }
        let body = Limited::new(body, limits::KEY_SET_BYTES).collect().await;
        let body = body.map_err(|why| match why.is::<LengthLimitError>() {
            true => FetchError::TooLong,
            false => FetchError::Unreachable(why.to_string()),
        })?;
        let text = String::from_utf8(body.to_bytes().to_vec()).map_err(|_| FetchError::NoKeySet)?;
        let name = text_of(&parts.headers, ETAG.as_str()).filter(|name| name.len() <= ETAG_BYTES);
        Ok(Answer::Set {
            text,
            name: name.map(str::to_owned),
            max_age,
        })
    }
}

impl Fetch for Https {
    fn fetch(&self, question: Question) -> Asking<'_> {
        Box::pin(self.ask(question))
    }
}

impl fmt::Debug for Https {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Https")
    }
}

fn unreachable(error: hyper_util::client::legacy::Error) -> FetchError {
    let mut why: &dyn std::error::Error = &error;
    // The last cause says it: connection refused, certificate expired.
    while let Some(cause) = why.source() {
        why = cause;
    }
    FetchError::Unreachable(why.to_string())
}

fn text_of<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

/// `Age` (RFC 9111, section 5.1), if the answer is a cache's copy.
fn age(headers: &HeaderMap) -> Option<u64> {
    let seconds = text_of(headers, AGE.as_str())?.trim().parse().ok()?;
    (seconds > 0).then_some(seconds)
}

/// `Cache-Control: max-age` (RFC 9111, section 5.2.2.1); nothing where it is not to be kept.
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

/// An address that keys may come from.
pub(crate) fn checked(text: &str) -> Result<Uri, FetchError> {
    let uri: Uri = text.parse().map_err(|_| FetchError::Address)?;
    let authority = uri.authority().ok_or(FetchError::Address)?;
    let is_fit = match uri.scheme_str() {
        Some("https") => true,
        Some("http") => is_here(authority.host()),
        _ => false,
    };
    match is_fit && !authority.as_str().contains('@') {
        true => Ok(uri),
        false => Err(FetchError::Address),
    }
}

fn is_here(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn keys_come_over_https_or_from_this_machine() {
        for fine in [
            "https://id.example/jwks.json",
            "http://127.0.0.1:1/",
            "http://[::1]/",
        ] {
            assert!(checked(fine).is_ok(), "{fine}");
        }
        for wrong in [
            "http://id.example/",
            "http://127.0.0.1.id.example/",
            "https://user:secret@id.example/",
            "ftp://id.example/",
            "/jwks.json",
            "",
        ] {
            assert_eq!(checked(wrong), Err(FetchError::Address), "{wrong}");
        }
    }

    #[test]
    fn the_age_that_an_answer_says_is_read() {
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
