//! One layer for axum and tonic: no request passes without a verified token.
//!
//! ```
//! use axum::{Router, routing::get};
//! use jeton::{Policy, jwt};
//! use jeton_tower::{Authenticated, RequireToken};
//!
//! #[derive(serde::Deserialize)]
//! struct Session { tenant: String }
//!
//! async fn tenant(session: Authenticated<Session>) -> String {
//!     session.tenant.clone()
//! }
//!
//! # let key = jwt::SigningKey::generate(jeton::key::SigAlg::ES256)?;
//! let verifier = jwt::Verifier::new(key.verifying_key(), Policy::new("https://id.example", "api"));
//! let app: Router = Router::new()
//!     .route("/tenant", get(tenant))
//!     .layer(RequireToken::by(verifier));
//! # Ok::<(), jeton::Error>(())
//! ```
//!
//! Any verifier of any format will do ([`jeton::Verify`]: JWT, PASETO, a [`jeton::Cached`] around one), or
//! one whose keys are at an address ([`RequireToken::by_remote`]).
//!
//! # What it answers
//!
//! The token is that of the one `Authorization: Bearer` header (RFC 6750, section 2.1); it is not looked for
//! in the address or the body, where logs and forms have it.
//!
//! | the request has | HTTP | gRPC |
//! |---|---|---|
//! | a token that verifies | goes on, with the claims | goes on, with the claims |
//! | no token | 401 `Bearer` | `UNAUTHENTICATED` |
//! | a token that is refused | 401 `Bearer error="invalid_token"` | `UNAUTHENTICATED` |
//! | two `Authorization` headers, or one that is no text | 400 `Bearer error="invalid_request"` | `INVALID_ARGUMENT` |
//! | no keys are there to tell | 503 | `UNAVAILABLE` |
//! | a key or a call of the service's own is wrong | 500, and the log says what | `INTERNAL` |
//!
//! Why a token is refused is in the log (`tracing`, level `DEBUG`) and not in the answer.
//!
//! # tonic
//!
//! The same layer, before a server or one service; a method finds the claims in the request's extensions:
//!
//! ```
//! # #[derive(serde::Deserialize)] struct Session { tenant: String }
//! # fn tenant<R>(request: &tonic::Request<R>) -> Option<String> {
//! let session = jeton_tower::claims::<Session>(request.extensions())?.ok()?;
//! # Some(session.tenant.clone())
//! # }
//! ```

mod answer;
#[cfg(feature = "axum")]
mod extract;
mod layer;

pub use layer::{Passing, RequireToken, Tokens};

#[cfg(feature = "axum")]
pub use extract::Authenticated;

use http::Extensions;
use jeton::{Untyped, Verified};
use serde::de::DeserializeOwned;

/// The claims of the request whose extensions these are; none where no [`RequireToken`] stands before
/// it. The registered ones alone are there as `Verified<Untyped>`.
///
/// # Errors
/// [`Rejection::ClaimsShape`](jeton::error::Rejection::ClaimsShape) if the rest is not of that type.
pub fn claims<T: DeserializeOwned>(extensions: &Extensions) -> Option<jeton::Result<Verified<T>>> {
    let verified: &Verified<Untyped> = extensions.get()?;
    Some(verified.clone().typed())
}
