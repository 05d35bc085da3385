//! Revocations.

mod filter;
mod index;
#[cfg(test)]
mod model_test;
mod rules;
mod stamp;
mod tokens;
mod writing;

use jeton::{RawClaims, Timestamp, Verified};
use sha2::{Digest as _, Sha256};

pub use index::RevocationIndex;
pub use rules::RevocationRule;
pub(crate) use rules::{Revoked, Room, RuleRecord, Rules};
pub use stamp::Stamp;
pub(crate) use stamp::{Counter, RANDOM_DIGITS, StampText, is_of_lost_history};
pub(crate) use tokens::RevokedTokens;
pub(crate) use writing::{Extent, NewRules, Term};

use crate::error::{Error, Result};
use crate::limits::{CLAIMED_EXPIRY_SECONDS, CLOCK_SKEW_SECONDS, LEEWAY_SECONDS, LIFETIME_SECONDS};
use crate::record::check_rule_name;
use crate::settings::name;

/// A revocation to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revoke {
    pub(crate) what: Subject,
    /// Expiry of the token. None: revoked until the longest-lived token has expired.
    pub(crate) expires_at: Option<i64>,
    /// Whether the expiry was verified and not only claimed by the caller.
    is_verified: bool,
}

/// The subject of a revocation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// One token, by its `jti`.
    Token(String),
    /// Every token of that `sub` whose node had not seen the revocation when it issued the token.
    Subject(String),
    /// Every token of that `client_id`, under the same condition.
    Client(String),
    /// Every token of that key, under the same condition.
    Key(String),
}

impl Revoke {
    /// Revokes a token by its id and `exp`. This takes the least memory.
    pub fn token(token_id: &str, expires_at: i64) -> Revoke {
        Revoke {
            what: Subject::Token(token_id.to_owned()),
            expires_at: Some(expires_at),
            is_verified: false,
        }
    }

    /// Revokes a token whose id and expiry were verified.
    pub(crate) fn verified(token_id: &str, expires_at: Option<Timestamp>) -> Revoke {
        Revoke {
            what: Subject::Token(token_id.to_owned()),
            expires_at: expires_at.map(Timestamp::unix_seconds),
            is_verified: true,
        }
    }

    /// Revokes the named subject as of now. Use it also for a token with unknown `exp`.
    pub fn all(what: Subject) -> Revoke {
        Revoke {
            what,
            expires_at: None,
            is_verified: false,
        }
    }

    /// Checks one revocation, so that it does not fail others in the same transaction.
    pub(crate) fn check(&self, iss: &str, now: i64) -> Result<()> {
        self.check_expiry(now)?;
        self.what.check(iss)
    }

    /// Checks the expiry. The record is kept until then, and tokens of profiles live at most
    /// [`LIFETIME_SECONDS`]. A later expiry would fill the store.
    fn check_expiry(&self, now: i64) -> Result<()> {
        let limit = LIFETIME_SECONDS + CLOCK_SKEW_SECONDS;
        let ahead = |at: i64| at.saturating_sub(now);
        match self.expires_at.map(ahead) {
            Some(ahead) if ahead > limit && !self.is_verified => Err(Error::rule(
                "expires_at",
                format!(
                    "is {ahead} s ahead, the limit is {limit} s: omit it to revoke the id regardless of its expiry"
                ),
            )),
            _ => Ok(()),
        }
    }

    /// Returns the kind and name of its rule. None for a token with a known expiry.
    pub(crate) fn rule(&self) -> Option<(&'static str, &str)> {
        match (&self.what, self.expires_at) {
            (Subject::Token(_), Some(_)) => None,
            (what, _) => Some(what.rule()),
        }
    }
}

impl Subject {
    /// Returns the kind and name of a rule about it.
    pub(crate) fn rule(&self) -> (&'static str, &str) {
        match self {
            Subject::Token(id) => ("token", id),
            Subject::Subject(name) => ("subject", name),
            Subject::Client(name) => ("client", name),
            Subject::Key(kid) => ("key", kid),
        }
    }

    /// Checks that it can be named.
    pub(crate) fn check(&self, iss: &str) -> Result<()> {
        let (field, text) = match self {
            Subject::Token(text) => ("token_id", text),
            Subject::Subject(text) => ("subject", text),
            Subject::Client(text) => ("client", text),
            Subject::Key(text) => ("kid", text),
        };
        check_name(field, iss, text)
    }
}

/// Checks that a revocation can name this. Issued and verified tokens are checked likewise.
#[inline]
pub(crate) fn check_name(field: &str, iss: &str, text: &str) -> Result<()> {
    name(field, text)?;
    // The longest issuer and the longest name do not fit one key of the store together.
    check_rule_name(field, iss, text)
}

/// Checks that a verified token can be revoked by its ids.
#[inline]
pub(crate) fn check_token(iss: &str, token: &Verified<RawClaims>) -> Result<()> {
    for (claim, text) in [("jti", token.token_id()), ("sub", token.subject())] {
        let Some(text) = text else { continue };
        check_name(claim, iss, text).map_err(|error| match error {
            Error::Invalid(rule) => Error::Irrevocable(rule),
            other => other,
        })?;
    }
    Ok(())
}

/// Returns 128 bits of SHA-256 over the issuer and the token id, which identify a revoked token.
pub fn token_hash(iss: &str, token_id: &str) -> u128 {
    named_hash("token", iss, token_id)
}

/// Returns 128 bits of SHA-256 over the issuer, a party and the id that it used.
pub(crate) fn once_hash(iss: &str, party: &str, id: &str) -> u128 {
    // The length comes first, so that no other party and id have the same text.
    named_hash("once", iss, &format!("{} {party} {id}", party.len()))
}

/// Returns 64 bits that identify an actor in its rules.
pub(crate) fn actor_hash(actor: &str) -> u64 {
    // The lower half, as good as any.
    named_hash("actor", "", actor) as u64
}

/// Returns 64 bits of SHA-256 of a text.
pub(crate) fn text_hash(text: &str) -> u64 {
    let hash = Sha256::digest(text);
    u64::from_be_bytes(hash.first_chunk().copied().unwrap_or_default())
}

fn named_hash(kind: &str, iss: &str, text: &str) -> u128 {
    // Called for every token. sha2 keeps its state on the stack; AWS-LC allocates a context each time.
    let mut hash = Sha256::new();
    for part in [kind, iss] {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.update(text);
    let first = hash.finalize().first_chunk().copied().unwrap_or_default();
    u128::from_be_bytes(first)
}

/// Returns the minute of an expiry, its bucket.
pub(crate) fn minute(expires_at: i64) -> u32 {
    u32::try_from(expires_at.max(0) / 60).unwrap_or(u32::MAX)
}

/// Returns the first minute whose tokens a node may still accept at that second. A caller may have claimed an expiry
/// that is too early.
pub(crate) fn first_live_minute(now: i64) -> u32 {
    minute(now - LEEWAY_SECONDS - CLOCK_SKEW_SECONDS - CLAIMED_EXPIRY_SECONDS)
}
