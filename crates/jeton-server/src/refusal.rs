//! Why a token or a client is refused. The operator learns it from the log, or from `jeton doctor`; the caller may not.

use std::borrow::Cow;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use base64ct::{Base64UrlUnpadded, Encoding as _};
use jeton::error::{Claim, Rejection};
use jeton_issuer::Error as IssuerError;
use serde_json::Value;

use crate::claim_pattern::claim;
use crate::issuer_error::{ErrorParts, issuer_parts};
use crate::limits::{LOGGED_REFUSALS_PER_MINUTE, LOGGED_VALUE_BYTES};
use crate::rate_limit::RateLimit;

/// Why a token, an assertion or a client is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    rule: &'static str,
    place: Place,
    what: Cow<'static, str>,
}

/// What a refusal is about.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    Whole,
    Claim(Cow<'static, str>),
    Header(&'static str),
    Parameter(&'static str),
}

impl Refusal {
    fn new(rule: &'static str, place: Place, what: impl Into<Cow<'static, str>>) -> Refusal {
        Refusal {
            rule,
            place,
            what: what.into(),
        }
    }

    /// A refusal that is about no single claim, member or parameter.
    pub(crate) fn of_whole(rule: &'static str, what: impl Into<Cow<'static, str>>) -> Refusal {
        Refusal::new(rule, Place::Whole, what)
    }

    pub(crate) fn of_claim(
        rule: &'static str,
        claim: impl Into<Cow<'static, str>>,
        what: impl Into<Cow<'static, str>>,
    ) -> Refusal {
        Refusal::new(rule, Place::Claim(claim.into()), what)
    }

    pub(crate) fn of_header(
        rule: &'static str,
        member: &'static str,
        what: impl Into<Cow<'static, str>>,
    ) -> Refusal {
        Refusal::new(rule, Place::Header(member), what)
    }

    pub(crate) fn of_parameter(
        rule: &'static str,
        parameter: &'static str,
        what: impl Into<Cow<'static, str>>,
    ) -> Refusal {
        Refusal::new(rule, Place::Parameter(parameter), what)
    }

    /// The refusal of a token that the library rejects. The rule is the code of the rejection.
    pub(crate) fn of_rejected(error: &jeton::Error) -> Refusal {
        let place = error.rejection().map_or(Place::Whole, place_of);
        Refusal::new(error.code(), place, error.to_string())
    }

    /// The refusal of a token of this server. The rule is the reason that a caller would receive.
    pub(crate) fn of_own(error: &IssuerError) -> Refusal {
        let ErrorParts {
            reason, message, ..
        } = issuer_parts(error);
        match error {
            IssuerError::Token(error) if error.is_rejection() => Refusal::of_rejected(error),
            IssuerError::WrongAudience => Refusal::of_claim(reason, "aud", message),
            _ => Refusal::of_whole(reason, message),
        }
    }

    /// Adds a further text, without values.
    pub(crate) fn add(&mut self, text: &str) {
        self.what.to_mut().push_str(text);
    }

    /// What is wrong, without the name of the claim or member.
    pub(crate) fn what(&self) -> &str {
        &self.what
    }

    /// Returns the rule: the key of the configuration that decides, or the code of a rejection.
    pub fn rule(&self) -> &'static str {
        self.rule
    }

    /// Returns the name of the claim, if it is about one. It may be a JSON pointer.
    pub fn claim(&self) -> Option<&str> {
        match &self.place {
            Place::Claim(name) => Some(name),
            _ => None,
        }
    }

    /// Returns the name of the member of the header, if it is about one.
    pub fn header_member(&self) -> Option<&'static str> {
        match self.place {
            Place::Header(name) => Some(name),
            _ => None,
        }
    }

    /// Returns the name of the parameter of the form, if it is about one.
    pub fn parameter(&self) -> Option<&'static str> {
        match self.place {
            Place::Parameter(name) => Some(name),
            _ => None,
        }
    }

    /// Returns the text of the claim or header member in a token, whose signature need not be valid. It is a value of the
    /// caller: show it only to the operator.
    pub fn value_in(&self, token: &str) -> Option<String> {
        let (part, name) = match &self.place {
            Place::Claim(name) => (1, &**name),
            Place::Header(name) => (0, *name),
            Place::Whole | Place::Parameter(_) => return None,
        };
        let encoded = token.split('.').nth(part)?;
        let decoded = Base64UrlUnpadded::decode_vec(encoded).ok()?;
        let members: Value = serde_json::from_slice(&decoded).ok()?;
        let mut text = claim(name, &members)?.to_string();
        if text.len() > LOGGED_VALUE_BYTES {
            let mut ends = (0..=LOGGED_VALUE_BYTES).rev();
            let end = ends.find(|end| text.is_char_boundary(*end));
            text.truncate(end.unwrap_or_default());
            text.push('…');
        }
        Some(text)
    }
}

/// Says what is wrong, with the name of the claim or member and without any value of it.
impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match &self.place {
            Place::Claim(name) => Some(&**name),
            Place::Header(name) | Place::Parameter(name) => Some(*name),
            Place::Whole => None,
        };
        match name {
            Some(name) if !self.what.contains(&format!("`{name}`")) => {
                write!(f, "`{name}`: {}", self.what)
            }
            _ => f.write_str(&self.what),
        }
    }
}

