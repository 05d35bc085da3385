use serde::Serialize;

use crate::claims::{Buffer, Claims, CustomClaims, Dates};
use crate::clock::{Clock, SystemClock};
use crate::error::Result;
use crate::jws::{self, HeaderMembers, unsigned, with_members};
use crate::jwt::{ACCESS_TOKEN_TYPE, check_access_token};
use crate::key::remote::{Prepared, RemoteSigner, SignRemotely};
use crate::key::{SigAlg, VerifyingKey};

/// A remote private key, represented by its public key, its algorithm and its id.
///
/// ```
/// use jeton::key::VerifyingKey;
/// use jeton::remote::RemoteKey;
/// # let pem = jeton::key::SigningKey::generate(jeton::key::SigAlg::ES256)?.verifying_key().to_pem()?;
///
/// // The public key from the KMS, with the id that verifiers use.
/// let key = RemoteKey::new(VerifyingKey::from_pem(&pem)?.with_key_id("kms-2026-11")?);
/// # Ok::<(), jeton::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct RemoteKey {
    public: VerifyingKey,
    header: HeaderMembers,
}

impl RemoteKey {
    /// Creates a remote key from its public key, a `VerifyingKey` or a reference to one. Tokens contain its `kid`, if it
    /// has one.
    pub fn new(public: impl Into<VerifyingKey>) -> RemoteKey {
        RemoteKey {
            public: public.into(),
            header: HeaderMembers::default(),
        }
    }

    /// Adds a member to the header of the prepared tokens, as [`JwsSigner::header`](crate::jws::JwsSigner::header) does.
    /// Preparing returns its errors. After [`with_signer`](RemoteKey::with_signer), the issuer has the members.
    ///
    /// ```
    /// use jeton::key::{SigAlg, SigningKey};
    /// use jeton::remote::RemoteKey;
    ///
    /// let public = SigningKey::generate(SigAlg::ES256)?.verifying_key();
    /// let key = RemoteKey::new(&public).header("x5t", "dGhlIHRodW1icHJpbnQh");
    /// assert!(key.prepare_payload(b"x").is_ok());
    /// assert!(RemoteKey::new(&public).header("alg", "none").prepare_payload(b"x").is_err());
    /// # Ok::<(), jeton::Error>(())
    /// ```
    pub fn header(mut self, name: impl Into<String>, value: impl Serialize) -> RemoteKey {
        self.header.add(name.into(), &value);
        self
    }

    /// Prepares a JWT with these claims for signing, using the system clock.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidUse`](crate::Error::InvalidUse) if a JWT cannot represent the claims.
    pub fn prepare<T: CustomClaims>(&self, claims: &Claims<'_, T>) -> Result<Prepared> {
        self.prepare_with_clock(claims, &SystemClock)
    }

    /// Prepares a JWT with these claims for signing, using this clock.
    ///
    /// # Errors
    ///
    /// Those of [`prepare`](RemoteKey::prepare).
    pub fn prepare_with_clock<T: CustomClaims>(
        &self,
        claims: &Claims<'_, T>,
        clock: &dyn Clock,
    ) -> Result<Prepared> {
        let payload = written(claims, clock)?;
        self.prepared(self.public.headers().jwt(), &payload)
    }

    /// Prepares a JWT with this `typ`, for example `at+jwt`, using this clock.
    ///
    /// # Errors
    ///
    /// Those of [`prepare`](RemoteKey::prepare), and [`InvalidUse::Type`](crate::error::InvalidUse::Type) if the type is
    /// not a media type.
    ///
    /// ```
    /// use jeton::key::{SigAlg, SigningKey};
    /// use jeton::remote::RemoteKey;
    /// use jeton::{Claims, SystemClock};
    ///
    /// let key = RemoteKey::new(SigningKey::generate(SigAlg::ES256)?.verifying_key());
    /// let claims = Claims::from_json(r#"{"sub":"user-7"}"#)?.without_expiry();
    /// let prepared = key.prepare_as_with_clock("at+jwt", &claims, &SystemClock)?;
    /// assert!(prepared.input().message().starts_with(b"ey"));
    /// # Ok::<(), jeton::Error>(())
    /// ```
    pub fn prepare_as_with_clock<T: CustomClaims>(
        &self,
        typ: &str,
        claims: &Claims<'_, T>,
        clock: &dyn Clock,
    ) -> Result<Prepared> {
        let payload = written(claims, clock)?;
        self.prepare_payload_as(typ, &payload)
    }

