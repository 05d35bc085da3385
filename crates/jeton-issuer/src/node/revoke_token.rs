//! Revocation of a complete token.
//!
//! A caller that learns that a token is invalid considers it revoked. So this is only reported if no node
//! accepts the token, now or later:
//!
//! | this node rejects it | another node may | so |
//! |---|---|---|
//! | for what it is: malformed, too large, of another issuer, with claims that no token may have | not accept it: every node has these limits | it is of no use |
//! | because of the keys: unknown, not authentic, of another format | have a key that this one has not heard of | it is judged by the keys that the store has now |
//! | because it has expired by this clock | have a clock that is behind | it is revoked, unless every clock that is allowed says so |
//! | because it is not valid yet by this clock | have a clock that is ahead, and later all accept it | it is revoked |
//!
//! A token beyond this node's `token_bytes` is verified too: another node may allow more.

use std::collections::BTreeMap;
use std::iter::once;
use std::sync::Weak;
use std::sync::mpsc::{Receiver, TrySendError};

use jeton::error::Rejection;
use jeton::{RawClaims, Timestamp, Verified};
use jeton_store::{Completer, Revision, block_on, completion};

use super::inner::Inner;
use super::{Node, RevokeAnswer};
use crate::error::{Error, Result};
use crate::limits::{self, CLOCK_SKEW_SECONDS, LEEWAY_SECONDS};
use crate::record::{set_key, settings_key};
use crate::revocation::Revoke;
use crate::snapshot::IssuerView;

impl Node {
    /// Revokes a token of that issuer, as [`revoke`](Node::revoke) does. Revoking a revoked token succeeds.
    ///
    /// # Errors
    ///
    /// [Rejections](Error::is_rejection) mean that no node accepts the token and nothing was written.
    /// Before that the node makes sure that it has all keys of the store. If it cannot, the error is
    /// [`Error::Store`] or [`Error::Stale`]. [`Error::Unsupported`]: the token cannot be revoked by itself.
    /// Otherwise as [`revoke`](Node::revoke).
    pub fn revoke_token(&self, actor: &str, iss: &str, token: &str) -> RevokeAnswer {
        let judged = self.inner.judge(iss, token);
        let node = self.clone();
        let (actor, iss, token) = (actor.to_owned(), iss.to_owned(), token.to_owned());
        Box::pin(async move {
            let revoke = match judged? {
                Judged::Revoke(revoke) => revoke,
                Judged::Useless(why) => return Err(why),
                Judged::PerhapsUseless(_) => {
                    node.hear_of_keys(&iss).await?;
                    match node.inner.judge(&iss, &token)? {
                        Judged::Revoke(revoke) => revoke,
                        Judged::Useless(why) | Judged::PerhapsUseless(why) => return Err(why),
                    }
                }
            };
            node.revoke(&actor, &iss, revoke).await
        })
    }

    /// Completes when this node has all keys of the issuer that the store had when it was called.
    async fn hear_of_keys(&self, iss: &str) -> Result<()> {
        let (reply, heard) = completion();
        let wanted = Wanted {
            iss: iss.to_owned(),
            reply,
        };
        let sent = self.wanted.try_send(wanted);
        sent.map_err(|refused| match refused {
            TrySendError::Full(_) => jeton_store::Error::Overloaded,
            TrySendError::Disconnected(_) => jeton_store::Error::Closed,
        })?;
        heard.await?
    }
}

/// What to do with a token.
enum Judged {
    Revoke(Revoke),
    /// No node accepts it, with the reason.
    Useless(Error),
    /// No node with the same keys accepts it, with the reason.
    PerhapsUseless(Error),
}

impl Inner {
    /// Takes no lock and does not access the store.
    fn judge(&self, iss: &str, token: &str) -> Result<Judged> {
        // A JWE (RFC 7516, section 7.1): only its recipient can decrypt and accept it.
        if token.bytes().filter(|byte| *byte == b'.').count() == 4 {
            return Err(Error::unsupported(
                "is encrypted for its recipient: revoke it by its `token_id`",
            ));
        }
        let snapshot = self.snapshot.load();
        judge(snapshot.issuer(iss)?, token, self.clock.now())
    }
}

