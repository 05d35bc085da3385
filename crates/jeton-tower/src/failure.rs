//! The responses to rejected requests.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use http::header::{
    CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE,
};
use http::{Response, StatusCode};

/// `Retry-After` of a 503 response, seconds.
const RETRY_AFTER_SECONDS: u16 = 5;

/// Why a request is rejected, and what the response says about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    cause: Cause,
    /// The stable code of the error.
    code: Option<&'static str>,
    /// The required scopes, separated by spaces.
    scope: Option<String>,
}

/// Why a request is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The request has no token.
    Missing,
    /// The token is rejected.
    Invalid,
    /// The `Authorization` header is malformed.
    Malformed,
    /// The token lacks a scope.
    Scope,
    /// There are no keys to verify with.
    NoKeys,
    /// The service is misconfigured.
    Misconfigured,
}

/// What a response says about the error.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Describe {
    #[default]
    Nothing,
    /// Its stable code.
    Code,
}

/// What the responses of a layer say, in addition to the cause.
#[derive(Debug, Clone, Default)]
pub(crate) struct Details {
    pub(crate) describe: Describe,
    /// The URL of the metadata of the resource (RFC 9728, section 5.1).
    pub(crate) resource_metadata: Option<Arc<str>>,
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
        if kind.is_some_and(|kind| kind.starts_with(b"application/grpc")) {
            Self::Grpc
        } else {
            Self::Http
        }
    }
}

impl From<Cause> for Failure {
    fn from(cause: Cause) -> Self {
        Self {
            cause,
            code: None,
            scope: None,
        }
    }
}

