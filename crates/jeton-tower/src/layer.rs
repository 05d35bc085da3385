use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use http::{Extensions, Request, Response};
use jeton::{RawClaims, Verified};
use tower_layer::Layer;
use tower_service::Service;

use crate::bearer::bearer;
use crate::failure::{Cause, Describe, Details, Failure, Protocol};
use crate::resource_metadata::ResourceMetadata;
use crate::source::{Source, TokenVerifier};

/// A layer that passes requests with a valid token, and adds the claims to their extensions.
///
/// The [crate documentation](crate) lists the responses to all other requests.
#[derive(Debug, Clone)]
pub struct RequireToken {
    source: Source,
    is_optional: bool,
    details: Details,
}

/// Marks requests that passed [`RequireToken`].
#[derive(Debug, Clone)]
struct Checked(Details);

/// Returns whether [`RequireToken`] checked a request.
pub(crate) fn is_checked(extensions: &Extensions) -> bool {
    extensions.get::<Checked>().is_some()
}

/// Returns the details for responses to a request. They are the default if no [`RequireToken`] checked the request.
pub(crate) fn details(extensions: &Extensions) -> Details {
    let checked = extensions.get::<Checked>();
    checked.map_or_else(Details::default, |checked| checked.0.clone())
}

impl RequireToken {
    /// Creates a layer that uses this [verifier](TokenVerifier): with local keys, with a remote key set, or with a
    /// remote key set for each issuer.
    #[must_use]
    pub fn new<Kind>(verifier: impl TokenVerifier<Kind>) -> Self {
        Self {
            source: verifier.into_source(),
            is_optional: false,
            details: Details::default(),
        }
    }

    /// Lets requests without a token pass, without claims. Requests with an invalid token are still rejected. A
    /// handler that does not extract the claims then serves anyone.
    #[must_use]
    pub fn optional(self) -> Self {
        Self {
            is_optional: true,
            ..self
        }
    }

    /// Adds the stable code of the error to the responses, for example `TOKEN_EXPIRED`: as `error_description`
    /// (RFC 6750, section 3), and with the feature `tonic` as `google.rpc.ErrorInfo`.
    ///
    /// By default the response does not say why a token is rejected. The code contains nothing from the token, but
    /// it tells the sender which check failed.
    #[must_use]
    pub fn describe_errors(mut self) -> Self {
        self.details.describe = Describe::Code;
        self
    }

    /// Adds the address of the metadata to `WWW-Authenticate`, so that clients find out where to get a token
    /// (RFC 9728, section 5.1). [`RequireScope`](crate::RequireScope) under this layer does the same.
    #[must_use]
    pub fn resource_metadata(mut self, metadata: &ResourceMetadata) -> Self {
        self.details.resource_metadata = Some(metadata.url().into());
        self
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
        let RequireToken {
            source,
            is_optional,
            details,
        } = self.required.clone();
        Box::pin(async move {
            // Claims in the extensions must come from this layer only.
            request.extensions_mut().remove::<Verified<RawClaims>>();
            request.extensions_mut().insert(Checked(details.clone()));
            let protocol = Protocol::of(request.headers());
            let verified = match bearer(request.headers()) {
                Ok(Some(token)) => source.verify(token).await.map(Some),
                Ok(None) if is_optional => Ok(None),
                Ok(None) => Err(Cause::Missing.into()),
                Err(_) => Err(Failure::from(Cause::Malformed)),
            };
            match verified {
                Err(failure) => return Ok(failure.response(protocol, &details)),
                Ok(Some(verified)) => drop(request.extensions_mut().insert(verified)),
                Ok(None) => {}
            }
            inner.call(request).await
        })
    }
}
