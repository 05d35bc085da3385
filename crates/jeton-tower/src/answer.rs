//! What a request is answered that does not pass.

use http::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, WWW_AUTHENTICATE};
use http::{Response, StatusCode};

/// Why a request does not pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It has no token.
    Missing,
    /// Its token is refused.
    Invalid,
    /// It cannot be told what its token is.
    Malformed,
    /// There are no keys.
    NoKeys,
    /// The service is set up wrongly.
    Fault,
}

/// Which protocol it is answered in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    Http,
    Grpc,
}

impl Protocol {
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let kind = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes);
        match kind.is_some_and(|kind| kind.starts_with(b"application/grpc")) {
            true => Self::Grpc,
            false => Self::Http,
        }
    }
}

impl Refusal {
    pub(crate) fn answer<B: Default>(self, protocol: Protocol) -> Response<B> {
        let mut answer = Response::new(B::default());
        match protocol {
            Protocol::Http => {
                *answer.status_mut() = self.status();
                if let Some(challenge) = self.challenge() {
                    let challenge = HeaderValue::from_static(challenge);
                    answer.headers_mut().insert(WWW_AUTHENTICATE, challenge);
                }
            }
            // An answer that is nothing but its end ("Trailers-Only" in gRPC over HTTP/2).
            Protocol::Grpc => {
                let headers = answer.headers_mut();
                headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
                let (status, message) = self.grpc();
                let said = [("grpc-status", status), ("grpc-message", message)];
                for (name, value) in said {
                    let name = HeaderName::from_static(name);
                    headers.insert(name, HeaderValue::from_static(value));
                }
            }
        }
        answer
    }

    pub(crate) fn status(self) -> StatusCode {
        match self {
            Self::Missing | Self::Invalid => StatusCode::UNAUTHORIZED,
            Self::Malformed => StatusCode::BAD_REQUEST,
            Self::NoKeys => StatusCode::SERVICE_UNAVAILABLE,
            Self::Fault => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// RFC 6750, section 3: who sent no token is not told of an error.
    pub(crate) fn challenge(self) -> Option<&'static str> {
        match self {
            Self::Missing => Some("Bearer"),
            Self::Invalid => Some("Bearer error=\"invalid_token\""),
            Self::Malformed => Some("Bearer error=\"invalid_request\""),
            Self::NoKeys | Self::Fault => None,
        }
    }

    /// The number of the status, and a message.
    fn grpc(self) -> (&'static str, &'static str) {
        match self {
            Self::Missing => ("16", "a bearer token is wanted"),
            Self::Invalid => ("16", "the token is refused"),
            Self::Malformed => ("3", "one bearer token is wanted"),
            Self::NoKeys => ("14", "tokens cannot be verified now"),
            Self::Fault => ("13", "tokens cannot be verified here"),
        }
    }
}

impl From<&jeton::Error> for Refusal {
    fn from(error: &jeton::Error) -> Self {
        match error.rejection() {
            Some(_) => Self::Invalid,
            None => Self::Fault,
        }
    }
}

impl From<&jeton_jwks::Error> for Refusal {
    fn from(error: &jeton_jwks::Error) -> Self {
        match error {
            jeton_jwks::Error::Jeton(error) => error.into(),
            _ => Self::NoKeys,
        }
    }
}
