//! Names and attributes of spans, by the semantic conventions of OpenTelemetry.
//!
//! All of them are constants: a path may have a token in it, and a caller must not create new names.

use std::borrow::Cow;

use http::{Method, Request};
use jeton_proto::report::jwt_service_server;
use jeton_proto::v1::{admin_service_server, token_service_server};
use jeton_transport::Peer;
use opentelemetry::KeyValue;

/// What the conventions put in place of an unknown method.
const OTHER: &str = "_OTHER";

/// The methods of all services, in any order.
const METHODS: [(&str, &[&str]); 6] = [
    (
        token_service_server::SERVICE_NAME,
        &[
            "Issue",
            "Verify",
            "IssueBatch",
            "VerifyBatch",
            "IssueStream",
            "VerifyStream",
            "Revoke",
            "WatchRevocations",
            "Keys",
        ],
    ),
    (
        admin_service_server::SERVICE_NAME,
        &[
            "Backup",
            "CheckStore",
            "CreateIssuer",
            "CreateRevocations",
            "DropAudit",
            "EndRevocations",
            "ExportAudit",
            "GetIssuer",
            "ImportKey",
            "ListAudit",
            "ListAuditChains",
            "ListIssuers",
            "ListRevocations",
            "ReencryptKeys",
            "ReportCompromisedKey",
            "RotateKey",
            "SetIssuer",
            "Status",
            "WithdrawKey",
        ],
    ),
    (jwt_service_server::SERVICE_NAME, &["GenerateJwt"]),
    ("grpc.health.v1.Health", &["Check", "Watch"]),
    (
        "grpc.reflection.v1.ServerReflection",
        &["ServerReflectionInfo"],
    ),
    (
        "grpc.reflection.v1alpha.ServerReflection",
        &["ServerReflectionInfo"],
    ),
];

/// What a request is for.
pub(super) struct Target {
    pub(super) name: Cow<'static, str>,
    pub(super) attributes: Vec<KeyValue>,
    pub(super) is_grpc: bool,
}

pub(super) fn target<B>(
    peer: &Peer,
    request: &Request<B>,
    route: impl FnOnce(&str) -> Option<&'static str>,
) -> Target {
    match grpc_method(request.uri().path()) {
        Some((service, method)) => Target {
            name: format!("{service}/{method}").into(),
            attributes: vec![
                KeyValue::new("rpc.system", "grpc"),
                KeyValue::new("rpc.service", service),
                KeyValue::new("rpc.method", method),
            ],
            is_grpc: true,
        },
        None => http_target(peer, request.method(), route(request.uri().path())),
    }
}

fn http_target(peer: &Peer, method: &Method, route: Option<&'static str>) -> Target {
    let method = http_method(method);
    let scheme = if peer.is_tls { "https" } else { "http" };
    let mut attributes = vec![
        KeyValue::new("http.request.method", method),
        KeyValue::new("url.scheme", scheme),
    ];
    let method = if method == OTHER { "HTTP" } else { method };
    let name = match route {
        None => method.into(),
        Some(route) => {
            attributes.push(KeyValue::new("http.route", route));
            format!("{method} {route}").into()
        }
    };
    Target {
        name,
        attributes,
        is_grpc: false,
    }
}

/// The service and the method in a path. `None` if the service is unknown.
fn grpc_method(path: &str) -> Option<(&'static str, &'static str)> {
    let (service, method) = path.strip_prefix('/')?.split_once('/')?;
    let (service, methods) = METHODS.iter().find(|(name, _)| *name == service)?;
    let method = methods.iter().find(|name| **name == method);
    Some((service, method.copied().unwrap_or(OTHER)))
}

fn http_method(method: &Method) -> &'static str {
    const KNOWN: [&str; 9] = [
        "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH",
    ];
    let known = KNOWN.into_iter().find(|name| method.as_str() == *name);
    known.unwrap_or(OTHER)
}

#[cfg(test)]
mod tests {
    use prost_reflect::DescriptorPool;

    use super::*;

    #[test]
    fn methods_are_those_of_the_services() {
        let files = [
            jeton_proto::FILE_DESCRIPTOR_SET,
            tonic_health::pb::FILE_DESCRIPTOR_SET,
            tonic_reflection::pb::v1::FILE_DESCRIPTOR_SET,
            tonic_reflection::pb::v1alpha::FILE_DESCRIPTOR_SET,
        ];
        let mut found = 0;
        for file in files {
            let pool = DescriptorPool::decode(file).expect("descriptors");
            for service in pool.services() {
                for method in service.methods() {
                    let path = format!("/{}/{}", service.full_name(), method.name());
                    let expected = (service.full_name(), method.name());
                    assert_eq!(grpc_method(&path), Some(expected));
                    found += 1;
                }
            }
        }
        let listed: usize = METHODS.iter().map(|(_, methods)| methods.len()).sum();
        assert_eq!(found, listed);
        let unknown = grpc_method("/jeton.v1.TokenService/Unknown");
        assert_eq!(unknown.map(|(_, method)| method), Some(OTHER));
        for path in [
            "/jeton.v1.Unknown/Issue",
            "/livez",
            "",
            "jeton.v1.TokenService/Issue",
        ] {
            assert_eq!(grpc_method(path), None, "{path}");
        }
    }
}
