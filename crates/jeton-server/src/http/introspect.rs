//! Token introspection (RFC 7662): what a token says, if it is good.

use std::sync::Arc;
use std::time::Instant;

use http::{Request, Response, StatusCode};
use jeton::{Untyped, Verified};
use serde_json::{Map, Value, json};
use tonic::body::Body;

use super::form::Asked;
use super::refused;
use crate::arriving::Arriving;
use crate::metrics::{Call, End};
use crate::permissions::Permission;
use crate::route::Guest;
use crate::service::{Failure, Service};

pub(super) async fn introspect(
    service: &Arc<Service>,
    guest: &Guest,
    request: Request<Arriving>,
    at: &str,
) -> Response<Body> {
    let began = Instant::now();
    let want = (Call::Introspect, Permission::Verify);
    let Asked { iss, token, .. } = match Asked::read(service, guest, request, at, want).await {
        Ok(asked) => asked,
        Err(response) => return *response,
    };
    let (end, response) = match service.node.introspect(&iss, &token) {
        // The claims of the token. One that calls itself active is not believed.
        Ok(verified) => match serde_json::from_str::<Map<String, Value>>(verified.json()) {
            Ok(mut claims) => {
                number_times(&mut claims, &verified);
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

/// A PASETO writes its times as RFC 3339 has them, and an introspection response wants numbers (RFC
/// 7662, section 2.2).
fn number_times(claims: &mut Map<String, Value>, verified: &Verified<Untyped>) {
    let times = [
        ("exp", verified.expires_at()),
        ("iat", verified.issued_at()),
        ("nbf", verified.not_before()),
    ];
    for (name, time) in times {
        if let (Some(claim @ Value::String(_)), Some(time)) = (claims.get_mut(name), time) {
            *claim = time.unix_seconds().into();
        }
    }
}

fn inactive() -> Response<Body> {
    super::json(StatusCode::OK, &json!({ "active": false }))
}
