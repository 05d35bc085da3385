//! An API that accepts access tokens of several issuers, with keys as Auth0 publishes them.

use std::error::Error;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use jeton::{Policy, danger};
use jeton_jwks::{Fetch, FetchError, FetchFuture, FetchRequest, FetchResponse};
use jeton_jwks::{Https, RemoteKeySet, Schedule, Verifier};
use jeton_tower::{Authenticated, RequireToken};
use serde::Deserialize;
use serde_json::{Value, json};
use tower::{Layer as _, ServiceExt as _};

const USAGE: &str = "usage: axum-two-issuers ADDRESS AUDIENCE ISSUER...";

/// What an access token permits: Auth0 lists `permissions`, and other issuers a `scope` with spaces.
#[derive(Deserialize)]
struct Access {
    #[serde(default)]
    permissions: Vec<String>,
    #[serde(default)]
    scope: String,
}

async fn public() -> Json<Value> {
    Json(json!({"message": "No token is needed."}))
}

async fn private(token: Authenticated<Access>) -> Json<Value> {
    Json(json!({"issuer": token.issuer(), "subject": token.subject()}))
}

async fn messages(token: Authenticated<Access>) -> Response {
    let needed = "read:messages";
    let mut granted = token
        .scope
        .split(' ')
        .chain(token.permissions.iter().map(String::as_str));
    if !granted.any(|scope| scope == needed) {
        let challenge = format!("Bearer error=\"insufficient_scope\", scope=\"{needed}\"");
        return (StatusCode::FORBIDDEN, [(WWW_AUTHENTICATE, challenge)]).into_response();
    }
    Json(json!({"messages": ["hello"]})).into_response()
}

/// Fetches key sets. RSA keys without `alg` are for RS256: jeton skips them otherwise.
struct WithAlg(Https);

impl Fetch for WithAlg {
    fn fetch(&self, request: FetchRequest) -> FetchFuture<'_> {
        Box::pin(async move {
            let mut response = self.0.fetch(request).await?;
            if let FetchResponse::KeySet { text, .. } = &mut response {
                let set = serde_json::from_str(text);
                let mut set: Value = set.map_err(|_| FetchError::InvalidKeySet)?;
                let keys = set.get_mut("keys").and_then(Value::as_array_mut);
                for key in keys.into_iter().flatten().filter_map(Value::as_object_mut) {
                    if key.get("kty") == Some(&json!("RSA")) {
                        key.entry("alg").or_insert(json!("RS256"));
                    }
                }
                *text = set.to_string();
            }
            Ok(response)
        })
    }
}

type Issuers = Arc<Vec<(String, RequireToken)>>;

/// Requires a token of the issuer that it names. The layer of that issuer verifies it.
async fn require_token(State(issuers): State<Issuers>, request: Request, next: Next) -> Response {
    let claimed = claimed_issuer(&request);
    let known = issuers
        .iter()
        .find(|(name, _)| Some(name) == claimed.as_ref());
    // The first layer rejects requests without a token, and tokens of unknown issuers.
    let (_, layer) = known.unwrap_or(&issuers[0]);
    match layer.layer(next).oneshot(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    }
}

/// The `iss` of the token, not verified.
fn claimed_issuer(request: &Request) -> Option<String> {
    #[derive(Deserialize)]
    struct Claimed {
        iss: String,
    }
    let credentials = request.headers().get(AUTHORIZATION)?.to_str().ok()?;
    let (_, token) = credentials.split_once(' ')?;
    let payload = danger::peek(token.trim()).ok()?.payload;
    serde_json::from_slice(&payload)
        .ok()
        .map(|Claimed { iss }| iss)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, audience, names @ ..] = arguments.as_slice() else {
        return Err(USAGE.into());
    };
    let mut issuers = Vec::new();
    for name in names {
        let address = format!("{name}.well-known/jwks.json");
        let keys = RemoteKeySet::with(&address, WithAlg(Https::new()?), Schedule::default())?;
        if let Err(error) = keys.ready().await {
            eprintln!("warning: {address}: {error}");
        }
        let policy = Policy::new(name.clone(), audience.clone());
        let layer = RequireToken::remote(Verifier::new(&keys, policy));
        issuers.push((name.clone(), layer));
    }
    if issuers.is_empty() {
        return Err(USAGE.into());
    }
    let app = Router::new()
        .route("/api/private", get(private))
        .route("/api/private-scoped", get(messages))
        .route_layer(from_fn_with_state(Arc::new(issuers), require_token))
        .route("/api/public", get(public));
    let listener = tokio::net::TcpListener::bind(address).await?;
    println!("listening on {}", listener.local_addr()?);
    Ok(axum::serve(listener, app).await?)
}
