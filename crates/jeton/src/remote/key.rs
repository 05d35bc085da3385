use serde::Serialize;

use super::{Prepared, RemoteSigner, SignRemotely};
use crate::claims::{Buffer, Claims, Dates};
use crate::clock::{Clock, SystemClock};
use crate::error::Result;
use crate::jws::{self, unsigned};
use crate::key::{SigAlg, VerifyingKey};

/// A private key that lives elsewhere: here are its public half, its algorithm and its id.
///
/// ```
/// use jeton::key::VerifyingKey;
/// use jeton::remote::RemoteKey;
/// # let pem = jeton::key::SigningKey::generate(jeton::key::SigAlg::ES256)?.verifying_key().to_pem()?;
///
/// // What the KMS gives as the public key, and the id under which verifiers find it.
/// let key = RemoteKey::new(VerifyingKey::from_pem(&pem)?.with_key_id("kms-2026-11")?);
/// # Ok::<(), jeton::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct RemoteKey {
    public: VerifyingKey,
}

impl RemoteKey {
    /// The private key that belongs to this public one. Tokens carry its `kid`, if it has one.
    pub fn new(public: VerifyingKey) -> RemoteKey {
        RemoteKey { public }
    }

    /// A JWT with these claims that waits for its signature. The time is the system's.
    ///
    /// # Errors
    ///
    /// [`Error::Misuse`](crate::Error::Misuse) if the claims are not what a JWT can hold.
    pub fn prepare<T: Serialize>(&self, claims: &Claims<'_, T>) -> Result<Prepared> {
        self.prepare_by(claims, &SystemClock)
    }

    /// The same by another clock.
    ///
    /// # Errors
    ///
    /// As [`prepare`](RemoteKey::prepare).
    pub fn prepare_by<T: Serialize>(
        &self,
        claims: &Claims<'_, T>,
        clock: &dyn Clock,
    ) -> Result<Prepared> {
        let mut payload = Buffer::new();
        claims.write(&mut payload, Dates::Numeric, clock)?;
        Ok(self.prepared(self.public.headers().jwt(), &payload))
    }

    /// A compact JWS of any payload that waits for its signature. Its header has `alg` and `kid`.
    ///
    /// # Errors
    ///
    /// None today.
    pub fn prepare_payload(&self, payload: &[u8]) -> Result<Prepared> {
        Ok(self.prepared(self.public.headers().bare(), payload))
    }

    /// The same with a `typ`, as in `at+jwt` (RFC 9068).
    ///
    /// # Errors
    ///
    /// [`Misuse::Type`](crate::error::Misuse::Type) if it is no media type.
    pub fn prepare_payload_as(&self, typ: &str, payload: &[u8]) -> Result<Prepared> {
        let header = jws::header_with_type(self.alg().name(), self.key_id(), typ)?;
        Ok(self.prepared(&header, payload))
    }

    /// A key that signs at once, by asking this signer.
    pub fn signed_by(self, signer: impl SignRemotely + 'static) -> RemoteSigner {
        RemoteSigner::new(self.public, Box::new(signer))
    }

    /// The public half, with the same algorithm and id.
    pub fn verifying_key(&self) -> VerifyingKey {
        self.public.clone()
    }

    /// The key's algorithm.
    pub fn alg(&self) -> SigAlg {
        self.public.alg()
    }

    /// The key's id (`kid`).
    pub fn key_id(&self) -> Option<&str> {
        self.public.key_id()
    }

    fn prepared(&self, encoded_header: &str, payload: &[u8]) -> Prepared {
        let signing_input = unsigned(encoded_header, payload, self.public.signature_bytes());
        Prepared::compact(self.public.clone(), signing_input)
    }
}
