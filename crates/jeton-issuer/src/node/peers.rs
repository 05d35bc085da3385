//! The running nodes that this one has heard of, by their records.

use std::collections::BTreeMap;
use std::time::Duration;

use jeton_store::{Entry, Key, Moment, Revision};

use super::clock_agreement::{Agreement, agreement};
use crate::error::Result;
use crate::hex::hex;
use crate::limits::{CLOCK_SKEW_SECONDS, NODE_FORGOTTEN, NODE_LEASE};
use crate::node_record::NodeRecord;
use crate::record::{self, NEWEST_SCHEMA, node_key};

/// A node that runs, or has ended within the last hour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunningNode {
    /// A random id, new with each start.
    pub id: String,
    /// Its name, for example that of its host.
    pub name: String,
    /// Its version of jeton.
    pub version: String,
    /// The newest schema of a record that it reads.
    pub reads: u64,
    /// Its clock when it wrote its record, seconds since 1970.
    pub clock: i64,
    /// How far its clock is ahead of that of this node, seconds. None: not known yet.
    pub ahead: Option<i64>,
    /// When it started, by its clock.
    pub started: i64,
    /// The revision that it had applied.
    pub revision: u64,
    /// Time since its record was heard, or loaded. None: this node has not written one.
    pub heard: Option<Duration>,
    /// How long a record counts.
    pub lease: Duration,
    /// Whether the lease lasts.
    pub is_live: bool,
    /// Whether it is this node.
    pub is_self: bool,
}

impl RunningNode {
    /// Returns what people read about the state of a node, given `is_self`, `is_live` and `ahead`.
    pub fn state_text(is_self: bool, is_live: bool, ahead: Option<i64>) -> &'static str {
        match (is_self, is_live, ahead) {
            (true, ..) => "running, answers",
            (false, true, Some(_)) => "running",
            // Its record is in the store, and no new one has arrived.
            (false, true, None) => "silent",
            (false, false, _) => "ended",
        }
    }

    /// Returns what people read about `ahead`.
    pub fn clock_text(ahead: Option<i64>) -> String {
        match ahead {
            None => "unknown".to_owned(),
            Some(0) => "same".to_owned(),
            Some(ahead) if ahead > 0 => format!("{ahead} s ahead"),
            Some(ahead) => format!("{} s behind", ahead.unsigned_abs()),
        }
    }
}

/// An update that is older says nothing about the clock of its writer.
const HEARD_AT_ONCE: Duration = Duration::from_secs(20);

/// All nodes that this one has heard of.
#[derive(Debug, Default)]
pub(super) struct Peers {
    own: Option<Own>,
    known: BTreeMap<String, Known>,
}

/// The record of this node.
#[derive(Debug, Clone)]
pub(super) struct Own {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) reads: u64,
    pub(super) started: i64,
    every: Duration,
    /// When the record was last due.
    tried: Option<Moment>,
    /// The revision of its last record, and when that was written.
    pub(super) written: Option<(Revision, Moment)>,
}

#[derive(Debug, Clone)]
struct Known {
    record: NodeRecord,
    changed: Revision,
    /// When it was last heard, or loaded.
    heard: Moment,
    /// How far its clock is ahead of this one, once it was heard.
    ahead: Option<i64>,
}

impl Known {
    fn is_live(&self, now: Moment) -> bool {
        now.duration_since(self.heard) < Duration::from_secs(self.record.lease_seconds)
    }
}

impl Peers {
    /// Names this node, which writes a record at that interval.
    pub(super) fn run_as(&mut self, name: &str, reads: u64, every: Duration, clock: i64) {
        self.own = Some(Own {
            id: format!("n{}", hex(&rand::random::<[u8; 8]>())),
            name: name.to_owned(),
            reads,
            started: clock,
            every,
            tried: None,
            written: None,
        });
    }

    /// Takes a record that was written after `age` ago, while this clock says `clock`.
    pub(super) fn hear(&mut self, entry: &Entry, age: Duration, clock: i64, now: Moment) {
        let Some(id) = id_of(&entry.key) else { return };
        if self.own.as_ref().is_some_and(|own| own.id == id) {
            return;
        }
        // One that cannot be read is left to the check of the store: it must not stop a node.
        let Ok(record) = record::read::<NodeRecord>(entry) else {
            return;
        };
        let before = self.known.get(&id).and_then(|known| known.ahead);
        let ahead = if age <= HEARD_AT_ONCE {
            Some(record.at.saturating_sub(clock))
        } else {
            before
        };
        let known = Known {
            record,
            changed: entry.changed,
            heard: now,
            ahead,
        };
        self.known.insert(id, known);
    }

