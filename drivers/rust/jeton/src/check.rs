//! Verification: from tokens to claims.

use crate::issue::CustomClaims;
use jeton::jwt::{JwtVerifier, MultiIssuerVerifier};
use jeton::{Cached, Scratch, VerifiedIn, Verify, jws::JwsVerifier, paseto::PasetoVerifier};
use jeton_driver_harness::{
    Claims, ClaimsVisitor, DriverError, KeySource, Map, Pool, Rejection, Verifier, Work, work,
};
use serde::ser::Error as _;
use serde::{Deserialize, Serialize, Serializer};

/// A verifier with its policy.
pub(crate) trait Check: Send + Sync + 'static {
    fn verify_in<'s, T: Deserialize<'s>>(
        &self,
        token: &str,
        scratch: &'s mut Scratch,
    ) -> jeton::Result<VerifiedIn<'s, T>>;
}

pub(crate) fn prepare(
    verifier: KeySource<impl Check>,
    pool: Pool,
    tokens: Vec<String>,
) -> Result<Box<dyn Work>, DriverError> {
    match pool {
        Pool::Standard(_) | Pool::StandardPaseto(_) => work::verify(Typed(verifier), tokens),
        Pool::Map(_) => work::verify(Untyped(verifier), tokens),
    }
}

pub(crate) fn prepare_signature_only(
    verifier: KeySource<JwsVerifier>,
    tokens: Vec<String>,
) -> Result<Box<dyn Work>, DriverError> {
    work::verify(SignatureOnly(verifier), tokens)
}

/// Decodes the custom claims; jeton has read the registered claims.
pub(crate) struct Typed<V>(pub(crate) KeySource<V>);

impl<V: Check> Verifier for Typed<V> {
    type Scratch = Scratch;

    fn verify<L: ClaimsVisitor>(
        &self,
        scratch: &mut Scratch,
        token: &str,
        visit: L,
    ) -> Result<L::Output, Rejection> {
        self.0.with(|verifier| {
            let verified = verifier.verify_in::<CustomClaims<'_>>(token, scratch);
            let verified = verified.map_err(|error| error.to_string())?;
            Ok(visit.visit(&Standard(verified)))
        })
    }
}

/// Decodes all claims into the map type that a Rust user would take.
pub(crate) struct Untyped<V>(pub(crate) KeySource<V>);

impl<V: Check> Verifier for Untyped<V> {
    type Scratch = Scratch;

    fn verify<L: ClaimsVisitor>(
        &self,
        scratch: &mut Scratch,
        token: &str,
        visit: L,
    ) -> Result<L::Output, Rejection> {
        self.0.with(|verifier| {
            let verified = verifier.verify_in::<Map>(token, scratch);
            let verified = verified.map_err(|error| error.to_string())?;
            Ok(visit.visit(verified.claims()))
        })
    }
}

struct SignatureOnly(KeySource<JwsVerifier>);

impl Verifier for SignatureOnly {
    type Scratch = ();

    fn verify<L: ClaimsVisitor>(
        &self,
        _: &mut (),
        token: &str,
        visit: L,
    ) -> Result<L::Output, Rejection> {
        self.0.with(|verifier| {
            let verified = verifier.verify(token).map_err(|error| error.to_string())?;
            std::hint::black_box(verified.payload());
            Ok(visit.visit(&()))
        })
    }
}

macro_rules! check {
    ($($verifier:ty),*) => {$(
        impl Check for $verifier {
            #[inline]
            fn verify_in<'s, T: Deserialize<'s>>(
                &self,
                token: &str,
                scratch: &'s mut Scratch,
            ) -> jeton::Result<VerifiedIn<'s, T>> {
                <$verifier>::verify_in(self, token, scratch)
            }
        }
    )*};
}

check!(JwtVerifier, PasetoVerifier, MultiIssuerVerifier);

impl<V: Verify + 'static> Check for Cached<V> {
    fn verify_in<'s, T: Deserialize<'s>>(
        &self,
        token: &str,
        scratch: &'s mut Scratch,
    ) -> jeton::Result<VerifiedIn<'s, T>> {
        Cached::verify_in(self, token, scratch)
    }
}

/// The verified claims set `standard`, for a visitor.
struct Standard<'s>(VerifiedIn<'s, CustomClaims<'s>>);

impl Claims for Standard<'_> {
    #[inline]
    fn jti(&self) -> Option<&str> {
        self.0.token_id()
    }
}

/// The values of jeton's accessors replace the token's own members, so that a difference shows.
impl Serialize for Standard<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let verified = &self.0;
        let mut claims: Map = serde_json::from_str(verified.json()).map_err(S::Error::custom)?;
        let mut tell = |name: &str, value: Option<serde_json::Value>| {
            // PASETO's times stay text, as in the token.
            if let Some(value) = value
                && !claims
                    .get(name)
                    .is_some_and(|there| there.is_string() && value.is_number())
            {
                claims.insert(name.to_owned(), value);
            }
        };
        tell("iss", verified.issuer().map(Into::into));
        tell("sub", verified.subject().map(Into::into));
        tell("jti", verified.token_id().map(Into::into));
        tell(
            "exp",
            verified.expires_at().map(|at| at.unix_seconds().into()),
        );
        tell(
            "nbf",
            verified.not_before().map(|at| at.unix_seconds().into()),
        );
        tell(
            "iat",
            verified.issued_at().map(|at| at.unix_seconds().into()),
        );
        let audiences = verified.audiences().map(|one| one.into_owned());
        tell("aud", Some(audiences.collect::<Vec<_>>().into()));
        tell("name", Some(verified.claims().name.as_ref().into()));
        tell("admin", Some(verified.claims().admin.into()));
        claims.serialize(serializer)
    }
}
