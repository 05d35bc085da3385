//! What a verifier says of one part of a token, signed by anybody.
//!
//! The part is signed anew, with a key that exists for this alone, and given to the library's own verifier under
//! the caller's policy. So there is no second set of rules here that could differ from the first.

use jeton::danger::HeaderText;
use jeton::error::Rejection;
use jeton::key::{MacAlg, MacKey};
use jeton::{FixedClock, Limits, Policy, Timestamp, jws, jwt, paseto};
use serde::de::IgnoredAny;

use crate::exit::{Failure, Outcome};

/// How claims are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// Times are numbers (RFC 7519).
    Jwt,
    /// Times are RFC 3339 text.
    Paseto,
}

pub(super) struct Probe {
    mac: MacKey,
    local: paseto::v4::LocalKey,
    now: Timestamp,
}

impl Probe {
    /// Judges as of that time.
    pub(super) fn new(now: Timestamp) -> Outcome<Probe> {
        let failed = |error: jeton::Error| Failure::error(error.to_string());
        Ok(Probe {
            mac: MacKey::generate(MacAlg::HS256).map_err(failed)?,
            local: paseto::v4::LocalKey::generate().map_err(failed)?,
            now,
        })
    }

    pub(super) fn now(&self) -> Timestamp {
        self.now
    }

    /// What is wrong with the form or the header of a compact JWS, for every verifier of JWTs with any key.
    pub(super) fn header(&self, token: &str) -> Option<Rejection> {
        let verifier = jwt::Verifier::new(&self.mac, any());
        match rejection(verifier.verify::<IgnoredAny>(token))? {
            // That is as far as a token of another key gets.
            Rejection::AlgorithmMismatch | Rejection::Signature => None,
            rejection => Some(rejection),
        }
    }

    /// Whether that `typ`, as it stands in a header, is what a policy policy_args.
    pub(super) fn accepts_typ(&self, typ: Option<&str>, policy: Policy) -> bool {
        let header = match typ {
            Some(typ) => format!("{{\"alg\":\"HS256\",\"typ\":{typ}}}"),
            None => "{\"alg\":\"HS256\"}".to_owned(),
        };
        let token = HeaderText::new(&self.mac, &header).and_then(|header| header.sign(b"{}"));
        let verifier = jwt::Verifier::new(&self.mac, policy.without_expiry());
        let verified = token.and_then(|token| verifier.verify::<IgnoredAny>(&token));
        rejection(verified) != Some(Rejection::TypeMismatch)
    }

    /// What is wrong with claims under a policy.
    pub(super) fn claims(
        &self,
        claims: &[u8],
        format: Format,
        policy: Policy,
    ) -> Option<Rejection> {
        // The token itself was within its limit, and this one may be a little longer.
        let limits = Limits {
            token_bytes: usize::MAX,
            ..Limits::default()
        };
        let clock = FixedClock(self.now);
        rejection(match format {
            Format::Jwt => jws::Signer::new(&self.mac).sign(claims).and_then(|token| {
                let verifier = jwt::Verifier::new(&self.mac, policy).limits(limits);
                verifier.clock(clock).verify::<IgnoredAny>(&token)
            }),
            Format::Paseto => {
                let token = self.local.encrypt(claims, paseto::Binding::new());
                token.and_then(|token| {
                    let verifier = paseto::Verifier::new(&self.local, policy).limits(limits);
                    verifier.clock(clock).verify::<IgnoredAny>(&token)
                })
            }
        })
    }
}

/// PolicyArgs nothing.
fn any() -> Policy {
    let policy = Policy::new("", "").any_issuer().any_audience();
    policy.without_expiry()
}

fn rejection<T>(verified: jeton::Result<T>) -> Option<Rejection> {
    verified.err().and_then(|error| error.rejection())
}
