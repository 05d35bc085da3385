//! Routes requests to services.

use std::future::ready;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use http::header::TRANSFER_ENCODING;
use http::{Method, Request, Version};
use jeton_proto::report::jwt_service_server;
use jeton_proto::v1::{admin_service_server, token_service_server};
use jeton_transport::grpc::deadline::{self, InvalidTimeout};
use jeton_transport::grpc::{GrpcHandler, MeteredBody, fail};
use jeton_transport::{DrainedBody, Handler, Listener, Peer, ResponseBody, ResponseFuture};
use tonic::Status;

use crate::authority::{Authority, InvalidAuthority};
use crate::cross_origin;
use crate::failure::{self, Failure};
use crate::grpc;
use crate::request_check::RequestError;
use crate::service::Service;

/// The message for a call to a service of the other listener.
pub const OTHER_LISTENER: &str = "this listener does not serve this service";

/// All services.
pub(crate) struct Routes {
    pub(crate) service: Arc<Service>,
    pub(crate) health: Box<dyn GrpcHandler>,
    /// Reflection lists only the services of its listener.
    pub(crate) data_reflection: Reflection,
    pub(crate) admin_reflection: Reflection,
}

/// gRPC reflection, in the two versions that clients use.
pub(crate) struct Reflection {
    pub(crate) v1: Box<dyn GrpcHandler>,
    pub(crate) v1alpha: Box<dyn GrpcHandler>,
}

impl Handler for Routes {
    fn handle(&self, peer: &Arc<Peer>, request: Request<DrainedBody>) -> ResponseFuture {
        let traces = self.service.traces.as_ref();
        let route = |path: &str| crate::http::route(path, peer.listener);
        match traces.and_then(|traces| traces.begin(peer, &request, route)) {
            None => self.respond(peer, request),
            Some(span) => span.follow(|| self.respond(peer, request)),
        }
    }
}

impl Routes {
    fn respond(&self, peer: &Arc<Peer>, request: Request<DrainedBody>) -> ResponseFuture {
        let grpc_service = GrpcService::from_path(request.uri().path());
        if let Err(error) = self.check_request(peer, &request, grpc_service.is_some()) {
            self.service
                .metrics
                .requests_blocked
                .fetch_add(1, Ordering::Relaxed);
            // The path is untrusted input, so the log has the known service only.
            tracing::debug!(?error, service = ?grpc_service, "request blocked");
            return Box::pin(ready(Ok(error.response(&request).map(ResponseBody::Other))));
        }
        let Some(grpc_service) = grpc_service else {
            let (service, peer) = (self.service.clone(), peer.clone());
            return Box::pin(async move {
                let response = crate::http::handle(&service, &peer, request).await;
                Ok(response.map(ResponseBody::Other))
            });
        };
        match deadline::from_headers(request.headers()) {
            Ok(None) => self.call(grpc_service, peer, request),
            Ok(Some(timeout)) => {
                let exceeded = || Failure::DeadlineExceeded.status();
                let call = self.call(grpc_service, peer, request);
                deadline::enforce(timeout, exceeded, call)
            }
            Err(InvalidTimeout) => {
                let expected = deadline::EXPECTED.to_owned();
                fail(Failure::Field(deadline::HEADER, expected).status())
            }
        }
    }

    /// Checks host, method, content type and origin, before the caller is identified.
    fn check_request<B>(
        &self,
        peer: &Peer,
        request: &Request<B>,
        is_grpc: bool,
    ) -> Result<(), RequestError> {
        let service = &self.service;
        let own =
            Authority::of(request).map_err(|InvalidAuthority| RequestError::InvalidAuthority)?;
        // A proxy in between may read only one of several (request smuggling). HTTP/2 has no such header.
        if request.version() != Version::HTTP_2 && !has_known_framing(request) {
            return Err(RequestError::TransferEncoding);
        }
        let hosts = service.hosts.load();
        if !hosts.accept(&own, peer.is_loopback, &service.node) {
            return Err(RequestError::Host);
        }
        let changes_state = if is_grpc {
            check_grpc(request)?;
            true
        } else {
            request.method() == Method::POST
        };
        if changes_state && cross_origin::is_cross_origin(request.headers(), &own, peer.is_tls) {
            Err(RequestError::CrossOrigin)
        } else {
            Ok(())
        }
    }

