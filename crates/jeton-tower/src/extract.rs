//! The claims as an argument of axum handlers.

use std::fmt;
use std::ops::Deref;

use axum_core::extract::{FromRequestParts, OptionalFromRequestParts};
use axum_core::response::Response;
use http::request::Parts;
use jeton::Verified;
use serde::de::{DeserializeOwned, IgnoredAny};

use crate::claims;
use crate::failure::{Cause, Failure, Protocol};
use crate::layer::{details, is_checked};

/// An axum extractor for the verified claims of a request.
///
/// The route needs a [`RequireToken`](crate::RequireToken) layer. Without it the response is 500, and the
/// cause is logged. If the claims do not deserialize into `T`, the response is the same as for a rejected token.
///
/// If the token is optional ([`RequireToken::optional`](crate::RequireToken::optional)), use
/// `Option<Authenticated<T>>`. `Authenticated<T>` then rejects requests without a token.
///
/// `Authenticated` without a type reads only the registered claims.
///
/// ```
/// use jeton_tower::Authenticated;
///
/// async fn hello(token: Authenticated) -> String {
///     format!("Hello, {}", token.subject().unwrap_or("nobody"))
/// }
/// # let app: axum::Router = axum::Router::new().route("/", axum::routing::get(hello));
/// ```
#[derive(Clone)]
pub struct Authenticated<T = IgnoredAny>(pub Verified<T>);

impl<T> Deref for Authenticated<T> {
    type Target = Verified<T>;

    fn deref(&self) -> &Verified<T> {
        &self.0
    }
}

impl<T> fmt::Debug for Authenticated<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authenticated").finish_non_exhaustive()
    }
}

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Authenticated<T> {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Response> {
        let claims = extract(parts).and_then(|claims| {
            claims.ok_or_else(|| {
                if is_checked(&parts.extensions) {
                    return Cause::Missing.into();
                }
                tracing::error!(
                    "a handler requires claims, but its route has no RequireToken layer"
                );
                Cause::Misconfigured.into()
            })
        });
        claims.map(Self).map_err(|failure| response(failure, parts))
    }
}

impl<T: DeserializeOwned, S: Send + Sync> OptionalFromRequestParts<S> for Authenticated<T> {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Option<Self>, Response> {
        extract(parts)
            .map(|claims| claims.map(Self))
            .map_err(|failure| response(failure, parts))
    }
}

fn extract<T: DeserializeOwned>(parts: &Parts) -> Result<Option<Verified<T>>, Failure> {
    claims(&parts.extensions).transpose().map_err(|error| {
        tracing::debug!(%error, "the claims do not match the type of the handler");
        Failure::from(&error)
    })
}

fn response(failure: Failure, parts: &Parts) -> Response {
    failure.response(Protocol::Http, &details(&parts.extensions))
}
