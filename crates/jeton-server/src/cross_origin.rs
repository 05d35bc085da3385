//! Detects requests that a browser sends for a page of another site.
//!
//! Any page can make a browser send a form or a simple `fetch` to any address, including loopback. The
//! page cannot read the response, but the request itself may change state. Browsers mark such requests.

use http::{HeaderMap, HeaderName, HeaderValue, header::ORIGIN};

use crate::authority::{Authority, default_port};

static FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Whether `Origin` (RFC 6454) or `Sec-Fetch-Site` (Fetch Metadata) names a site other than the server's.
///
/// The origin `null` counts as another site.
pub(crate) fn is_cross_origin(headers: &HeaderMap, own: &Authority<'_>, is_tls: bool) -> bool {
    let is_own_origin = |origin: &HeaderValue| {
        let origin = origin.to_str().unwrap_or_default();
        let rest = origin.strip_prefix(if is_tls { "https://" } else { "http://" });
        let port = default_port(is_tls);
        rest.and_then(Authority::parse).is_some_and(|origin| {
            origin.has_host(own.host()) && origin.port_or(port) == own.port_or(port)
        })
    };
    let is_own_site = |site: &HeaderValue| site == "none" || site == "same-origin";
    !headers.get_all(ORIGIN).iter().all(is_own_origin)
        || !headers.get_all(&FETCH_SITE).iter().all(is_own_site)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn origin_is_compared_by_scheme_host_and_port() {
        let is_foreign = |origin: &str, own: &str, is_tls| {
            let headers = HeaderMap::from_iter([(ORIGIN, origin.parse().unwrap())]);
            is_cross_origin(&headers, &Authority::parse(own).unwrap(), is_tls)
        };
        for (origin, own, is_tls) in [
            ("https://id.example", "id.example", true),
            ("https://ID.example:443", "id.example.", true),
            ("https://id.example", "id.example:443", true),
            ("http://id.example:8420", "id.example:8420", false),
            ("http://[::1]:8420", "[::1]:8420", false),
        ] {
            assert!(!is_foreign(origin, own, is_tls), "{origin} {own}");
        }
        for (origin, own, is_tls) in [
            ("http://id.example", "id.example", true),
            ("https://id.example", "id.example", false),
            ("https://id.example", "id.example:8420", true),
            ("https://id.example:8420", "id.example", true),
            ("https://evil.example", "id.example", true),
            ("https://x.id.example", "id.example", true),
            ("https://id.example@evil.example", "id.example", true),
            ("https://id.example/", "id.example", true),
            (
                "https://id.example, https://evil.example",
                "id.example",
                true,
            ),
            ("chrome-extension://id.example", "id.example", true),
            ("null", "id.example", true),
            ("", "id.example", true),
        ] {
            assert!(is_foreign(origin, own, is_tls), "{origin} {own}");
        }
    }
}