/// The claim or header member that a rejection is about.
fn place_of(rejection: &Rejection) -> Place {
    let claim = |claim: Claim| Place::Claim(claim.name().into());
    match rejection {
        Rejection::ClaimMissing(of)
        | Rejection::ClaimType { claim: of, .. }
        | Rejection::ClaimRange { claim: of, .. } => claim(*of),
        Rejection::CustomClaimMissing(name) | Rejection::CustomClaimType { name, .. } => {
            Place::Claim(name.to_string().into())
        }
        Rejection::Expired => claim(Claim::Expiry),
        Rejection::NotYetValid => claim(Claim::NotBefore),
        Rejection::IssuedInTheFuture | Rejection::TooOld => claim(Claim::IssuedAt),
        Rejection::IssuerMismatch => claim(Claim::Issuer),
        Rejection::AudienceMismatch => claim(Claim::Audience),
        Rejection::AlgorithmMismatch => Place::Header("alg"),
        Rejection::UnknownKey => Place::Header("kid"),
        Rejection::TypeMismatch => Place::Header("typ"),
        Rejection::CriticalExtension => Place::Header("crit"),
        _ => Place::Whole,
    }
}

/// Whose refusal it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Party<'p> {
    Client(&'p str),
    Trust(&'p str),
    /// Neither is known.
    Unknown,
}

/// Limits the log lines about refusals of one party. Anyone can cause them.
#[derive(Debug)]
pub(crate) struct LineLimit {
    rate: RateLimit,
    omitted: AtomicU64,
}

impl LineLimit {
    pub(crate) fn new() -> LineLimit {
        LineLimit {
            rate: RateLimit::new(LOGGED_REFUSALS_PER_MINUTE),
            omitted: AtomicU64::new(0),
        }
    }

    /// Returns how many lines were left out before this one. `None`: it is left out too.
    fn take(&self) -> Option<u64> {
        if self.rate.take().is_ok() {
            return Some(self.omitted.swap(0, Ordering::Relaxed));
        }
        self.omitted.fetch_add(1, Ordering::Relaxed);
        None
    }
}

/// The log lines about refusals.
#[derive(Debug)]
pub(crate) struct RefusalLog {
    /// Whether the lines have values of claims (`log.claims`).
    has_values: bool,
    /// For callers that belong to no client and no trust entry.
    unknown: LineLimit,
}

/// What a log line is about, besides the refusal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Occasion<'o> {
    pub(crate) party: Party<'o>,
    /// The issuer of this server, if one is named.
    pub(crate) issuer: Option<&'o str>,
    /// The value that the refusal is about, of [`RefusalLog::value`].
    pub(crate) value: Option<&'o str>,
}

impl RefusalLog {
    pub(crate) fn new(has_values: bool) -> RefusalLog {
        RefusalLog {
            has_values,
            unknown: LineLimit::new(),
        }
    }

    /// Returns the value that a refusal is about, if the log has values.
    pub(crate) fn value(&self, refusal: &Refusal, token: &str) -> Option<String> {
        self.has_values.then(|| refusal.value_in(token)).flatten()
    }

    /// Writes one line. `limit` is that of the client or the trust entry.
    pub(crate) fn write(
        &self,
        limit: Option<&LineLimit>,
        Occasion {
            party,
            issuer,
            value,
        }: Occasion<'_>,
        refusal: &Refusal,
    ) {
        let Some(omitted) = limit.unwrap_or(&self.unknown).take() else {
            return;
        };
        let (client, trust) = match party {
            Party::Client(name) => (Some(name), None),
            Party::Trust(name) => (None, Some(name)),
            Party::Unknown => (None, None),
        };
        tracing::info!(
            client,
            trust,
            issuer,
            rule = refusal.rule,
            claim = refusal.claim(),
            member = refusal.header_member(),
            parameter = refusal.parameter(),
            value,
            omitted = (omitted > 0).then_some(omitted),
            why = %refusal,
            "refused"
        );
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn lines_beyond_the_limit_are_counted() {
        let limit = LineLimit::new();
        let most = LOGGED_REFUSALS_PER_MINUTE;
        assert!((0..most).all(|_| limit.take() == Some(0)));
        assert_eq!((limit.take(), limit.take()), (None, None));
        assert_eq!(limit.omitted.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn value_is_that_of_the_claim_and_is_cut() {
        let token = |claims: &str| {
            let payload = Base64UrlUnpadded::encode_string(claims.as_bytes());
            format!("e30.{payload}.AA")
        };
        let sub = Refusal::of_claim("claims", "sub", "does not match");
        assert_eq!(sub.to_string(), "`sub`: does not match");
        let found = sub.value_in(&token(r#"{"sub":"a"}"#));
        assert_eq!(found.as_deref(), Some("\"a\""));
        assert_eq!(sub.value_in(&token("{}")), None);
        assert_eq!(sub.value_in("abc"), None);
        let long = format!(r#"{{"sub":"{}"}}"#, "é".repeat(LOGGED_VALUE_BYTES));
        let found = sub.value_in(&token(&long)).unwrap();
        assert!(
            found.len() <= LOGGED_VALUE_BYTES + '…'.len_utf8(),
            "{found}"
        );
        let nested = Refusal::of_claim("claims", "/a/b", "does not match");
        let found = nested.value_in(&token(r#"{"a":{"b":7}}"#));
        assert_eq!(found.as_deref(), Some("7"));
    }
}
