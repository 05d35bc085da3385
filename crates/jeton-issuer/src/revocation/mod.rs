//! What is no longer honoured.

mod filter;
mod index;
#[cfg(test)]
mod model;
mod rules;
mod stamp;
mod tokens;
mod writing;

use jeton::{Timestamp, Untyped, Verified};
use sha2::{Digest as _, Sha256};

pub use index::RevocationIndex;
pub use rules::RevocationRule;
pub(crate) use rules::{Revoked, RuleRecord, Rules};
pub use stamp::Stamp;
pub(crate) use stamp::{RANDOM_DIGITS, StampText};
pub(crate) use tokens::RevokedTokens;
pub(crate) use writing::{Extent, NewRules, Term};

use crate::error::{Error, Result};
use crate::limits::{CLOCK_SKEW_SECONDS, LEEWAY_SECONDS, LIFETIME_SECONDS};
use crate::record::check_rule_name;
use crate::settings::name;

/// Something to be revoked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revoke {
    pub(crate) what: Subject,
    /// A token's expiry; without it, revoked until the longest-lived token has expired.
    pub(crate) expires_at: Option<i64>,
    /// Whether the expiry is the token's, and not only said to be.
    is_verified: bool,
}

/// What a revocation names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// One token, by its `jti`.
    Token(String),
    /// Every token of that `sub` whose node had not seen the revocation when it issued the token.
    Subject(String),
    /// Every token of that `client_id`, likewise.
    Client(String),
    /// Every token of that key, likewise.
    Key(String),
}

impl Revoke {
    /// A token by its id and the `exp` that it carries: the cheap way, for millions.
    pub fn token(token_id: &str, expires_at: i64) -> Revoke {
        Revoke {
            what: Subject::Token(token_id.to_owned()),
            expires_at: Some(expires_at),
            is_verified: false,
        }
    }

    /// A token whose id and expiry these are.
    pub(crate) fn verified(token_id: &str, expires_at: Option<Timestamp>) -> Revoke {
        Revoke {
            what: Subject::Token(token_id.to_owned()),
            expires_at: expires_at.map(Timestamp::unix_seconds),
            is_verified: true,
        }
    }

    /// What is named, as of now. A token whose `exp` is not known is revoked by this too.
    pub fn all(what: Subject) -> Revoke {
        Revoke {
            what,
            expires_at: None,
            is_verified: false,
        }
    }

    /// Alone, so that nobody else's revocation fails with it.
    pub(crate) fn check(&self, iss: &str, now: i64) -> Result<()> {
        self.check_expiry(now)?;
        let (field, text) = match &self.what {
            Subject::Token(text) => ("token_id", text),
            Subject::Subject(text) => ("subject", text),
            Subject::Client(text) => ("client", text),
            Subject::Key(text) => ("kid", text),
        };
        check_name(field, iss, text)
    }

    /// A record of a token is kept until the token has expired. No token of a profile lives longer than
    /// [`LIFETIME_SECONDS`]; who says so is mistaken, and would fill the store.
    fn check_expiry(&self, now: i64) -> Result<()> {
        let limit = LIFETIME_SECONDS + CLOCK_SKEW_SECONDS;
        let ahead = |at: i64| at.saturating_sub(now);
        match self.expires_at.map(ahead) {
            Some(ahead) if ahead > limit && !self.is_verified => Err(Error::rule(
                "expires_at",
                format!(
                    "is {ahead} s ahead, the limit is {limit} s: without it the id is revoked whenever it expires"
                ),
            )),
            _ => Ok(()),
        }
    }

    /// The kind and name of the rule that it makes, unless it is a token whose expiry is known.
    pub(crate) fn rule(&self) -> Option<(&'static str, &str)> {
        match (&self.what, self.expires_at) {
            (Subject::Token(_), Some(_)) => None,
            (Subject::Token(id), None) => Some(("token", id)),
            (Subject::Subject(name), _) => Some(("subject", name)),
            (Subject::Client(name), _) => Some(("client", name)),
            (Subject::Key(kid), _) => Some(("key", kid)),
        }
    }
}

/// Whether a revocation can name that. The same is asked of a token that is issued or verified.
#[inline]
pub(crate) fn check_name(field: &str, iss: &str, text: &str) -> Result<()> {
    name(field, text)?;
    // An issuer and a name of the longest kind do not fit one key of the store together.
    check_rule_name(field, iss, text)
}

/// Whether a token that has been verified can be revoked by the ids that it has.
#[inline]
pub(crate) fn check_token(iss: &str, token: &Verified<Untyped>) -> Result<()> {
    for (claim, text) in [("jti", token.token_id()), ("sub", token.subject())] {
        let Some(text) = text else { continue };
        check_name(claim, iss, text).map_err(|error| match error {
            Error::Invalid(rule) => Error::Irrevocable(rule),
            other => other,
        })?;
    }
    Ok(())
}

/// 128 bits of SHA-256 over the issuer and the token's id: what is kept of a revoked token.
pub fn token_hash(iss: &str, token_id: &str) -> u128 {
    named_hash("token", iss, token_id)
}

fn named_hash(kind: &str, iss: &str, text: &str) -> u128 {
    // Every check of a token comes through here: sha2 keeps its state on the stack, where AWS-LC's own
    // context is made anew on the heap each time.
    let mut hash = Sha256::new();
    for part in [kind, iss] {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.update(text);
    let first = hash.finalize().first_chunk().copied().unwrap_or_default();
    u128::from_be_bytes(first)
}

/// The minute that a token's expiry falls in: its bucket.
pub(crate) fn minute(expires_at: i64) -> u32 {
    u32::try_from(expires_at.max(0) / 60).unwrap_or(u32::MAX)
}

/// The first minute whose tokens may still be taken by a node, at that second.
pub(crate) fn first_live_minute(now: i64) -> u32 {
    minute(now - LEEWAY_SECONDS - CLOCK_SKEW_SECONDS)
}
