//! The HTTP endpoints for verifiers, resource servers and operators.

mod form;
mod forward_auth;
mod health;
mod introspect;
mod issuer_path;
mod keys;
mod metadata;
mod metrics;
mod page;
mod revoke;
mod token;

use std::sync::Arc;

use bytes::Bytes;
use http::header::{self, HeaderName, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use http_body_util::Full;
use jeton_transport::{DrainedBody, Listener, Peer};
use tonic::Status;
use tonic::body::Body;

use crate::failure::{Failure, http_status};
use crate::grpc::speaks_grpc;
use crate::service::Service;
use health::Purpose;

/// Handles a request that is not gRPC.
pub(crate) async fn handle(
    service: &Arc<Service>,
    peer: &Peer,
    request: Request<DrainedBody>,
) -> Response<Body> {
    let path = request.uri().path();
    let endpoint = match (Endpoint::from_path(path), peer.listener) {
        (Some(endpoint), listener) if endpoint.is_at(listener) => endpoint,
        // A gRPC client cannot read a text. It would report an internal error.
        _ if speaks_grpc(&request) => return Status::unimplemented("unknown service").into_http(),
        _ => return plain(StatusCode::NOT_FOUND, "not found\n"),
    };
    if !endpoint.accepts(request.method()) {
        let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, "method not allowed\n");
        let allow = HeaderValue::from_static(endpoint.methods());
        response.headers_mut().insert(header::ALLOW, allow);
        return response;
    }
    match endpoint {
        Endpoint::Home if peer.listener == Listener::Admin => {
            let access = page::access(service, peer, &request);
            page::page(service, access, home(peer.listener)).await
        }
        Endpoint::Home => plain(StatusCode::OK, home(peer.listener)),
        Endpoint::PageLink => page::link(service, peer, &request),
        Endpoint::Live => plain(StatusCode::OK, "live\n"),
        Endpoint::Ready(purpose) => health::ready(service, purpose),
        Endpoint::Metrics => metrics::metrics(service, peer, &request),
        Endpoint::KeySet(at) => keys::key_set(service, &request, at),
        Endpoint::Paserks(at) => keys::paserks(service, &request, at),
        Endpoint::AuthorizationServer(at) => metadata::authorization_server(service, &request, at),
        Endpoint::OpenId(at) => metadata::openid(service, &request, at),
        Endpoint::Introspect(at) => {
            let at = at.to_owned();
            introspect::introspect(service, peer, request, &at).await
        }
        Endpoint::ForwardAuth(at, audience) => {
            let (at, audience) = (at.to_owned(), decoded(audience));
            forward_auth::forward_auth(service, peer, request, &at, &audience).await
        }
        Endpoint::Token(at) => {
            let at = at.to_owned();
            token::token(service, peer, request, &at).await
        }
        Endpoint::Revoke(at) => {
            let at = at.to_owned();
            revoke::revoke(service, peer, request, &at).await
        }
    }
}

/// The route of a path, for traces. It has no part of the path.
pub(crate) fn route(path: &str, listener: Listener) -> Option<&'static str> {
    let endpoint = Endpoint::from_path(path).filter(|endpoint| endpoint.is_at(listener))?;
    Some(match endpoint {
        Endpoint::Home => "/",
        Endpoint::PageLink => "/page-link",
        Endpoint::Live => "/livez",
        Endpoint::Ready(Purpose::Calls) => "/readyz",
        Endpoint::Ready(Purpose::Issue) => "/readyz/issue",
        Endpoint::Ready(Purpose::Verify) => "/readyz/verify",
        Endpoint::Ready(Purpose::Revoke) => "/readyz/revoke",
        Endpoint::Metrics => "/metrics",
        Endpoint::KeySet(_) => "{issuer}/.well-known/jwks.json",
        Endpoint::Paserks(_) => "{issuer}/.well-known/paserks.json",
        Endpoint::AuthorizationServer(_) => "/.well-known/oauth-authorization-server{issuer}",
        Endpoint::OpenId(_) => "{issuer}/.well-known/openid-configuration",
        Endpoint::Introspect(_) => "{issuer}/introspect",
        Endpoint::Revoke(_) => "{issuer}/revoke",
        Endpoint::Token(_) => "{issuer}/token",
        Endpoint::ForwardAuth(..) => "{issuer}/forward-auth/{audience}",
    })
}

