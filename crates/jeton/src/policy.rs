//! The requirements of a verifier (RFC 7519, section 7.2; RFC 8725).

use std::borrow::Cow;
use std::time::Duration;

use crate::claims::{Dates, Registered, Scanned};
use crate::clock::{Clock, Timestamp};
use crate::error::{Claim, Rejection};
use crate::limits::Limits;
use crate::verified::{RawClaims, Verified};

/// The requirements for a token in addition to a valid signature.
///
/// [`Policy::new`] requires the issuer, the audience and an expiry. Only an explicit call drops one of these.
/// `exp`, `nbf` and `iat` are checked whenever they are present.
///
/// ```
/// use std::time::Duration;
/// use jeton::Policy;
///
/// let policy = Policy::new("https://id.example", "api")
///     .leeway(Duration::from_secs(30))
///     .max_age(Duration::from_hours(1));
/// ```
#[derive(Debug, Clone)]
#[must_use = "a policy does nothing until a verifier has it"]
pub struct Policy {
    issuer: Option<Cow<'static, str>>,
    audience: Option<Cow<'static, str>>,
    typ: Option<Cow<'static, str>>,
    required: Vec<Claim>,
    expiry_required: bool,
    leeway: Duration,
    max_age: Option<Duration>,
}

impl Policy {
    /// Creates a policy that requires this issuer, this audience and an expiry.
    pub fn new(
        issuer: impl Into<Cow<'static, str>>,
        audience: impl Into<Cow<'static, str>>,
    ) -> Policy {
        Policy {
            issuer: Some(issuer.into()),
            audience: Some(audience.into()),
            typ: None,
            required: Vec::new(),
            expiry_required: true,
            leeway: Duration::ZERO,
            max_age: None,
        }
    }

    /// Accepts any issuer. Use it only if the key alone determines the issuer.
    pub fn any_issuer(mut self) -> Policy {
        self.issuer = None;
        self
    }

    /// Accepts any audience. Use it only if the key is for a single audience.
    pub fn any_audience(mut self) -> Policy {
        self.audience = None;
        self
    }

    /// Accepts tokens without `exp`. A token with an `exp` in the past is still rejected.
    pub fn without_expiry(mut self) -> Policy {
        self.expiry_required = false;
        self
    }

    /// Requires this `typ` in a JWS header, for example `at+jwt` (RFC 9068). Case and a leading `application/` are
    /// ignored (RFC 7515, section 4.1.9).
    ///
    /// By default, `typ` must be `JWT` or absent. A PASETO has no `typ`, and ignores this.
    pub fn typ(mut self, typ: impl Into<Cow<'static, str>>) -> Policy {
        self.typ = Some(typ.into());
        self
    }

    /// Requires that this claim is present.
    pub fn require(mut self, claim: Claim) -> Policy {
        self.required.push(claim);
        self
    }

    /// Sets the allowed difference between the clocks of issuer and verifier. It extends `exp` and the maximum
    /// age, and allows `nbf` and `iat` to be in the future by this much. Default: zero.
    pub fn leeway(mut self, leeway: Duration) -> Policy {
        self.leeway = leeway;
        self
    }

    /// Requires an `iat` that is at most this old.
    pub fn max_age(mut self, max_age: Duration) -> Policy {
        self.max_age = Some(max_age);
        self
    }

    /// Whether the policy accepts this `typ`.
    pub(crate) fn accepts_typ(&self, typ: Option<&str>) -> bool {
        match (&self.typ, typ) {
            (None, None) => true,
            (None, Some(typ)) => same_type(typ, "JWT"),
            (Some(_), None) => false,
            (Some(wanted), Some(typ)) => same_type(typ, wanted),
        }
    }

    /// Reads and checks the claims of an authenticated payload. Afterwards the whole payload is known to be strict
    /// JSON, and the caller's type may be read from the same bytes.
    pub(crate) fn accept(
        &self,
        payload: &str,
        dates: Dates,
        limits: &Limits,
        clock: &dyn Clock,
        claims: &mut Scanned,
    ) -> Result<(), Rejection> {
        claims.read(payload, limits.depth(), dates)?;
        self.check(&claims.registered, payload, clock.now())
    }

