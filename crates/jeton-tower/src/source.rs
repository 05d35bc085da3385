//! The verifiers that a layer can use.

use std::fmt;
use std::sync::Arc;

use jeton::{RawClaims, Verified, Verify};
use jeton_jwks::{MultiIssuerVerifier, RemoteVerifier};

use crate::failure::Failure;

/// A verifier for [`RequireToken`](crate::RequireToken).
///
/// - Every verifier with local keys ([`jeton::Verify`]): for JWTs, PASETOs or several issuers, and
///   [`jeton::Cached`]
/// - [`RemoteVerifier`], with a remote key set
/// - [`jeton_jwks::MultiIssuerVerifier`], with a remote key set for each issuer
///
/// The compiler infers `Kind`, which distinguishes the implementations. The trait is sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a token verifier",
    note = "pass a type that implements `jeton::Verify`, or a verifier of jeton-jwks"
)]
pub trait TokenVerifier<Kind>: sealed::IntoSource<Kind> {}

/// The [kinds](TokenVerifier) of verifiers.
pub mod kind {
    /// A verifier with local keys.
    #[derive(Debug)]
    pub enum Local {}

    /// A verifier with a remote key set.
    #[derive(Debug)]
    pub enum Remote {}

    /// A verifier with a remote key set for each issuer.
    #[derive(Debug)]
    pub enum MultiIssuer {}
}

mod sealed {
    use super::Source;

    pub trait IntoSource<Kind> {
        fn into_source(self) -> Source;
    }
}

pub(crate) use sealed::IntoSource;

#[derive(Clone)]
pub enum Source {
    Local(Arc<dyn Verify>),
    Remote(Arc<RemoteVerifier>),
    MultiIssuer(Arc<MultiIssuerVerifier>),
}

impl<V: Verify + 'static> TokenVerifier<kind::Local> for V {}

impl<V: Verify + 'static> IntoSource<kind::Local> for V {
    fn into_source(self) -> Source {
        Source::Local(Arc::new(self))
    }
}

impl TokenVerifier<kind::Remote> for RemoteVerifier {}

impl IntoSource<kind::Remote> for RemoteVerifier {
    fn into_source(self) -> Source {
        Source::Remote(Arc::new(self))
    }
}

impl TokenVerifier<kind::Remote> for Arc<RemoteVerifier> {}

impl IntoSource<kind::Remote> for Arc<RemoteVerifier> {
    fn into_source(self) -> Source {
        Source::Remote(self)
    }
}

impl TokenVerifier<kind::MultiIssuer> for MultiIssuerVerifier {}

impl IntoSource<kind::MultiIssuer> for MultiIssuerVerifier {
    fn into_source(self) -> Source {
        Source::MultiIssuer(Arc::new(self))
    }
}

impl TokenVerifier<kind::MultiIssuer> for Arc<MultiIssuerVerifier> {}

impl IntoSource<kind::MultiIssuer> for Arc<MultiIssuerVerifier> {
    fn into_source(self) -> Source {
        Source::MultiIssuer(self)
    }
}

impl Source {
    pub(crate) async fn verify(&self, token: &str) -> Result<Verified<RawClaims>, Failure> {
        let verified = match self {
            Self::Local(verifier) => {
                return verifier.verify_raw(token).map_err(|error| {
                    let failure = Failure::from(&error);
                    failure.log(&error);
                    failure
                });
            }
            Self::Remote(verifier) => verifier.verify_raw(token).await,
            Self::MultiIssuer(verifier) => verifier.verify_raw(token).await,
        };
        verified.map_err(|error| {
            let failure = Failure::from(&error);
            failure.log(&error);
            failure
        })
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local(_) => f.write_str("Local"),
            Self::Remote(verifier) => f.debug_tuple("Remote").field(verifier).finish(),
            Self::MultiIssuer(verifier) => f.debug_tuple("MultiIssuer").field(verifier).finish(),
        }
    }
}
