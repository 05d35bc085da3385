//! Finds the issuer for a URL.

use http::Request;
use http::header::HOST;

use crate::issuer_url;
use crate::service::Service;

/// Returns the issuer whose URL has this path.
///
/// If several issuers have the path, the requested host decides. A single issuer is also at the root, even
/// if its name is not a URL.
pub(super) fn issuer_of<B>(service: &Service, request: &Request<B>, path: &str) -> Option<String> {
    if path.is_empty()
        && let Ok(only) = service.node.only_issuer()
        && issuer_url::split(&only).is_none_or(|(_, own)| own.is_empty())
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
    let has_path = |iss: &str| match issuer_url::split(iss) {
        Some((_, own)) => own == path,
        None => path.strip_prefix('/') == Some(iss),
    };
    let has_host_and_path =
        |iss: &str| has_path(iss) && issuer_url::split(iss).map(|(host, _)| host) == host;
    let by_host = service.node.find_issuer(has_host_and_path);
    by_host.or_else(|| {
        // A proxy may change the host. Then the path decides, if only one issuer has it.
        let mut several = 0;
        let found = service.node.find_issuer(|iss| {
            several += usize::from(has_path(iss));
            false
        });
        debug_assert!(found.is_none());
        (several == 1).then(|| service.node.find_issuer(has_path))?
    })
}