    /// Checks claims that were read earlier against the current time.
    pub(crate) fn recheck(
        &self,
        verified: &Verified<RawClaims>,
        clock: &dyn Clock,
    ) -> Result<(), Rejection> {
        self.check(verified.registered(), verified.json(), clock.now())
    }

    fn check(
        &self,
        registered: &Registered,
        payload: &str,
        now: Timestamp,
    ) -> Result<(), Rejection> {
        self.check_presence(registered)?;
        self.check_times(registered, now)?;
        if let Some(wanted) = &self.issuer {
            let issuer = registered.issuer.as_ref();
            let issuer = issuer.ok_or(Rejection::ClaimMissing(Claim::Issuer))?;
            if issuer.read(payload) != wanted {
                return Err(Rejection::IssuerMismatch);
            }
        }
        if let Some(wanted) = &self.audience {
            if registered.audience.is_none() {
                return Err(Rejection::ClaimMissing(Claim::Audience));
            }
            if !registered.is_for(wanted, payload) {
                return Err(Rejection::AudienceMismatch);
            }
        }
        Ok(())
    }

    fn check_presence(&self, registered: &Registered) -> Result<(), Rejection> {
        if self.expiry_required && registered.expires_at.is_none() {
            return Err(Rejection::ClaimMissing(Claim::Expiry));
        }
        for claim in &self.required {
            let present = match claim {
                Claim::Issuer => registered.issuer.is_some(),
                Claim::Subject => registered.subject.is_some(),
                Claim::Audience => registered.audience.is_some(),
                Claim::Expiry => registered.expires_at.is_some(),
                Claim::NotBefore => registered.not_before.is_some(),
                Claim::IssuedAt => registered.issued_at.is_some(),
                Claim::TokenId => registered.token_id.is_some(),
            };
            if !present {
                return Err(Rejection::ClaimMissing(*claim));
            }
        }
        Ok(())
    }

    fn check_times(&self, registered: &Registered, now: Timestamp) -> Result<(), Rejection> {
        let latest = now.saturating_add(self.leeway);
        if registered
            .expires_at
            .is_some_and(|at| at.saturating_add(self.leeway) <= now)
        {
            return Err(Rejection::Expired);
        }
        if registered.not_before.is_some_and(|at| at > latest) {
            return Err(Rejection::NotYetValid);
        }
        if registered.issued_at.is_some_and(|at| at.next > latest) {
            return Err(Rejection::IssuedInTheFuture);
        }
        if let Some(max_age) = self.max_age {
            let issued_at = registered
                .issued_at
                .ok_or(Rejection::ClaimMissing(Claim::IssuedAt))?;
            let end = issued_at
                .last()
                .saturating_add(max_age)
                .saturating_add(self.leeway);
            if end < now {
                return Err(Rejection::TooOld);
            }
        }
        Ok(())
    }
}

