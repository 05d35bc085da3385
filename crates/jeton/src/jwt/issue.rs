use serde::Serialize;
use smallvec::SmallVec;

use crate::claims::{Claims, Dates};
use crate::clock::{Clock, SystemClock};
use crate::error::Result;
use crate::jws::assemble;
use crate::key::{MacKey, SigningKey, SigningKeyRef};

/// Claims of this many bytes are written to the stack; larger ones go through one more buffer.
const CLAIMS_ON_STACK_BYTES: usize = 1024;

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

pub(super) fn issue<T: Serialize>(
    key: SigningKeyRef<'_>,
    claims: &Claims<'_, T>,
    clock: &dyn Clock,
) -> Result<String> {
    let mut payload = SmallVec::<[u8; CLAIMS_ON_STACK_BYTES]>::new();
    claims.write(&mut payload, Dates::Numeric, clock)?;
    assemble(key, key.headers().jwt(), &payload)
}
