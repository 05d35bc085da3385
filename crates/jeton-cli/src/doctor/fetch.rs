//! Fetches a key set from a URL.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jeton::limits;
use jiff::{SignedDuration, Timestamp};
use ureq::Agent;
use ureq::http::{HeaderMap, Uri};
use ureq::tls::{Certificate, RootCerts, TlsConfig};
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
        let authority = uri.authority().map_or("", |authority| authority.as_str());
        if authority.contains('@') {
            return Err(wrong("the URL contains credentials")
                .hint("a key set is public: remove the credentials from the URL"));
        }
        let host = uri.host().unwrap_or_default().to_owned();
        if uri.scheme_str() == Some("http") && !is_loopback(&host) {
            return Err(wrong(
                "http is not allowed for another host: the keys could be replaced on the way",
            )
            .hint("use `https://`"));
        }
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
        let roots = rustls_native_certs::load_native_certs().certs;
        let roots: Vec<Certificate<'static>> = roots
            .iter()
            .map(|der| Certificate::from_der(der).to_owned())
            .collect();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let tls = TlsConfig::builder()
            .root_certs(RootCerts::new_with_certs(&roots))
            .unversioned_rustls_crypto_provider(provider)
            .build();
        let agent: Agent = Agent::config_builder()
            .timeout_global(Some(TIMEOUT))
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .accept("application/jwk-set+json, application/json")
            .tls_config(tls)
            .build()
            .into();
        let (began, at) = (Instant::now(), Timestamp::now());
        let mut response = agent
            .get(&self.uri)
            .header("cache-control", "no-cache")
            .call()
            .map_err(describe)?;
        let took = began.elapsed();
        let heard = at + SignedDuration::try_from(took / 2).unwrap_or_default();
        let headers = response.headers().clone();
        let date = text_of(&headers, "date");
        let date = date.and_then(|text| jiff::fmt::rfc2822::parse(text).ok());
        let body = response.body_mut().with_config();
        let body = body.limit(limits::KEY_SET_BYTES as u64).read_to_vec();
        Ok(Fetched {
            status: response.status().as_u16(),
            took,
            body: Zeroizing::new(body.map_err(describe)?),
            headers,
            date: date.map(|date| Date {
                server: self.host.clone(),
                server_time: date.timestamp(),
                local_time: heard,
            }),
        })
    }
}

/// Returns the text of a header.
pub(super) fn text_of<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

/// Describes why there was no response.
fn describe(error: ureq::Error) -> String {
    match error {
        ureq::Error::Timeout(_) => {
            format!("no response within {} s", TIMEOUT.as_secs())
        }
        ureq::Error::BodyExceedsLimit(most) => {
            format!("the response has more than {most} bytes, the limit for a key set")
        }
        ureq::Error::HostNotFound => "unknown host".to_owned(),
        error => format!("the request failed: {error}"),
    }
}

fn is_loopback(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
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
