//! HTTP/2 requests, created once and sent repeatedly.

use bytes::Bytes;

use jeton_lab_harness::grpc::framed;

/// A POST over HTTP/2.
#[derive(Debug, Clone)]
pub(crate) struct Post {
    pub(super) path: &'static str,
    pub(super) content_type: &'static str,
    pub(super) body: Bytes,
}

impl Post {
    pub(super) fn grpc(path: &'static str, message: &[u8]) -> Self {
        Self {
            path,
            content_type: "application/grpc",
            body: framed(message),
        }
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