    fn call(
        &self,
        grpc_service: GrpcService,
        peer: &Arc<Peer>,
        request: Request<DrainedBody>,
    ) -> ResponseFuture {
        let service = &self.service;
        let stall = service.transport.settings.client_stall_timeout;
        let request = request.map(|body| MeteredBody::new(body, stall));
        if grpc_service == GrpcService::Health {
            return self.health.handle(request.map(MeteredBody::single_message));
        }
        let caller = match (grpc_service, peer.listener) {
            (GrpcService::Admin, Listener::Admin) => {
                service.identify_administrator(peer, request.headers())
            }
            // Reflection needs no admin token: it exposes only what the `.proto` files say.
            _ => service.identify(peer, request.headers()),
        };
        let caller = match caller {
            Ok(caller) => caller,
            Err(denied) => return fail(failure::denied(denied)),
        };
        match (grpc_service, peer.listener) {
            (GrpcService::Token, Listener::Data) => {
                grpc::token(service.clone(), caller, peer, request)
            }
            (GrpcService::Report, Listener::Data) if service.generate_jwt.is_some() => {
                grpc::report(service.clone(), caller, request)
            }
            (GrpcService::Admin, Listener::Admin) => grpc::admin(service.clone(), caller, request),
            (GrpcService::Reflection, listener) => self.reflection(listener).v1.handle(request),
            (GrpcService::ReflectionAlpha, listener) => {
                self.reflection(listener).v1alpha.handle(request)
            }
            _ => fail(Status::unimplemented(OTHER_LISTENER)),
        }
    }

    fn reflection(&self, listener: Listener) -> &Reflection {
        match listener {
            Listener::Data => &self.data_reflection,
            Listener::Admin => &self.admin_reflection,
        }
    }
}

/// Whether the request has no `Transfer-Encoding`, or only `chunked`.
fn has_known_framing<B>(request: &Request<B>) -> bool {
    let mut encodings = request.headers().get_all(TRANSFER_ENCODING).iter();
    match (encodings.next(), encodings.next()) {
        (None, _) => true,
        (Some(only), None) => only.as_bytes().eq_ignore_ascii_case(b"chunked"),
        _ => false,
    }
}

/// Checks that the request is a gRPC call.
///
/// Every gRPC client sends one of two content types over HTTP/2. A web page cannot: those content types
/// need a CORS preflight, and the server permits none.
fn check_grpc<B>(request: &Request<B>) -> Result<(), RequestError> {
    if request.method() != Method::POST {
        return Err(RequestError::Method);
    }
    if request.version() != Version::HTTP_2 || !grpc::is_grpc(request) {
        return Err(RequestError::NotGrpc);
    }
    Ok(())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GrpcService {
    Token,
    Report,
    Admin,
    Health,
    Reflection,
    ReflectionAlpha,
}

impl GrpcService {
    /// The gRPC service in a path: `/package.Service/Method`.
    fn from_path(path: &str) -> Option<GrpcService> {
        let path = path.strip_prefix('/')?;
        // A loop takes fewer instructions for a short text than `split_once`, which prepares for a long one.
        let end = path.bytes().position(|byte| byte == b'/')?;
        Some(match path.get(..end)? {
            token_service_server::SERVICE_NAME => GrpcService::Token,
            jwt_service_server::SERVICE_NAME => GrpcService::Report,
            admin_service_server::SERVICE_NAME => GrpcService::Admin,
            "grpc.health.v1.Health" => GrpcService::Health,
            "grpc.reflection.v1.ServerReflection" => GrpcService::Reflection,
            "grpc.reflection.v1alpha.ServerReflection" => GrpcService::ReflectionAlpha,
            _ => return None,
        })
    }
}
