//! HTTP/2 requests, created once and sent repeatedly.

use std::sync::Arc;

use bytes::Bytes;
use http::HeaderValue;

use jeton_lab_harness::grpc::framed;
use jeton_lab_model::servers::Call;

/// A POST, or without a body a GET.
#[derive(Debug, Clone)]
pub(crate) struct HttpRequest {
    pub(super) path: &'static str,
    pub(super) content_type: &'static str,
    pub(super) body: Bytes,
    /// The values of `Authorization`, in turn.
    pub(super) bearers: Arc<[HeaderValue]>,
}

impl HttpRequest {
    pub(super) fn grpc(path: &'static str, message: &[u8]) -> Self {
        Self::post(path, "application/grpc", framed(message))
    }

    pub(super) fn post(path: &'static str, content_type: &'static str, body: Bytes) -> Self {
        Self {
            path,
            content_type,
            body,
            bearers: Arc::default(),
        }
    }

    /// A request through a gateway, with each of these tokens in turn.
    ///
    /// # Errors
    ///
    /// The number of the first text that cannot be a token, counted from 1.
    pub(crate) fn get<'t>(tokens: impl IntoIterator<Item = &'t str>) -> Result<Self, usize> {
        let bearer = |(at, token): (usize, &str)| {
            let value = HeaderValue::try_from(format!("Bearer {token}"));
            let mut value = value.map_err(|_| at + 1)?;
            value.set_sensitive(true);
            Ok(value)
        };
        let bearers: Result<_, usize> = tokens.into_iter().enumerate().map(bearer).collect();
        Ok(Self {
            path: path(Call::Pass),
            content_type: "",
            body: Bytes::new(),
            bearers: bearers?,
        })
    }

    /// `jeton.v1.TokenService/Keys`: the public keys.
    pub(crate) fn keys() -> Self {
        Self::grpc("/jeton.v1.TokenService/Keys", b"")
    }

    /// Returns whether the answer has a gRPC status after the body.
    pub(super) fn is_grpc(&self) -> bool {
        self.content_type == "application/grpc"
    }
}

/// The path of a call.
pub(super) fn path(call: Call) -> &'static str {
    match call {
        Call::GenerateJwt => "/jwt.services.JwtService/GenerateJwt",
        Call::Issue => "/jeton.v1.TokenService/Issue",
        Call::IssueBatch => "/jeton.v1.TokenService/IssueBatch",
        Call::IssueStream => "/jeton.v1.TokenService/IssueStream",
        Call::Verify | Call::VerifyRevoked => "/jeton.v1.TokenService/Verify",
        Call::VerifyBatch => "/jeton.v1.TokenService/VerifyBatch",
        Call::VerifyStream => "/jeton.v1.TokenService/VerifyStream",
        Call::Introspect => "/introspect",
        Call::Pass | Call::PassDifferent | Call::PassRevoked => "/api/",
    }
}
