//! Services whose calls tonic's code handles: streams, health and reflection.

use std::convert::Infallible;

use http::{Request, Response};
use tonic::body::Body;
use tower_service::Service;

use super::metered_body::MeteredBody;
use crate::response::{ResponseBody, ResponseFuture};

/// A gRPC service from another crate.
pub trait GrpcHandler: Send + Sync {
    /// Handles one call.
    fn handle(&self, request: Request<MeteredBody>) -> ResponseFuture;
}

impl<S> GrpcHandler for S
where
    S: Service<Request<MeteredBody>, Response = Response<Body>, Error = Infallible>
        + Clone
        + Send
        + Sync
        + 'static,
    S::Future: Send + 'static,
{
    fn handle(&self, request: Request<MeteredBody>) -> ResponseFuture {
        stream(self.clone(), request)
    }
}

/// Passes a request to a service that tonic generates, or that has the same interface. These services are
/// always ready.
pub fn stream<S>(mut server: S, request: Request<MeteredBody>) -> ResponseFuture
where
    S: Service<Request<MeteredBody>, Response = Response<Body>, Error = Infallible>,
    S::Future: Send + 'static,
{
    let call = server.call(request);
    Box::pin(async move { call.await.map(|response| response.map(ResponseBody::Other)) })
}
