//! Token introspection (RFC 7662): what a token says, if it is good.

use std::sync::Arc;
use std::time::Instant;

use http::{Request, Response, StatusCode};
use jeton::strict::{JsonError, read_members};
use jeton::{Untyped, Verified};
use jeton_issuer::{STATED_BY_INTROSPECTION, limits};
use serde_json::json;
use tonic::body::Body;

use super::form::TokenForm;
use super::refused;
use crate::body_drain::DrainedBody;
use crate::metrics::{Call, CallOutcome};
use crate::permissions::Permission;
use crate::route::Peer;
use crate::service::{Failure, Service};

pub(super) async fn introspect(
    service: &Arc<Service>,
    peer: &Peer,
    request: Request<DrainedBody>,
    at: &str,
) -> Response<Body> {
    let began = Instant::now();
    let want = (Call::Introspect, Permission::Verify);
    let TokenForm { iss, token, .. } = match TokenForm::read(service, peer, request, at, want).await {
        Ok(asked) => asked,
        Err(response) => return *response,
    };
    let (outcome, response) = match service.node.introspect(&iss, &token) {
        Ok(verified) => match active(&verified) {
            Ok(body) => (CallOutcome::Ok, super::json_text(StatusCode::OK, body)),
            Err(_) => (CallOutcome::Rejected, inactive()),
        },
        // Why is not the client's to know (RFC 7662, section 2.2).
        Err(error) if error.is_rejection() => (CallOutcome::Rejected, inactive()),
        Err(error) => {
            let failure = Failure::from(error);
            (failure.outcome(), refused(&failure))
        }
    };
    service.metrics.count(Call::Introspect, outcome, began);
    response
}

/// The claims of the token, each as it is written there, but for the times: an introspection response has
/// whole seconds (RFC 7662, section 2.2), where a PASETO has RFC 3339. What only this service can state, a
/// token that was made elsewhere is not believed, and no member stands twice.
fn active(verified: &Verified<Untyped>) -> Result<String, JsonError> {
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
