//! The responses to requests that do not pass.

use http::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, WWW_AUTHENTICATE};
use http::{Response, StatusCode};

/// Why a request does not pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The request has no token.
    Missing,
    /// The token is rejected.
    Invalid,
    /// The `Authorization` header is malformed.
    Malformed,
    /// There are no keys to verify with.
    NoKeys,
    /// The service is misconfigured.
    Misconfigured,
}

/// The protocol of the response.
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

impl Failure {
    pub(crate) fn response<B: Default>(self, protocol: Protocol) -> Response<B> {
        let mut response = Response::new(B::default());
        match protocol {
            Protocol::Http => {
                *response.status_mut() = self.status();
                if let Some(challenge) = self.challenge() {
                    let challenge = HeaderValue::from_static(challenge);
                    response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
                }
            }
            // A response without a body ("Trailers-Only" in gRPC over HTTP/2).
            Protocol::Grpc => {
                let headers = response.headers_mut();
                headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
                let (status, message) = self.grpc();
                let fields = [("grpc-status", status), ("grpc-message", message)];
                for (name, value) in fields {
                    let name = HeaderName::from_static(name);
                    headers.insert(name, HeaderValue::from_static(value));
                }
            }
        }
        response
    }

    pub(crate) fn status(self) -> StatusCode {
        match self {
            Self::Missing | Self::Invalid => StatusCode::UNAUTHORIZED,
            Self::Malformed => StatusCode::BAD_REQUEST,
            Self::NoKeys => StatusCode::SERVICE_UNAVAILABLE,
            Self::Misconfigured => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// The `WWW-Authenticate` header. A request without a token gets no error code (RFC 6750, section 3).
    pub(crate) fn challenge(self) -> Option<&'static str> {
        match self {
            Self::Missing => Some("Bearer"),
            Self::Invalid => Some("Bearer error=\"invalid_token\""),
            Self::Malformed => Some("Bearer error=\"invalid_request\""),
            Self::NoKeys | Self::Misconfigured => None,
        }
    }

    /// The gRPC status code and the message.
    fn grpc(self) -> (&'static str, &'static str) {
        match self {
            Self::Missing => ("16", "a bearer token is required"),
            Self::Invalid => ("16", "the token is rejected"),
            Self::Malformed => ("3", "exactly one bearer token is required"),
            Self::NoKeys => ("14", "no keys to verify tokens with, retry later"),
            Self::Misconfigured => ("13", "token verification is misconfigured"),
        }
    }
}

impl From<&jeton::Error> for Failure {
    fn from(error: &jeton::Error) -> Self {
        match error.rejection() {
            Some(_) => Self::Invalid,
            None => Self::Misconfigured,
        }
    }
}

impl From<&jeton_jwks::Error> for Failure {
    fn from(error: &jeton_jwks::Error) -> Self {
        match error {
            jeton_jwks::Error::Jeton(error) => error.into(),
            _ => Self::NoKeys,
        }
    }
}
