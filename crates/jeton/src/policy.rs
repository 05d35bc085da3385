//! The requirements of a verifier (RFC 7519, section 7.2; RFC 8725).

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use smallvec::SmallVec;

use crate::claims::{Dates, Layout, Registered, Scanned};
use crate::clock::{Clock, Timestamp};
use crate::error::{Claim, JsonType, Rejection};
use crate::limits;
use crate::token_limits::Limits;
use crate::verified::{RawClaims, Typ, Verified};

/// The requirements for a token in addition to a valid signature.
///
/// [`Policy::new`] requires the issuer, the audience and an expiry. Only an explicit call drops one of these.
/// `exp`, `nbf` and `iat` are checked whenever they are present, to the microsecond. `iat` may be 60 seconds ahead of
/// the clock: it does not limit the validity of a token, and clocks differ.
///
/// ```
/// use std::time::Duration;
/// use jeton::Policy;
///
/// let policy = Policy::new("https://id.example", "api")
///     .leeway(Duration::from_secs(30))
///     .max_age(Duration::from_secs(3600));
/// ```
#[derive(Debug, Clone)]
#[must_use = "a policy does nothing until a verifier has it"]
pub struct Policy {
    /// `None` accepts any issuer.
    issuers: Option<Names>,
    /// `None` accepts any audience.
    audiences: Option<Names>,
    /// `None` accepts `JWT` and tokens without `typ`.
    types: Option<SmallVec<[Arc<str>; 1]>>,
    /// Accepted besides those.
    further_types: Vec<Arc<str>>,
    required: Vec<Claim>,
    required_custom: Vec<CustomClaim>,
    expiry_required: bool,
    leeway: Duration,
    max_age: Option<Duration>,
}

/// A required custom claim.
#[derive(Debug, Clone)]
struct CustomClaim {
    name: Arc<str>,
    is_string: bool,
}

/// How far `iat` may be ahead of the clock, without a longer leeway and without a maximum age.
const ISSUED_AHEAD: Duration = Duration::from_secs(limits::ISSUED_AHEAD_SECONDS);