/// Whether two media types are equal; each may omit `application/`.
fn same_type(one: &str, other: &str) -> bool {
    let bare = |typ: &str| -> usize {
        const PREFIX: &str = "application/";
        match typ.get(..PREFIX.len()) {
            // Only a type without a further slash may omit it.
            Some(start)
                if start.eq_ignore_ascii_case(PREFIX) && !typ[PREFIX.len()..].contains('/') =>
            {
                PREFIX.len()
            }
            _ => 0,
        }
    };
    // Compare the usual spelling first.
    one == other || one[bare(one)..].eq_ignore_ascii_case(&other[bare(other)..])
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_000_000;

    fn check(policy: &Policy, payload: &str) -> Result<(), Rejection> {
        let registered = Scanned::of(payload, Dates::Numeric)?.registered;
        let now = Timestamp::from_unix_seconds(NOW).expect("in range");
        policy.check(&registered, payload, now)
    }

    fn times() -> Policy {
        Policy::new("i", "a").any_issuer().any_audience()
    }

    #[test]
    fn exp_is_checked_to_the_second() {
        for (exp, expected) in [
            ("1000001", Ok(())),
            ("1000000.5", Ok(())),
            ("1000000", Err(Rejection::Expired)),
            ("999999.9", Err(Rejection::Expired)),
            ("0", Err(Rejection::Expired)),
        ] {
            assert_eq!(
                check(&times(), &format!("{{\"exp\":{exp}}}")),
                expected,
                "{exp}"
            );
        }
        let lenient = times().leeway(Duration::from_secs(5));
        assert_eq!(check(&lenient, "{\"exp\":999996}"), Ok(()));
        assert_eq!(check(&lenient, "{\"exp\":999995}"), Err(Rejection::Expired));
    }

    #[test]
    fn missing_exp_is_rejected_unless_allowed() {
        assert_eq!(
            check(&times(), "{}"),
            Err(Rejection::ClaimMissing(Claim::Expiry))
        );
        assert_eq!(check(&times().without_expiry(), "{}"), Ok(()));
        assert_eq!(
            check(&times().without_expiry(), "{\"exp\":1}"),
            Err(Rejection::Expired)
        );
    }

    #[test]
    fn future_nbf_or_iat_is_rejected() {
        let policy = times().without_expiry();
        assert_eq!(check(&policy, "{\"nbf\":1000000}"), Ok(()));
        assert_eq!(
            check(&policy, "{\"nbf\":1000000.1}"),
            Err(Rejection::NotYetValid)
        );
        assert_eq!(
            check(&policy, "{\"nbf\":1000001}"),
            Err(Rejection::NotYetValid)
        );
        assert_eq!(
            check(&policy, "{\"iat\":1000001}"),
            Err(Rejection::IssuedInTheFuture)
        );
        let lenient = policy.leeway(Duration::from_secs(1));
        assert_eq!(check(&lenient, "{\"nbf\":1000001,\"iat\":1000001}"), Ok(()));
    }

    #[test]
    fn maximum_age_needs_iat() {
        let policy = times().without_expiry().max_age(Duration::from_secs(10));
        assert_eq!(
            check(&policy, "{}"),
            Err(Rejection::ClaimMissing(Claim::IssuedAt))
        );
        assert_eq!(check(&policy, "{\"iat\":999990}"), Ok(()));
        assert_eq!(check(&policy, "{\"iat\":999989}"), Err(Rejection::TooOld));
        assert_eq!(check(&policy, "{\"iat\":999989.5}"), Err(Rejection::TooOld));
        assert_eq!(check(&policy, "{\"iat\":999990.5}"), Ok(()));
    }

    #[test]
    fn issuer_and_audience_must_match_exactly() {
        let policy = Policy::new("https://i", "api").without_expiry();
        assert_eq!(check(&policy, r#"{"iss":"https://i","aud":"api"}"#), Ok(()));
        assert_eq!(
            check(&policy, r#"{"iss":"https://i","aud":["x","api"]}"#),
            Ok(())
        );
        assert_eq!(
            check(&policy, r#"{"iss":"https://i/","aud":"api"}"#),
            Err(Rejection::IssuerMismatch)
        );
        assert_eq!(
            check(&policy, r#"{"iss":"https://i","aud":"apis"}"#),
            Err(Rejection::AudienceMismatch)
        );
        assert_eq!(
            check(&policy, r#"{"iss":"https://i","aud":[]}"#),
            Err(Rejection::AudienceMismatch)
        );
        assert_eq!(
            check(&policy, r#"{"iss":"https://i"}"#),
            Err(Rejection::ClaimMissing(Claim::Audience))
        );
        assert_eq!(
            check(&policy, r#"{"aud":"api"}"#),
            Err(Rejection::ClaimMissing(Claim::Issuer))
        );
        let subject = policy.require(Claim::Subject);
        assert_eq!(
            check(&subject, r#"{"iss":"https://i","aud":"api"}"#),
            Err(Rejection::ClaimMissing(Claim::Subject))
        );
    }

    #[test]
    fn types_compare_as_media_types() {
        let any = times();
        assert!(
            any.accepts_typ(None)
                && any.accepts_typ(Some("jwt"))
                && any.accepts_typ(Some("application/JWT"))
        );
        assert!(!any.accepts_typ(Some("at+jwt")) && !any.accepts_typ(Some("")));
        let access = times().typ("at+jwt");
        assert!(
            access.accepts_typ(Some("AT+JWT")) && access.accepts_typ(Some("application/at+jwt"))
        );
        assert!(
            !access.accepts_typ(None)
                && !access.accepts_typ(Some("JWT"))
                && !access.accepts_typ(Some("é"))
        );
    }
}
