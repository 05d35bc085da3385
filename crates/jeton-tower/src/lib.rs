//! A tower layer for axum and tonic that requires a verified token.
//!
//! ```
//! use axum::{Router, routing::get};
//! use jeton::{Policy, jwt::JwtVerifier, key::SigningKey};
//! use jeton_tower::{Authenticated, RequireToken};
//!
//! #[derive(serde::Deserialize)]
//! struct Session { tenant: String }
//!
//! async fn tenant(session: Authenticated<Session>) -> String {
//!     session.claims().tenant.clone()
//! }
//!
//! # let key = SigningKey::generate(jeton::key::SigAlg::ES256)?;
//! let verifier = JwtVerifier::new(key.verifying_key(), Policy::new("https://id.example", "api"));
//! let app: Router = Router::new()
//!     .route("/tenant", get(tenant))
//!     .layer(RequireToken::new(verifier));
//! # Ok::<(), jeton::Error>(())
//! ```
//!
//! Any verifier works ([`jeton::Verify`]): for JWTs, for PASETOs, or a [`jeton::Cached`] verifier. Verifiers with
//! remote key sets work too: [`jeton_jwks::RemoteVerifier`], or [`jeton_jwks::MultiIssuerVerifier`] for several
//! issuers. [`RequireScope`] checks scopes per route. The page
//! [Accept tokens in a service](https://github.com/jeton/jeton/blob/main/docs/guide/accept-tokens.md) has complete
//! programs.
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
//! | a required scope is missing ([`RequireScope`]) | 403 `Bearer error="insufficient_scope"` | `PERMISSION_DENIED` |
//! | several `Authorization` headers, or an invalid one | 400 `Bearer error="invalid_request"` | `INVALID_ARGUMENT` |
//! | any, while there are no keys for the issuer | 503, `Retry-After` | `UNAVAILABLE` |
//! | any, if the verifier is misconfigured | 500, and the cause is logged | `INTERNAL` |
//!
//! The response does not say why a token was rejected, unless [`RequireToken::describe_errors`] is set. The log does
//! (`tracing`, level `DEBUG`).
//!
//! [`ResourceMetadata`] lists the issuers and scopes that the service accepts (RFC 9728). With
//! [`RequireToken::resource_metadata`], `WWW-Authenticate` contains its address.
//!
//! # Order of layers
//!
//! In axum, the layer that is added last runs first. Add a CORS layer after [`RequireToken`]. Then the CORS layer
//! answers preflight requests, which have no token, and adds its headers to error responses. Browsers show
//! `WWW-Authenticate` to a page only if the CORS layer exposes it.
//!
//! `route_layer` applies to the routes that the router has at that point, including nested routes. Other paths then get
//! 404. With `layer`, they get 401.
//!
//! # tonic
//!
//! Add the same layer to a server or to one service. tonic's `LayerExt::named_layer` keeps the name of a service,
//! because the router needs it. A method reads the claims from the extensions of the request with [`claims`], or, with
//! the feature `tonic`, with `require`:
//!
//! ```
//! # #[cfg(feature = "tonic")]
//! # mod example {
//! # #[derive(serde::Deserialize)] struct Session { tenant: String }
//! # fn tenant<R>(request: &tonic::Request<R>) -> Result<String, tonic::Status> {
//! let session = jeton_tower::require::<Session>(request)?;
//! # Ok(session.claims().tenant.clone())
//! # }
//! # }
//! ```
//!
//! `SendToken` adds tokens to the calls of a client.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod bearer;
#[cfg(feature = "axum")]
mod extract;
mod failure;
#[cfg(feature = "tonic")]
mod grpc;
mod layer;
mod resource_metadata;
mod scope;
#[cfg(feature = "tonic")]
mod send;
mod source;

pub use bearer::{MalformedAuthorization, bearer};
pub use layer::{RequireToken, RequireTokenService};
pub use resource_metadata::ResourceMetadata;
pub use scope::{RequireScope, RequireScopeService};
pub use source::{TokenVerifier, kind};

#[cfg(feature = "axum")]
pub use extract::Authenticated;
#[cfg(feature = "tonic")]
pub use grpc::require;
#[cfg(feature = "tonic")]
pub use send::SendToken;

use http::Extensions;
use jeton::{RawClaims, Verified};
use serde::de::DeserializeOwned;

/// Returns the claims from the extensions of a request, or `None` if no [`RequireToken`] layer verified it.
///
/// ```
/// # #[derive(serde::Deserialize)] struct Session { tenant: String }
/// # fn tenant<B>(request: &http::Request<B>) -> jeton::Result<Option<String>> {
/// let session = jeton_tower::claims::<Session>(request.extensions()).transpose()?;
/// # Ok(session.map(|session| session.into_claims().tenant))
/// # }
/// ```
///
/// To read only the registered claims, get `Verified<RawClaims>` from the extensions.
///
/// # Errors
/// [`Rejection::ClaimsShape`](jeton::error::Rejection::ClaimsShape) if the claims do not deserialize into `T`.
pub fn claims<T: DeserializeOwned>(extensions: &Extensions) -> Option<jeton::Result<Verified<T>>> {
    let verified: &Verified<RawClaims> = extensions.get()?;
    Some(verified.clone().deserialize())
}

/// Runs the example of the README as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// Compiles the examples of the page in the guide.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/accept-tokens.md")]
mod accept_tokens_page {}