impl Failure {
    pub(crate) fn insufficient_scope(scopes: &[Cow<'_, str>]) -> Self {
        // A scope has no space, no quotes and no backslash (RFC 6749, section 3.3).
        let is_plain = |byte: u8| matches!(byte, b'!' | b'#'..=b'[' | b']'..=b'~');
        let is_valid = |scope: &Cow<'_, str>| !scope.is_empty() && scope.bytes().all(is_plain);
        if !scopes.iter().all(is_valid) {
            tracing::error!("a required scope is not valid (RFC 6749, section 3.3)");
            return Cause::Misconfigured.into();
        }
        Self {
            scope: Some(scopes.join(" ")),
            ..Cause::Scope.into()
        }
    }

    pub(crate) fn response<B: Default>(self, protocol: Protocol, details: &Details) -> Response<B> {
        let code = self.code.filter(|_| details.describe == Describe::Code);
        match protocol {
            Protocol::Http => self.http(code, details.resource_metadata.as_deref()),
            Protocol::Grpc => self.grpc(code),
        }
    }

    fn http<B: Default>(
        self,
        code: Option<&'static str>,
        resource_metadata: Option<&str>,
    ) -> Response<B> {
        let mut response = Response::new(B::default());
        *response.status_mut() = self.status();
        let headers = response.headers_mut();
        if let Some(challenge) = self.challenge(code, resource_metadata) {
            headers.insert(WWW_AUTHENTICATE, challenge);
        }
        if self.cause == Cause::NoKeys {
            headers.insert(RETRY_AFTER, RETRY_AFTER_SECONDS.into());
        }
        response
    }

    fn status(&self) -> StatusCode {
        match self.cause {
            Cause::Missing | Cause::Invalid => StatusCode::UNAUTHORIZED,
            Cause::Malformed => StatusCode::BAD_REQUEST,
            Cause::Scope => StatusCode::FORBIDDEN,
            Cause::NoKeys => StatusCode::SERVICE_UNAVAILABLE,
            Cause::Misconfigured => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// Returns the `WWW-Authenticate` header. A request without a token gets no error code (RFC 6750, section 3).
    fn challenge(
        &self,
        code: Option<&'static str>,
        resource_metadata: Option<&str>,
    ) -> Option<HeaderValue> {
        let error = match self.cause {
            Cause::Missing => None,
            Cause::Invalid => Some("invalid_token"),
            Cause::Malformed => Some("invalid_request"),
            Cause::Scope => Some("insufficient_scope"),
            Cause::NoKeys | Cause::Misconfigured => return None,
        };
        let parameters = [
            ("error", error),
            ("error_description", code.filter(|_| error.is_some())),
            ("scope", self.scope.as_deref()),
            ("resource_metadata", resource_metadata),
        ];
        let parameters = parameters.into_iter().filter_map(|(name, value)| {
            let value = value?;
            Some(format!("{name}=\"{value}\""))
        });
        let parameters = parameters.collect::<Vec<_>>().join(", ");
        let challenge = format!("Bearer {parameters}");
        HeaderValue::try_from(challenge.trim_end()).ok()
    }

    /// Creates a response without a body ("Trailers-Only" in gRPC over HTTP/2).
    fn grpc<B: Default>(self, code: Option<&'static str>) -> Response<B> {
        #[cfg(feature = "tonic")]
        if code.is_some() {
            return self.grpc_status(code).into_http();
        }
        let _ = code;
        let mut response = Response::new(B::default());
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
        let (status, message) = self.grpc_code();
        headers.insert(HeaderName::from_static("grpc-status"), status.into());
        let message = HeaderValue::from_static(message);
        headers.insert(HeaderName::from_static("grpc-message"), message);
        response
    }

    /// Returns the gRPC status of a method.
    #[cfg(feature = "tonic")]
    pub(crate) fn status_for(&self, details: &Details) -> tonic::Status {
        let code = self.code.filter(|_| details.describe == Describe::Code);
        self.grpc_status(code)
    }

    /// Returns the gRPC status, with the code as `google.rpc.ErrorInfo`.
    #[cfg(feature = "tonic")]
    fn grpc_status(&self, code: Option<&'static str>) -> tonic::Status {
        use tonic_types::{ErrorDetails, StatusExt as _};
        let (status, message) = self.grpc_code();
        let status = tonic::Code::from(i32::from(status));
        match code {
            None => tonic::Status::new(status, message),
            Some(code) => {
                let nothing = std::collections::HashMap::<String, String>::new();
                let details = ErrorDetails::with_error_info(code, ERROR_DOMAIN, nothing);
                tonic::Status::with_error_details(status, message, details)
            }
        }
    }

    /// Returns the gRPC status code and the message.
    fn grpc_code(&self) -> (u16, &'static str) {
        match self.cause {
            Cause::Missing => (16, "a bearer token is required"),
            Cause::Invalid => (16, "the token is rejected"),
            Cause::Malformed => (3, "exactly one bearer token is required"),
            Cause::Scope => (7, "the token lacks a scope"),
            Cause::NoKeys => (14, "no keys to verify tokens with; retry later"),
            Cause::Misconfigured => (13, "token verification is misconfigured"),
        }
    }

    /// Logs the cause. The errors of jeton contain nothing from a token.
    pub(crate) fn log(&self, error: &dyn fmt::Display) {
        match self.cause {
            Cause::Misconfigured => tracing::error!(%error, "tokens cannot be verified"),
            Cause::NoKeys => tracing::warn!(%error, "tokens cannot be verified"),
            Cause::Missing | Cause::Invalid | Cause::Malformed | Cause::Scope => {
                tracing::debug!(%error, "token rejected");
            }
        }
    }
}

/// `domain` of `google.rpc.ErrorInfo`.
#[cfg(feature = "tonic")]
const ERROR_DOMAIN: &str = "jeton";

impl From<&jeton::Error> for Failure {
    fn from(error: &jeton::Error) -> Self {
        match error.rejection() {
            Some(rejection) => Self {
                code: Some(rejection.code()),
                ..Cause::Invalid.into()
            },
            None => Cause::Misconfigured.into(),
        }
    }
}

impl From<&jeton_jwks::Error> for Failure {
    fn from(error: &jeton_jwks::Error) -> Self {
        match error {
            jeton_jwks::Error::Jeton(error) => error.into(),
            error => Self {
                code: Some(error.code()),
                ..Cause::NoKeys.into()
            },
        }
    }
}