/// An endpoint, with the issuer's part of the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Endpoint<'p> {
    Home,
    PageLink,
    Live,
    Ready(Purpose),
    Metrics,
    KeySet(&'p str),
    Paserks(&'p str),
    AuthorizationServer(&'p str),
    OpenId(&'p str),
    Introspect(&'p str),
    Revoke(&'p str),
    Token(&'p str),
    /// With the audience, percent-encoded.
    ForwardAuth(&'p str, &'p str),
}

/// Builds an endpoint from the issuer's part of the path.
type AtIssuer<'p> = fn(&'p str) -> Endpoint<'p>;

impl<'p> Endpoint<'p> {
    fn from_path(path: &'p str) -> Option<Endpoint<'p>> {
        match path {
            "/" => return Some(Endpoint::Home),
            "/page-link" => return Some(Endpoint::PageLink),
            "/livez" => return Some(Endpoint::Live),
            "/readyz" => return Some(Endpoint::Ready(Purpose::Calls)),
            "/readyz/issue" => return Some(Endpoint::Ready(Purpose::Issue)),
            "/readyz/verify" => return Some(Endpoint::Ready(Purpose::Verify)),
            "/readyz/revoke" => return Some(Endpoint::Ready(Purpose::Revoke)),
            "/metrics" => return Some(Endpoint::Metrics),
            _ => {}
        }
        // The issuer's path follows the suffix in RFC 8414, section 3.1, and precedes it in OpenID.
        if let Some(at) = path.strip_prefix("/.well-known/oauth-authorization-server")
            && (at.is_empty() || at.starts_with('/'))
        {
            return Some(Endpoint::AuthorizationServer(at));
        }
        // The proxy appends the path of its request, which may be anything.
        if let Some((at, rest)) = path.split_once("/forward-auth/") {
            let audience = rest.split('/').next().unwrap_or_default();
            return (!audience.is_empty()).then_some(Endpoint::ForwardAuth(at, audience));
        }
        let ends: [(&str, AtIssuer<'p>); 6] = [
            ("/.well-known/jwks.json", Endpoint::KeySet),
            ("/.well-known/paserks.json", Endpoint::Paserks),
            ("/.well-known/openid-configuration", Endpoint::OpenId),
            ("/introspect", Endpoint::Introspect),
            ("/revoke", Endpoint::Revoke),
            ("/token", Endpoint::Token),
        ];
        ends.into_iter()
            .find_map(|(end, endpoint)| path.strip_suffix(end).map(endpoint))
    }

    fn is_at(self, listener: Listener) -> bool {
        match self {
            Endpoint::Home | Endpoint::Live | Endpoint::Ready(_) => true,
            Endpoint::Metrics | Endpoint::PageLink => listener == Listener::Admin,
            _ => listener == Listener::Data,
        }
    }

    fn accepts(self, method: &Method) -> bool {
        match self {
            // The proxy sends the method of its request.
            Endpoint::ForwardAuth(..) => true,
            Endpoint::PageLink
            | Endpoint::Introspect(_)
            | Endpoint::Revoke(_)
            | Endpoint::Token(_) => method == Method::POST,
            _ => method == Method::GET || method == Method::HEAD,
        }
    }

    fn methods(self) -> &'static str {
        match self {
            Endpoint::PageLink
            | Endpoint::Introspect(_)
            | Endpoint::Revoke(_)
            | Endpoint::Token(_) => "POST",
            _ => "GET, HEAD",
        }
    }
}

/// What is at a listener, for a person who opens its address. It names no issuer: the page is public.
fn home(listener: Listener) -> &'static str {
    match listener {
        Listener::Data => {
            "jeton token service. Health: /readyz. Issuer https://HOST/PATH: metadata at \
             /.well-known/oauth-authorization-server/PATH, keys at /PATH/.well-known/jwks.json\n"
        }
        Listener::Admin => {
            "jeton token service, administration. Health: /readyz. Metrics: /metrics. State: \
             `jeton admin status --server URL`, or a page: `jeton admin page --server URL`\n"
        }
    }
}

/// A response with a line of text.
pub(crate) fn plain(status: StatusCode, text: &'static str) -> Response<Body> {
    respond(
        status,
        "text/plain; charset=utf-8",
        Bytes::from_static(text.as_bytes()),
    )
}

/// Forbids caches to store a response.
fn no_store(mut response: Response<Body>) -> Response<Body> {
    let no_store = HeaderValue::from_static("no-store");
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, no_store);
    response
}

/// Decodes percent-encoding. What is not UTF-8 matches no audience.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|d| std::str::from_utf8(d).ok());
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match (first, byte) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A JSON response that must not be cached.
fn json(status: StatusCode, value: &serde_json::Value) -> Response<Body> {
    json_text(status, value.to_string())
}

/// Same as [`json`], from text.
fn json_text(status: StatusCode, text: String) -> Response<Body> {
    no_store(respond(status, "application/json", Bytes::from(text)))
}

/// An OAuth error response (RFC 6749, section 5.2).
fn error_response(failure: &Failure) -> Response<Body> {
    let (status, reason, message) = http_status(failure);
    let (status, error) = match failure {
        Failure::OAuth(error) if error.code == "temporarily_unavailable" => {
            (StatusCode::SERVICE_UNAVAILABLE, error.code)
        }
        Failure::OAuth(error) => (status, error.code),
        _ => (status, oauth_error(status)),
    };
    let body = serde_json::json!({
        "error": error,
        "error_description": message,
        "reason": reason,
    });
    let mut response = json(status, &body);
    if status == StatusCode::UNAUTHORIZED {
        let challenge = HeaderValue::from_static("Bearer");
        response
            .headers_mut()
            .insert(header::WWW_AUTHENTICATE, challenge);
    }
    if let Failure::Rate(exceeded) | Failure::RevocationRate(exceeded) = failure {
        let seconds = HeaderValue::from(exceeded.retry_after.as_secs() + 1);
        response.headers_mut().insert(header::RETRY_AFTER, seconds);
    }
    response
}

/// The error code of a failure that has none of its own.
fn oauth_error(status: StatusCode) -> &'static str {
    match status {
        StatusCode::UNAUTHORIZED => "invalid_client",
        StatusCode::FORBIDDEN => "unauthorized_client",
        StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS => {
            "temporarily_unavailable"
        }
        StatusCode::INTERNAL_SERVER_ERROR => "server_error",
        _ => "invalid_request",
    }
}

/// Same as [`error_response`], for an endpoint where clients authenticate as in OAuth.
fn client_error_response(failure: &Failure) -> Response<Body> {
    let mut response = error_response(failure);
    let status = response.status();
    let headers = response.headers_mut();
    if status == StatusCode::UNAUTHORIZED {
        // First, because some clients try the first scheme only (RFC 6749, section 5.2).
        let basic = HeaderValue::from_static("Basic realm=\"jeton\"");
        headers.insert(header::WWW_AUTHENTICATE, basic);
        headers.append(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}

fn respond(status: StatusCode, content_type: &'static str, body: Bytes) -> Response<Body> {
    let mut response = Response::new(Body::new(Full::new(body)));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    let nosniff = HeaderName::from_static("x-content-type-options");
    headers.insert(nosniff, HeaderValue::from_static("nosniff"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn from_path_separates_the_issuer_path() {
        assert_eq!(
            Endpoint::from_path("/.well-known/jwks.json"),
            Some(Endpoint::KeySet(""))
        );
        assert_eq!(
            Endpoint::from_path("/a/b/.well-known/jwks.json"),
            Some(Endpoint::KeySet("/a/b"))
        );
        assert_eq!(
            Endpoint::from_path("/.well-known/oauth-authorization-server/a"),
            Some(Endpoint::AuthorizationServer("/a"))
        );
        assert_eq!(
            Endpoint::from_path("/.well-known/oauth-authorization-serverx"),
            None
        );
        assert_eq!(
            Endpoint::from_path("/a/introspect"),
            Some(Endpoint::Introspect("/a"))
        );
        assert_eq!(
            Endpoint::from_path("/a/forward-auth/api/token"),
            Some(Endpoint::ForwardAuth("/a", "api"))
        );
        assert_eq!(Endpoint::from_path("/forward-auth/"), None);
        assert_eq!(
            decoded("https:%2F%2Fapi.example%zz"),
            "https://api.example%zz"
        );
        assert_eq!(Endpoint::from_path("/"), Some(Endpoint::Home));
        assert_eq!(Endpoint::from_path(""), None);
    }
}
