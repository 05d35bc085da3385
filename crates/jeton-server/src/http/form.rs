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
use crate::limits;
use crate::metrics::{Call, CallOutcome};
use crate::permissions::Caller;
use crate::service::{Failure, Service, check_permission};

/// The parameters of a form. Each has one value, and an empty value counts as none (RFC 6749, section 3.2).
pub(crate) struct Form {
    parameters: Vec<(String, Zeroizing<String>)>,
}

/// The names that errors may repeat.
const NAMES: [&str; 16] = [
    "actor_token",
    "actor_token_type",
    "assertion",
    "audience",
    "client_assertion",
    "client_assertion_type",
    "client_id",
    "client_secret",
    "grant_type",
    "requested_token_type",
    "resource",
    "scope",
    "subject_token",
    "subject_token_type",
    "token",
    "token_type_hint",
];

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

    fn parse(bytes: &[u8]) -> Result<Form, Failure> {
        let mut parameters: Vec<(String, Zeroizing<String>)> = Vec::new();
        for (name, value) in form_urlencoded::parse(bytes) {
            let known = NAMES.into_iter().find(|known| *known == name);
            let named = known.unwrap_or("form");
            if parameters.len() >= limits::FORM_PARAMETERS {
                let max = limits::FORM_PARAMETERS;
                let what = format!("more than {max} parameters, maximum {max}");
                return Err(Failure::Field("form", what));
            }
            if parameters.iter().any(|(other, _)| *other == name) {
                // Several targets are valid elsewhere (RFC 8707, RFC 8693), but a token has one audience.
                return Err(Failure::Field(named, "duplicate parameter".to_owned()));
            }
            // The parser replaces what is not UTF-8. Two different values would become one.
            if [&*name, &*value]
                .iter()
                .any(|text| text.contains('\u{fffd}'))
            {
                return Err(Failure::Field(named, "not UTF-8".to_owned()));
            }
            parameters.push((name.into_owned(), Zeroizing::new(value.into_owned())));
        }
        Ok(Form { parameters })
    }

    /// Returns the value of a parameter, if it is there and not empty.
    pub(crate) fn one(&self, name: &'static str) -> Result<Option<&str>, Failure> {
        debug_assert!(NAMES.contains(&name));
        let found = self.parameters.iter().find(|(other, _)| other == name);
        let value = found.map(|(_, value)| value.as_str());
        Ok(value.filter(|value| !value.is_empty()))
    }

    /// Returns the value of a parameter that is required.
    pub(crate) fn required(&self, name: &'static str) -> Result<&str, Failure> {
        let value = self.one(name)?;
        value.ok_or_else(|| Failure::Field(name, "required".to_owned()))
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
        let failed = |failure: &Failure| {
            service.metrics.count(call, failure.outcome(), started);
            Box::new(client_error_response(failure))
        };
        if !client_auth::may_be_in_form(service, peer, request.headers()) {
            // The form of such a caller is not read.
            return Err(failed(&Denied::NoCredentials.into()));
        }
        let from_headers = client_auth::identify_by_headers(service, peer, &request).await;
        let from_headers = from_headers.map_err(|failure| failed(&failure))?;
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
        let checked = identified.and_then(|caller| {
            let caller = caller.ok_or(Denied::NoCredentials)?;
            check_permission(&caller, permission, &iss)?;
            let token = form.required("token")?.to_owned();
            Ok((caller, token))
        });
        match checked {
            Ok((caller, token)) => Ok(TokenForm { caller, iss, token }),
            Err(failure) => Err(failed(&failure)),
        }
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn form_has_each_parameter_once() {
        let form = Form::parse(b"grant_type=a%20b&scope=&x=1").ok().unwrap();
        assert_eq!(form.one("grant_type").unwrap(), Some("a b"));
        assert_eq!(form.one("scope").unwrap(), None);
        assert_eq!(form.one("token").unwrap(), None);
        let many: String = (0..33).map(|i| format!("p{i}=&")).collect();
        for (text, name) in [
            ("scope=a&scope=a", "scope"),
            ("resource=a&resource=b", "resource"),
            ("x=1&x=2", "form"),
            ("scope=%ff", "scope"),
            (many.as_str(), "form"),
        ] {
            let failure = Form::parse(text.as_bytes()).err().unwrap();
            assert!(
                matches!(failure, Failure::Field(of, _) if of == name),
                "{text}"
            );
        }
    }
}
