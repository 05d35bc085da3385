//! Whether a request is gRPC.

use http::header::CONTENT_TYPE;
use http::{Request, Version};

/// Whether the request has exactly one gRPC content type.
pub(crate) fn is_grpc<B>(request: &Request<B>) -> bool {
    let mut types = request.headers().get_all(CONTENT_TYPE).iter();
    let (Some(only), None) = (types.next(), types.next()) else {
        return false;
    };
    only == "application/grpc" || only == "application/grpc+proto"
}

/// Whether the client can read a gRPC status.
pub(crate) fn speaks_grpc<B>(request: &Request<B>) -> bool {
    request.version() == Version::HTTP_2 && is_grpc(request)
}
