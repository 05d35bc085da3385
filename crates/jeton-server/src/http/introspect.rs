//! Token introspection (RFC 7662).

use std::sync::Arc;
use std::time::Instant;

use http::{Request, Response, StatusCode};
use jeton::__private::{JsonError, read_members};
use jeton::{RawClaims, Verified};
use jeton_issuer::{STATED_BY_INTROSPECTION, limits};
use jeton_transport::{DrainedBody, Peer};
use serde_json::json;
use tonic::body::Body;

use super::error_response;
use super::form::TokenForm;
use crate::config::Permission;
use crate::failure::Failure;
use crate::metrics::{Call, CallOutcome};
use crate::service::Service;

pub(super) async fn introspect(
    service: &Arc<Service>,
    peer: &Peer,
    request: Request<DrainedBody>,
    at: &str,
) -> Response<Body> {
    let started = Instant::now();
    let required = (Call::Introspect, Permission::Verify);
    let TokenForm { caller, iss, token } =
        match TokenForm::read(service, peer, request, at, required).await {
            Ok(form) => form,
            Err(response) => return *response,
        };
    let (outcome, response) = match service.node.introspect(&iss, &token) {
        Ok(verified) => match active(&verified) {
            Ok(body) => (CallOutcome::Ok, super::json_text(StatusCode::OK, body)),
            Err(_) => (CallOutcome::Rejected, inactive()),
        },
        // The client does not learn the reason (RFC 7662, section 2.2).
        Err(error) if error.is_rejection() => {
            service.log_rejected(&caller, &iss, error, &token);
            (CallOutcome::Rejected, inactive())
        }
        Err(error) => {
            let failure = Failure::from(error);
            (failure.outcome(), error_response(&failure))
        }
    };
    service.count(Some(&caller), Call::Introspect, outcome, started);
    response
}

/// Builds the response from the claims of the token, each copied byte for byte.
///
/// Times are converted: a response has whole seconds (RFC 7662, section 2.2), a PASETO has RFC 3339. Members
/// that only the service may state are omitted: a token of an imported key could contain them.
fn active(verified: &Verified<RawClaims>) -> Result<String, JsonError> {
    let times = [
        ("exp", verified.expires_at()),
        ("iat", verified.issued_at()),
        ("nbf", verified.not_before()),
    ];
    let json = verified.json();
    let mut body = String::with_capacity(json.len() + 32);
    body.push_str("{\"active\":true");
    read_members(json, limits::CLAIMS_DEPTH, |member| {
        let name = member.name();
        if STATED_BY_INTROSPECTION.contains(&&*name) {
            return Ok::<_, JsonError>(());
        }
        body.push(',');
        body.push_str(member.written_name());
        body.push(':');
        match times.iter().find(|(time, _)| *time == name) {
            Some((_, Some(time))) => body.push_str(&time.unix_seconds().to_string()),
            _ => body.push_str(member.value()),
        }
        Ok(())
    })?;
    body.push('}');
    Ok(body)
}

fn inactive() -> Response<Body> {
    super::json(StatusCode::OK, &json!({ "active": false }))
}
