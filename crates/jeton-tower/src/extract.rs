//! The claims as an argument of axum's handlers.

use std::fmt;
use std::ops::Deref;

use axum_core::extract::{FromRequestParts, OptionalFromRequestParts};
use axum_core::response::Response;
use http::request::Parts;
use jeton::Verified;
use serde::de::DeserializeOwned;

use crate::answer::{Protocol, Refusal};
use crate::claims;

/// The verified claims of a request, as an argument of a handler.
///
/// It needs a [`RequireToken`](crate::RequireToken) before the handler: without one it is answered 500, and
/// the log says why. Claims that are not of that type are answered as a token that is refused.
/// `Option<Authenticated<T>>` is for requests that may come without a token
/// ([`Tokens::Optional`](crate::Tokens::Optional)).
pub struct Authenticated<T>(pub Verified<T>);

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
        let found = found(parts).and_then(|found| {
            found.ok_or_else(|| {
                tracing::error!("no RequireToken stands before a handler that wants claims");
                Refusal::Fault
            })
        });
        found.map(Self).map_err(answer)
    }
}

impl<T: DeserializeOwned, S: Send + Sync> OptionalFromRequestParts<S> for Authenticated<T> {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Option<Self>, Response> {
        found(parts).map(|found| found.map(Self)).map_err(answer)
    }
}

fn found<T: DeserializeOwned>(parts: &Parts) -> Result<Option<Verified<T>>, Refusal> {
    claims(&parts.extensions).transpose().map_err(|error| {
        tracing::debug!(%error, "a token's claims are of another type");
        Refusal::from(&error)
    })
}

fn answer(refusal: Refusal) -> Response {
    refusal.answer(Protocol::Http)
}