/// Accepted values. One value needs no allocation of the list.
type Names = SmallVec<[Cow<'static, str>; 1]>;

impl Policy {
    /// Creates a policy that requires this issuer, this audience and an expiry.
    pub fn new(
        issuer: impl Into<Cow<'static, str>>,
        audience: impl Into<Cow<'static, str>>,
    ) -> Policy {
        Policy {
            issuers: Some(Names::from_buf([issuer.into()])),
            audiences: Some(Names::from_buf([audience.into()])),
            types: None,
            further_types: Vec::new(),
            required: Vec::new(),
            required_custom: Vec::new(),
            expiry_required: true,
            leeway: Duration::ZERO,
            max_age: None,
        }
    }

    /// Creates a policy for access tokens (RFC 9068): the type `at+jwt`, and all claims that such a token must
    /// have (section 2.2).
    ///
    /// These are `iss`, `exp`, `aud`, `sub`, `iat`, `jti` and `client_id`. Many issuers leave some of them out.
    /// For those, use `Policy::new(issuer, audience).typ("at+jwt")`. [`Verified::has_scope`] reads `scope`.
    ///
    /// ```
    /// # use std::time::Duration;
    /// use jeton::{Claims, Policy, jwt::{JwtIssuer, JwtVerifier}, key::{SigAlg, SigningKey}};
    ///
    /// #[derive(serde::Serialize)]
    /// struct Access { client_id: &'static str, scope: &'static str }
    ///
    /// let key = SigningKey::generate(SigAlg::ES256)?;
    /// let policy = Policy::access_token("https://id.example", "api");
    /// let verifier = JwtVerifier::new(key.verifying_key(), policy);
    ///
    /// let claims = Claims::new(Access { client_id: "web", scope: "read write" })
    ///     .issuer("https://id.example")
    ///     .audience("api")
    ///     .subject("user-7")
    ///     .token_id("1")
    ///     .expires_in(Duration::from_secs(300));
    /// let access_tokens = JwtIssuer::builder(key).typ("at+jwt").build()?;
    /// let token = access_tokens.issue(&claims)?;
    /// let verified = verifier.verify::<serde::de::IgnoredAny>(&token)?;
    /// assert!(verified.has_scope("read"));
    /// # Ok::<(), jeton::Error>(())
    /// ```
    pub fn access_token(
        issuer: impl Into<Cow<'static, str>>,
        audience: impl Into<Cow<'static, str>>,
    ) -> Policy {
        let mut policy = Policy::new(issuer, audience)
            .typ("at+jwt")
            .require(Claim::Subject)
            .require(Claim::IssuedAt)
            .require(Claim::TokenId);
        policy.required_custom.push(CustomClaim {
            name: "client_id".into(),
            is_string: true,
        });
        policy
    }

    /// Requires this issuer, instead of the one of [`new`](Policy::new).
    ///
    /// ```
    /// use jeton::Policy;
    ///
    /// let policy = Policy::new("https://a.example", "api");
    /// let other = policy.clone().issuer("https://b.example");
    /// assert_ne!(other.accepted_issuers(), policy.accepted_issuers());
    /// ```
    pub fn issuer(self, issuer: impl Into<Cow<'static, str>>) -> Policy {
        self.issuers_with_shared_keys([issuer])
    }

    /// Accepts the tokens of each of these issuers, instead of the one of [`new`](Policy::new). No issuer is
    /// accepted if the list is empty.
    ///
    /// All these issuers share the keys of the verifier: a holder of one of the keys can issue tokens with each
    /// of the names. If the issuers have different keys, use
    /// [`jwt::MultiIssuerVerifier`](crate::jwt::MultiIssuerVerifier).
    ///
    /// ```
    /// use jeton::Policy;
    ///
    /// // The old and the new name of one issuer.
    /// let policy = Policy::new("https://id.example", "api")
    ///     .issuers_with_shared_keys(["https://id.example", "https://login.example"]);
    /// ```
    pub fn issuers_with_shared_keys<I: Into<Cow<'static, str>>>(
        mut self,
        issuers: impl IntoIterator<Item = I>,
    ) -> Policy {
        self.issuers = Some(issuers.into_iter().map(Into::into).collect());
        self
    }

    /// Accepts a token if `aud` contains one of these audiences, instead of the one of [`new`](Policy::new). No
    /// token is accepted if the list is empty.
    ///
    /// ```
    /// use jeton::Policy;
    ///
    /// let policy = Policy::new("https://id.example", "api").audiences(["api", "https://api.example"]);
    /// ```
    pub fn audiences<A: Into<Cow<'static, str>>>(
        mut self,
        audiences: impl IntoIterator<Item = A>,
    ) -> Policy {
        self.audiences = Some(audiences.into_iter().map(Into::into).collect());
        self
    }

    /// Accepts any issuer. Use it only if the key alone determines the issuer.
    pub fn any_issuer(mut self) -> Policy {
        self.issuers = None;
        self
    }

    /// Accepts any audience. Use it only if the key is for a single audience.
    pub fn any_audience(mut self) -> Policy {
        self.audiences = None;
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
    /// By default, `typ` must be `JWT` or absent. `JOSE` counts as absent: it says only that the token is a compact JWS
    /// or JWE (RFC 7515, section 4.1.9), and SPIFFE writes it. A PASETO has no `typ`, and ignores this.
    pub fn typ(self, typ: impl Into<Cow<'static, str>>) -> Policy {
        self.types([typ])
    }

    /// Requires one of these types in a JWS header, as [`typ`](Policy::typ) does for one. A token without `typ` is
    /// rejected, and no token is accepted if the list is empty.
    ///
    /// ```
    /// use jeton::Policy;
    ///
    /// let policy = Policy::new("https://id.example", "api").types(["at+jwt", "JWT"]);
    /// ```
    pub fn types<T: Into<Cow<'static, str>>>(
        mut self,
        types: impl IntoIterator<Item = T>,
    ) -> Policy {
        let types = types.into_iter().map(|typ| Arc::from(&*typ.into()));
        self.types = Some(types.collect());
        self
    }

    /// Accepts this `typ` too, besides those that the policy accepts: by default `JWT`, and tokens without `typ`.
    ///
    /// ```
    /// use jeton::Policy;
    ///
    /// // Client assertions: older clients send no type of their own.
    /// let policy = Policy::new("client-7", "https://id.example").or_typ("client-authentication+jwt");
    /// ```
    pub fn or_typ(mut self, typ: impl Into<Cow<'static, str>>) -> Policy {
        self.further_types.push(Arc::from(&*typ.into()));
        self
    }

    /// Requires that this claim is present.
    pub fn require(mut self, claim: Claim) -> Policy {
        self.required.push(claim);
        self
    }

    /// Requires that this custom claim is present and not null, for example `client_id` (RFC 9068). Its value is not
    /// checked otherwise. For a registered claim, use [`require`](Policy::require).
    ///
    /// The name may come from a configuration:
    ///
    /// ```
    /// use jeton::Policy;
    ///
    /// let required: Vec<String> = vec!["client_id".into(), "tenant".into()];
    /// let policy = Policy::new("https://id.example", "api");
    /// let policy = required.into_iter().fold(policy, Policy::require_custom);
    /// ```
    pub fn require_custom(mut self, name: impl Into<Cow<'static, str>>) -> Policy {
        self.required_custom.push(CustomClaim {
            name: Arc::from(&*name.into()),
            is_string: false,
        });
        self
    }

    /// Sets the allowed difference between the clocks of issuer and verifier. It extends `exp` and the maximum
    /// age, and allows `nbf` and `iat` to be in the future by this much. Default: zero.
    ///
    /// `iat` may be 60 seconds in the future even with a shorter leeway, unless there is a
    /// [maximum age](Policy::max_age).
    ///
    /// ```
    /// use std::time::Duration;
    /// use jeton::{Claims, FixedClock, Policy, Timestamp, jwt::JwtVerifier, key::{MacAlg, MacKey}};
    ///
    /// let key = MacKey::generate(MacAlg::HS256)?;
    /// let issued = Timestamp::from_unix_seconds(1_700_000_000).unwrap();
    /// let claims = Claims::registered().issuer("i").audience("a").issued_at(issued);
    /// let token = key.issue(&claims.expires_in(Duration::from_secs(300)))?;
    ///
    /// let clock = FixedClock(issued.saturating_sub(Duration::from_secs(60)));
    /// let policy = Policy::new("i", "a");
    /// let verifier = |policy| JwtVerifier::new(&key, policy).clock(clock);
    /// assert!(verifier(policy.clone()).verify::<serde::de::IgnoredAny>(&token).is_ok());
    /// let with_max_age = policy.max_age(Duration::from_secs(300));
    /// assert!(verifier(with_max_age).verify::<serde::de::IgnoredAny>(&token).is_err());
    /// # Ok::<(), jeton::Error>(())
    /// ```
    pub fn leeway(mut self, leeway: Duration) -> Policy {
        self.leeway = leeway;
        self
    }

    /// Requires an `iat` that is at most this old, and ahead of the clock by at most the [leeway](Policy::leeway): an
    /// `iat` in the future would extend the maximum age.
    pub fn max_age(mut self, max_age: Duration) -> Policy {
        self.max_age = Some(max_age);
        self
    }

    /// Returns the accepted issuers; `None` if any issuer is accepted.
    ///
    /// ```
    /// use jeton::Policy;
    ///
    /// let policy = Policy::new("https://id.example", "api");
    /// assert_eq!(policy.accepted_issuers().map(<[_]>::len), Some(1));
    /// assert!(policy.any_issuer().accepted_issuers().is_none());
    /// ```
    pub fn accepted_issuers(&self) -> Option<&[Cow<'static, str>]> {
        self.issuers.as_deref()
    }

    /// Checks the `typ` of a header. Returns it as the policy spells it.
    pub(crate) fn accept_typ(&self, typ: Option<&str>) -> Result<Typ, Rejection> {
        match (&self.types, typ) {
            (None, None) => Ok(Typ::Absent),
            (None, Some(typ)) if same_type(typ, "JWT") => Ok(Typ::Jwt),
            (None, Some(typ)) if same_type(typ, "JOSE") => Ok(Typ::Absent),
            (_, Some(typ)) => {
                let mut accepted = self.types.iter().flatten().chain(&self.further_types);
                let accepted = accepted.find(|wanted| same_type(typ, wanted));
                let accepted = accepted.ok_or(Rejection::TypeMismatch)?;
                Ok(Typ::Accepted(Arc::clone(accepted)))
            }
            (Some(_), None) => Err(Rejection::TypeMismatch),
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
        self.check(&claims.registered, &claims.layout, payload, clock.now())
    }

    /// Checks claims that were already scanned.
    pub(crate) fn check_scanned(
        &self,
        claims: &Scanned,
        payload: &str,
        clock: &dyn Clock,
    ) -> Result<(), Rejection> {
        self.check(&claims.registered, &claims.layout, payload, clock.now())
    }

    /// Checks claims that were read earlier against the current time.
    pub(crate) fn recheck(
        &self,
        verified: &Verified<RawClaims>,
        clock: &dyn Clock,
    ) -> Result<(), Rejection> {
        let now = clock.now();
        self.check(
            verified.registered(),
            verified.layout(),
            verified.json(),
            now,
        )
    }

    fn check(
        &self,
        registered: &Registered,
        layout: &Layout,
        payload: &str,
        now: Timestamp,
    ) -> Result<(), Rejection> {
        self.check_presence(registered)?;
        if !self.required_custom.is_empty() {
            self.check_custom(layout, payload)?;
        }
        self.check_times(registered, now)?;
        if let Some(accepted) = &self.issuers {
            let issuer = registered.issuer.as_ref();
            let issuer = issuer.ok_or(Rejection::ClaimMissing(Claim::Issuer))?;
            let issuer = issuer.read(payload);
            if !accepted.iter().any(|accepted| accepted == issuer) {
                return Err(Rejection::IssuerMismatch);
            }
        }
        if let Some(accepted) = &self.audiences {
            if registered.audience.is_none() {
                return Err(Rejection::ClaimMissing(Claim::Audience));
            }
            let is_for = |wanted: &Cow<'static, str>| registered.is_for(wanted, payload);
            if !accepted.iter().any(is_for) {
                return Err(Rejection::AudienceMismatch);
            }
        }
        Ok(())
    }

    /// Not inlined, because few policies require custom claims.
    #[inline(never)]
    fn check_custom(&self, layout: &Layout, payload: &str) -> Result<(), Rejection> {
        for CustomClaim { name, is_string } in &self.required_custom {
            let value = layout.find(payload, name);
            let first = value.and_then(|range| payload.as_bytes().get(range.start));
            match first {
                // The claims are JSON, so only null starts with `n`.
                None | Some(b'n') => {
                    return Err(Rejection::CustomClaimMissing(Arc::clone(name)));
                }
                Some(b'"') => {}
                Some(first) if *is_string => {
                    let name = Arc::clone(name);
                    let found = JsonType::of_first_byte(*first);
                    return Err(Rejection::CustomClaimType { name, found });
                }
                Some(_) => {}
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
        let latest_issue = match self.max_age {
            None => now.saturating_add(self.leeway.max(ISSUED_AHEAD)),
            Some(_) => latest,
        };
        if registered.issued_at.is_some_and(|at| at > latest_issue) {
            return Err(Rejection::IssuedInTheFuture);
        }
        if let Some(max_age) = self.max_age {
            let issued_at = registered
                .issued_at
                .ok_or(Rejection::ClaimMissing(Claim::IssuedAt))?;
            let end = issued_at
                .saturating_add(max_age)
                .saturating_add(self.leeway);
            // Most issuers write the second in which they issue: a token is as old as its second.
            if end < now.whole_second() {
                return Err(Rejection::TooOld);
            }
        }
        Ok(())
    }
}

/// Whether two media types are equal; each may omit `application/`.
pub fn same_type(one: &str, other: &str) -> bool {
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
        check_at(policy, payload, NOW * 1_000_000)
    }

    fn check_at(policy: &Policy, payload: &str, micros: i64) -> Result<(), Rejection> {
        let claims = Scanned::of(payload, Dates::Numeric)?;
        let now = Timestamp::from_unix_micros(micros).expect("in range");
        policy.check(&claims.registered, &claims.layout, payload, now)
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
    fn times_are_compared_within_a_second() {
        let policy = times().without_expiry();
        let half = NOW * 1_000_000 + 500_000;
        let at = |payload| check_at(&policy, payload, half);
        for payload in [
            "{\"nbf\":1000000.5,\"iat\":1000000.5}",
            "{\"nbf\":1000000.4999999}",
            "{\"exp\":1000000.500001}",
            "{\"exp\":1000001}",
        ] {
            assert_eq!(at(payload), Ok(()), "{payload}");
        }
        assert_eq!(at("{\"nbf\":1000000.500001}"), Err(Rejection::NotYetValid));
        assert_eq!(at("{\"nbf\":1000001}"), Err(Rejection::NotYetValid));
        assert_eq!(at("{\"exp\":1000000.5}"), Err(Rejection::Expired));
        assert_eq!(at("{\"exp\":1000000}"), Err(Rejection::Expired));
        // The age counts in whole seconds.
        let young = times().without_expiry().max_age(Duration::ZERO);
        assert_eq!(check_at(&young, "{\"iat\":1000000}", half), Ok(()));
        let old = check_at(&young, "{\"iat\":999999}", half);
        assert_eq!(old, Err(Rejection::TooOld));
    }

    #[test]
    fn iat_is_ahead_by_a_minute_or_the_leeway() {
        let future = Err(Rejection::IssuedInTheFuture);
        let policy = times().without_expiry();
        let leeway = |seconds| policy.clone().leeway(Duration::from_secs(seconds));
        let max_age = |seconds| leeway(seconds).max_age(Duration::from_secs(600));
        for (policy, ahead) in [
            (policy.clone(), 60),
            (leeway(5), 60),
            (leeway(90), 90),
            (max_age(0), 0),
            (max_age(5), 5),
            (max_age(90), 90),
        ] {
            let iat = NOW + ahead;
            assert_eq!(check(&policy, &format!("{{\"iat\":{iat}}}")), Ok(()));
            for later in [format!("{iat}.000001"), (iat + 3600).to_string()] {
                let late = check(&policy, &format!("{{\"iat\":{later}}}"));
                assert_eq!(late, future, "{later}");
            }
        }
    }

    #[test]
    fn future_nbf_is_rejected() {
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
        let accepts = |policy: &Policy, typ| policy.accept_typ(typ).is_ok();
        let any = times();
        for typ in [None, Some("jwt"), Some("application/JWT"), Some("JOSE")] {
            assert!(accepts(&any, typ), "{typ:?}");
        }
        assert!(!accepts(&any, Some("JOSE+JSON")));
        assert!(!accepts(&any, Some("at+jwt")) && !accepts(&any, Some("")));
        let access = times().typ("at+jwt");
        for typ in ["at+jwt", "AT+JWT", "application/at+jwt"] {
            assert!(accepts(&access, Some(typ)), "{typ:?}");
        }
        for typ in [None, Some("JWT"), Some("é")] {
            assert!(!accepts(&access, typ), "{typ:?}");
        }
        let both = times().types(["at+jwt", "JWT"]);
        assert!(accepts(&both, Some("jwt")) && accepts(&both, Some("at+JWT")));
        assert!(!accepts(&both, None) && !accepts(&both, Some("logout+jwt")));
        assert!(!accepts(&times().types([""; 0]), Some("JWT")));
        assert!(!accepts(&both, Some("JOSE")));
        let further = times().or_typ("client-authentication+jwt");
        for typ in [None, Some("JWT"), Some("Client-Authentication+JWT")] {
            assert!(accepts(&further, typ), "{typ:?}");
        }
        assert!(!accepts(&further, Some("at+jwt")));
        let further = access.or_typ("JWT");
        assert!(accepts(&further, Some("JWT")) && !accepts(&further, None));
    }

    #[test]
    fn one_of_several_issuers_and_audiences_is_enough() {
        let policy = Policy::new("x", "x")
            .issuers_with_shared_keys(["i", "j"])
            .audiences(["a", "b"]);
        let policy = policy.without_expiry();
        for (payload, expected) in [
            (r#"{"iss":"i","aud":"b"}"#, Ok(())),
            (r#"{"iss":"j","aud":["c","a"]}"#, Ok(())),
            (r#"{"iss":"x","aud":"a"}"#, Err(Rejection::IssuerMismatch)),
            (
                r#"{"iss":"i","aud":["x","c"]}"#,
                Err(Rejection::AudienceMismatch),
            ),
            (
                r#"{"aud":"a"}"#,
                Err(Rejection::ClaimMissing(Claim::Issuer)),
            ),
            (
                r#"{"iss":"i"}"#,
                Err(Rejection::ClaimMissing(Claim::Audience)),
            ),
        ] {
            assert_eq!(check(&policy, payload), expected, "{payload}");
        }
        let none = policy.issuers_with_shared_keys([""; 0]);
        let payload = r#"{"iss":"","aud":"a"}"#;
        assert_eq!(check(&none, payload), Err(Rejection::IssuerMismatch));
    }

    #[test]
    fn required_claim_of_a_configuration_is_named() {
        let configured = String::from("tenant");
        let policy = times().without_expiry().require_custom(configured);
        assert_eq!(check(&policy, r#"{"tenant":1}"#), Ok(()));
        let missing = check(&policy, "{}").expect_err("no tenant");
        assert_eq!(missing, Rejection::CustomClaimMissing("tenant".into()));
        assert_eq!(missing.to_string(), "the claim `tenant` is missing");
    }

    #[test]
    fn required_custom_claim_is_found_in_every_layout() {
        let policy = times().without_expiry().require_custom("client_id");
        let missing = Err(Rejection::CustomClaimMissing("client_id".into()));
        let many: String = (0..20).map(|n| format!("\"m{n}\":0,")).collect();
        for (payload, expected) in [
            (r#"{"client_id":"c"}"#.to_owned(), Ok(())),
            (r#"{"client\u005fid":"c"}"#.to_owned(), Ok(())),
            (format!("{{{many}\"client_id\":1}}"), Ok(())),
            (format!("{{{many}\"client_id\":null}}"), missing.clone()),
            (r#"{"client_id":null}"#.to_owned(), missing.clone()),
            (format!("{{{many}\"x\":1}}"), missing.clone()),
            (
                r#"{"Client_id":"c","a":{"client_id":1}}"#.to_owned(),
                missing.clone(),
            ),
            ("{}".to_owned(), missing),
        ] {
            assert_eq!(check(&policy, &payload), expected, "{payload}");
        }
    }
}
