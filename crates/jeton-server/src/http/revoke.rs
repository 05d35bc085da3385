//! Token revocation (RFC 7009). The response is sent when the revocation is durable.

use std::sync::Arc;
use std::time::Instant;

use http::{Request, Response, StatusCode};
use jeton_issuer::Error;
use jeton_transport::{DrainedBody, Peer};
use serde_json::json;
use tonic::body::Body;

use super::error_response;
use super::form::TokenForm;
use crate::config::Permission;
use crate::failure::Failure;
use crate::metrics::{Call, CallOutcome};
use crate::refusal::Refusal;
use crate::service::Service;

pub(super) async fn revoke(
    service: &Arc<Service>,
    peer: &Peer,
    request: Request<DrainedBody>,
    at: &str,
) -> Response<Body> {
    let started = Instant::now();
    let required = (Call::RevokeForm, Permission::Revoke);
    let form = match TokenForm::read(service, peer, request, at, required).await {
        Ok(form) => form,
        Err(response) => return *response,
    };
    let (outcome, response) = revoke_token(service, &form).await;
    service.count(Some(&form.caller), Call::RevokeForm, outcome, started);
    response
}

async fn revoke_token(service: &Service, form: &TokenForm) -> (CallOutcome, Response<Body>) {
    let TokenForm { caller, iss, token } = form;
    match service.revoke_token(caller, iss, token).await {
        Ok(_) => (CallOutcome::Ok, empty()),
        // A token that no node accepts needs no revocation (RFC 7009, section 2.2).
        Err(Failure::Issuer(error)) if error.is_rejection() => {
            // The caller does not learn it.
            let refusal = Refusal::of_own(&error);
            service.log_refusal_of(Some(caller), iss, &refusal, Some(token));
            (CallOutcome::Rejected, empty())
        }
        Err(Failure::Issuer(Error::Unsupported(rule))) => {
            let body = json!({
                "error": "unsupported_token_type",
                "error_description": format!("the token {}", rule.rule),
            });
            (
                CallOutcome::ClientError,
                super::json(StatusCode::BAD_REQUEST, &body),
            )
        }
        Err(failure) => (failure.outcome(), error_response(&failure)),
    }
}

fn empty() -> Response<Body> {
    super::json(StatusCode::OK, &json!({}))
}
