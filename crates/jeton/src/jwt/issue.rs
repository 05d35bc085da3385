use serde::Serialize;

use crate::claims::{Buffer, Claims, Dates};
use crate::clock::{Clock, SystemClock};
use crate::error::Result;
use crate::issue::{AnyClaims, Issue, WriteClaims};
use crate::jws::{HeaderText, assemble};
use crate::key::{MacKey, SigningKey, SigningKeyRef};
use crate::remote::RemoteSigner;

impl MacKey {
    /// Issues a JWT with these claims and a MAC.
    ///
    /// The header contains `alg`, `kid` of the key and `typ: JWT`. The system clock is used, unless the claims
    /// set both `issued_at` and `expires_at`.
    pub fn issue<T: Serialize>(&self, claims: &Claims<'_, T>) -> Result<String> {
        issue(self.into(), claims, &SystemClock)
    }

    /// Issues a JWT with these claims and a MAC, using this clock.
    pub fn issue_by<T: Serialize>(
        &self,
        claims: &Claims<'_, T>,
        clock: &dyn Clock,
    ) -> Result<String> {
        issue(self.into(), claims, clock)
    }
}

impl SigningKey {
    /// Issues a JWT with these claims and a signature.
    ///
    /// The header contains `alg`, `kid` of the key and `typ: JWT`. The system clock is used, unless the claims
    /// set both `issued_at` and `expires_at`.
    pub fn issue<T: Serialize>(&self, claims: &Claims<'_, T>) -> Result<String> {
        issue(self.into(), claims, &SystemClock)
    }

    /// Issues a JWT with these claims and a signature, using this clock.
    pub fn issue_by<T: Serialize>(
        &self,
        claims: &Claims<'_, T>,
        clock: &dyn Clock,
    ) -> Result<String> {
        issue(self.into(), claims, clock)
    }
}

impl RemoteSigner {
    /// Issues a JWT with these claims, using the system clock.
    ///
    /// # Errors
    ///
    /// [`Error::Misuse`](crate::Error::Misuse) if a JWT cannot represent the claims, and
    /// [`Error::Remote`](crate::Error::Remote) or the error of the signer if signing failed.
    pub fn issue<T: Serialize>(&self, claims: &Claims<'_, T>) -> Result<String> {
        issue(self.into(), claims, &SystemClock)
    }

    /// Issues a JWT with these claims, using this clock.
    ///
    /// # Errors
    ///
    /// Those of [`issue`](RemoteSigner::issue).
    pub fn issue_by<T: Serialize>(
        &self,
        claims: &Claims<'_, T>,
        clock: &dyn Clock,
    ) -> Result<String> {
        issue(self.into(), claims, clock)
    }
}

impl Issue for MacKey {
    fn issue_by(&self, claims: &dyn AnyClaims, clock: &dyn Clock) -> Result<String> {
        issue(self.into(), claims, clock)
    }
}

impl Issue for SigningKey {
    fn issue_by(&self, claims: &dyn AnyClaims, clock: &dyn Clock) -> Result<String> {
        issue(self.into(), claims, clock)
    }
}

impl Issue for RemoteSigner {
    fn issue_by(&self, claims: &dyn AnyClaims, clock: &dyn Clock) -> Result<String> {
        issue(self.into(), claims, clock)
    }
}

impl Issue for HeaderText<'_> {
    fn issue_by(&self, claims: &dyn AnyClaims, clock: &dyn Clock) -> Result<String> {
        issue_under(self.encoded(), self.key(), claims, clock)
    }
}

pub(crate) fn issue<C: WriteClaims + ?Sized>(
    key: SigningKeyRef<'_>,
    claims: &C,
    clock: &dyn Clock,
) -> Result<String> {
    issue_under(key.headers().jwt(), key, claims, clock)
}

/// Issues a JWT with this header, base64url.
pub(crate) fn issue_under<C: WriteClaims + ?Sized>(
    encoded_header: &str,
    key: SigningKeyRef<'_>,
    claims: &C,
    clock: &dyn Clock,
) -> Result<String> {
    let mut payload = Buffer::new();
    claims.write_into(&mut payload, Dates::Numeric, clock)?;
    assemble(key, encoded_header, &payload)
}
