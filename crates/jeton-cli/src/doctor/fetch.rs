//! Fetches a key set from a URL.

use std::sync::Arc;
use std::time::{Duration, Instant};

use http::{HeaderMap, Uri};
use jeton_jwks::{AddressError, FetchError, FetchRequest, Https, check_address};
use jiff::{SignedDuration, Timestamp};
use rustls::crypto::aws_lc_rs::default_provider;
use rustls::{ClientConfig, RootCertStore};
use tokio::time::timeout;
use zeroize::Zeroizing;

use crate::exit::{Failure, Outcome};

/// The time limit of the request.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The URL of a key set.
pub(super) struct KeySetUrl {
    uri: Uri,
    host: String,
}

/// The response.
pub(super) struct Fetched {
    pub(super) status: u16,
    pub(super) took: Duration,
    pub(super) body: Zeroizing<Vec<u8>>,
    pub(super) headers: HeaderMap,
    pub(super) date: Option<Date>,
}

/// The time of the server and the local time of the response.
#[derive(Debug, Clone)]
pub(super) struct Date {
    pub(super) server: String,
    pub(super) server_time: Timestamp,
    pub(super) local_time: Timestamp,
}

impl KeySetUrl {
    /// Returns whether a text is a URL and not a file name.
    pub(super) fn is(text: &str) -> bool {
        let begins = |scheme: &str| {
            let start = text.get(..scheme.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(scheme))
        };
        begins("https://") || begins("http://")
    }

    pub(super) fn read(text: &str) -> Outcome<KeySetUrl> {
        let wrong = |why: &str| Failure::error(format!("--keys: {why}"));
        let uri: Uri = text.parse().map_err(|_| wrong("not a URL"))?;
        match check_address(&uri) {
            Ok(()) => {}
            Err(AddressError::Credentials) => {
                return Err(wrong("the URL contains credentials")
                    .hint("a key set is public: remove the credentials from the URL"));
            }
            Err(AddressError::NotEncrypted) => {
                return Err(wrong(
                    "http is not allowed for another host: the keys could be replaced on the way",
                )
                .hint("use `https://`"));
            }
            Err(_) => return Err(wrong("not a URL")),
        }
        let host = uri.host().unwrap_or_default().to_owned();
        Ok(KeySetUrl { uri, host })
    }

    /// Returns the URL without its query, which may contain a secret.
    pub(super) fn name(&self) -> String {
        let scheme = self.uri.scheme_str().unwrap_or_default();
        let authority = self
            .uri
            .authority()
            .map_or("", |authority| authority.as_str());
        format!("{scheme}://{authority}{}", self.uri.path())
    }

    /// Sends one request that bypasses caches, so that the findings are about the current key set.
    pub(super) fn fetch(&self) -> Result<Fetched, String> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| format!("the request failed: {error}"))?;
        let fetched = runtime.block_on(async { timeout(TIMEOUT, self.request()).await });
        // Does not wait for a name that is still being resolved.
        runtime.shutdown_background();
        match fetched {
            Ok(fetched) => fetched.map_err(describe),
            Err(_) => Err(format!("no response within {} s", TIMEOUT.as_secs())),
        }
    }

    async fn request(&self) -> Result<Fetched, FetchError> {
        let https = Https::with_tls(tls()).with_proxy_from_environment();
        let request = FetchRequest::new(self.uri.clone()).no_cache();
        let (began, at) = (Instant::now(), Timestamp::now());
        let response = https.get(request).await?;
        let took = began.elapsed();
        let heard = at + SignedDuration::try_from(took / 2).unwrap_or_default();
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let date = text_of(&headers, "date");
        let date = date.and_then(|text| jiff::fmt::rfc2822::parse(text).ok());
        Ok(Fetched {
            status,
            took,
            body: Zeroizing::new(response.body().await?),
            headers,
            date: date.map(|date| Date {
                server: self.host.clone(),
                server_time: date.timestamp(),
                local_time: heard,
            }),
        })
    }
}

/// Trusts the certificate authorities of the operating system. Without any, `http` to this machine still
/// works.
fn tls() -> ClientConfig {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .expect("the provider supports these versions of TLS")
        .with_root_certificates(roots)
        .with_no_client_auth()
}

/// Returns the text of a header.
pub(super) fn text_of<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

/// Describes why there was no response.
fn describe(error: FetchError) -> String {
    match error {
        FetchError::TooLarge { .. } => error.to_string(),
        FetchError::Unreachable(why) => format!("the request failed: {why}"),
        error => format!("the request failed: {error}"),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn key_set_url_requires_https_or_loopback() {
        for fine in [
            "https://id.example/jwks.json",
            "HTTPS://id.example",
            "http://127.0.0.1:8420/x",
            "http://[::1]/x",
            "http://localhost/x",
        ] {
            assert!(KeySetUrl::is(fine), "{fine}");
            assert!(KeySetUrl::read(fine).is_ok(), "{fine}");
        }
        for wrong in [
            "http://id.example/jwks.json",
            "http://127.0.0.1.id.example/",
            "https://user:secret@id.example/",
            "https://",
        ] {
            assert!(KeySetUrl::read(wrong).is_err(), "{wrong}");
        }
        assert!(!KeySetUrl::is("jwks.json") && !KeySetUrl::is("httpss"));
        let address = KeySetUrl::read("https://id.example/keys?token=secret").unwrap();
        assert_eq!(address.name(), "https://id.example/keys");
    }
}
