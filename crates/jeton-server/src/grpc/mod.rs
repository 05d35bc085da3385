//! gRPC: the services, and how their answers and errors are made.

mod admin;
pub(crate) mod deadline;
mod issue_batch;
mod report;
mod status;
mod token;
mod unary;
mod watch;

pub(crate) use admin::AdminApi;
use admin::ImportKeyMessage;
pub(crate) use report::ReportApi;
pub(crate) use status::{denied, http as http_status, refused};
pub(crate) use token::TokenApi;
pub(crate) use unary::ResponseBody;

use std::convert::Infallible;
use std::future::ready;
use std::pin::Pin;
use std::sync::Arc;

use http::{Request, Response};
use jeton_proto::report::jwt_service_server::JwtService as _;
use jeton_proto::v1::admin_service_server::AdminService as _;
use jeton_proto::v1::token_service_server::{TokenService as _, TokenServiceServer};
use tonic::Status;
use tonic::body::Body;
use tower_service::Service as Tower;

use self::unary::unary;
use crate::auth::CallerCredentials;
use crate::body_budget::MeteredBody;
use crate::permissions::Caller;
use crate::route::Peer;
use crate::service::Service;

/// A request that is being answered. A call's errors are in the answer's trailers.
///
/// Boxed where it is known what the answer needs, so that a call is one allocation, of the size of
/// what it waits with.
pub(crate) type ResponseFuture =
    Pin<Box<dyn Future<Output = Result<Response<ResponseBody>, Infallible>> + Send>>;

/// `jeton.v1.TokenService`
pub(crate) fn token(
    service: Arc<Service>,
    caller: Arc<Caller>,
    peer: &Arc<Peer>,
    request: Request<MeteredBody>,
) -> ResponseFuture {
    let limit = service.limits.message_bytes;
    let mut api = TokenApi {
        service,
        caller,
        shown: None,
    };
    match method(&request) {
        "Issue" => unary(api, limit, request, |api, call| api.issue(call)),
        "Verify" => unary(api, limit, request, |api, call| api.verify(call)),
        "IssueBatch" => unary(api, limit, request, |api, call| api.issue_outcomes(call)),
        "VerifyBatch" => unary(api, limit, request, |api, call| api.verify_batch(call)),
        "Revoke" => unary(api, limit, request, |api, call| api.revoke(call)),
        "Keys" => unary(api, limit, request, |api, call| api.keys(call)),
        "IssueStream" | "VerifyStream" | "WatchRevocations" => {
            api.shown = Some(Arc::new(CallerCredentials::of(peer, request.headers())));
            let server = TokenServiceServer::new(api);
            stream(server.max_decoding_message_size(limit), request)
        }
        _ => unknown(),
    }
}

/// `jwt.services.JwtService`
pub(crate) fn report(
    service: Arc<Service>,
    caller: Arc<Caller>,
    request: Request<MeteredBody>,
) -> ResponseFuture {
    let limit = service.limits.message_bytes;
    let api = ReportApi { service, caller };
    match method(&request) {
        "GenerateJwt" => unary(api, limit, request, |api, call| api.generate_jwt(call)),
        _ => unknown(),
    }
}

/// `jeton.v1.AdminService`
pub(crate) fn admin(
    service: Arc<Service>,
    caller: Arc<Caller>,
    request: Request<MeteredBody>,
) -> ResponseFuture {
    let limit = service.limits.message_bytes;
    let api = AdminApi { service, caller };
    match method(&request) {
        "ListIssuers" => unary(api, limit, request, |api, call| api.list_issuers(call)),
        "GetIssuer" => unary(api, limit, request, |api, call| api.get_issuer(call)),
        "CreateIssuer" => unary(api, limit, request, |api, call| api.create_issuer(call)),
        "SetIssuer" => unary(api, limit, request, |api, call| api.set_issuer(call)),
        "RotateKey" => unary(api, limit, request, |api, call| api.rotate_key(call)),
        "ReportCompromisedKey" => unary(api, limit, request, |api, call| {
            api.report_compromised_key(call)
        }),
        "ImportKey" => unary(
            api,
            limit,
            request,
            |api, call: tonic::Request<ImportKeyMessage>| {
                api.import_key(call.map(|ImportKeyMessage(call)| call))
            },
        ),
        "Status" => unary(api, limit, request, |api, call| api.status(call)),
        _ => unknown(),
    }
}

/// Hands a request to a service that tonic generates, or that speaks as those do. They are always
/// ready.
pub(crate) fn stream<S>(mut server: S, request: Request<MeteredBody>) -> ResponseFuture
where
    S: Tower<Request<MeteredBody>, Response = Response<Body>, Error = Infallible>,
    S::Future: Send + 'static,
{
    let answering = server.call(request);
    Box::pin(async move { answering.await.map(|answer| answer.map(ResponseBody::Other)) })
}

/// Refuses a call.
pub(crate) fn refuse(status: Status) -> ResponseFuture {
    Box::pin(ready(Ok(status.into_http())))
}

fn unknown() -> ResponseFuture {
    refuse(Status::unimplemented("the service has no such method"))
}

/// What stands behind the service's name in the path: `/package.Service/Method`.
fn method<B>(request: &Request<B>) -> &str {
    let mut parts = request.uri().path().splitn(3, '/');
    parts.nth(2).unwrap_or_default()
}
