//! An API that accepts access tokens of several issuers, with keys as Auth0 publishes them.

use std::error::Error;
use std::sync::Arc;

use axum::routing::get;
use axum::{Json, Router};
use jeton::Policy;
use jeton::key::SigAlg;
use jeton_jwks::{Https, MultiIssuerVerifier, RemoteKeySet};
use jeton_tower::{Authenticated, RequireScope, RequireToken};
use serde_json::{Value, json};

const USAGE: &str = "usage: axum-two-issuers ADDRESS AUDIENCE ISSUER...";

async fn public() -> Json<Value> {
    Json(json!({"message": "No token is needed."}))
}

async fn private(token: Authenticated) -> Json<Value> {
    Json(json!({"issuer": token.issuer(), "subject": token.subject()}))
}

async fn messages() -> Json<Value> {
    Json(json!({"messages": ["hello"]}))
}

/// Each issuer has its own keys. RSA keys without `alg` are for RS256.
fn verifier(audience: &str, issuers: &[String]) -> Result<MultiIssuerVerifier, Box<dyn Error>> {
    let https = Arc::new(Https::new()?);
    let mut verifier = MultiIssuerVerifier::new();
    for issuer in issuers {
        let keys = RemoteKeySet::builder(format!("{issuer}.well-known/jwks.json"))
            .default_alg(SigAlg::RS256)
            .fetch(Arc::clone(&https))
            .build()?;
        verifier = verifier.issuer(&keys, Policy::new(issuer.clone(), audience.to_owned()))?;
    }
    Ok(verifier)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, audience, issuers @ ..] = arguments.as_slice() else {
        return Err(USAGE.into());
    };
    if issuers.is_empty() {
        return Err(USAGE.into());
    }
    let verifier = verifier(audience, issuers)?;
    for failure in verifier.ready().await {
        eprintln!("warning: {failure}");
    }
    // Auth0 lists `permissions`, and other issuers a `scope` with spaces.
    let scope = RequireScope::all(["read:messages"]).claims(["scope", "permissions"]);
    let app = Router::new()
        .route("/api/private", get(private))
        .route("/api/private-scoped", get(messages).layer(scope))
        .route_layer(RequireToken::new(verifier))
        .route("/api/public", get(public));
    let listener = tokio::net::TcpListener::bind(address).await?;
    println!("listening on {}", listener.local_addr()?);
    Ok(axum::serve(listener, app).await?)
}
