use serde::Serialize;

use crate::claims::{Buffer, Claims, Dates};
use crate::clock::{Clock, SystemClock};
use crate::error::Result;
use crate::issue::{AnyClaims, Issue, WriteClaims};
use crate::jws::assemble;
use crate::key::{MacKey, SigningKey, SigningKeyRef};

impl MacKey {
    /// A JWT with these claims and this key's MAC.
    ///
    /// The header has `alg`, the key's `kid` and `typ: JWT`. The time is the system's; a claim set
    /// with `issued_at` and `expires_at` needs no clock.
    pub fn issue<T: Serialize>(&self, claims: &Claims<'_, T>) -> Result<String> {
        issue(self.into(), claims, &SystemClock)
    }

    /// The same by another clock.
    pub fn issue_by<T: Serialize>(
        &self,
        claims: &Claims<'_, T>,
        clock: &dyn Clock,
    ) -> Result<String> {
        issue(self.into(), claims, clock)
    }
}

impl SigningKey {
    /// A JWT with these claims and this key's signature.
    ///
    /// The header has `alg`, the key's `kid` and `typ: JWT`. The time is the system's; a claim set
    /// with `issued_at` and `expires_at` needs no clock.
    pub fn issue<T: Serialize>(&self, claims: &Claims<'_, T>) -> Result<String> {
        issue(self.into(), claims, &SystemClock)
    }

    /// The same by another clock.
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

pub(crate) fn issue<C: WriteClaims + ?Sized>(
    key: SigningKeyRef<'_>,
    claims: &C,
    clock: &dyn Clock,
) -> Result<String> {
    issue_under(key.headers().jwt(), key, claims, clock)
}

/// The same under a header of the key's, base64url.
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
