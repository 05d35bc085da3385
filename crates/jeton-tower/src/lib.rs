//! A tower layer for axum and tonic that requires a verified token.
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
//!     .layer(RequireToken::new(verifier));
//! # Ok::<(), jeton::Error>(())
//! ```
//!
//! The verifier may have any format ([`jeton::Verify`]): JWT, PASETO, or a [`jeton::Cached`] verifier. For a
//! remote key set, use [`RequireToken::remote`].
//!
//! # Responses
//!
//! The token is taken from the single `Authorization: Bearer` header (RFC 6750, section 2.1). It is not taken
//! from the URL or the body, because these often end up in logs.
//!
//! | request | HTTP | gRPC |
//! |---|---|---|
//! | valid token | passes with the claims | passes with the claims |
//! | no token | 401 `Bearer` | `UNAUTHENTICATED` |
//! | rejected token | 401 `Bearer error="invalid_token"` | `UNAUTHENTICATED` |
//! | several `Authorization` headers, or an invalid one | 400 `Bearer error="invalid_request"` | `INVALID_ARGUMENT` |
//! | any, while there are no keys | 503 | `UNAVAILABLE` |
//! | any, if the verifier is misconfigured | 500, and the cause is logged | `INTERNAL` |
//!
//! The response does not say why a token was rejected. The log does (`tracing`, level `DEBUG`).
//!
//! # tonic
//!
//! Add the same layer to a server or to one service. A method reads the claims from the extensions of the
//! request:
//!
//! ```
//! # #[derive(serde::Deserialize)] struct Session { tenant: String }
//! # fn tenant<R>(request: &tonic::Request<R>) -> Option<String> {
//! let session = jeton_tower::claims::<Session>(request.extensions())?.ok()?;
//! # Some(session.tenant.clone())
//! # }
//! ```

#[cfg(feature = "axum")]
mod extract;
mod failure;
mod layer;

pub use layer::{RequireToken, RequireTokenService, Tokens};

#[cfg(feature = "axum")]
pub use extract::Authenticated;

use http::Extensions;
use jeton::{RawClaims, Verified};
use serde::de::DeserializeOwned;

/// Returns the claims from the extensions of a request, or `None` if no [`RequireToken`] layer verified it.
///
/// To read only the registered claims, get `Verified<RawClaims>` from the extensions.
///
/// # Errors
/// [`Rejection::ClaimsShape`](jeton::error::Rejection::ClaimsShape) if the claims do not deserialize into `T`.
pub fn claims<T: DeserializeOwned>(extensions: &Extensions) -> Option<jeton::Result<Verified<T>>> {
    let verified: &Verified<RawClaims> = extensions.get()?;
    Some(verified.clone().deserialize())
}
