use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::header::{AUTHORIZATION, HeaderMap};
use http::{Request, Response};
use jeton::{RawClaims, Verified, Verify};
use jeton_jwks::Verifier as RemoteVerifier;
use tower_layer::Layer;
use tower_service::Service;

use crate::failure::{Failure, Protocol};

/// A layer that passes requests with a valid token, and adds the claims to their extensions.
///
/// The [crate documentation](crate) lists the responses to all other requests.
#[derive(Debug, Clone)]
pub struct RequireToken {
    source: Source,
    tokens: Tokens,
}

/// Whether requests need a token.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Tokens {
    /// Requests without a token are rejected.
    #[default]
    Required,
    /// Requests without a token pass without claims; requests with an invalid token are rejected. A handler
    /// that does not extract the claims serves anyone.
    Optional,
}

#[derive(Clone)]
enum Source {
    Local(Arc<dyn Verify>),
    Remote(Arc<RemoteVerifier>),
}

impl RequireToken {
    /// Creates a layer that uses this verifier, of any token format.
    pub fn new(verifier: impl Verify + 'static) -> Self {
        Self::from_source(Source::Local(Arc::new(verifier)))
    }

    /// Creates a layer that uses a verifier with a remote key set.
    #[must_use]
    pub fn remote(verifier: RemoteVerifier) -> Self {
        Self::from_source(Source::Remote(Arc::new(verifier)))
    }

    fn from_source(source: Source) -> Self {
        Self {
            source,
            tokens: Tokens::Required,
        }
    }

    /// Sets whether requests need a token. Default: [`Tokens::Required`].
    #[must_use]
    pub fn tokens(self, tokens: Tokens) -> Self {
        Self { tokens, ..self }
    }
}

impl<S> Layer<S> for RequireToken {
    type Service = RequireTokenService<S>;

    fn layer(&self, inner: S) -> RequireTokenService<S> {
        RequireTokenService {
            inner,
            required: self.clone(),
        }
    }
}

/// The service that [`RequireToken`] creates.
#[derive(Debug, Clone)]
pub struct RequireTokenService<S> {
    inner: S,
    required: RequireToken,
}

impl<S, B, A> Service<Request<B>> for RequireTokenService<S>
where
    S: Service<Request<B>, Response = Response<A>> + Clone + Send + 'static,
    S::Future: Send,
    B: Send + 'static,
    A: Default,
{
    type Response = Response<A>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Response<A>, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        // Call the service that `poll_ready` was called on, and keep the clone for the next request.
        let next = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, next);
        let RequireToken { source, tokens } = self.required.clone();
        Box::pin(async move {
            // Claims in the extensions must come from this layer only.
            request.extensions_mut().remove::<Verified<RawClaims>>();
            let protocol = Protocol::of(request.headers());
            let verified = match bearer(request.headers()) {
                Ok(Some(token)) => source.verify(token).await.map(Some),
                Ok(None) if tokens == Tokens::Optional => Ok(None),
                Ok(None) => Err(Failure::Missing),
                Err(failure) => Err(failure),
            };
            match verified {
                Err(failure) => return Ok(failure.response(protocol)),
                Ok(Some(verified)) => drop(request.extensions_mut().insert(verified)),
                Ok(None) => {}
            }
            inner.call(request).await
        })
    }
}

impl Source {
    async fn verify(&self, token: &str) -> Result<Verified<RawClaims>, Failure> {
        match self {
            Self::Local(verifier) => verifier.verify_raw(token).map_err(|error| {
                let failure = Failure::from(&error);
                log_failure(failure, &error);
                failure
            }),
            Self::Remote(verifier) => verifier.verify_raw(token).await.map_err(|error| {
                let failure = Failure::from(&error);
                log_failure(failure, &error);
                failure
            }),
        }
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local(_) => f.write_str("Local"),
            Self::Remote(verifier) => f.debug_tuple("Remote").field(verifier).finish(),
        }
    }
}

/// Logs the cause. The errors of jeton contain nothing from a token.
fn log_failure(failure: Failure, error: &dyn fmt::Display) {
    match failure {
        Failure::Misconfigured => tracing::error!(%error, "tokens cannot be verified"),
        Failure::NoKeys => tracing::warn!(%error, "tokens cannot be verified"),
        Failure::Missing | Failure::Invalid | Failure::Malformed => {
            tracing::debug!(%error, "token rejected");
        }
    }
}

/// Returns the token of the single `Authorization` header (RFC 6750, section 2.1), or `None` if there is no
/// such header or it has another scheme. The scheme is not case-sensitive (RFC 9110, section 11.1).
fn bearer(headers: &HeaderMap) -> Result<Option<&str>, Failure> {
    let mut all = headers.get_all(AUTHORIZATION).iter();
    let Some(first) = all.next() else {
        return Ok(None);
    };
    if all.next().is_some() {
        return Err(Failure::Malformed);
    }
    let credentials = first.to_str().map_err(|_| Failure::Malformed)?;
    let (scheme, token) = credentials.split_once(' ').unwrap_or((credentials, ""));
    if !scheme.eq_ignore_ascii_case("Bearer") {
        return Ok(None);
    }
    match token.trim_matches(' ') {
        "" => Err(Failure::Malformed),
        token => Ok(Some(token)),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn bearer_requires_a_single_authorization_header() {
        let of = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(AUTHORIZATION, value.parse().unwrap());
            }
            bearer(&headers).map(|token| token.map(str::to_owned))
        };
        let token = Ok(Some("a.b.c".to_owned()));
        for fine in ["Bearer a.b.c", "bearer a.b.c", "BEARER   a.b.c "] {
            assert_eq!(of(&[fine]), token, "{fine}");
        }
        for none in [&[][..], &["Basic dTpw"], &["Bearerx a.b.c"]] {
            assert_eq!(of(none), Ok(None), "{none:?}");
        }
        for wrong in [
            &["Bearer"][..],
            &["Bearer "],
            &["Bearer a", "Bearer b"],
            &["Basic x", "Bearer a"],
        ] {
            assert_eq!(of(wrong), Err(Failure::Malformed), "{wrong:?}");
        }
        let mut headers = HeaderMap::new();
        headers.insert(
            AUTHORIZATION,
            http::HeaderValue::from_bytes(b"Bearer \xff").unwrap(),
        );
        assert_eq!(bearer(&headers), Err(Failure::Malformed));
    }
}
