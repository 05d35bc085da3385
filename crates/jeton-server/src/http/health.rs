//! Readiness.

use http::{Response, StatusCode};
use tonic::body::Body;

use super::plain;
use crate::service::Service;

/// `/readyz`. The page is public, so details are only in the log and in AdminService.Status.
pub(super) fn ready(service: &Service) -> Response<Body> {
    if service.transport.is_leaving() {
        return plain(StatusCode::SERVICE_UNAVAILABLE, "stopping\n");
    }
    if service.node.status().is_ready {
        plain(StatusCode::OK, "ready\n")
    } else {
        plain(StatusCode::SERVICE_UNAVAILABLE, "not ready\n")
    }
}
