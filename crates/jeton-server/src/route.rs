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

use crate::arriving::Arriving;
use crate::authority::{Authority, NoAuthority};
use crate::foreign_page;
use crate::grpc::{self, Answering, Reply, deadline};
use crate::intake::Counted;
use crate::listen::Activity;
use crate::refusal::{self, Refusal};
use crate::service::Service;
use crate::tls::PeerCertificate;
use crate::untaken::Untaken;

/// Through which listener someone came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Door {
    Data,
    Admin,
}

/// Whoever is at the other end of a connection.
#[derive(Debug)]
pub(crate) struct Guest {
    pub(crate) door: Door,
    /// It reached a listener that only this machine reaches.
    pub(crate) is_loopback: bool,
    pub(crate) is_tls: bool,
    pub(crate) certificate: Option<PeerCertificate>,
    pub(crate) activity: Arc<Activity>,
    /// Of the answers on the connection.
    pub(crate) untaken: Arc<Untaken>,
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
    fn answer(&self, request: Request<Counted>) -> Answering;
}

impl<S> Grpc for S
where
    S: Tower<Request<Counted>, Response = Response<Body>, Error = Infallible>
        + Clone
        + Send
        + Sync
        + 'static,
    S::Future: Send + 'static,
{
    fn answer(&self, request: Request<Counted>) -> Answering {
        grpc::stream(self.clone(), request)
    }
}

impl Routes {
    pub(crate) fn answer(&self, guest: &Arc<Guest>, request: Request<Arriving>) -> Answering {
        let wanted = Wanted::of(request.uri().path());
        if let Err(refusal) = self.admit(guest, &request, wanted.is_some()) {
            self.service
                .metrics
                .requests_refused
                .fetch_add(1, Ordering::Relaxed);
            // The path may be an attacker's: only what is known of it is logged.
            tracing::debug!(?refusal, ?wanted, "a request was refused");
            return Box::pin(ready(Ok(refusal.answer(&request).map(Reply::Other))));
        }
        let Some(wanted) = wanted else {
            let (service, guest) = (self.service.clone(), guest.clone());
            return Box::pin(async move {
                let answer = crate::http::answer(&service, &guest, request).await;
                Ok(answer.map(Reply::Other))
            });
        };
        match deadline::of(request.headers()) {
            Ok(None) => self.call(wanted, guest, request),
            Ok(Some(wait)) => deadline::keep(wait, self.call(wanted, guest, request)),
            Err(status) => grpc::refuse(status),
        }
    }

    /// Refuses what no client sends, or a browser for a page of another site, before it is known who calls.
    fn admit<B>(&self, guest: &Guest, request: &Request<B>, is_grpc: bool) -> Result<(), Refusal> {
        let service = &self.service;
        let own = Authority::of(request).map_err(|NoAuthority| Refusal::NoAuthority)?;
        let hosts = service.hosts.load();
        if !hosts.accept(&own, guest.is_loopback, &service.node) {
            return Err(Refusal::Host);
        }
        let changes = match is_grpc {
            true => {
                check_grpc(request)?;
                true
            }
            // A method that an endpoint does not take is told so.
            false => request.method() == Method::POST,
        };
        match changes && foreign_page::sent(request.headers(), &own, guest.is_tls) {
            true => Err(Refusal::ForeignPage),
            false => Ok(()),
        }
    }

    fn call(&self, wanted: Wanted, guest: &Arc<Guest>, request: Request<Arriving>) -> Answering {
        let service = &self.service;
        let request = request.map(|body| Counted::new(body, &service.intake, guest));
        if wanted == Wanted::Health {
            return self.health.answer(request);
        }
        let certificate = guest.certificate.as_ref();
        let caller = match (wanted, guest.door) {
            (Wanted::Admin, Door::Admin) => {
                service.identify_administrator(certificate, request.headers())
            }
            // Reflection tells no more than the `.proto` files do.
            _ => service.identify(certificate, request.headers()),
        };
        let caller = match caller {
            Ok(caller) => caller,
            Err(denied) => return grpc::refuse(grpc::denied(denied)),
        };
        match (wanted, guest.door) {
            (Wanted::Token, Door::Data) => grpc::token(service.clone(), caller, guest, request),
            (Wanted::Report, Door::Data) if service.generate_jwt.is_some() => {
                grpc::report(service.clone(), caller, request)
            }
            (Wanted::Admin, Door::Admin) => grpc::admin(service.clone(), caller, request),
            (Wanted::Reflection, door) => self.reflection(door).v1.answer(request),
            (Wanted::ReflectionAlpha, door) => self.reflection(door).v1alpha.answer(request),
            _ => grpc::refuse(Status::unimplemented("this listener does not serve it")),
        }
    }

    fn reflection(&self, door: Door) -> &Reflection {
        match door {
            Door::Data => &self.data_reflection,
            Door::Admin => &self.admin_reflection,
        }
    }
}

/// Whether it is a gRPC call at all. Every client sends one of two content types, over HTTP/2. A page
/// cannot: for them its browser asks first, and is permitted nothing.
fn check_grpc<B>(request: &Request<B>) -> Result<(), Refusal> {
    if request.method() != Method::POST {
        return Err(Refusal::Method);
    }
    if request.version() != Version::HTTP_2 || !refusal::is_grpc(request) {
        return Err(Refusal::NoGrpc);
    }
    Ok(())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Token,
    Report,
    Admin,
    Health,
    Reflection,
    ReflectionAlpha,
}

impl Wanted {
    /// The gRPC service that a path names: `/package.Service/Method`.
    fn of(path: &str) -> Option<Wanted> {
        let (service, _) = path.strip_prefix('/')?.split_once('/')?;
        Some(match service {
            token_service_server::SERVICE_NAME => Wanted::Token,
            jwt_service_server::SERVICE_NAME => Wanted::Report,
            admin_service_server::SERVICE_NAME => Wanted::Admin,
            "grpc.health.v1.Health" => Wanted::Health,
            "grpc.reflection.v1.ServerReflection" => Wanted::Reflection,
            "grpc.reflection.v1alpha.ServerReflection" => Wanted::ReflectionAlpha,
            _ => return None,
        })
    }
}
