//! Which issuer a URL means.

use http::Request;
use http::header::HOST;

use crate::service::Service;

/// The issuer whose URL has that path: of several, the one whose host was asked for. A server with a
/// single issuer has it at the root too, also if its name is no URL.
pub(super) fn issuer_of<B>(service: &Service, request: &Request<B>, path: &str) -> Option<String> {
    if path.is_empty()
        && let Ok(only) = service.node.only_issuer()
        && url(&only).is_none_or(|(_, own)| own.is_empty())
    {
        return Some(only);
    }
    let host = request
        .uri()
        .authority()
        .map(|authority| authority.as_str());
    let header = request
        .headers()
        .get(HOST)
        .and_then(|host| host.to_str().ok());
    let host = host.or(header);
    let has_path = |iss: &str| match url(iss) {
        Some((_, own)) => own == path,
        None => path.strip_prefix('/') == Some(iss),
    };
    let is_asked_for = |iss: &str| has_path(iss) && url(iss).map(|(host, _)| host) == host;
    let by_host = service.node.find_issuer(is_asked_for);
    by_host.or_else(|| {
        // Behind a proxy that changes the host: if only one can be meant, it is.
        let mut several = 0;
        let found = service.node.find_issuer(|iss| {
            several += usize::from(has_path(iss));
            false
        });
        debug_assert!(found.is_none());
        (several == 1).then(|| service.node.find_issuer(has_path))?
    })
}

/// An issuer's host, with its port, and path without a last slash. None: its name is no URL.
pub(crate) fn url(iss: &str) -> Option<(&str, &str)> {
    let rest = iss
        .strip_prefix("https://")
        .or_else(|| iss.strip_prefix("http://"))?;
    let end = rest.find('/').unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    Some((host, path.trim_end_matches('/')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_issuer_has_a_host_and_a_path() {
        assert_eq!(url("https://id.example"), Some(("id.example", "")));
        assert_eq!(url("http://h:1/a/b/"), Some(("h:1", "/a/b")));
        assert_eq!(url("tenant"), None);
    }
}
