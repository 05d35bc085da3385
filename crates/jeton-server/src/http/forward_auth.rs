//! Decides for a proxy whether a request may pass: nginx (`auth_request`) and Envoy (`ext_authz` over HTTP).
//!
//! The path names the audience: `ISS/forward-auth/AUDIENCE`. Envoy appends the path of the request, which is ignored.
//! `Authorization` has the token of the request. So the proxy itself authenticates with a certificate, or with
//! HTTP Basic in `Proxy-Authorization` (RFC 9110, section 11.7.2).

use std::sync::Arc;
use std::time::Instant;

use http::header::{self, HeaderName, HeaderValue};
use http::{Request, Response, StatusCode};
use jeton::{RawClaims, Verified};
use jeton_transport::{DrainedBody, Peer};
use tonic::body::Body;

use super::issuer_path::issuer_of;
use super::{client_error_response, no_store, plain};
use crate::auth::bearer_token;
use crate::client_auth;
use crate::config::Permission;
use crate::failure::Failure;
use crate::metrics::{Call, CallOutcome};
use crate::permissions::Caller;
use crate::refusal::Refusal;
use crate::service::{Service, check_permission};

/// Headers of a response that lets a request pass. A proxy copies them to the request.
const SUBJECT: HeaderName = HeaderName::from_static("x-auth-subject");
const CLIENT_ID: HeaderName = HeaderName::from_static("x-auth-client-id");
const SCOPE: HeaderName = HeaderName::from_static("x-auth-scope");

pub(super) async fn forward_auth(
    service: &Arc<Service>,
    peer: &Peer,
    request: Request<DrainedBody>,
    at: &str,
    audience: &str,
) -> Response<Body> {
    let started = Instant::now();
    let Some(iss) = issuer_of(service, &request, at) else {
        return plain(StatusCode::NOT_FOUND, "unknown issuer\n");
    };
    let mut proxy = None;
    let decided = decide(service, peer, &request, &iss, audience, &mut proxy).await;
    let (outcome, response) = match decided {
        Ok(Decision::Pass(verified)) => (CallOutcome::Ok, pass(&verified)),
        Ok(Decision::NoToken) => (CallOutcome::Rejected, refuse("Bearer")),
        Ok(Decision::Rejected) => (
            CallOutcome::Rejected,
            refuse("Bearer error=\"invalid_token\""),
        ),
        Err(failure) => {
            let failure = service.log_refusal(failure, None, &iss);
            (failure.outcome(), not_decided(&failure))
        }
    };
    service.count(proxy.as_deref(), Call::ForwardAuth, outcome, started);
    response
}

/// Whether a request may pass.
enum Decision {
    Pass(Box<Verified<RawClaims>>),
    NoToken,
    Rejected,
}

async fn decide(
    service: &Service,
    peer: &Peer,
    request: &Request<DrainedBody>,
    iss: &str,
    audience: &str,
    identified: &mut Option<Arc<Caller>>,
) -> Result<Decision, Failure> {
    let headers = request.headers();
    let proxy = client_auth::identify_proxy(service, peer, headers, iss).await?;
    let proxy = &*identified.insert(proxy);
    check_permission(proxy, Permission::Verify, iss)
        .map_err(|failure| service.log_refusal(failure, Some(proxy), iss).logged())?;
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let token = match (values.next(), values.next()) {
        (None, _) => return Ok(Decision::NoToken),
        (Some(header), None) => bearer_token(header.as_bytes()),
        // A server behind the proxy might read another one.
        (Some(_), Some(_)) => return Ok(Decision::Rejected),
    };
    let token = token.and_then(|token| std::str::from_utf8(token).ok());
    let Some(token) = token else {
        return Ok(Decision::Rejected);
    };
    match service.node.verify(iss, audience, token) {
        Ok(verified) => Ok(Decision::Pass(Box::new(verified))),
        Err(error) if error.is_rejection() => {
            let refusal = Refusal::of_own(&error);
            service.log_refusal_of(Some(proxy), iss, &refusal, Some(token));
            Ok(Decision::Rejected)
        }
        Err(error) => Err(error.into()),
    }
}

fn pass(verified: &Verified<RawClaims>) -> Response<Body> {
    #[derive(serde::Deserialize)]
    struct Named {
        client_id: Option<String>,
        scope: Option<String>,
    }
    let mut response = no_store(plain(StatusCode::OK, ""));
    let Ok(Named { client_id, scope }) = serde_json::from_str(verified.json()) else {
        return refuse("Bearer error=\"invalid_token\"");
    };
    // Always all of them, so that the proxy replaces those of the request.
    let subject = verified.subject().unwrap_or_default();
    for (name, value) in [
        (SUBJECT, subject),
        (CLIENT_ID, client_id.as_deref().unwrap_or_default()),
        (SCOPE, scope.as_deref().unwrap_or_default()),
    ] {
        if let Ok(value) = HeaderValue::try_from(encode(value)) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

/// Percent-encodes all but visible ASCII and spaces, and `%` itself.
fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'%' => encoded.push_str("%25"),
            b' '..=b'~' => encoded.push(byte.into()),
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

/// The request must not pass. nginx and Envoy hand status 401 and this header on to the client.
fn refuse(challenge: &'static str) -> Response<Body> {
    let mut response = no_store(plain(
        StatusCode::UNAUTHORIZED,
        "a valid token is required\n",
    ));
    let challenge = HeaderValue::from_static(challenge);
    response
        .headers_mut()
        .insert(header::WWW_AUTHENTICATE, challenge);
    response
}

/// The proxy is not allowed to ask, or the server cannot decide. Status 401 would blame the client of the proxy.
fn not_decided(failure: &Failure) -> Response<Body> {
    let mut response = client_error_response(failure);
    if response.status() == StatusCode::UNAUTHORIZED {
        *response.status_mut() = StatusCode::FORBIDDEN;
        response.headers_mut().remove(header::WWW_AUTHENTICATE);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_values_are_percent_encoded() {
        assert_eq!(encode("repo:acme/app read"), "repo:acme/app read");
        assert_eq!(encode("100%é\u{7f}"), "100%25%C3%A9%7F");
    }
}
