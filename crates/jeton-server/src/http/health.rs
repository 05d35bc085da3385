//! Readiness.

use bytes::Bytes;
use http::{Response, StatusCode};
use jeton_issuer::Cause;
use tonic::body::Body;

use super::{plain, respond};
use crate::service::Service;

/// What a probe asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To issue and to verify.
    Calls,
    Issue,
    Verify,
    Revoke,
}

/// `/readyz`. The page is public, so details are only in the log and in AdminService.Status. It names the cause.
pub(super) fn ready(service: &Service, purpose: Purpose) -> Response<Body> {
    if service.transport.is_leaving() {
        return plain(StatusCode::SERVICE_UNAVAILABLE, "stopping\n");
    }
    let status = service.node.status();
    let is_ready = match purpose {
        Purpose::Calls => status.is_ready(),
        Purpose::Issue => status.ready.issue,
        Purpose::Verify => status.ready.verify,
        Purpose::Revoke => status.ready.revoke,
    };
    if is_ready {
        plain(StatusCode::OK, "ready\n")
    } else {
        let cause = status.cause.map_or("", Cause::sentence);
        let text = Bytes::from(format!("not ready: {cause}\n"));
        let content_type = "text/plain; charset=utf-8";
        respond(StatusCode::SERVICE_UNAVAILABLE, content_type, text)
    }
}
