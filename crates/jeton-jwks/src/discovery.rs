//! Discovers the address of an issuer's key set: OpenID Connect Discovery 1.0 and RFC 8414.

use http::Uri;
use serde::Deserialize;
use tokio::time::{Instant, timeout};

use crate::address::{PlainHttp, parse_address};
use crate::error::{AddressError, DiscoveryError, FetchError};
use crate::fetch::{Fetch, FetchRequest, FetchResponse, TIMEOUT};
use crate::network::may_be_public;

/// Maximum length of a discovery document, bytes.
pub const DISCOVERY_BYTES: usize = 256 * 1024;

/// Discovers the key set of an issuer and returns the request for it. It is for tools that explain a response. To
/// verify tokens, use [`RemoteKeySet::discover`](crate::RemoteKeySet::discover).
///
/// `plain_http` says whether the issuer and the key set may use plain `http` on hosts other than loopback hosts.
///
/// # Errors
/// [`FetchError::InvalidAddress`] if the issuer is not allowed, and [`FetchError::Discovery`].
pub async fn discover_key_set(
    issuer: impl Into<String>,
    plain_http: PlainHttp,
    fetch: &dyn Fetch,
) -> Result<FetchRequest, FetchError> {
    let issuer = DiscoveredIssuer::parse(issuer.into(), false, plain_http)?;
    Ok(issuer.discover(fetch).await?.request())
}

/// Checks that the key set of an issuer can be [discovered](crate::RemoteKeySet::discover): `https`, or `http` to a
/// loopback host, without credentials, query or fragment.
///
/// # Errors
/// Why the issuer is not allowed.
pub fn check_issuer(issuer: &str) -> Result<(), AddressError> {
    match DiscoveredIssuer::parse(issuer.to_owned(), false, PlainHttp::Loopback) {
        Ok(_) => Ok(()),
        Err(FetchError::InvalidAddress(why)) => Err(why),
        Err(_) => Err(AddressError::NotHttp),
    }
}

/// An issuer with a discovered key set.
pub(crate) struct DiscoveredIssuer {
    /// The issuer as the caller wrote it.
    name: String,
    uri: Uri,
    allow_private: bool,
    plain_http: PlainHttp,
}

/// The address that a document names.
pub(crate) struct KeySetAddress {
    pub(crate) uri: Uri,
    public_only: bool,
    plain_http: PlainHttp,
    pub(crate) discovered: Instant,
}

/// The members of a document that this crate reads.
#[derive(Deserialize)]
struct Document {
    issuer: Option<String>,
    jwks_uri: Option<String>,
}

impl DiscoveredIssuer {
    pub(crate) fn parse(
        name: String,
        allow_private: bool,
        plain_http: PlainHttp,
    ) -> Result<Self, FetchError> {
        let uri = parse_address(&name, plain_http)?;
        if name.contains(['?', '#']) {
            return Err(AddressError::QueryOrFragment.into());
        }
        Ok(Self {
            name,
            uri,
            allow_private,
            plain_http,
        })
    }

    pub(crate) fn host(&self) -> &str {
        self.uri.host().unwrap_or_default()
    }

    /// Fetches the document and returns the address of the key set.
    pub(crate) async fn discover(&self, fetch: &dyn Fetch) -> Result<KeySetAddress, FetchError> {
        let text = self.fetch_document(fetch).await?;
        Ok(self.key_set_address(&text)?)
    }

    async fn fetch_document(&self, fetch: &dyn Fetch) -> Result<String, DiscoveryError> {
        let mut not_found = FetchError::Status(404);
        for address in self.document_addresses() {
            let address = parse_address(&address, self.plain_http)
                .map_err(|error| DiscoveryError::NotFetched(Box::new(error)))?;
            let request = FetchRequest::new(address)
                .max_bytes(DISCOVERY_BYTES)
                .plain_http(self.plain_http);
            match send(fetch, request).await {
                Ok(FetchResponse {
                    text: Some(text), ..
                }) => return Ok(text),
                Err(error @ FetchError::Status(404 | 410)) => not_found = error,
                Ok(_) => return Err(not_fetched(FetchError::Status(304))),
                Err(error) => return Err(not_fetched(error)),
            }
        }
        Err(not_fetched(not_found))
    }

