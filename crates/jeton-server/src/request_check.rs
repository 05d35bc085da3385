//! Requests that are refused by their first lines, and what their senders are told: what to do, and
//! nothing of what they sent.

use http::header::{ALLOW, CONNECTION, CONTENT_TYPE, HeaderValue};
use http::{Request, Response, StatusCode, Version};
use tonic::body::Body;

use crate::grpc;
use crate::http::plain;

/// Why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestError {
    /// No `Host`, several, or one that contradicts the target.
    InvalidAuthority,
    /// A name that is none of the server's.
    Host,
    /// gRPC by another method.
    Method,
    /// gRPC's path, and no gRPC.
    NotGrpc,
    /// A browser sent it for a page of another site.
    CrossOrigin,
}

const HOST: &str = "the server is not called by this name: use its IP address or `localhost`, or add the \
                    name to `hosts` in its configuration\n";
const CROSS_ORIGIN: &str = "a page of another site may not send this: `Origin` or `Sec-Fetch-Site` says \
                            that one did\n";

impl RequestError {
    pub(crate) fn answer<B>(self, request: &Request<B>) -> Response<Body> {
        match self {
            RequestError::InvalidAuthority => {
                let mut response = plain(
                    StatusCode::BAD_REQUEST,
                    "wants one `Host`, a host with or without a port, that agrees with the target\n",
                );
                if request.version() < Version::HTTP_2 {
                    // Who sent it and who passed it on may not mean the same request.
                    let close = HeaderValue::from_static("close");
                    response.headers_mut().insert(CONNECTION, close);
                }
                response
            }
            // Its clients tell people what stands in a call's status, and of an answer that is not 200
            // just the number.
            RequestError::Host if speaks_grpc(request) => {
                grpc::refused("HOST_NOT_ALLOWED", HOST.trim_end()).into_http()
            }
            RequestError::Host => plain(StatusCode::MISDIRECTED_REQUEST, HOST),
            RequestError::Method => {
                let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, "gRPC calls are POST\n");
                let post = HeaderValue::from_static("POST");
                response.headers_mut().insert(ALLOW, post);
                response
            }
            RequestError::NotGrpc => plain(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "gRPC wants HTTP/2 and one `content-type`, application/grpc or application/grpc+proto\n",
            ),
            // No gRPC client sends those headers: it is a browser, or a proxy for one, that reads 403.
            RequestError::CrossOrigin if speaks_grpc(request) => {
                let status = grpc::refused("FOREIGN_ORIGIN", CROSS_ORIGIN.trim_end());
                let mut response = status.into_http();
                *response.status_mut() = StatusCode::FORBIDDEN;
                response
            }
            RequestError::CrossOrigin => plain(StatusCode::FORBIDDEN, CROSS_ORIGIN),
        }
    }
}

/// Whether the content type is one of gRPC's.
pub(crate) fn is_grpc<B>(request: &Request<B>) -> bool {
    let mut types = request.headers().get_all(CONTENT_TYPE).iter();
    let (Some(only), None) = (types.next(), types.next()) else {
        return false;
    };
    only == "application/grpc" || only == "application/grpc+proto"
}

fn speaks_grpc<B>(request: &Request<B>) -> bool {
    request.version() == Version::HTTP_2 && is_grpc(request)
}