fn judge(view: &IssuerView, token: &str, now: Timestamp) -> Result<Judged> {
    let rejected = match view.verify(token) {
        Ok(verified) => return revocation(&verified),
        Err(rejected) => rejected,
    };
    match cause(&rejected) {
        Cause::Token => Ok(Judged::Useless(rejected)),
        Cause::Keys => Ok(Judged::PerhapsUseless(rejected)),
        Cause::Clock => match view.verify_at_any_time(token) {
            Ok(verified) if is_over(&verified, now) => Ok(Judged::Useless(rejected)),
            Ok(verified) => revocation(&verified),
            Err(other) if cause(&other) == Cause::Token => Ok(Judged::Useless(other)),
            Err(other) => Ok(Judged::PerhapsUseless(other)),
        },
        Cause::Other => Err(rejected),
    }
}

/// What a rejection depends on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cause {
    /// The token, and limits that all nodes share.
    Token,
    /// The keys that this node knows.
    Keys,
    /// The clock of this node.
    Clock,
    /// Not a rejection.
    Other,
}

fn cause(error: &Error) -> Cause {
    let rejection = match error {
        Error::Irrevocable(_) => return Cause::Token,
        Error::Token(error) => error.rejection(),
        _ => None,
    };
    match rejection {
        None => Cause::Other,
        Some(Rejection::Expired | Rejection::NotYetValid | Rejection::IssuedInTheFuture) => {
            Cause::Clock
        }
        Some(
            Rejection::TooLarge { .. }
            | Rejection::TooDeep { .. }
            | Rejection::Malformed(_)
            | Rejection::DuplicateMember(_)
            | Rejection::UnprotectedAlg
            | Rejection::PrivateKeyInHeader
            | Rejection::CriticalExtension
            | Rejection::TypeMismatch
            | Rejection::ClaimMissing(_)
            | Rejection::ClaimType { .. }
            | Rejection::ClaimRange { .. }
            | Rejection::IssuerMismatch,
        ) => Cause::Token,
        // Includes `WrongFormat` and a signature without a matching key: the key may have another format.
        Some(_) => Cause::Keys,
    }
}

/// Returns whether every allowed clock considers the token expired.
fn is_over(token: &Verified<RawClaims>, now: Timestamp) -> bool {
    let over_for = |at: Timestamp| now.unix_seconds().saturating_sub(at.unix_seconds());
    token
        .expires_at()
        .is_some_and(|at| over_for(at) >= LEEWAY_SECONDS + 2 * CLOCK_SKEW_SECONDS)
}

fn revocation(token: &Verified<RawClaims>) -> Result<Judged> {
    let id = token
        .token_id()
        .ok_or_else(|| Error::unsupported("has no `jti`: revoke its subject or client"))?;
    Ok(Judged::Revoke(Revoke::verified(id, token.expires_at())))
}

/// A request to refresh the keys of an issuer.
pub(super) struct Wanted {
    iss: String,
    reply: Completer<Result<()>>,
}

/// The thread that checks keys in the store. One read answers all waiting requests.
pub(super) fn run(node: &Weak<Inner>, wanted: &Receiver<Wanted>) {
    while let Ok(first) = wanted.recv() {
        let Some(node) = node.upgrade() else { return };
        let waiting = wanted.try_iter().take(limits::WAITING_TOKENS);
        let mut issuers: BTreeMap<String, Vec<Completer<Result<()>>>> = BTreeMap::new();
        for wanted in once(first).chain(waiting) {
            issuers.entry(wanted.iss).or_default().push(wanted.reply);
        }
        for (iss, replies) in issuers {
            let heard = node.hear_of_keys(&iss);
            for reply in replies {
                reply.complete(Ok(heard.clone()));
            }
        }
    }
}

impl Inner {
    /// Waits at most for the freshness bound.
    fn hear_of_keys(&self, iss: &str) -> Result<()> {
        let read = block_on(self.store.read(&[settings_key(iss)?, set_key(iss)?]))?;
        let changed = |entry: &Option<jeton_store::Entry>| Some(entry.as_ref()?.changed);
        let changed: Option<Vec<Revision>> = read.entries.iter().map(changed).collect();
        let newest = changed.and_then(|changed| changed.into_iter().max());
        self.wait_at_most(newest.unwrap_or(read.revision), self.options.freshness)
    }
}
