//! The form of introspection and revocation requests (RFC 7662 and RFC 7009, section 2.1 of each).

use std::sync::Arc;
use std::time::Instant;

use http::header::CONTENT_TYPE;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::BodyExt as _;
use tonic::body::Body;

use super::issuer_path::issuer_of;
use super::{error_response, plain};
use crate::limits;
use crate::metrics::{Call, CallOutcome};
use crate::permissions::{Caller, Permission};
use crate::service::{Failure, Service, check_permission};
use crate::transport::{DrainedBody, Peer};

/// A form with a token, from a caller with the required permission.
pub(super) struct TokenForm {
    pub(super) caller: Arc<Caller>,
    pub(super) iss: String,
    pub(super) token: String,
}

impl TokenForm {
    /// Identifies the caller and reads the form. Counts a failed call and returns its response.
    pub(super) async fn read(
        service: &Arc<Service>,
        peer: &Peer,
        request: Request<DrainedBody>,
        at: &str,
        (call, permission): (Call, Permission),
    ) -> Result<TokenForm, Box<Response<Body>>> {
        let started = Instant::now();
        let Some(iss) = issuer_of(service, &request, at) else {
            return Err(Box::new(plain(StatusCode::NOT_FOUND, "unknown issuer\n")));
        };
        let caller = service.identify(peer.certificate.as_ref(), request.headers());
        let allowed = caller.map_err(Failure::from).and_then(|caller| {
            check_permission(&caller, permission, &iss)?;
            Ok(caller)
        });
        let caller = match allowed {
            Ok(caller) => caller,
            Err(failure) => {
                service.metrics.count(call, failure.outcome(), started);
                return Err(Box::new(error_response(&failure)));
            }
        };
        let (head, body) = request.into_parts();
        match token(&head.headers, body, service.limits.form_bytes()).await {
            Ok(token) => Ok(TokenForm { caller, iss, token }),
            Err(response) => {
                service
                    .metrics
                    .count(call, CallOutcome::ClientError, started);
                Err(response)
            }
        }
    }
}

/// Reads the parameter `token`, or returns the error response.
async fn token(
    headers: &HeaderMap,
    body: DrainedBody,
    bytes_max: usize,
) -> Result<String, Box<Response<Body>>> {
    let content_type = headers.get(CONTENT_TYPE).map(|value| value.as_bytes());
    let media_type = content_type.and_then(|value| value.split(|byte| *byte == b';').next());
    let is_form = media_type.is_some_and(|value| {
        value
            .trim_ascii()
            .eq_ignore_ascii_case(b"application/x-www-form-urlencoded")
    });
    if !is_form {
        return Err(wrong(
            "content-type",
            "expected application/x-www-form-urlencoded",
        ));
    }
    let bytes = match tokio::time::timeout(limits::RECEIVE_TIMEOUT, read(body, bytes_max)).await {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(response)) => return Err(response),
        Err(_) => {
            return Err(Box::new(plain(
                StatusCode::REQUEST_TIMEOUT,
                "timeout while receiving the form\n",
            )));
        }
    };
    let tokens = form_urlencoded::parse(&bytes).filter(|(name, _)| name == "token");
    let mut tokens = tokens.map(|(_, token)| token.into_owned());
    match (tokens.next(), tokens.next()) {
        (Some(token), None) if !token.is_empty() => Ok(token),
        (Some(_), Some(_)) => Err(wrong("token", "duplicate parameter")),
        _ => Err(wrong("token", "required")),
    }
}

/// Reads the bytes of a form.
///
/// An oversized form is read to its end and discarded: a client that is still sending when the connection
/// closes would not receive the response.
async fn read(mut body: DrainedBody, bytes_max: usize) -> Result<Vec<u8>, Box<Response<Body>>> {
    let mut bytes = Vec::new();
    let mut length = 0;
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else {
            return Err(Box::new(plain(
                StatusCode::BAD_REQUEST,
                "the form ended early\n",
            )));
        };
        let data = frame.into_data().unwrap_or_default();
        length += data.len();
        if length > limits::DISCARDED_BYTES {
            break;
        }
        if length <= bytes_max {
            bytes.extend_from_slice(&data);
        }
    }
    match length > bytes_max {
        true => Err(Box::new(plain(
            StatusCode::PAYLOAD_TOO_LARGE,
            "the form is too large\n",
        ))),
        false => Ok(bytes),
    }
}

fn wrong(field: &'static str, what: &str) -> Box<Response<Body>> {
    Box::new(error_response(&Failure::Field(field, what.to_owned())))
}
