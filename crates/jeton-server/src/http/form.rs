//! A posted form with a token in it (RFC 7662 and RFC 7009, each in section 2.1).

use http::header::CONTENT_TYPE;
use http::{HeaderMap, StatusCode};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::Incoming;
use tonic::body::Body;

use super::plain;
use crate::limits;
use crate::service::Failure;

/// The form's `token`; or the answer to a client that sent none.
pub(super) async fn token(
    headers: &HeaderMap,
    body: Incoming,
) -> Result<String, Box<http::Response<Body>>> {
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
    let collected = Limited::new(body, limits::FORM_BYTES).collect();
    let bytes = match tokio::time::timeout(limits::ARRIVAL, collected).await {
        Err(_) => {
            return Err(Box::new(plain(
                StatusCode::REQUEST_TIMEOUT,
                "the form did not arrive\n",
            )));
        }
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            return Err(Box::new(plain(
                StatusCode::PAYLOAD_TOO_LARGE,
                "the form is too large\n",
            )));
        }
        Ok(Err(_)) => {
            return Err(Box::new(plain(
                StatusCode::BAD_REQUEST,
                "the form was cut off\n",
            )));
        }
        Ok(Ok(collected)) => collected.to_bytes(),
    };
    let tokens = form_urlencoded::parse(&bytes).filter(|(name, _)| name == "token");
    let mut tokens = tokens.map(|(_, token)| token.into_owned());
    match (tokens.next(), tokens.next()) {
        (Some(token), None) if !token.is_empty() => Ok(token),
        (Some(_), Some(_)) => Err(wrong("token", "wants one")),
        _ => Err(wrong("token", "is missing")),
    }
}

fn wrong(field: &'static str, what: &str) -> Box<http::Response<Body>> {
    Box::new(super::refused(&Failure::Field(field, what.to_owned())))
}
