//! The gRPC services, and the encoding of their responses and errors.

mod admin;
mod content_type;
mod issue_batch;
mod report;
mod token;
mod token_api;
mod watch;

use admin::ImportKeyMessage;
pub(crate) use admin::{AdminApi, ask_store, fault, state};
pub(crate) use content_type::{is_grpc, speaks_grpc};
pub(crate) use report::ReportApi;
pub(crate) use token_api::TokenApi;

use std::sync::Arc;

use http::Request;
use jeton_proto::report::jwt_service_server::{self, JwtService as _};
use jeton_proto::v1::admin_service_server::{self, AdminService as _, AdminServiceServer};
use jeton_proto::v1::token_service_server::{self, TokenService as _, TokenServiceServer};
use jeton_transport::grpc::{MeteredBody, fail, stream, unary};
use jeton_transport::{Peer, ResponseFuture};
use tonic::Status;

use crate::failure::Failure;
use crate::permissions::Caller;
use crate::service::{CallerCredentials, Service};

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
        credentials: None,
        stream: None,
    };
    let method = method(&request, token_service_server::SERVICE_NAME);
    if !matches!(method, "Issue" | "Verify" | "Revoke" | "Keys") {
        let stream = request.body().stream();
        if let Err(refused) = stream.charge().of_client(api.caller.name()) {
            return fail(Failure::from(refused).status());
        }
        api.stream = Some(stream.clone());
    }
    match method {
        "Issue" => unary(api, limit, request, |api, call| api.issue(call)),
        "Verify" => unary(api, limit, request, |api, call| api.verify(call)),
        "IssueBatch" => unary(api, limit, request, |api, call| api.issue_outcomes(call)),
        "VerifyBatch" => unary(api, limit, request, |api, call| api.verify_batch(call)),
        "Revoke" => unary(api, limit, request, |api, call| api.revoke(call)),
        "Keys" => unary(api, limit, request, |api, call| api.keys(call)),
        "IssueStream" | "VerifyStream" | "WatchRevocations" => {
            api.credentials = Some(Arc::new(CallerCredentials::new(peer, request.headers())));
            let request = match method {
                "WatchRevocations" => request.map(MeteredBody::single_message),
                _ => request,
            };
            let server = TokenServiceServer::new(api);
            stream(server.max_decoding_message_size(limit), request)
        }
        _ => unknown_method(),
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
    match method(&request, jwt_service_server::SERVICE_NAME) {
        "GenerateJwt" => unary(api, limit, request, |api, call| api.generate_jwt(call)),
        _ => unknown_method(),
    }
}

/// `jeton.v1.AdminService`
pub(crate) fn admin(
    service: Arc<Service>,
    caller: Arc<Caller>,
    request: Request<MeteredBody>,
) -> ResponseFuture {
    let limit = service.limits.message_bytes;
    let charge = request.body().stream().charge();
    if let Err(refused) = charge.of_client(caller.name()) {
        return fail(Failure::from(refused).status());
    }
    let api = AdminApi { service, caller };
    match method(&request, admin_service_server::SERVICE_NAME) {
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
        "WithdrawKey" => unary(api, limit, request, |api, call| api.withdraw_key(call)),
        "ReencryptKeys" => unary(api, limit, request, |api, call| api.reencrypt_keys(call)),
        "CreateRevocations" => unary(api, limit, request, |api, call| {
            api.create_revocations(call)
        }),
        "EndRevocations" => unary(api, limit, request, |api, call| api.end_revocations(call)),
        "CheckStore" => unary(api, limit, request, |api, call| api.check_store(call)),
        "ListAuditChains" => unary(api, limit, request, |api, call| api.list_audit_chains(call)),
        "DropAudit" => unary(api, limit, request, |api, call| api.drop_audit(call)),
        "ListRevocations" | "ListAudit" | "ExportAudit" | "Backup" => {
            let server = AdminServiceServer::new(api);
            let request = request.map(MeteredBody::single_message);
            stream(server.max_decoding_message_size(limit), request)
        }
        _ => unknown_method(),
    }
}

fn unknown_method() -> ResponseFuture {
    fail(Status::unimplemented("unknown method"))
}

/// The method in a path: `/package.Service/Method`. The service of the path is known, and with it where the method
/// begins.
fn method<'a, B>(request: &'a Request<B>, service: &str) -> &'a str {
    let path = request.uri().path();
    path.get(service.len() + 2..).unwrap_or_default()
}
