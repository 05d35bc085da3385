//! Which service a request is for.

use std::convert::Infallible;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;

use http::{Request, Response};
use hyper::body::Incoming;
use jeton_proto::report::jwt_service_server;
use jeton_proto::v1::{admin_service_server, token_service_server};
use tonic::body::Body;
use tower_service::Service as Tower;

use crate::grpc::{self, deadline};
use crate::intake::Counted;
use crate::service::Service;
use crate::tls::PeerCertificate;

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
    pub(crate) certificate: Option<PeerCertificate>,
}

/// All services, as a connection needs them.
pub(crate) struct Routes {
    pub(crate) service: Arc<Service>,
    pub(crate) health: Box<dyn Grpc>,
    pub(crate) reflection: Box<dyn Grpc>,
    pub(crate) reflection_alpha: Box<dyn Grpc>,
}

/// A gRPC service of someone else's.
pub(crate) trait Grpc: Send + Sync {
    fn answer(&self, request: Request<Counted>) -> Answering;
}

pub(crate) type Answering =
    Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

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
        // These services are always ready, as all that tonic generates.
        Box::pin(self.clone().call(request))
    }
}

impl Routes {
    pub(crate) async fn answer(
        &self,
        guest: &Guest,
        request: Request<Incoming>,
    ) -> Result<Response<Body>, Infallible> {
        // A request's future is allocated whole, and moved: what is rare is boxed, so that a call does
        // not carry the room that it would take.
        let Some(wanted) = Wanted::of(request.uri().path()) else {
            let answer = Box::pin(crate::http::answer(&self.service, guest, request));
            return Ok(answer.await);
        };
        let wait = match deadline::of(request.headers()) {
            Ok(wait) => wait,
            Err(status) => return Ok(status.into_http()),
        };
        let answering = pin!(self.call(wanted, guest, request));
        match wait {
            None => answering.await,
            Some(wait) => deadline::keep(wait, answering).await,
        }
    }

    async fn call(
        &self,
        wanted: Wanted,
        guest: &Guest,
        request: Request<Incoming>,
    ) -> grpc::Answer {
        if wanted == Wanted::Health {
            let request = request.map(|body| Counted::new(body, &self.service.intake));
            return self.health.answer(request).await;
        }
        let caller = self
            .service
            .identify(guest.certificate.as_ref(), request.headers());
        let caller = match caller {
            Ok(caller) => caller,
            Err(denied) => return Ok(grpc::denied(denied).into_http()),
        };
        let service = &self.service;
        let request = request.map(|body| Counted::new(body, &service.intake));
        match (wanted, guest.door) {
            (Wanted::Token, Door::Data) => grpc::token(service.clone(), caller, request).await,
            (Wanted::Report, Door::Data) if service.generate_jwt.is_some() => {
                grpc::report(service.clone(), caller, request).await
            }
            (Wanted::Admin, Door::Admin) => {
                Box::pin(grpc::admin(service.clone(), caller, request)).await
            }
            (Wanted::Reflection, _) => self.reflection.answer(request).await,
            (Wanted::ReflectionAlpha, _) => self.reflection_alpha.answer(request).await,
            _ => Ok(tonic::Status::unimplemented("this listener does not serve it").into_http()),
        }
    }
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