    /// Returns the possible addresses of the document, the most common first.
    fn document_addresses(&self) -> Vec<String> {
        let without_slash = |text: &'_ str| text.strip_suffix('/').unwrap_or(text).to_owned();
        let scheme = self.uri.scheme_str().unwrap_or_default();
        let authority = self.uri.authority().map_or("", |all| all.as_str());
        let path = without_slash(self.uri.path());
        let origin = format!("{scheme}://{authority}");
        let mut all = vec![
            // OpenID Connect Discovery 1.0, section 4.
            format!("{origin}{path}/.well-known/openid-configuration"),
            // RFC 8414, section 3: before the path.
            format!("{origin}/.well-known/oauth-authorization-server{path}"),
        ];
        if !path.is_empty() {
            all.push(format!("{origin}/.well-known/openid-configuration{path}"));
        }
        all
    }

    fn key_set_address(&self, text: &str) -> Result<KeySetAddress, DiscoveryError> {
        if text.len() > DISCOVERY_BYTES {
            let (bytes, limit) = (text.len() as u64, DISCOVERY_BYTES as u64);
            return Err(DiscoveryError::TooLarge { bytes, limit });
        }
        // serde would read an array as the `struct`. serde_json skips other members without recursion.
        let is_object = text.trim_ascii_start().starts_with('{');
        let document = serde_json::from_str(text).ok().filter(|_| is_object);
        let document: Document = document.ok_or(DiscoveryError::Malformed)?;
        let missing = DiscoveryError::MemberMissing;
        let published = document.issuer.ok_or(missing("issuer"))?;
        if published != self.name {
            let only_slash = published.trim_end_matches('/') == self.name.trim_end_matches('/');
            return Err(DiscoveryError::IssuerMismatch {
                published,
                only_slash,
            });
        }
        let address = document.jwks_uri.ok_or(missing("jwks_uri"))?;
        let invalid = DiscoveryError::InvalidKeySetAddress;
        let uri = match parse_address(&address, self.plain_http) {
            Ok(uri) => uri,
            Err(FetchError::InvalidAddress(why)) => return Err(invalid(why)),
            Err(_) => return Err(invalid(AddressError::NotHttp)),
        };
        let is_of_issuer =
            uri.scheme() == self.uri.scheme() && uri.authority() == self.uri.authority();
        let public_only = !is_of_issuer && !self.allow_private;
        if public_only && !may_be_public(uri.host().unwrap_or_default()) {
            return Err(invalid(AddressError::Private));
        }
        Ok(KeySetAddress {
            uri,
            public_only,
            plain_http: self.plain_http,
            discovered: Instant::now(),
        })
    }
}

impl KeySetAddress {
    pub(crate) fn request(&self) -> FetchRequest {
        let request = FetchRequest::new(self.uri.clone()).plain_http(self.plain_http);
        if self.public_only {
            request.public_only()
        } else {
            request
        }
    }
}

/// Sends one request with the time limit.
pub(crate) async fn send(
    fetch: &dyn Fetch,
    request: FetchRequest,
) -> Result<FetchResponse, FetchError> {
    let response = timeout(TIMEOUT, fetch.fetch(request)).await;
    response.unwrap_or(Err(FetchError::TimedOut))
}

