//! A posted form with a token in it (RFC 7662 and RFC 7009, each in section 2.1).

use std::sync::Arc;
use std::time::Instant;

use http::header::CONTENT_TYPE;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::BodyExt as _;
use tonic::body::Body;

use super::issuer_path::issuer_of;
use super::{plain, refused};
use crate::body_drain::DrainedBody;
use crate::limits;
use crate::metrics::{Call, CallOutcome};
use crate::permissions::{Caller, Permission};
use crate::route::Peer;
use crate::service::{Failure, Service, check_permission};

/// A posted form, from a caller who may ask.
pub(super) struct TokenForm {
    pub(super) caller: Arc<Caller>,
    pub(super) iss: String,
    pub(super) token: String,
}

impl TokenForm {
    /// What the form asks; or the answer to who may not ask, or asks nothing. The refusal is counted.
    pub(super) async fn read(
        service: &Arc<Service>,
        peer: &Peer,
        request: Request<DrainedBody>,
        at: &str,
        (call, permission): (Call, Permission),
    ) -> Result<TokenForm, Box<Response<Body>>> {
        let began = Instant::now();
        let Some(iss) = issuer_of(service, &request, at) else {
            let told = plain(StatusCode::NOT_FOUND, "there is no such issuer\n");
            return Err(Box::new(told));
        };
        let caller = service.identify(peer.certificate.as_ref(), request.headers());
        let allowed = caller.map_err(Failure::from).and_then(|caller| {
            check_permission(&caller, permission, &iss)?;
            Ok(caller)
        });
        let caller = match allowed {
            Ok(caller) => caller,
            Err(failure) => {
                service.metrics.count(call, failure.outcome(), began);
                return Err(Box::new(refused(&failure)));
            }
        };
        let (head, body) = request.into_parts();
        match token(&head.headers, body, service.limits.form_bytes()).await {
            Ok(token) => Ok(TokenForm { caller, iss, token }),
            Err(response) => {
                service.metrics.count(call, CallOutcome::ClientError, began);
                Err(response)
            }
        }
    }
}

/// The form's `token`; or the answer to a client that sent none.
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
            "wants application/x-www-form-urlencoded",
        ));
    }
    let bytes = match tokio::time::timeout(limits::RECEIVE_TIMEOUT, read(body, bytes_max)).await {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(refused)) => return Err(refused),
        Err(_) => {
            return Err(Box::new(plain(
                StatusCode::REQUEST_TIMEOUT,
                "the form did not arrive\n",
            )));
        }
    };
    let tokens = form_urlencoded::parse(&bytes).filter(|(name, _)| name == "token");
    let mut tokens = tokens.map(|(_, token)| token.into_owned());
    match (tokens.next(), tokens.next()) {
        (Some(token), None) if !token.is_empty() => Ok(token),
        (Some(_), Some(_)) => Err(wrong("token", "wants one")),
        _ => Err(wrong("token", "is missing")),
    }
}

/// The form's bytes. One that is too large is read to its end all the same, and dropped: who is still
/// sending when the connection closes does not hear why.
async fn read(mut body: DrainedBody, bytes_max: usize) -> Result<Vec<u8>, Box<Response<Body>>> {
    let mut bytes = Vec::new();
    let mut length = 0;
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else {
            let told = plain(StatusCode::BAD_REQUEST, "the form was cut off\n");
            return Err(Box::new(told));
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
    Box::new(refused(&Failure::Field(field, what.to_owned())))
}
