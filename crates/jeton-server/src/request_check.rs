//! Requests that the server rejects by method, host, origin or content type, and their responses.
//!
//! A response says what to do. It never repeats parts of the request.

use http::header::{ALLOW, CONNECTION, HeaderValue};
use http::{Request, Response, StatusCode, Version};
use jeton::error::codes;
use tonic::body::Body;

use crate::failure;
use crate::grpc::speaks_grpc;
use crate::http::plain;

/// Why a request is rejected before its caller is identified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestError {
    /// No `Host`, several, or one that contradicts the target.
    InvalidAuthority,
    /// `Transfer-Encoding` other than one `chunked`.
    TransferEncoding,
    /// The host is not a name of the server.
    Host,
    /// A gRPC path with a method other than POST.
    Method,
    /// A gRPC path without HTTP/2 or without a gRPC content type.
    NotGrpc,
    /// A browser sent the request for a page of another site.
    CrossOrigin,
}

const HOST: &str = "unknown host name: use the IP address of the server or `localhost`, or add the name to \
                    `hosts` in the server configuration\n";
const CROSS_ORIGIN: &str =
    "cross-origin request refused: `Origin` or `Sec-Fetch-Site` names another site\n";

impl RequestError {
    pub(crate) fn response<B>(self, request: &Request<B>) -> Response<Body> {
        match self {
            RequestError::InvalidAuthority => {
                let mut response = plain(
                    StatusCode::BAD_REQUEST,
                    "invalid `Host`: send exactly one, HOST or HOST:PORT, that matches the request target\n",
                );
                if request.version() < Version::HTTP_2 {
                    // A proxy in between may frame the request differently (request smuggling).
                    let close = HeaderValue::from_static("close");
                    response.headers_mut().insert(CONNECTION, close);
                }
                response
            }
            RequestError::TransferEncoding => {
                let what = "invalid `Transfer-Encoding`: only one `chunked` is accepted\n";
                let mut response = plain(StatusCode::BAD_REQUEST, what);
                let close = HeaderValue::from_static("close");
                response.headers_mut().insert(CONNECTION, close);
                response
            }
            // gRPC clients show the status message of a call. Of an HTTP status other than 200 they show
            // only the number.
            RequestError::Host if speaks_grpc(request) => {
                failure::permission_denied(codes::HOST_NOT_ALLOWED.name(), HOST.trim_end())
                    .into_http()
            }
            RequestError::Host => plain(StatusCode::MISDIRECTED_REQUEST, HOST),
            RequestError::Method => {
                let mut response = plain(
                    StatusCode::METHOD_NOT_ALLOWED,
                    "gRPC requires the method POST\n",
                );
                let post = HeaderValue::from_static("POST");
                response.headers_mut().insert(ALLOW, post);
                response
            }
            RequestError::NotGrpc => plain(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "gRPC requires HTTP/2 and exactly one `content-type`: application/grpc or \
                 application/grpc+proto\n",
            ),
            // Only browsers and their proxies send those headers. They understand status 403.
            RequestError::CrossOrigin if speaks_grpc(request) => {
                let status = failure::permission_denied(
                    codes::FOREIGN_ORIGIN.name(),
                    CROSS_ORIGIN.trim_end(),
                );
                let mut response = status.into_http();
                *response.status_mut() = StatusCode::FORBIDDEN;
                response
            }
            RequestError::CrossOrigin => plain(StatusCode::FORBIDDEN, CROSS_ORIGIN),
        }
    }
}
