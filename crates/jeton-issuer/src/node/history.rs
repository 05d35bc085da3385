//! Stores that go back: a volume that was restored from a snapshot, a virtual machine that was reset.
//!
//! The revision of a store never decreases, and nobody else changes the record of a node. So a lower revision, or a
//! record that is not the one this node wrote, proves that the store has lost a part of its history. Rules
//! of the remaining history and tokens of the lost one have stamps that do not compare. So the node loads everything
//! again, and begins a new epoch of stamps: every later rule rejects every earlier token. What other nodes have lost is
//! unknown, so the operator is told.
//!
//! A store that went back while no node ran leaves one proof: tokens with stamps that it never had.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::lock::lock;
use crate::revocation::Stamp;

/// What this node knows about losses of the store.
#[derive(Debug, Default)]
pub(super) struct History {
    /// Proof that waits until everything is loaded again.
    proof: Mutex<Option<String>>,
    /// The last loss, for the operator.
    told: Mutex<Option<String>>,
    went_back: AtomicU64,
    lost_tokens: AtomicU64,
    /// The highest stamp of a token of a lost history, if a new epoch must be above it.
    lost: Mutex<Option<Stamp>>,
    /// Whether this node has begun an epoch, or has written a rule.
    has_begun: AtomicBool,
}

impl History {
    /// Records a proof that the store went back.
    pub(super) fn went_back(&self, proof: &str) {
        lock(&self.proof).get_or_insert_with(|| proof.to_owned());
    }

    /// Returns the proof, until everything is loaded again.
    pub(super) fn proof(&self) -> Option<String> {
        lock(&self.proof).clone()
    }

    /// Records a token of a lost history.
    pub(super) fn found_token(&self, stamp: Stamp) {
        self.lost_tokens.fetch_add(1, Ordering::Relaxed);
        let mut lost = lock(&self.lost);
        *lost = (*lost).max(Some(stamp));
    }

    /// How often the store went back.
    pub(super) fn times(&self) -> u64 {
        self.went_back.load(Ordering::Relaxed)
    }

    /// How many tokens of a lost history were verified.
    pub(super) fn lost_tokens(&self) -> u64 {
        self.lost_tokens.load(Ordering::Relaxed)
    }

    /// Returns what the operator must do.
    pub(super) fn warning(&self) -> Option<String> {
        let told = lock(&self.told).clone();
        let tokens = self.lost_tokens();
        let tokens = (tokens > 0).then(|| {
            format!(
                "{tokens} verified tokens are of a history that the store has lost: it was restored or replaced, \
                 or its folder is on two machines; repeat the revocations and changes since then"
            )
        });
        let all: Vec<String> = [told, tokens].into_iter().flatten().collect();
        (!all.is_empty()).then(|| all.join("; "))
    }

    /// Returns whether the next rule of this node begins an epoch: nobody knows what happened to the store before
    /// this node started.
    pub(super) fn begins_epoch(&self) -> bool {
        !self.has_begun.load(Ordering::Acquire)
    }

    /// Records that a rule of this node is in the store.
    pub(super) fn has_begun(&self) {
        self.has_begun.store(true, Ordering::Release);
    }

    /// Returns the highest stamp of a token that was found since the last call.
    pub(super) fn take_lost(&self) -> Option<Stamp> {
        lock(&self.lost).take()
    }

    /// Records that everything is loaded after the store went back, and an epoch has begun.
    pub(super) fn recovered(&self, proof: &str) {
        self.went_back.fetch_add(1, Ordering::Relaxed);
        *lock(&self.told) = Some(format!(
            "the store went back ({proof}): a new epoch has begun; repeat the revocations and changes since the moment \
             from which it was restored, and restart the servers to end this warning"
        ));
        *lock(&self.proof) = None;
    }
}
