//! Token revocation (RFC 7009). The answer comes when the revocation is durable.

use std::sync::Arc;
use std::time::Instant;

use http::{Request, Response, StatusCode};
use hyper::body::Incoming;
use jeton_issuer::{Revoke, Subject};
use serde_json::json;
use tonic::body::Body;

use super::issuer_path::issuer_of;
use super::{form, plain, refused};
use crate::metrics::{Call, End};
use crate::permissions::{Caller, Permission};
use crate::route::Guest;
use crate::service::{Failure, Service, allow};

pub(super) async fn revoke(
    service: &Arc<Service>,
    guest: &Guest,
    request: Request<Incoming>,
    at: &str,
) -> Response<Body> {
    let began = Instant::now();
    let Some(iss) = issuer_of(service, &request, at) else {
        return plain(StatusCode::NOT_FOUND, "there is no such issuer\n");
    };
    let caller = service.identify(guest.certificate.as_ref(), request.headers());
    let allowed = caller.map_err(Failure::from).and_then(|caller| {
        allow(&caller, Permission::Revoke, &iss)?;
        Ok(caller)
    });
    let caller = match allowed {
        Ok(caller) => caller,
        Err(failure) => {
            service
                .metrics
                .count(Call::RevokeForm, failure.end(), began);
            return refused(&failure);
        }
    };
    let (head, body) = request.into_parts();
    let token = match form::token(&head.headers, body).await {
        Ok(token) => token,
        Err(response) => {
            service.metrics.count(Call::RevokeForm, End::Refused, began);
            return *response;
        }
    };
    let (end, response) = revoked(service, &caller, &iss, &token).await;
    service.metrics.count(Call::RevokeForm, end, began);
    response
}

async fn revoked(
    service: &Service,
    caller: &Caller,
    iss: &str,
    token: &str,
) -> (End, Response<Body>) {
    let verified = match service.node.authenticate(iss, token) {
        Ok(verified) => verified,
        // What is no token of ours, or has expired, is of no use already (RFC 7009, section 2.2).
        Err(error) if error.is_rejection() => return (End::Rejected, done()),
        Err(error) => {
            let failure = Failure::from(error);
            return (failure.end(), refused(&failure));
        }
    };
    let revoke = match (verified.token_id(), verified.expires_at()) {
        (Some(id), Some(at)) => Revoke::token(id, at.unix_seconds()),
        (Some(id), None) => Revoke::all(Subject::Token(id.to_owned())),
        (None, _) => {
            let body = json!({
                "error": "unsupported_token_type",
                "error_description": "the token has no `jti`, so it alone cannot be revoked",
            });
            return (End::Refused, super::json(StatusCode::BAD_REQUEST, &body));
        }
    };
    drop(verified);
    match service.node.revoke(caller.name(), iss, revoke).await {
        Ok(_) => (End::Done, done()),
        Err(error) => {
            let failure = Failure::from(error);
            (failure.end(), refused(&failure))
        }
    }
}

fn done() -> Response<Body> {
    super::json(StatusCode::OK, &json!({}))
}
