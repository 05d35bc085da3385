//! The status of a node, and its faults.

use std::sync::atomic::Ordering;
use std::time::Duration;

use jeton_store::{Moment, Revision};

use super::Node;
use super::cause::Cause;
use super::clock_agreement::Agreement;
use super::inner::Inner;
use super::lock::lock;

/// What a node can do at present.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ready {
    /// Every profile has a key that signs now, or a published key if the profile is new. The last contact with the
    /// store is not longer ago than [`Options::issue_without_store`](crate::Options). The clock is not apart from those
    /// of the majority of nodes.
    pub issue: bool,
    /// Its view is fresh and complete, its clock is not apart, and it has an issuer.
    pub verify: bool,
    /// Its view is fresh and complete, the store is not silent, and it accepts writes.
    pub revoke: bool,
}

/// The status of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// What the node can do.
    pub ready: Ready,
    /// Revision up to which it has followed the store.
    pub revision: Revision,
    /// Time since the last contact with the store.
    pub heard: Duration,
    /// Whether that is within the freshness bound. If not, the store does not answer.
    pub is_fresh: bool,
    /// Revoked single tokens that have not expired.
    pub revocations: usize,
    /// Rules: revoked subjects, clients, keys, and tokens without a known expiry.
    pub rules: usize,
    /// Entries of the audit log in the store.
    pub audit_entries: u64,
    /// Names of the issuers.
    pub issuers: Vec<String>,
    /// Answers from a view older than the freshness bound.
    pub stale_answers: u64,
    /// Whether the store accepts writes, as far as this node knows. Without, it still issues and verifies,
    /// but does not revoke or rotate.
    pub is_writable: bool,
    /// Writes of this node that failed.
    pub write_failures: u64,
    /// Faults, if there are any.
    pub fault: Option<String>,
    /// The one cause of what the node cannot do, and of its faults.
    pub cause: Option<Cause>,
    /// Since when it has this cause, seconds since 1970.
    pub since: Option<i64>,
    /// Complete comparisons of the view with the whole store, see [`Options::compare_every`](crate::Options).
    pub comparisons: u64,
    /// Comparisons that could not be completed: the store did not answer or has compacted its history, the view was
    /// behind, or a record cannot be read. A record that cannot be read is a fault.
    pub incomplete_comparisons: u64,
    /// Comparisons that found a difference. Then the node loads everything again.
    pub differences: u64,
    /// The last difference: numbers of revocations, and names of issuers.
    pub last_difference: Option<String>,
    /// Why remote keys cannot sign at present: tokens of their issuers are verified, and not issued.
    pub remote_keys_fault: Option<String>,
    /// A remote key that is due for rotation: the operator must create and name a new one.
    pub rotation_due: Option<String>,
    /// How often the store went back to an earlier revision while this node ran.
    pub store_went_back: u64,
    /// Verified tokens of a history that the store has lost.
    pub lost_history_tokens: u64,
    /// The nodes that run on the store, with this one, if it writes a record.
    pub nodes: usize,
    /// The largest difference of a clock of a running node to that of this one, seconds.
    pub clock_difference: u64,
    /// Warnings for the operator: clocks that differ, and work that waits because of a clock.
    pub warning: Option<String>,
}

impl Status {
    /// Returns whether the node should receive requests: it issues and verifies. It may be unable to revoke.
    pub fn is_ready(&self) -> bool {
        self.ready.issue && self.ready.verify
    }
}