    /// Takes all records of the store, whose ages are unknown.
    pub(super) fn load(&mut self, entries: &[Entry], now: Moment) {
        let before = std::mem::take(&mut self.known);
        for entry in entries {
            self.hear(entry, Duration::MAX, 0, now);
        }
        for (id, known) in &mut self.known {
            if let Some(before) = before.get(id) {
                known.ahead = before.ahead;
                if before.changed == known.changed {
                    known.heard = before.heard;
                }
            }
        }
    }

    pub(super) fn forget(&mut self, key: &Key) {
        if let Some(id) = id_of(key) {
            self.known.remove(&id);
        }
    }

    /// Compares the clock of this node with those of the others.
    pub(super) fn agreement(&self, now: Moment) -> Agreement {
        let live = self.known.values().filter(|known| known.is_live(now));
        let ahead: Vec<i64> = live.filter_map(|known| known.ahead).collect();
        agreement(&ahead)
    }

    /// Returns by how many seconds this clock is ahead of the slowest one of a node that runs.
    pub(super) fn ahead_of_slowest(&self, now: Moment) -> i64 {
        let live = self.known.values().filter(|known| known.is_live(now));
        let slowest = live.filter_map(|known| known.ahead).min();
        slowest.map_or(0, |ahead| ahead.saturating_neg().max(0))
    }

    /// Returns by how many seconds this clock is certainly behind that of a node that runs: the record was written
    /// before now.
    pub(super) fn certainly_behind(&self, clock: i64, now: Moment) -> i64 {
        let live = self.known.values().filter(|known| known.is_live(now));
        let behind = live.map(|known| known.record.at.saturating_sub(clock));
        behind.max().unwrap_or(0).max(0)
    }

    /// Returns the newest schema that every node reads that runs, and the node that reads no newer one.
    pub(super) fn reads(&self, now: Moment) -> (u64, Option<String>) {
        let live = self.known.values().filter(|known| known.is_live(now));
        let oldest = live.min_by_key(|known| known.record.reads);
        let own = self.own.as_ref().map_or(NEWEST_SCHEMA, |own| own.reads);
        match oldest {
            Some(known) if known.record.reads < own => {
                let NodeRecord { name, version, .. } = &known.record;
                (known.record.reads, Some(format!("{name} ({version})")))
            }
            _ => (own, None),
        }
    }

    /// Lists the nodes that this one knows, itself first.
    pub(super) fn list(&self, clock: i64, revision: Revision, now: Moment) -> Vec<RunningNode> {
        let own = self.own.iter().map(|own| RunningNode {
            id: own.id.clone(),
            name: own.name.clone(),
            version: version().to_owned(),
            reads: own.reads,
            clock,
            ahead: Some(0),
            started: own.started,
            revision: revision.number(),
            heard: own.written.map(|(_, at)| now.duration_since(at)),
            lease: NODE_LEASE,
            is_live: true,
            is_self: true,
        });
        let others = self.known.iter().map(|(id, known)| RunningNode {
            id: id.clone(),
            name: known.record.name.clone(),
            version: known.record.version.clone(),
            reads: known.record.reads,
            clock: known.record.at,
            ahead: known.ahead,
            started: known.record.started,
            revision: known.record.revision,
            heard: Some(now.duration_since(known.heard)),
            lease: Duration::from_secs(known.record.lease_seconds),
            is_live: known.is_live(now),
            is_self: false,
        });
        own.chain(others).collect()
    }

    /// Returns this node if its record is due, and a node that has gone.
    pub(super) fn due(&mut self, now: Moment) -> Option<(Own, Option<(String, Revision)>)> {
        let own = self.own.as_mut()?;
        let is_new = |tried: Moment| now.duration_since(tried) < own.every;
        if own.tried.is_some_and(is_new) {
            return None;
        }
        own.tried = Some(now);
        let own = own.clone();
        let is_gone = |known: &Known| now.duration_since(known.heard) >= NODE_FORGOTTEN;
        let gone = self.known.iter().find(|(_, known)| is_gone(known));
        let gone = gone.map(|(id, known)| (id.clone(), known.changed));
        Some((own, gone))
    }

    /// Ends this node. Returns the key of its record, and the revision, if it has written one.
    pub(super) fn take_own(&mut self) -> Result<Option<(Key, Revision)>> {
        let written = self
            .own
            .take()
            .and_then(|own| Some((own.id, own.written?.0)));
        written
            .map(|(id, written)| Ok((node_key(&id)?, written)))
            .transpose()
    }

    /// Records that the record of this node is being written.
    pub(super) fn writes(&mut self) {
        if let Some(own) = &mut self.own {
            own.written = None;
        }
    }

    /// Records that the record of this node is in the store.
    pub(super) fn wrote(&mut self, at: Revision, now: Moment) {
        if let Some(own) = &mut self.own {
            own.written = Some((at, now));
        }
    }

