use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::{Extensions, Request, Response};
use jeton::{RawClaims, Verified};
use tower_layer::Layer;
use tower_service::Service;

use crate::failure::{Cause, Failure, Protocol};
use crate::layer::{details, is_checked};

/// A layer that passes requests with these scopes in their token. [`RequireToken`](crate::RequireToken) must verify the
/// token first.
///
/// Other requests get 403 with `error="insufficient_scope"` and the scopes (RFC 6750, section 3.1), or
/// `PERMISSION_DENIED`.
///
/// ```
/// use axum::{Router, routing::get};
/// use jeton::{Policy, jwt::JwtVerifier, key::SigningKey};
/// use jeton_tower::{RequireScope, RequireToken};
///
/// # let key = SigningKey::generate(jeton::key::SigAlg::ES256)?;
/// let verifier = JwtVerifier::new(key.verifying_key(), Policy::new("https://id.example", "api"));
/// let messages = get(|| async { "hello" }).layer(RequireScope::all(["read:messages"]));
/// let app: Router = Router::new()
///     .route("/messages", messages)
///     .layer(RequireToken::new(verifier));
/// # Ok::<(), jeton::Error>(())
/// ```
///
/// As a `route_layer`, it applies to all routes that the router has at that point, including nested routes. A layer
/// that is added later runs earlier, so add [`RequireToken`](crate::RequireToken) after it.
#[derive(Debug, Clone)]
pub struct RequireScope {
    scopes: Arc<[Cow<'static, str>]>,
    claims: Arc<[Cow<'static, str>]>,
}

impl RequireScope {
    /// Creates a layer that requires each of these scopes. A scope has no spaces (RFC 6749, section 3.3). If
    /// a required scope has a space, requests without it get 500, and the cause is logged.
    #[must_use]
    pub fn all<S: Into<Cow<'static, str>>>(scopes: impl IntoIterator<Item = S>) -> Self {
        Self {
            scopes: scopes.into_iter().map(Into::into).collect(),
            claims: Arc::new([Cow::Borrowed("scope")]),
        }
    }

    /// Sets the claims that grant scopes. One of them is enough for each scope. Default: `scope`.
    ///
    /// [`Verified::has_scope_in`] lists common claims, such as `scp` and `permissions`. The claims apply to the tokens
    /// of all issuers, so name only claims in which each issuer grants scopes.
    #[must_use]
    pub fn claims<C: Into<Cow<'static, str>>>(self, claims: impl IntoIterator<Item = C>) -> Self {
        Self {
            claims: claims.into_iter().map(Into::into).collect(),
            ..self
        }
    }

    fn check(&self, extensions: &Extensions) -> Result<(), Failure> {
        let Some(verified) = extensions.get::<Verified<RawClaims>>() else {
            if is_checked(extensions) {
                return Err(Cause::Missing.into());
            }
            tracing::error!("a route requires scopes, but has no RequireToken layer");
            return Err(Cause::Misconfigured.into());
        };
        let is_granted = |scope: &Cow<'_, str>| {
            let mut claims = self.claims.iter();
            claims.any(|claim| verified.has_scope_in(claim, scope))
        };
        if self.scopes.iter().all(is_granted) {
            Ok(())
        } else {
            Err(Failure::insufficient_scope(&self.scopes))
        }
    }
}

impl<S> Layer<S> for RequireScope {
    type Service = RequireScopeService<S>;

    fn layer(&self, inner: S) -> RequireScopeService<S> {
        RequireScopeService {
            inner,
            required: self.clone(),
        }
    }
}

/// The service that [`RequireScope`] creates.
#[derive(Debug, Clone)]
pub struct RequireScopeService<S> {
    inner: S,
    required: RequireScope,
}

impl<S, B, A> Service<Request<B>> for RequireScopeService<S>
where
    S: Service<Request<B>, Response = Response<A>>,
    S::Future: Send + 'static,
    A: Default + Send + 'static,
    S::Error: Send + 'static,
{
    type Response = Response<A>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Response<A>, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let Err(failure) = self.required.check(request.extensions()) else {
            return Box::pin(self.inner.call(request));
        };
        let protocol = Protocol::of(request.headers());
        let response = failure.response(protocol, &details(request.extensions()));
        Box::pin(std::future::ready(Ok(response)))
    }
}
