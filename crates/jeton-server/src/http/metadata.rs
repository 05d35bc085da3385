//! Metadata of an issuer.
//!
//! Authorization server metadata (RFC 8414), and the part of OpenID Connect Discovery that Kubernetes and
//! workload identity federations of cloud providers read.

use std::time::Instant;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use jeton::key::SigAlg;
use jeton_issuer::KeyKind;
use serde_json::{Value, json};
use tonic::body::Body;

use super::issuer_path::issuer_of;
use super::keys::set_cache_headers;
use super::{plain, respond};
use crate::config::Grant;
use crate::issuer_url;
use crate::metrics::{Call, CallOutcome};
use crate::service::Service;

/// How clients authenticate at the token endpoint. `none`: workloads with a token of an outside issuer.
const CLIENT_METHODS: [&str; 4] = [
    "client_secret_basic",
    "private_key_jwt",
    "tls_client_auth",
    "none",
];
/// How clients authenticate for introspection and revocation.
const FORM_METHODS: [&str; 4] = [
    "client_secret_basic",
    "private_key_jwt",
    "tls_client_auth",
    "Bearer",
];

/// The algorithms of `private_key_jwt`.
fn assertion_algorithms() -> Vec<&'static str> {
    SigAlg::ALL.iter().map(|alg| alg.name()).collect()
}

/// `/.well-known/oauth-authorization-server…`
pub(super) fn authorization_server<B>(
    service: &Service,
    request: &Request<B>,
    at: &str,
) -> Response<Body> {
    document(service, request, at, |iss, base, _| {
        let algorithms = assertion_algorithms();
        json!({
            "token_endpoint": format!("{base}/token"),
            "grant_types_supported": Grant::ALL.map(Grant::name),
            "token_endpoint_auth_methods_supported": CLIENT_METHODS,
            "token_endpoint_auth_signing_alg_values_supported": algorithms,
            "issuer": iss,
            "jwks_uri": format!("{base}/.well-known/jwks.json"),
            // RFC 8414 requires the member. Without an authorization endpoint there is no response type.
            "response_types_supported": ["none"],
            "introspection_endpoint": format!("{base}/introspect"),
            "introspection_endpoint_auth_methods_supported": FORM_METHODS,
            "introspection_endpoint_auth_signing_alg_values_supported": algorithms,
            "revocation_endpoint": format!("{base}/revoke"),
            "revocation_endpoint_auth_methods_supported": FORM_METHODS,
            "revocation_endpoint_auth_signing_alg_values_supported": algorithms,
        })
    })
}

/// `…/.well-known/openid-configuration`
pub(super) fn openid<B>(service: &Service, request: &Request<B>, at: &str) -> Response<Body> {
    document(service, request, at, |iss, base, algorithms| {
        json!({
            "issuer": iss,
            "jwks_uri": format!("{base}/.well-known/jwks.json"),
            "response_types_supported": ["id_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": algorithms,
        })
    })
}

fn document<B>(
    service: &Service,
    request: &Request<B>,
    at: &str,
    body: impl FnOnce(&str, &str, &[&str]) -> Value,
) -> Response<Body> {
    let started = Instant::now();
    let at = at.trim_end_matches('/');
    let issuer = issuer_of(service, request, at).and_then(|iss| {
        issuer_url::split(&iss)?;
        let (settings, _) = service.node.issuer(&iss).ok()?;
        Some((iss, settings))
    });
    let Some((iss, settings)) = issuer else {
        service
            .metrics
            .count(Call::Metadata, CallOutcome::ClientError, started);
        return plain(
            StatusCode::NOT_FOUND,
            "unknown issuer, or its name is not a URL\n",
        );
    };
    let algorithms: Vec<&str> = settings
        .kinds()
        .into_iter()
        .filter_map(|kind| match kind {
            KeyKind::Jws(alg) => Some(alg.name()),
            _ => None,
        })
        .collect();
    let body = body(&iss, iss.trim_end_matches('/'), &algorithms);
    let mut response = respond(
        StatusCode::OK,
        "application/json",
        Bytes::from(body.to_string()),
    );
    set_cache_headers(response.headers_mut(), Some(settings.max_age_seconds()));
    service
        .metrics
        .count(Call::Metadata, CallOutcome::Ok, started);
    response
}
