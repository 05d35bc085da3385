//! A node: runs decisions on a store and answers from a snapshot.

mod admin_ops;
mod cause;
mod clock_agreement;
mod clock_guard;
mod compare;
mod comparison;
mod end_rules;
mod feed;
mod follower;
mod history;
#[cfg(test)]
mod history_model_test;
mod inner;
mod lock;
mod lookup;
mod maintenance;
mod options;
mod other_clocks;
mod own_record;
mod peers;
mod profile_issuer;
mod protection;
mod recent;
mod remote;
mod request;
mod revocation_writer;
mod revoke_token;
mod settings;
mod start;
mod status;
mod time_for_keys;
mod used_once;
mod went_back;
mod whole_store;
mod working;
mod writes;

pub use cause::Cause;
pub use feed::{RevocationFeed, RevocationUpdate};
pub use options::{Options, StalePolicy};
pub use peers::RunningNode;
pub use profile_issuer::{IssuedRef, ProfileBatch, ProfileIssuer};
#[doc(hidden)]
pub use protection::Protection;
pub use recent::ResumeToken;
pub use request::{Issued, Request};
pub use settings::Configured;
pub use status::{Ready, Status};
pub use whole_store::StoreCheck;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{SyncSender, TrySendError};
use std::time::Duration;

use jeton::{RawClaims, Timestamp, Verified};
use jeton_store::{Moment, Revision, block_on, completion};

use crate::error::{Error, Result};
use crate::limits;
use crate::record::rules_of;
use crate::revocation::{RevocationRule, Revoke};
use crate::settings::name;
use crate::snapshot::KeySetDocument;
use inner::Inner;
use lock::lock;
use revocation_writer::Job;
use revoke_token::Wanted;

/// A node: issues, verifies and revokes tokens on a store that other nodes may share. Clones are the same
/// node.
#[derive(Clone)]
pub struct Node {
    inner: Arc<Inner>,
    // Boxed to keep the preallocated queue small.
    jobs: SyncSender<Box<Job>>,
    wanted: SyncSender<Wanted>,
}

impl Node {
    /// Issues a token, without lock and store access.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownIssuer`], [`Error::UnknownProfile`], [`Error::NotReady`], [`Error::Invalid`] for an
    /// audience that the profile does not have, [`Error::Token`] for claims that no token may contain.
    pub fn issue(&self, iss: &str, request: &Request<'_>) -> Result<Issued> {
        self.issue_if(iss, request, |_, _| Ok(()))
    }

    /// Issues a token if `permit` allows its audience and subject.
    ///
    /// # Errors
    ///
    /// As [`issue`](Node::issue), and the errors of `permit`.
    pub fn issue_if<E: From<Error>>(
        &self,
        iss: &str,
        request: &Request<'_>,
        permit: impl FnOnce(&str, Option<&str>) -> Result<(), E>,
    ) -> Result<Issued, E> {
        let latest = request.expires_no_later_than;
        self.with_limited_issuer(
            iss,
            request.profile,
            request.audience,
            latest,
            |profile_issuer| {
                permit(profile_issuer.audience(), request.subject)?;
                Ok(profile_issuer.issue(request.subject, &request.claims)?)
            },
        )?
    }

