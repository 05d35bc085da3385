//! Forms: of the token endpoint (RFC 6749), of introspection (RFC 7662) and of revocation (RFC 7009).

use std::sync::Arc;
use std::time::Instant;

use http::header::CONTENT_TYPE;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::BodyExt as _;
use jeton_transport::{DrainedBody, Peer};
use tonic::body::Body;
use zeroize::Zeroizing;

use super::issuer_path::issuer_of;
use super::{client_error_response, error_response, plain};
use crate::auth::Denied;
use crate::client_auth;
use crate::config::Permission;
use crate::failure::Failure;
use crate::form::Form;
use crate::limits;
use crate::metrics::{Call, CallOutcome};
use crate::permissions::Caller;
use crate::service::{Service, check_permission};

impl Form {
    /// Reads a form of at most so many bytes, or returns the error response.
    pub(super) async fn read(
        headers: &HeaderMap,
        body: DrainedBody,
        bytes_max: usize,
    ) -> Result<Form, Box<Response<Body>>> {
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
        let bytes = read(body, bytes_max);
        let bytes = match tokio::time::timeout(limits::RECEIVE_TIMEOUT, bytes).await {
            Ok(bytes) => bytes?,
            Err(_) => {
                return Err(Box::new(plain(
                    StatusCode::REQUEST_TIMEOUT,
                    "timeout while receiving the form\n",
                )));
            }
        };
        Form::parse(&bytes).map_err(|failure| Box::new(error_response(&failure)))
    }
}

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
        let failed = |failure: Failure, caller: Option<&Caller>| {
            let failure = service.log_refusal(failure, caller, &iss);
            service.count(caller, call, failure.outcome(), started);
            Box::new(client_error_response(&failure))
        };
        if !client_auth::may_be_in_form(service, peer, request.headers()) {
            // The form of such a caller is not read.
            return Err(failed(Denied::NoFormCredentials.into(), None));
        }
        let from_headers = client_auth::identify_by_headers(service, peer, &request, &iss).await;
        let from_headers = from_headers.map_err(|failure| failed(failure, None))?;
        let (head, body) = request.into_parts();
        let form = match Form::read(&head.headers, body, service.limits.form_bytes()).await {
            Ok(form) => form,
            Err(response) => {
                service
                    .metrics
                    .count(call, CallOutcome::ClientError, started);
                return Err(response);
            }
        };
        let identified = client_auth::identify(service, from_headers, &form, &iss).await;
        let caller = identified.and_then(|caller| Ok(caller.ok_or(Denied::NoFormCredentials)?));
        let caller = caller.map_err(|failure| failed(failure, None))?;
        let permitted = check_permission(&caller, permission, &iss);
        let token = permitted.and_then(|()| Ok(form.required("token")?.to_owned()));
        let token = token.map_err(|failure| failed(failure, Some(&caller)))?;
        Ok(TokenForm { caller, iss, token })
    }
}

/// Reads the bytes of a form. They may contain a secret, so they are wiped.
///
/// An oversized form is read to its end and discarded: a client that is still sending when the connection
/// closes would not receive the response.
async fn read(
    mut body: DrainedBody,
    bytes_max: usize,
) -> Result<Zeroizing<Vec<u8>>, Box<Response<Body>>> {
    let mut bytes = Zeroizing::new(Vec::new());
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
            // The bytes, and the parameters that are made of them.
            if let Err(refused) = body.stream().charge().add(2 * data.len()) {
                body.stream().charge().sub(2 * bytes.len());
                return Err(Box::new(error_response(&refused.into())));
            }
            bytes.extend_from_slice(&data);
        }
    }
    if length > bytes_max {
        Err(Box::new(plain(
            StatusCode::PAYLOAD_TOO_LARGE,
            "the form is too large\n",
        )))
    } else {
        Ok(bytes)
    }
}

fn wrong(field: &'static str, what: &str) -> Box<Response<Body>> {
    Box::new(error_response(&Failure::Field(field, what.to_owned())))
}