    /// Returns what the operator must know about clocks.
    pub(super) fn warning(&self, now: Moment) -> Option<String> {
        let side = |ahead: i64| if ahead > 0 { "ahead of" } else { "behind" };
        match self.agreement(now) {
            Agreement::Alone | Agreement::WithMajority { .. } => None,
            Agreement::Apart {
                ahead,
                majority,
                nodes,
            } => Some(format!(
                "the clock of this node is {} s {} the clocks of {majority} of {nodes} nodes, and \
                 {CLOCK_SKEW_SECONDS} s are allowed: it is not ready until its clock is right",
                ahead.abs(),
                side(ahead)
            )),
            Agreement::Split { ahead, nodes } => Some(format!(
                "the clocks of {nodes} nodes do not agree, and no majority does: this one is {} s {} another, and \
                 {CLOCK_SKEW_SECONDS} s are allowed: set the clocks; until then keys are not rotated",
                ahead.abs(),
                side(ahead)
            )),
        }
    }
}

pub(super) fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

fn id_of(key: &Key) -> Option<String> {
    let mut parts = key.parts();
    match (parts.next().as_deref(), parts.next(), parts.next()) {
        (Some("n"), Some(id), None) => Some(id),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const CLOCK: i64 = 1_800_000_000;

    fn entry(id: &str, at: i64, reads: u64, changed: u64) -> Entry {
        let record = NodeRecord {
            name: format!("host of {id}"),
            version: "1".to_owned(),
            reads,
            at,
            started: at,
            revision: 0,
            lease_seconds: NODE_LEASE.as_secs(),
        };
        Entry {
            key: node_key(id).unwrap(),
            value: record::write(&record),
            changed: Revision::from_number(changed),
        }
    }

    #[test]
    fn node_counts_for_its_lease() {
        let now = Moment::now();
        let mut peers = Peers::default();
        for (id, ahead) in [("a", -300), ("b", -301)] {
            peers.hear(&entry(id, CLOCK + ahead, 3, 1), Duration::ZERO, CLOCK, now);
        }
        let is_apart = |peers: &Peers, now| {
            let agreement = peers.agreement(now);
            matches!(
                agreement,
                Agreement::Apart {
                    ahead: 300,
                    majority: 2,
                    nodes: 3
                }
            )
        };
        assert!(is_apart(&peers, now));
        assert!(
            peers
                .warning(now)
                .unwrap()
                .contains("300 s ahead of the clocks of 2 of 3")
        );
        let end = now + NODE_LEASE;
        assert_eq!(peers.agreement(end), Agreement::Alone);
        assert!(peers.warning(end).is_none());
        // A node that returns after a day says nothing about its clock by an old record.
        let day = now + Duration::from_secs(24 * 3600);
        let age = Duration::from_secs(24 * 3600);
        let mut peers = Peers::default();
        peers.hear(&entry("a", CLOCK - 300, 3, 2), age, CLOCK + 86_400, day);
        assert_eq!(peers.agreement(day), Agreement::Alone);
        peers.hear(
            &entry("a", CLOCK + 86_400, 3, 3),
            Duration::ZERO,
            CLOCK + 86_400,
            day,
        );
        assert_eq!(peers.agreement(day), Agreement::WithMajority { latest: 0 });
        peers.forget(&node_key("a").unwrap());
        assert_eq!(peers.agreement(day), Agreement::Alone);
    }

    #[test]
    fn loaded_record_only_proves_that_this_clock_is_behind() {
        let now = Moment::now();
        let mut peers = Peers::default();
        let records = [
            entry("a", CLOCK + 7200, 3, 1),
            entry("b", CLOCK - 7200, 3, 2),
        ];
        peers.load(&records, now);
        assert_eq!(peers.agreement(now), Agreement::Alone);
        assert_eq!(peers.certainly_behind(CLOCK, now), 7200);
        assert_eq!(peers.certainly_behind(CLOCK, now + NODE_LEASE), 0);
        // A record that was loaded again and has not changed is not heard again.
        peers.load(&records[..1], now + NODE_LEASE);
        assert_eq!(peers.certainly_behind(CLOCK, now + NODE_LEASE), 0);
        assert_eq!(peers.list(CLOCK, Revision::START, now).len(), 1);
    }

    #[test]
    fn oldest_running_node_bounds_what_is_written() {
        let now = Moment::now();
        let mut peers = Peers::default();
        peers.run_as("new", 4, Duration::ZERO, CLOCK);
        assert_eq!(peers.reads(now), (4, None));
        peers.hear(&entry("a", CLOCK, 3, 1), Duration::ZERO, CLOCK, now);
        assert_eq!(peers.reads(now), (3, Some("host of a (1)".to_owned())));
        assert_eq!(peers.reads(now + NODE_LEASE), (4, None));
    }
}