    /// Runs work with a [`ProfileIssuer`] for that profile and audience (default: the first), so that many
    /// tokens share one lookup.
    ///
    /// # Errors
    ///
    /// As [`issue`](Node::issue), without [`Error::Token`].
    pub fn with_profile_issuer<T>(
        &self,
        iss: &str,
        profile: &str,
        audience: Option<&str>,
        work: impl FnOnce(&ProfileIssuer<'_>) -> T,
    ) -> Result<T> {
        self.with_limited_issuer(iss, profile, audience, None, work)
    }

    fn with_limited_issuer<T>(
        &self,
        iss: &str,
        profile: &str,
        audience: Option<&str>,
        expires_no_later_than: Option<Timestamp>,
        work: impl FnOnce(&ProfileIssuer<'_>) -> T,
    ) -> Result<T> {
        let snapshot = self.inner.snapshot.load();
        let view = snapshot.issuer(iss)?;
        self.check_hearing(view)?;
        let (now, token_bytes) = (self.inner.clock.now(), self.inner.options.token_bytes);
        let profile_issuer =
            ProfileIssuer::new(&snapshot, view, profile, audience, now, token_bytes)?
                .expires_no_later_than(expires_no_later_than)?;
        Ok(work(&profile_issuer))
    }

    /// Verifies a token of that issuer for that audience, without lock and store access.
    ///
    /// # Errors
    ///
    /// [`Error::Token`] with the rejection, [`Error::WrongAudience`], [`Error::Revoked`],
    /// [`Error::Stale`], [`Error::UnknownIssuer`].
    pub fn verify(&self, iss: &str, audience: &str, token: &str) -> Result<Verified<RawClaims>> {
        let verified = self.introspect(iss, token)?;
        let is_meant = verified.audiences().any(|known| known == audience);
        if is_meant {
            Ok(verified)
        } else {
            Err(Error::WrongAudience)
        }
    }

    /// Revokes a token, subject, client or key. Completes when the revocation is durable and this node
    /// enforces it. Waiting revocations share one flush.
    ///
    /// A token of a revoked subject, client or key is accepted exactly if its node had seen the rule when
    /// it issued the token, independent of clocks: see [`Stamp`](crate::Stamp).
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`]; [`Error::RulesFull`]; [`Error::ClientRulesFull`]; [`Error::UnknownIssuer`];
    /// [`Error::Store`] if too many revocations wait, or if the store fails. If the [outcome is
    /// unknown](jeton_store::Error::is_outcome_unknown), the revocation may have been made.
    /// [`Error::Stale`]: it is durable, and this node does not see it yet.
    pub fn revoke(&self, actor: &str, iss: &str, revoke: Revoke) -> RevokeAnswer {
        let (reply, pending) = completion();
        let accepted = name("actor", actor)
            .and_then(|()| revoke.check(iss, self.inner.now()))
            .and_then(|()| {
                if self.inner.snapshot.load().issuers.contains_key(iss) {
                    Ok(())
                } else {
                    Err(Error::UnknownIssuer)
                }
            })
            .and_then(|()| {
                let job = Box::new(Job {
                    actor: actor.to_owned(),
                    iss: iss.to_owned(),
                    revoke,
                    reply,
                });
                self.jobs.try_send(job).map_err(|refused| match refused {
                    TrySendError::Full(_) => jeton_store::Error::Overloaded.into(),
                    TrySendError::Disconnected(_) => jeton_store::Error::Closed.into(),
                })
            });
        Box::pin(async move {
            accepted?;
            pending.await?
        })
    }

    /// Returns the public keys of the issuer, encoded for serving.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownIssuer`].
    pub fn key_set(&self, iss: &str) -> Result<Arc<KeySetDocument>> {
        let snapshot = self.inner.snapshot.load();
        let view = snapshot.issuer(iss)?;
        Ok(view.key_set.clone())
    }

    /// Returns whether key sets may be cached. Without contact to the store they may lack a key that soon
    /// signs.
    pub fn key_sets_may_be_cached(&self) -> bool {
        let propagation = Duration::from_secs(limits::PROPAGATION_SECONDS.unsigned_abs());
        self.inner.heard_ago() <= self.inner.options.freshness.min(propagation)
    }

    /// Returns the current settings and keys of the issuer.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownIssuer`].
    pub fn issuer(&self, iss: &str) -> Result<(crate::IssuerSettings, crate::keyring::Keyring)> {
        let snapshot = self.inner.snapshot.load();
        let view = snapshot.issuer(iss)?;
        Ok((view.settings.clone(), view.keyring.clone()))
    }

    /// Reads the revocation rules of an issuer from the store, without ended ones.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownIssuer`], [`Error::Store`], [`Error::Record`].
    pub fn rules(&self, iss: &str) -> Result<Vec<RevocationRule>> {
        if !self.inner.snapshot.load().issuers.contains_key(iss) {
            return Err(Error::UnknownIssuer);
        }
        let mut rules = Vec::new();
        let mut pages = block_on(self.inner.store.scan(&rules_of(iss)?))?;
        while let Some(page) = block_on(pages.next())? {
            for entry in &page {
                let rule = RevocationRule::read(entry)?;
                if !rule.is_ended {
                    rules.push(rule);
                }
            }
        }
        Ok(rules)
    }

    /// Returns the time of the node's clock.
    pub fn now(&self) -> Timestamp {
        self.inner.clock.now()
    }

    /// Lists the nodes that run on the store, and those that have ended within the last hour.
    pub fn running_nodes(&self) -> Vec<RunningNode> {
        let (clock, revision) = (self.inner.now(), self.revision());
        lock(&self.inner.peers).list(clock, revision, Moment::now())
    }

    /// Deletes the record of this node from the store, so that the others know at once that it has ended. Call it
    /// last.
    ///
    /// # Errors
    ///
    /// [`Error::Store`]. Then the record counts until its lease has ended.
    pub fn leave(&self) -> Result<()> {
        self.inner.delete_own_record()
    }

    /// Revision up to which it has followed the store.
    pub fn revision(&self) -> Revision {
        self.inner.snapshot.load().revision
    }
}

impl Node {
    /// Applies the policy for a stale view.
    fn check_freshness(&self) -> Result<()> {
        if self.inner.is_stale() {
            if self.inner.options.stale == StalePolicy::Refuse {
                return Err(Error::Stale);
            }
            self.inner.stale_answers.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }
}

/// The result of [`Node::revoke`]: the revision at which the revocation is durable.
pub type RevokeAnswer = std::pin::Pin<Box<dyn Future<Output = Result<Revision>> + Send>>;

impl std::fmt::Debug for Node {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Node")
            .field("status", &self.status())
            .finish_non_exhaustive()
    }
}