/// Converts an error about a key set to an error about a document.
fn not_fetched(error: FetchError) -> DiscoveryError {
    match error {
        FetchError::TooLarge { bytes, limit } => DiscoveryError::TooLarge { bytes, limit },
        FetchError::Html => DiscoveryError::Html,
        FetchError::InvalidKeySet(_) => DiscoveryError::Malformed,
        error => DiscoveryError::NotFetched(Box::new(error)),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn issuer(name: &str) -> DiscoveredIssuer {
        DiscoveredIssuer::parse(name.to_owned(), false, PlainHttp::Loopback).unwrap()
    }

    #[test]
    fn document_address_follows_both_specifications() {
        let plain = [
            "https://id.example/.well-known/openid-configuration",
            "https://id.example/.well-known/oauth-authorization-server",
        ];
        assert_eq!(issuer("https://id.example").document_addresses(), plain);
        assert_eq!(issuer("https://id.example/").document_addresses(), plain);
        let with_path = [
            "https://id.example/realms/one/.well-known/openid-configuration",
            "https://id.example/.well-known/oauth-authorization-server/realms/one",
            "https://id.example/.well-known/openid-configuration/realms/one",
        ];
        for name in [
            "https://id.example/realms/one",
            "https://id.example/realms/one/",
        ] {
            assert_eq!(issuer(name).document_addresses(), with_path, "{name}");
        }
    }

    #[test]
    fn issuer_with_query_or_fragment_is_rejected() {
        for name in [
            "https://id.example?x",
            "https://id.example#x",
            "https://id.example/#",
        ] {
            let error =
                DiscoveredIssuer::parse(name.to_owned(), false, PlainHttp::Loopback).map(drop);
            assert_eq!(error, Err(AddressError::QueryOrFragment.into()), "{name}");
        }
    }

    #[test]
    fn document_errors_are_distinct() {
        use DiscoveryError::{InvalidKeySetAddress, Malformed, MemberMissing};
        let own = r#""issuer":"https://id.example""#;
        let mismatch = |published: &str, only_slash| DiscoveryError::IssuerMismatch {
            published: published.to_owned(),
            only_slash,
        };
        let deep = |name| {
            let nested =
                "[".repeat(DISCOVERY_BYTES / 2 - 20) + &"]".repeat(DISCOVERY_BYTES / 2 - 20);
            format!("{{\"{name}\":{nested}}}")
        };
        for (text, error, code) in [
            ("", Malformed, "DISCOVERY_MALFORMED"),
            ("7", Malformed, "DISCOVERY_MALFORMED"),
            (
                r#"["https://id.example","https://id.example/k"]"#,
                Malformed,
                "DISCOVERY_MALFORMED",
            ),
            (&deep("issuer"), Malformed, "DISCOVERY_MALFORMED"),
            (&deep("x"), MemberMissing("issuer"), "DISCOVERY_MALFORMED"),
            (
                r#"{"issuer":["https://id.example"]}"#,
                Malformed,
                "DISCOVERY_MALFORMED",
            ),
            (
                &format!("{{{own},{own}}}"),
                Malformed,
                "DISCOVERY_MALFORMED",
            ),
            ("{}", MemberMissing("issuer"), "DISCOVERY_MALFORMED"),
            (
                &format!("{{{own}}}"),
                MemberMissing("jwks_uri"),
                "DISCOVERY_MALFORMED",
            ),
            (
                r#"{"issuer":"https://id.example/"}"#,
                mismatch("https://id.example/", true),
                "DISCOVERY_ISSUER_MISMATCH",
            ),
            (
                r#"{"issuer":"https://ID.example"}"#,
                mismatch("https://ID.example", false),
                "DISCOVERY_ISSUER_MISMATCH",
            ),
            (
                &format!(r#"{{{own},"jwks_uri":"http://keys.example/"}}"#),
                InvalidKeySetAddress(AddressError::NotEncrypted),
                "KEY_SET_ADDRESS",
            ),
            (
                &format!(r#"{{{own},"jwks_uri":"file:///etc/passwd"}}"#),
                InvalidKeySetAddress(AddressError::NotHttp),
                "KEY_SET_ADDRESS",
            ),
            (
                &format!(r#"{{{own},"jwks_uri":"https://169.254.169.254/"}}"#),
                InvalidKeySetAddress(AddressError::Private),
                "KEY_SET_ADDRESS",
            ),
            (
                &format!(r#"{{{own},"jwks_uri":"http://127.0.0.1/"}}"#),
                InvalidKeySetAddress(AddressError::Private),
                "KEY_SET_ADDRESS",
            ),
        ] {
            let found = issuer("https://id.example").key_set_address(text);
            let found = found.map(drop).unwrap_err();
            let start = &text[..text.len().min(80)];
            assert_eq!((found.code(), found), (code, error), "{start}");
        }
    }

    #[test]
    fn key_set_on_another_public_host_is_allowed() {
        let text = |uri: &str| format!(r#"{{"issuer":"https://id.example","jwks_uri":"{uri}"}}"#);
        let public_only = |uri: &str| {
            let address = issuer("https://id.example").key_set_address(&text(uri));
            address.unwrap().public_only
        };
        assert!(!public_only("https://id.example/keys"));
        assert!(!public_only("https://ID.example/keys"));
        for other in [
            "https://keys.example/",
            "https://id.example:8443/",
            "https://1.1.1.1/",
        ] {
            assert!(public_only(other), "{other}");
        }
    }
}
