use crate::claims::{Buffer, Claims, CustomClaims, Dates};
use crate::clock::{Clock, SystemClock};
use crate::error::Result;
use crate::issue::{AnyClaims, Issue, WriteClaims};
use crate::jws::assemble;
use crate::key::{MacKey, SigningKey, SigningKeyRef};

impl MacKey {
    /// Issues a JWT with these claims and a MAC.
    ///
    /// The header contains `alg`, `kid` of the key and `typ: JWT`. The system clock is used, unless the claims
    /// set both `issued_at` and `expires_at`.
    pub fn issue<T: CustomClaims>(&self, claims: &Claims<'_, T>) -> Result<String> {
        issue(self.into(), claims, &SystemClock)
    }

    /// Issues a JWT with these claims and a MAC, using this clock.
    pub fn issue_with_clock<T: CustomClaims>(
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
    pub fn issue<T: CustomClaims>(&self, claims: &Claims<'_, T>) -> Result<String> {
        issue(self.into(), claims, &SystemClock)
    }

    /// Issues a JWT with these claims and a signature, using this clock.
    pub fn issue_with_clock<T: CustomClaims>(
        &self,
        claims: &Claims<'_, T>,
        clock: &dyn Clock,
    ) -> Result<String> {
        issue(self.into(), claims, clock)
    }
}

impl Issue for MacKey {
    fn issue_with_clock(&self, claims: &dyn AnyClaims, clock: &dyn Clock) -> Result<String> {
        issue(self.into(), claims, clock)
    }
}

impl Issue for SigningKey {
    fn issue_with_clock(&self, claims: &dyn AnyClaims, clock: &dyn Clock) -> Result<String> {
        issue(self.into(), claims, clock)
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