    /// Prepares an access token (RFC 9068) with the type `at+jwt`, using this clock.
    ///
    /// # Errors
    ///
    /// Those of [`prepare`](RemoteKey::prepare), and
    /// [`InvalidUse::AccessTokenClaim`](crate::error::InvalidUse::AccessTokenClaim) if a required claim is missing.
    ///
    /// ```
    /// use std::time::Duration;
    /// use jeton::key::{SigAlg, SigningKey};
    /// use jeton::remote::RemoteKey;
    /// use jeton::{Claims, SystemClock};
    ///
    /// let key = RemoteKey::new(SigningKey::generate(SigAlg::ES256)?.verifying_key());
    /// let claims = Claims::from_json(r#"{"sub":"user-7","client_id":"web"}"#)?
    ///     .issuer("https://id.example")
    ///     .audience("api")
    ///     .expires_in(Duration::from_secs(300));
    /// assert!(key.prepare_access_token_with_clock(&claims, &SystemClock).is_err()); // no `jti`
    /// let claims = claims.token_id("1");
    /// assert!(key.prepare_access_token_with_clock(&claims, &SystemClock).is_ok());
    /// # Ok::<(), jeton::Error>(())
    /// ```
    pub fn prepare_access_token_with_clock<T: CustomClaims>(
        &self,
        claims: &Claims<'_, T>,
        clock: &dyn Clock,
    ) -> Result<Prepared> {
        let payload = written(claims, clock)?;
        check_access_token(&payload)?;
        self.prepare_payload_as(ACCESS_TOKEN_TYPE, &payload)
    }

    /// Prepares a compact JWS with this payload for signing. Its header contains `alg` and `kid`.
    ///
    /// # Errors
    ///
    /// Those of [`header`](RemoteKey::header).
    pub fn prepare_payload(&self, payload: &[u8]) -> Result<Prepared> {
        self.prepared(self.public.headers().bare(), payload)
    }

    /// Prepares a compact JWS with this payload and `typ`, for example `at+jwt` (RFC 9068).
    ///
    /// # Errors
    ///
    /// [`InvalidUse::Type`](crate::error::InvalidUse::Type) if it is not a media type.
    pub fn prepare_payload_as(&self, typ: &str, payload: &[u8]) -> Result<Prepared> {
        let header = jws::header_with_type(self.alg().name(), self.key_id(), typ)?;
        self.prepared(&header, payload)
    }

    /// Returns a key that signs synchronously with this signer.
    pub fn with_signer(self, signer: impl SignRemotely + 'static) -> RemoteSigner {
        RemoteSigner::new(self.public, Box::new(signer))
    }

    /// Returns the public key, with the same algorithm and key id.
    pub fn verifying_key(&self) -> VerifyingKey {
        self.public.clone()
    }

    /// Returns the algorithm.
    pub fn alg(&self) -> SigAlg {
        self.public.alg()
    }

    /// Returns the key id (`kid`).
    pub fn key_id(&self) -> Option<&str> {
        self.public.key_id()
    }

    fn prepared(&self, encoded_header: &str, payload: &[u8]) -> Result<Prepared> {
        let header = with_members(encoded_header, &self.header)?;
        let signing_input = unsigned(&header, payload, self.public.signature_bytes());
        Ok(Prepared::compact(self.public.clone(), signing_input))
    }
}

fn written<T: CustomClaims>(claims: &Claims<'_, T>, clock: &dyn Clock) -> Result<Buffer> {
    let mut payload = Buffer::new();
    claims.write(&mut payload, Dates::Numeric, clock)?;
    Ok(payload)
}
