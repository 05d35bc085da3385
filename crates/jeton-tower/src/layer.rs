use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::header::{AUTHORIZATION, HeaderMap};
use http::{Request, Response};
use jeton::{Untyped, Verified, Verify};
use jeton_jwks::Verifier as RemoteVerifier;
use tower_layer::Layer;
use tower_service::Service;

use crate::answer::{Protocol, Refusal};

/// Lets requests pass that have a token which verifies, and puts its claims into their extensions.
///
/// What is answered otherwise is a table in the [crate's documentation](crate).
#[derive(Debug, Clone)]
pub struct RequireToken {
    source: Source,
    tokens: Tokens,
}

/// What becomes of requests without a token.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Tokens {
    /// They are refused.
    #[default]
    Required,
    /// They pass, without claims. A handler that forgets to ask for claims serves anybody. A token that
    /// is there and refused is refused all the same.
    Optional,
}

#[derive(Clone)]
enum Source {
    Local(Arc<dyn Verify>),
    Remote(Arc<RemoteVerifier>),
}

impl RequireToken {
    /// By a verifier of any format.
    pub fn by(verifier: impl Verify + 'static) -> Self {
        Self::new(Source::Local(Arc::new(verifier)))
    }

    /// By a verifier whose keys are at an address.
    #[must_use]
    pub fn by_remote(verifier: RemoteVerifier) -> Self {
        Self::new(Source::Remote(Arc::new(verifier)))
    }

    fn new(source: Source) -> Self {
        Self {
            source,
            tokens: Tokens::Required,
        }
    }

    /// What becomes of requests without a token.
    #[must_use]
    pub fn tokens(self, tokens: Tokens) -> Self {
        Self { tokens, ..self }
    }
}

impl<S> Layer<S> for RequireToken {
    type Service = Passing<S>;

    fn layer(&self, inner: S) -> Passing<S> {
        Passing {
            inner,
            required: self.clone(),
        }
    }
}

/// The service behind a [`RequireToken`].
#[derive(Debug, Clone)]
pub struct Passing<S> {
    inner: S,
    required: RequireToken,
}

impl<S, B, A> Service<Request<B>> for Passing<S>
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
        // The one that was asked whether it is ready is the one that is called.
        let waiting = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, waiting);
        let RequireToken { source, tokens } = self.required.clone();
        Box::pin(async move {
            // Nobody but this layer says what was verified.
            request.extensions_mut().remove::<Verified<Untyped>>();
            let protocol = Protocol::of(request.headers());
            let verified = match bearer(request.headers()) {
                Ok(Some(token)) => source.verify(token).await.map(Some),
                Ok(None) if tokens == Tokens::Optional => Ok(None),
                Ok(None) => Err(Refusal::Missing),
                Err(refusal) => Err(refusal),
            };
            match verified {
                Err(refusal) => return Ok(refusal.answer(protocol)),
                Ok(Some(verified)) => drop(request.extensions_mut().insert(verified)),
                Ok(None) => {}
            }
            inner.call(request).await
        })
    }
}

impl Source {
    async fn verify(&self, token: &str) -> Result<Verified<Untyped>, Refusal> {
        match self {
            Self::Local(verifier) => verifier.verify_untyped(token).map_err(|error| {
                let refusal = Refusal::from(&error);
                told(refusal, &error);
                refusal
            }),
            Self::Remote(verifier) => verifier.verify_untyped(token).await.map_err(|error| {
                let refusal = Refusal::from(&error);
                told(refusal, &error);
                refusal
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

/// An error of jeton's repeats nothing of a token.
fn told(refusal: Refusal, error: &dyn fmt::Display) {
    match refusal {
        Refusal::Fault => tracing::error!(%error, "tokens cannot be verified"),
        Refusal::NoKeys => tracing::warn!(%error, "tokens cannot be verified"),
        Refusal::Missing | Refusal::Invalid | Refusal::Malformed => {
            tracing::debug!(%error, "a token is refused");
        }
    }
}

/// The token of the one `Authorization` header of a request, if that has one (RFC 6750, section 2.1; the
/// scheme's case is free by RFC 9110, section 11.1). Another scheme's credentials are no token.
fn bearer(headers: &HeaderMap) -> Result<Option<&str>, Refusal> {
    let mut all = headers.get_all(AUTHORIZATION).iter();
    let Some(first) = all.next() else {
        return Ok(None);
    };
    if all.next().is_some() {
        return Err(Refusal::Malformed);
    }
    let credentials = first.to_str().map_err(|_| Refusal::Malformed)?;
    let (scheme, token) = credentials.split_once(' ').unwrap_or((credentials, ""));
    if !scheme.eq_ignore_ascii_case("Bearer") {
        return Ok(None);
    }
    match token.trim_matches(' ') {
        "" => Err(Refusal::Malformed),
        token => Ok(Some(token)),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn the_token_is_that_of_one_bearer_header() {
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
            assert_eq!(of(wrong), Err(Refusal::Malformed), "{wrong:?}");
        }
        let mut headers = HeaderMap::new();
        headers.insert(
            AUTHORIZATION,
            http::HeaderValue::from_bytes(b"Bearer \xff").unwrap(),
        );
        assert_eq!(bearer(&headers), Err(Refusal::Malformed));
    }
}
