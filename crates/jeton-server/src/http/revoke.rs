//! Token revocation (RFC 7009). The answer comes when the revocation is durable.

use std::sync::Arc;
use std::time::Instant;

use http::{Request, Response, StatusCode};
use jeton_issuer::Error;
use serde_json::json;
use tonic::body::Body;

use super::form::TokenForm;
use super::refused;
use crate::body_drain::DrainedBody;
use crate::metrics::{Call, CallOutcome};
use crate::permissions::Permission;
use crate::route::Peer;
use crate::service::{Failure, Service};

pub(super) async fn revoke(
    service: &Arc<Service>,
    peer: &Peer,
    request: Request<DrainedBody>,
    at: &str,
) -> Response<Body> {
    let began = Instant::now();
    let want = (Call::RevokeForm, Permission::Revoke);
    let asked = match TokenForm::read(service, peer, request, at, want).await {
        Ok(asked) => asked,
        Err(response) => return *response,
    };
    let (outcome, response) = revoked(service, &asked).await;
    service.metrics.count(Call::RevokeForm, outcome, began);
    response
}

async fn revoked(service: &Service, asked: &TokenForm) -> (CallOutcome, Response<Body>) {
    let TokenForm { caller, iss, token } = asked;
    match service.node.revoke_token(caller.name(), iss, token).await {
        Ok(_) => (CallOutcome::Ok, done()),
        // What no node accepts is of no use already (RFC 7009, section 2.2).
        Err(error) if error.is_rejection() => (CallOutcome::Rejected, done()),
        Err(Error::Unsupported(rule)) => {
            let body = json!({
                "error": "unsupported_token_type",
                "error_description": format!("the token {}", rule.rule),
            });
            (CallOutcome::ClientError, super::json(StatusCode::BAD_REQUEST, &body))
        }
        Err(error) => {
            let failure = Failure::from(error);
            (failure.outcome(), refused(&failure))
        }
    }
}

fn done() -> Response<Body> {
    super::json(StatusCode::OK, &json!({}))
}