impl Node {
    /// Returns the status of the node.
    pub fn status(&self) -> Status {
        let snapshot = self.inner.snapshot.load();
        let now = self.inner.now();
        let mut can_issue = snapshot.issuers.values().map(|view| {
            let mut kinds = view.settings.kinds().into_iter();
            kinds.all(|kind| view.keyring.can_sign(kind, now)) && self.check_hearing(view).is_ok()
        });
        let write_fault = self.inner.writes.fault();
        let is_silent = self.inner.is_silent();
        let is_writable = write_fault.is_none() && !is_silent;
        let remote_keys_fault = self.inner.remote_keys_fault();
        let is_fresh = !self.inner.is_stale();
        let is_complete = self.inner.view_fault().is_none();
        let has_issuers = !snapshot.issuers.is_empty();
        let agreement = self.inner.agreement(Moment::now());
        let is_apart = matches!(agreement, Agreement::Apart { .. });
        let ready = Ready {
            issue: is_complete
                && has_issuers
                && !is_apart
                && can_issue.all(|can| can)
                && remote_keys_fault.is_none(),
            verify: is_complete && is_fresh && has_issuers && !is_apart,
            revoke: is_complete && is_fresh && is_writable,
        };
        let write_cause = write_fault.as_ref().map(|(cause, _)| *cause);
        let fault = self.inner.fault(write_fault.map(|(_, fault)| fault));
        let cause = if is_silent {
            Some(Cause::StoreSilent)
        } else if !is_complete {
            Some(Cause::ViewIncomplete)
        } else if is_apart {
            Some(Cause::ClockApart)
        } else if write_cause.is_some() {
            write_cause
        } else if remote_keys_fault.is_some() {
            Some(Cause::RemoteKeys)
        } else if !has_issuers {
            Some(Cause::NoIssuer)
        } else if !ready.issue {
            Some(Cause::NoKey)
        } else {
            fault.is_some().then_some(Cause::Maintenance)
        };
        // A silent store has been silent since its last message.
        let silent_for = if is_silent {
            self.inner.heard_ago()
        } else {
            Duration::ZERO
        };
        let begun = now - i64::try_from(silent_for.as_secs()).unwrap_or_default();
        let since = self.inner.since.of(cause, begun);
        let mut nodes = self.running_nodes();
        nodes.retain(|node| node.is_live);
        let mut issuers: Vec<String> = snapshot.issuers.keys().map(ToString::to_string).collect();
        issuers.sort();
        Status {
            ready,
            revision: snapshot.revision,
            heard: self.inner.heard_ago(),
            is_fresh,
            revocations: snapshot.revocations.len(),
            rules: snapshot.rules.len(),
            audit_entries: self.inner.working().audit.entries(),
            issuers,
            stale_answers: self.inner.stale_answers.load(Ordering::Relaxed),
            is_writable,
            write_failures: self.inner.writes.failures(),
            fault,
            cause,
            since,
            comparisons: self.inner.comparison.done(),
            incomplete_comparisons: self.inner.comparison.incomplete(),
            differences: self.inner.comparison.differences(),
            last_difference: self.inner.comparison.last(),
            remote_keys_fault,
            rotation_due: lock(&self.inner.rotation).clone(),
            store_went_back: self.inner.history.times(),
            lost_history_tokens: self.inner.history.lost_tokens(),
            nodes: nodes.len(),
            clock_difference: nodes
                .iter()
                .filter_map(|node| node.ahead)
                .map(i64::unsigned_abs)
                .max()
                .unwrap_or(0),
            warning: self.inner.warning(),
        }
    }
}

impl Inner {
    /// Returns why the view may miss changes: a record that cannot be read, or a thread that ended.
    fn view_fault(&self) -> Option<String> {
        let follower = self.working().fault.clone();
        let lost = self.history.proof();
        let lost =
            lost.map(|proof| format!("the store went back ({proof}): everything is loaded again"));
        // Why it cannot be loaded says more.
        lock(&self.ended).clone().or(follower).or(lost)
    }

    /// Returns all faults, without duplicates.
    fn fault(&self, write_fault: Option<String>) -> Option<String> {
        let mut due = self.due_fault().clone();
        let mut faults: Vec<String> = Vec::new();
        let remote = self.remote_keys_fault();
        let silent = self
            .is_silent()
            .then(|| Cause::StoreSilent.sentence().to_owned());
        let mut write_fault = write_fault;
        if silent.is_some() {
            // What needs the store fails for the same reason.
            (due, write_fault) = (None, None);
        }
        for fault in [silent, self.view_fault(), write_fault, due, remote]
            .into_iter()
            .flatten()
        {
            if !faults.contains(&fault) {
                faults.push(fault);
            }
        }
        (!faults.is_empty()).then(|| faults.join("; "))
    }

    /// Returns postponed work and differing clocks.
    fn warning(&self) -> Option<String> {
        let mut warnings: Vec<String> = self.others().warnings(Moment::now()).collect();
        warnings.extend(lock(&self.peers).warning(Moment::now()));
        warnings.extend(self.history.warning());
        if let Some(held) = self.held().clone() {
            let reason = self.clock_guard().reason();
            if warnings.is_empty() {
                warnings.push(format!("{held} is due and waits: {reason}"))
            } else {
                warnings.push(format!("{held} is due and waits"))
            }
        }
        (!warnings.is_empty()).then(|| warnings.join("; "))
    }
}
