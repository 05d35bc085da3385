//! Verifies one part of a token on its own, without its signature.
//!
//! The part is signed with a temporary key and verified by the library with the policy of the caller. So `doctor`
//! has no rules of its own that could differ from the library's.

use jeton::danger::RawHeaderSigner;
use jeton::error::Rejection;
use jeton::key::{MacAlg, MacKey};
use jeton::{
    FixedClock, Limits, Policy, Timestamp,
    jws::JwsSigner,
    jwt::JwtVerifier,
    paseto::{self, PasetoVerifier},
};
use serde::de::IgnoredAny;

use crate::exit::{Failure, Outcome};

/// The format of the claims.
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
    limits: Limits,
}

impl Probe {
    /// Creates a probe that verifies at this time, with these limits.
    pub(super) fn new(now: Timestamp, limits: Limits) -> Outcome<Probe> {
        let failed = |error: jeton::Error| Failure::error(error.to_string());
        Ok(Probe {
            mac: MacKey::generate(MacAlg::HS256).map_err(failed)?,
            local: paseto::v4::LocalKey::generate().map_err(failed)?,
            now,
            limits,
        })
    }

    pub(super) fn now(&self) -> Timestamp {
        self.now
    }

    /// Returns the problem with the form or the header of a compact JWS that does not depend on the key.
    pub(super) fn header(&self, token: &str) -> Option<Rejection> {
        let verifier = JwtVerifier::new(&self.mac, any()).limits(self.limits);
        match rejection(verifier.verify::<IgnoredAny>(token))? {
            // A token of another key passes all earlier checks.
            Rejection::AlgorithmMismatch | Rejection::Signature => None,
            rejection => Some(rejection),
        }
    }

    /// Returns whether a policy accepts this `typ` of a header.
    pub(super) fn accepts_typ(&self, typ: Option<&str>, policy: Policy) -> bool {
        let header = match typ {
            Some(typ) => format!("{{\"alg\":\"HS256\",\"typ\":{typ}}}"),
            None => "{\"alg\":\"HS256\"}".to_owned(),
        };
        let token = RawHeaderSigner::new(&self.mac, &header).and_then(|header| header.sign(b"{}"));
        let verifier = JwtVerifier::new(&self.mac, policy.without_expiry());
        let verified = token.and_then(|token| verifier.verify::<IgnoredAny>(&token));
        rejection(verified) != Some(Rejection::TypeMismatch)
    }

    /// Returns the problem with claims under a policy.
    pub(super) fn claims(
        &self,
        claims: &[u8],
        format: Format,
        policy: Policy,
    ) -> Option<Rejection> {
        // The temporary token has another header, and may be longer than the original.
        let limits = Limits::default().token_bytes(usize::MAX);
        let clock = FixedClock(self.now);
        rejection(match format {
            Format::Jwt => JwsSigner::new(&self.mac).sign(claims).and_then(|token| {
                let verifier = JwtVerifier::new(&self.mac, policy).limits(limits);
                verifier.clock(clock).verify::<IgnoredAny>(&token)
            }),
            Format::Paseto => {
                let token = self.local.encrypt(claims, paseto::TokenContext::new());
                token.and_then(|token| {
                    let verifier = PasetoVerifier::new(&self.local, policy).limits(limits);
                    verifier.clock(clock).verify::<IgnoredAny>(&token)
                })
            }
        })
    }
}

/// Returns a policy without requirements.
fn any() -> Policy {
    let policy = Policy::new("", "").any_issuer().any_audience();
    policy.without_expiry()
}

fn rejection<T>(verified: jeton::Result<T>) -> Option<Rejection> {
    verified.err().and_then(|error| error.rejection().cloned())
}
