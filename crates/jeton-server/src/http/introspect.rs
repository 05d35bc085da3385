//! Token introspection (RFC 7662): what a token says, if it is good.

use std::sync::Arc;
use std::time::Instant;

use http::{Request, Response, StatusCode};
use hyper::body::Incoming;
use serde_json::{Map, Value, json};
use tonic::body::Body;

use super::issuer_path::issuer_of;
use super::{form, plain, refused};
use crate::metrics::{Call, End};
use crate::permissions::Permission;
use crate::route::Guest;
use crate::service::{Failure, Service, allow};

pub(super) async fn introspect(
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
    let allowed = caller
        .map_err(Failure::from)
        .and_then(|caller| allow(&caller, Permission::Verify, &iss));
    if let Err(failure) = allowed {
        service
            .metrics
            .count(Call::Introspect, failure.end(), began);
        return refused(&failure);
    }
    let (head, body) = request.into_parts();
    let token = match form::token(&head.headers, body).await {
        Ok(token) => token,
        Err(response) => {
            service.metrics.count(Call::Introspect, End::Refused, began);
            return *response;
        }
    };
    let (end, response) = match service.node.introspect(&iss, &token) {
        // The claims as they are in the token. One that calls itself active is not believed.
        Ok(verified) => match serde_json::from_str::<Map<String, Value>>(verified.json()) {
            Ok(mut claims) => {
                claims.insert("active".to_owned(), Value::Bool(true));
                (
                    End::Done,
                    super::json(StatusCode::OK, &Value::Object(claims)),
                )
            }
            Err(_) => (End::Rejected, inactive()),
        },
        // Why is not the client's to know (RFC 7662, section 2.2).
        Err(error) if error.is_rejection() => (End::Rejected, inactive()),
        Err(error) => {
            let failure = Failure::from(error);
            (failure.end(), refused(&failure))
        }
    };
    service.metrics.count(Call::Introspect, end, began);
    response
}

fn inactive() -> Response<Body> {
    super::json(StatusCode::OK, &json!({ "active": false }))
}
