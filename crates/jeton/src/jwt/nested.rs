use serde::Serialize;
use serde::de::DeserializeOwned;

use super::JwtVerifier;
use super::issue::issue_under;
use crate::claims::{Claims, CustomClaims};
use crate::clock::{Clock, SystemClock};
use crate::error::{Part, Rejection, Result};
use crate::issue::{AnyClaims, Issue, WriteClaims};
use crate::jwe::{Decrypter, Encrypter};
use crate::jws::{HeaderMembers, with_members};
use crate::key::SigningKeyRef;
use crate::verified::{RawClaims, Scratch, Verified, VerifiedIn};
use crate::verify::Verify;

/// Issues JWTs that are signed and then encrypted (RFC 7519, section 11.2).
///
/// ```
/// use std::time::Duration;
/// use jeton::jwe::{Decrypter, Encrypter};
/// use jeton::key::{DecryptionKey, SigAlg, SigningKey, ContentEnc, KeyManagementAlg};
/// use jeton::{Claims, Policy, Verified, jwt::{self, JwtVerifier}};
///
/// #[derive(serde::Serialize, serde::Deserialize)]
/// struct Visit { page: String }
///
/// let (author, reader) = (
///     SigningKey::generate(SigAlg::ES256)?,
///     DecryptionKey::generate(KeyManagementAlg::EcdhEs)?,
/// );
/// let token = jwt::NestedIssuer::new(
///     &author,
///     Encrypter::new(&reader.encryption_key(), ContentEnc::A256Gcm),
/// )
/// .issue(
///     &Claims::new(Visit { page: "/".into() })
///         .issuer("https://id.example")
///         .audience("api")
///         .expires_in(Duration::from_secs(900)),
/// )?;
///
/// let verifier = jwt::NestedVerifier::new(
///     Decrypter::new(&reader),
///     JwtVerifier::new(author.verifying_key(), Policy::new("https://id.example", "api")),
/// );
/// let visit: Verified<Visit> = verifier.verify(&token)?;
/// assert_eq!(visit.claims().page, "/");
/// # Ok::<(), jeton::Error>(())
/// ```
#[derive(Debug)]
pub struct NestedIssuer<'k> {
    signing_key: SigningKeyRef<'k>,
    /// Of the signed token.
    header: HeaderMembers,
    encrypter: Encrypter<'k>,
}

impl<'k> NestedIssuer<'k> {
    /// Creates an issuer that signs with this key (a `&MacKey`, a `&SigningKey` or a `&RemoteSigner`), and then
    /// encrypts with this encrypter. Its `cty` is set to `JWT`.
    pub fn new(
        signing_key: impl Into<SigningKeyRef<'k>>,
        encrypter: Encrypter<'k>,
    ) -> NestedIssuer<'k> {
        NestedIssuer {
            signing_key: signing_key.into(),
            header: HeaderMembers::default(),
            encrypter: encrypter.content_type("JWT"),
        }
    }

    /// Adds a member to the header of the signed token, as [`JwsSigner::header`](crate::jws::JwsSigner::header) does. The
    /// encrypter has the members of the outer header.
    pub fn header(mut self, name: impl Into<String>, value: impl Serialize) -> Self {
        self.header.add(name.into(), &value);
        self
    }

    /// Issues a compact JWE that contains a JWT with these claims, using the system clock.
    pub fn issue<T: CustomClaims>(&self, claims: &Claims<'_, T>) -> Result<String> {
        self.issue_with_clock(claims, &SystemClock)
    }

    /// Issues a compact JWE that contains a JWT with these claims, using this clock.
    pub fn issue_with_clock<T: CustomClaims>(
        &self,
        claims: &Claims<'_, T>,
        clock: &dyn Clock,
    ) -> Result<String> {
        self.sign_and_encrypt(claims, clock)
    }

    fn sign_and_encrypt<C: WriteClaims + ?Sized>(
        &self,
        claims: &C,
        clock: &dyn Clock,
    ) -> Result<String> {
        let header = with_members(self.signing_key.headers().jwt(), &self.header)?;
        let signed = issue_under(&header, self.signing_key, claims, clock)?;
        self.encrypter.encrypt(signed.as_bytes())
    }
}

impl Issue for NestedIssuer<'_> {
    fn issue_with_clock(&self, claims: &dyn AnyClaims, clock: &dyn Clock) -> Result<String> {
        self.sign_and_encrypt(claims, clock)
    }
}

/// Verifies nested JWTs: decrypts a compact JWE with `cty: JWT`, and verifies the signed JWT inside.
///
/// Both layers are required. A token that is only signed or only encrypted is rejected.
#[derive(Debug)]
pub struct NestedVerifier {
    decrypter: Decrypter,
    verifier: JwtVerifier,
}

impl NestedVerifier {
    /// Creates a verifier from a decrypter and a verifier for the inner token.
    pub fn new(decrypter: Decrypter, verifier: JwtVerifier) -> NestedVerifier {
        NestedVerifier {
            decrypter,
            verifier,
        }
    }

    /// Decrypts and verifies a token, and returns its claims.
    pub fn verify<T: DeserializeOwned>(&self, token: &str) -> Result<Verified<T>> {
        self.verify_raw(token)?.deserialize()
    }

    /// Decrypts a token and calls `read` with the signed token inside.
    fn inside<R>(&self, token: &str, read: impl FnOnce(&str) -> Result<R>) -> Result<R> {
        let decrypted = self.decrypter.decrypt(token)?;
        let is_jwt = (decrypted.content_type()).is_some_and(|cty| {
            cty.eq_ignore_ascii_case("JWT") || cty.eq_ignore_ascii_case("application/jwt")
        });
        if !is_jwt {
            return Err(Rejection::TypeMismatch.into());
        }
        let inner = std::str::from_utf8(decrypted.plaintext())
            .map_err(|_| Rejection::Malformed(Part::Payload))?;
        read(inner)
    }
}

impl Verify for NestedVerifier {
    fn verify_raw(&self, token: &str) -> Result<Verified<RawClaims>> {
        self.inside(token, |inner| self.verifier.verify_raw(inner))
    }

    fn verify_raw_in<'s>(
        &self,
        token: &str,
        scratch: &'s mut Scratch,
    ) -> Result<VerifiedIn<'s, RawClaims>> {
        self.inside(token, |inner| self.verifier.verify_raw_in(inner, scratch))
    }

    fn recheck(&self, verified: &Verified<RawClaims>) -> Result<()> {
        self.verifier.recheck(verified)
    }
}
