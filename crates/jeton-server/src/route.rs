//! Which service a request is for.

use std::convert::Infallible;
use std::future::ready;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use http::{Method, Request, Response, Version};
use jeton_proto::report::jwt_service_server;
use jeton_proto::v1::{admin_service_server, token_service_server};
use tonic::Status;
use tonic::body::Body;
use tower_service::Service as Tower;

use crate::body_drain::DrainedBody;
use crate::authority::{Authority, InvalidAuthority};
use crate::cross_origin;
use crate::grpc::{self, ResponseFuture, ResponseBody, deadline};
use crate::body_budget::MeteredBody;
use crate::listen::Activity;
use crate::request_check::{self, RequestError};
use crate::service::Service;
use crate::tls::PeerCertificate;
use crate::unread_responses::UnreadResponses;

/// Through which listener someone came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Listener {
    Data,
    Admin,
}

/// Whoever is at the other end of a connection.
#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) listener: Listener,
    /// It reached a listener that only this machine reaches.
    pub(crate) is_loopback: bool,
    pub(crate) is_tls: bool,
    pub(crate) certificate: Option<PeerCertificate>,
    pub(crate) activity: Arc<Activity>,
    /// Of the answers on the connection.
    pub(crate) unread: Arc<UnreadResponses>,
}

/// All services, as a connection needs them.
pub(crate) struct Routes {
    pub(crate) service: Arc<Service>,
    pub(crate) health: Box<dyn Grpc>,
    /// Each listener tells of what it serves.
    pub(crate) data_reflection: Reflection,
    pub(crate) admin_reflection: Reflection,
}

/// gRPC reflection, in both versions that clients speak.
pub(crate) struct Reflection {
    pub(crate) v1: Box<dyn Grpc>,
    pub(crate) v1alpha: Box<dyn Grpc>,
}

/// A gRPC service of someone else's.
pub(crate) trait Grpc: Send + Sync {
    fn answer(&self, request: Request<MeteredBody>) -> ResponseFuture;
}

impl<S> Grpc for S
where
    S: Tower<Request<MeteredBody>, Response = Response<Body>, Error = Infallible>
        + Clone
        + Send
        + Sync
        + 'static,
    S::Future: Send + 'static,
{
    fn answer(&self, request: Request<MeteredBody>) -> ResponseFuture {
        grpc::stream(self.clone(), request)
    }
}

impl Routes {
    pub(crate) fn answer(&self, peer: &Arc<Peer>, request: Request<DrainedBody>) -> ResponseFuture {
        let wanted = GrpcService::of(request.uri().path());
        if let Err(error) = self.admit(peer, &request, wanted.is_some()) {
            self.service
                .metrics
                .requests_rejected
                .fetch_add(1, Ordering::Relaxed);
            // The path may be an attacker's: only what is known of it is logged.
            tracing::debug!(?error, ?wanted, "a request was refused");
            return Box::pin(ready(Ok(error.answer(&request).map(ResponseBody::Other))));
        }
        let Some(wanted) = wanted else {
            let (service, peer) = (self.service.clone(), peer.clone());
            return Box::pin(async move {
                let answer = crate::http::answer(&service, &peer, request).await;
                Ok(answer.map(ResponseBody::Other))
            });
        };
        match deadline::from_headers(request.headers()) {
            Ok(None) => self.call(wanted, peer, request),
            Ok(Some(wait)) => deadline::enforce(wait, self.call(wanted, peer, request)),
            Err(status) => grpc::refuse(status),
        }
    }

    /// Refuses what no client sends, or a browser for a page of another site, before it is known who calls.
    fn admit<B>(&self, peer: &Peer, request: &Request<B>, is_grpc: bool) -> Result<(), RequestError> {
        let service = &self.service;
        let own = Authority::of(request).map_err(|InvalidAuthority| RequestError::InvalidAuthority)?;
        let hosts = service.hosts.load();
        if !hosts.accept(&own, peer.is_loopback, &service.node) {
            return Err(RequestError::Host);
        }
        let changes = match is_grpc {
            true => {
                check_grpc(request)?;
                true
            }
            // A method that an endpoint does not take is told so.
            false => request.method() == Method::POST,
        };
        match changes && cross_origin::is_cross_origin(request.headers(), &own, peer.is_tls) {
            true => Err(RequestError::CrossOrigin),
            false => Ok(()),
        }
    }

    fn call(&self, wanted: GrpcService, peer: &Arc<Peer>, request: Request<DrainedBody>) -> ResponseFuture {
        let service = &self.service;
        let request = request.map(|body| MeteredBody::new(body, &service.body_budget, peer));
        if wanted == GrpcService::Health {
            return self.health.answer(request);
        }
        let certificate = peer.certificate.as_ref();
        let caller = match (wanted, peer.listener) {
            (GrpcService::Admin, Listener::Admin) => {
                service.identify_administrator(certificate, request.headers())
            }
            // Reflection tells no more than the `.proto` files do.
            _ => service.identify(certificate, request.headers()),
        };
        let caller = match caller {
            Ok(caller) => caller,
            Err(denied) => return grpc::refuse(grpc::denied(denied)),
        };
        match (wanted, peer.listener) {
            (GrpcService::Token, Listener::Data) => grpc::token(service.clone(), caller, peer, request),
            (GrpcService::Report, Listener::Data) if service.generate_jwt.is_some() => {
                grpc::report(service.clone(), caller, request)
            }
            (GrpcService::Admin, Listener::Admin) => grpc::admin(service.clone(), caller, request),
            (GrpcService::Reflection, listener) => self.reflection(listener).v1.answer(request),
            (GrpcService::ReflectionAlpha, listener) => self.reflection(listener).v1alpha.answer(request),
            _ => grpc::refuse(Status::unimplemented("this listener does not serve it")),
        }
    }

    fn reflection(&self, listener: Listener) -> &Reflection {
        match listener {
            Listener::Data => &self.data_reflection,
            Listener::Admin => &self.admin_reflection,
        }
    }
}

/// Whether it is a gRPC call at all. Every client sends one of two content types, over HTTP/2. A page
/// cannot: for them its browser asks first, and is permitted nothing.
fn check_grpc<B>(request: &Request<B>) -> Result<(), RequestError> {
    if request.method() != Method::POST {
        return Err(RequestError::Method);
    }
    if request.version() != Version::HTTP_2 || !request_check::is_grpc(request) {
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
    /// The gRPC service that a path names: `/package.Service/Method`.
    fn of(path: &str) -> Option<GrpcService> {
        let (service, _) = path.strip_prefix('/')?.split_once('/')?;
        Some(match service {
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
