use std::fmt;

use super::TokenContext;
use crate::clock::Clock;
use crate::error::Result;
use crate::issue::{AnyClaims, Issue};

/// Issues all tokens with the same footer and implicit assertion. Use it with code that uses [`Issue`] and
/// does not know about contexts.
///
/// ```
/// use std::time::Duration;
/// use jeton::paseto::{TokenContext, BoundIssuer, v4, PasetoVerifier};
/// use jeton::{Claims, Issue, Policy};
///
/// let key = v4::SecretKey::generate()?;
/// let footer = format!("{{\"kid\":\"{}\"}}", key.public_key().id());
/// let issuer: &dyn Issue = &BoundIssuer::new(&key, TokenContext::new().footer(&footer));
/// let claims = Claims::new(()).issuer("i").audience("a").expires_in(Duration::from_secs(300));
/// let token = issuer.issue(&claims)?;
///
/// let verifier = PasetoVerifier::new(key.public_key(), Policy::new("i", "a"));
/// let verified = verifier.verify::<serde::de::IgnoredAny>(&token)?;
/// assert_eq!(verified.footer(), Some(footer.as_bytes()));
/// # Ok::<_, jeton::Error>(())
/// ```
pub struct BoundIssuer<'a> {
    key: &'a dyn IssueBound,
    context: TokenContext<'a>,
}

/// A key that issues PASETOs.
///
/// Implemented by the keys of all versions. Sealed.
pub trait IssueBound: Send + Sync + sealed::Sealed {
    #[doc(hidden)]
    fn issue_bound_onto(
        &self,
        claims: &dyn AnyClaims,
        context: TokenContext<'_>,
        clock: &dyn Clock,
        token: &mut String,
    ) -> Result<()>;
}

pub(super) mod sealed {
    /// Seals [`IssueBound`](super::IssueBound).
    pub trait Sealed {}
}

impl<'a> BoundIssuer<'a> {
    /// Creates an issuer with this key and context.
    pub fn new(key: &'a impl IssueBound, context: TokenContext<'a>) -> BoundIssuer<'a> {
        BoundIssuer { key, context }
    }
}

impl Issue for BoundIssuer<'_> {
    fn issue_with_clock(&self, claims: &dyn AnyClaims, clock: &dyn Clock) -> Result<String> {
        let mut token = String::new();
        self.issue_onto_with_clock(claims, clock, &mut token)?;
        Ok(token)
    }

    fn issue_onto_with_clock(
        &self,
        claims: &dyn AnyClaims,
        clock: &dyn Clock,
        token: &mut String,
    ) -> Result<()> {
        self.key
            .issue_bound_onto(claims, self.context, clock, token)
    }
}

impl fmt::Debug for BoundIssuer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoundIssuer")
            .field("context", &self.context)
            .finish_non_exhaustive()
    }
}
