//! gRPC: the services, and how their answers and errors are made.

mod admin;
pub(crate) mod deadline;
mod report;
mod status;
mod token;
mod watch;

pub(crate) use admin::AdminApi;
pub(crate) use report::ReportApi;
pub(crate) use status::{denied, http as http_status};
pub(crate) use token::TokenApi;

use std::convert::Infallible;
use std::sync::Arc;

use http::Request;
use jeton_proto::report::jwt_service_server::JwtServiceServer;
use jeton_proto::v1::admin_service_server::AdminServiceServer;
use jeton_proto::v1::token_service_server::TokenServiceServer;
use tonic::body::Body;
use tonic::codegen::Service as _;

use crate::intake::Counted;
use crate::permissions::Caller;
use crate::service::Service;

/// What a gRPC call answers with: its errors are in the answer's trailers.
pub(crate) type Answer = Result<http::Response<Body>, Infallible>;

/// `jeton.v1.TokenService`
pub(crate) async fn token(
    service: Arc<Service>,
    caller: Arc<Caller>,
    request: Request<Counted>,
) -> Answer {
    let limit = service.limits.message_bytes;
    let mut server = TokenServiceServer::new(TokenApi { service, caller })
        .max_decoding_message_size(limit)
        .max_encoding_message_size(usize::MAX);
    server.call(request).await
}

/// `jwt.services.JwtService`
pub(crate) async fn report(
    service: Arc<Service>,
    caller: Arc<Caller>,
    request: Request<Counted>,
) -> Answer {
    let limit = service.limits.message_bytes;
    let mut server =
        JwtServiceServer::new(ReportApi { service, caller }).max_decoding_message_size(limit);
    server.call(request).await
}

/// `jeton.v1.AdminService`
pub(crate) async fn admin(
    service: Arc<Service>,
    caller: Arc<Caller>,
    request: Request<Counted>,
) -> Answer {
    let limit = service.limits.message_bytes;
    let mut server =
        AdminServiceServer::new(AdminApi { service, caller }).max_decoding_message_size(limit);
    server.call(request).await
}
