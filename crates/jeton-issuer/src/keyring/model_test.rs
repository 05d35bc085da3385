//! Model checking of rotation: two nodes with different clocks and lagging views, and verifiers that fetch
//! the key set from either node and keep it for as long as allowed.
//!
//! The decisions are those of [`decide`]. Each [`Fault`] removes a protection, and the search must detect
//! it.
//!
//! Signing and fetching affect nothing else. So in each state every node signs what it can, and a verifier
//! fetches from every node. They are not separate steps, which keeps the number of states small.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use super::{Decision, Event, Keyring, NewKey, decide};
use crate::limits::{CLOCK_SKEW_SECONDS, LEEWAY_SECONDS, PROPAGATION_SECONDS};
use crate::model_checker::{Explored, Model, explore, explore_depth_first};
use crate::{IssuerSettings, KeyKind};
use jeton_testkit::is_whole;

const START: i64 = 1_800_000_000;
const PUBLISH_BEFORE_USE: i64 = 600;
const MAX_AGE: i64 = 300;
const LIFETIME: i64 = 900;
/// Operations of the first and the second node.
const OPERATIONS: [u8; 2] = [2, 1];
const STEPS_OF_TIME: u8 = 2;
const CLOCKS: [[i64; 2]; 3] = [[0, 0], [0, CLOCK_SKEW_SECONDS], [CLOCK_SKEW_SECONDS, 0]];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Fault {
    None,
    /// Verifiers keep a key set 50 % longer than allowed.
    StaleWhileRevalidate,
    /// Verifiers may keep it for the whole pre-publication period.
    ShortLead,
    /// A disconnected node serves a cacheable key set without limit.
    CutOff,
    /// Keys are deleted with their last token, without allowance for clock differences.
    DroppedWithoutSkew,
    /// A key is written once, with its signing time, however late that is committed.
    CommittedLate,
    /// A late commit is not corrected.
    LateCommitNotCorrected,
    /// The clock of the second node is forty days ahead, and it publishes keys by it.
    Jumped,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Act {
    Tick,
    Rotate,
    /// The key that signs by its view.
    Compromised,
    Over,
}

#[derive(Debug, Clone, Hash)]
struct Node {
    clock: i64,
    /// Index of its keyring in the log.
    seen: usize,
    left: u8,
    looked: Option<Looked>,
}

/// A decision and its time.
#[derive(Debug, Clone, Hash)]
struct Looked {
    /// Index of the keyring that it was decided from.
    from: usize,
    to: Keyring,
    compromised: Option<String>,
    at: i64,
    is_confirmation: bool,
}

#[derive(Debug, Clone, Hash)]
struct World {
    fault: Fault,
    passed: i64,
    steps_of_time: u8,
    made: usize,
    /// The first key is not made yet.
    is_new: bool,
    /// Committed keyrings, and when.
    log: Vec<(i64, Keyring)>,
    nodes: [Node; 2],
    /// Key sets that verifiers have, and until when each is kept.
    copies: BTreeMap<usize, i64>,
    /// Keys without a pre-publication period.
    hurried: BTreeSet<String>,
    compromised: BTreeSet<String>,
    /// End of the last token of each key.
    last: BTreeMap<String, i64>,
    wrong: Option<String>,
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Look(usize, Act),
    Commit(usize),
    Follow(usize),
    Seconds(i64),
}

static SETTINGS: LazyLock<IssuerSettings> = LazyLock::new(|| {
    let text = format!(
        r#"{{"iss":"i","publish_before_use_seconds":{PUBLISH_BEFORE_USE},"max_age_seconds":{MAX_AGE},"rotate_every_seconds":1200,
        "profiles":[{{"name":"p","alg":"ES256","lifetime_seconds":{LIFETIME},"audiences":["a"]}}]}}"#
    );
    IssuerSettings::from_json(&text).expect("these are allowed")
});

fn kind() -> KeyKind {
    SETTINGS.profiles()[0].alg
}

impl World {
    fn new(fault: Fault, clocks: [i64; 2], operations: [u8; 2]) -> World {
        let mut world = World {
            fault,
            passed: 0,
            steps_of_time: STEPS_OF_TIME,
            made: 0,
            is_new: true,
            log: vec![(0, Keyring::default())],
            nodes: clocks.map(|clock| Node {
                clock,
                seen: 0,
                left: 1,
                looked: None,
            }),
            copies: BTreeMap::new(),
            hurried: BTreeSet::new(),
            compromised: BTreeSet::new(),
            last: BTreeMap::new(),
            wrong: None,
        };
        world.look(1, Act::Tick);
        world.commit(1);
        world.is_new = false;
        world.log.remove(0);
        for (node, left) in world.nodes.iter_mut().zip(operations) {
            node.seen = 0;
            node.left = left;
        }
        let first = world.log[0].1.keys[0].kid.clone();
        world.hurried.insert(first);
        world.observe();
        world
    }

    /// Signs and fetches, in every state.
    fn observe(&mut self) {
        self.fetch();
        self.sign();
        self.forget();
    }

    /// A verifier fetches from each node.
    fn fetch(&mut self) {
        let keeps = match self.fault {
            Fault::StaleWhileRevalidate => MAX_AGE * 3 / 2,
            Fault::ShortLead => PUBLISH_BEFORE_USE,
            _ => MAX_AGE,
        };
        let passed = self.passed;
        self.copies.retain(|_, until| *until > passed);
        for node in &self.nodes {
            self.copies.insert(node.seen, passed + keeps);
        }
    }

    /// Drops unreferenced data, so that equivalent states become equal.
    fn forget(&mut self) {
        let views = self.nodes.iter().map(|node| node.seen);
        let looked = self.nodes.iter().flat_map(|node| &node.looked);
        let looked = looked.map(|looked| looked.from);
        let copies = self.copies.keys().copied();
        let first = views.chain(looked).chain(copies).min().unwrap_or(0);
        self.log.drain(..first);
        for node in &mut self.nodes {
            node.seen -= first;
            if let Some(looked) = &mut node.looked {
                looked.from -= first;
            }
        }
        let copies = std::mem::take(&mut self.copies);
        self.copies = copies
            .into_iter()
            .map(|(at, until)| (at - first, until))
            .collect();
        let log = self.log.iter().map(|(_, keyring)| keyring);
        let looked = self.nodes.iter().flat_map(|node| &node.looked);
        let keyrings = log.chain(looked.map(|looked| &looked.to));
        let keys = keyrings.flat_map(|keyring| &keyring.keys);
        let known: BTreeSet<String> = keys.map(|key| key.kid.clone()).collect();
        self.hurried.retain(|kid| known.contains(kid));
        self.compromised.retain(|kid| known.contains(kid));
        self.last.retain(|kid, _| known.contains(kid));
        // Only the time of a change that a node does not have yet matters.
        let has = self.nodes.iter().map(|node| node.seen).min().unwrap_or(0);
        for (at, _) in &mut self.log[..=has] {
            *at = 0;
        }
        self.renumber(&known);
    }

    /// Numbers the keys from zero in their order.
    fn renumber(&mut self, known: &BTreeSet<String>) {
        let names: BTreeMap<&String, String> = known
            .iter()
            .enumerate()
            .map(|(number, kid)| (kid, format!("k{number:02}")))
            .collect();
        self.made = known.len();
        let log = self.log.iter_mut().map(|(_, keyring)| keyring);
        let looked = self.nodes.iter_mut().flat_map(|node| &mut node.looked);
        let mut keyrings: Vec<&mut Keyring> = log.collect();
        for looked in looked {
            keyrings.push(&mut looked.to);
            if let Some(kid) = &mut looked.compromised {
                *kid = names[kid].clone();
            }
        }
        for key in keyrings.into_iter().flat_map(|keyring| &mut keyring.keys) {
            key.kid = names[&key.kid].clone();
        }
        for set in [&mut self.hurried, &mut self.compromised] {
            *set = set.iter().map(|kid| names[kid].clone()).collect();
        }
        let last = std::mem::take(&mut self.last);
        self.last = last
            .into_iter()
            .map(|(kid, end)| (names[&kid].clone(), end))
            .collect();
    }

    fn now(&self, node: usize) -> i64 {
        START + self.passed + self.nodes[node].clock
    }

    /// Returns the clock by which a node decides.
    fn decides_by(&self, node: usize) -> i64 {
        let is_jumped = self.fault == Fault::Jumped && node == 1 && !self.is_new;
        self.now(node) + i64::from(is_jumped) * 40 * 24 * 3600
    }

    fn view(&self, node: usize) -> &Keyring {
        &self.log[self.nodes[node].seen].1
    }

    fn look(&mut self, node: usize, act: Act) {
        self.nodes[node].left -= 1;
        let now = self.decides_by(node);
        let (at, keyring) = (self.log.len() - 1, self.log[self.log.len() - 1].1.clone());
        let signer = self.view(node).signer(kind(), now);
        let compromised = signer.map(|key| key.kid.clone());
        let early = match self.fault {
            Fault::DroppedWithoutSkew => LEEWAY_SECONDS + 2 * CLOCK_SKEW_SECONDS,
            _ => 0,
        };
        let (event, compromised) = match (act, compromised) {
            (Act::Tick, _) => (Event::Tick, None),
            (Act::Rotate, _) => (Event::Rotate(kind()), None),
            (Act::Over, _) => (Event::Over(now + early), None),
            (Act::Compromised, Some(kid)) => (Event::Compromised(kid.clone()), Some(kid)),
            (Act::Compromised, None) => return,
        };
        let made = NewKey {
            kid: format!("k{:02}", self.made),
            kind: kind(),
            public: None,
            remote: None,
        };
        let decided = match decide(&SETTINGS, &keyring, &event, &[], now) {
            Ok(Decision::Make(_)) => decide(&SETTINGS, &keyring, &event, &[made], now),
            other => other,
        };
        if let Ok(Decision::Write(change)) = decided {
            self.made += change.added.len();
            let to = match self.fault {
                Fault::CommittedLate => decided_at_once(change.keyring, &Event::Confirm, now),
                _ => change.keyring,
            };
            self.nodes[node].looked = Some(Looked {
                from: at,
                to,
                compromised,
                at: self.passed,
                is_confirmation: false,
            });
        }
    }

    /// The node that added a key confirms it.
    fn look_to_confirm(&mut self, node: usize) {
        let (from, now) = (self.log.len() - 1, self.decides_by(node));
        let keyring = self.log[from].1.clone();
        if keyring.has_unconfirmed() {
            self.nodes[node].looked = Some(Looked {
                from,
                to: decided_at_once(keyring, &Event::Confirm, now),
                compromised: None,
                at: self.passed,
                is_confirmation: true,
            });
        }
    }

    fn commit(&mut self, node: usize) {
        let Some(looked) = self.nodes[node].looked.take() else {
            return;
        };
        // Compare and swap: the slower node's decision is discarded.
        if looked.from != self.log.len() - 1 {
            if looked.is_confirmation {
                self.look_to_confirm(node);
            }
            return;
        }
        let mut keyring = looked.to;
        let slowest = START + self.passed + self.nodes[0].clock.min(self.nodes[1].clock);
        for key in &self.log[looked.from].1.keys {
            let over = self.last.get(&key.kid).copied().unwrap_or(0);
            let is_gone = keyring.find(&key.kid).is_none();
            if is_gone && looked.compromised.as_ref() != Some(&key.kid) && over > slowest {
                self.wrong = Some(format!("{} is gone before its last token", key.kid));
            }
        }
        if let Some(kid) = looked.compromised {
            self.compromised.insert(kid);
            for other in 0..2 {
                let signer = keyring.signer(kind(), self.now(other));
                self.hurried.extend(signer.map(|key| key.kid.clone()));
            }
        }
        let by = self.passed - looked.at;
        if by > PROPAGATION_SECONDS
            && !matches!(
                self.fault,
                Fault::CommittedLate | Fault::LateCommitNotCorrected
            )
        {
            // The correction follows at once.
            let late = Event::CommittedLate {
                by,
                revoked: None,
                postponed: self.log[looked.from].1.postponed(&keyring),
            };
            keyring = decided_at_once(keyring, &late, self.now(node));
        }
        self.log.push((self.passed, keyring));
        // The other node's decision can no longer be committed.
        let other = &mut self.nodes[1 - node].looked;
        other.take_if(|looked| !looked.is_confirmation);
        // The call returns when its own view has the change.
        self.nodes[node].seen = self.log.len() - 1;
        self.look_to_confirm(node);
    }

    /// Every node signs everything that it can.
    fn sign(&mut self) {
        for node in 0..2 {
            let now = self.now(node);
            let signer = self.view(node).signer(kind(), now);
            let Some(kid) = signer.map(|key| key.kid.clone()) else {
                self.wrong = Some(format!("node {node} has no key that signs"));
                continue;
            };
            if self.compromised.contains(&kid) {
                continue;
            }
            let mut copies = self.copies.keys();
            if !self.hurried.contains(&kid) && copies.any(|at| self.log[*at].1.find(&kid).is_none())
            {
                self.wrong = Some(format!("{kid} signs, and a verifier may not have it"));
            }
            let over = now + LIFETIME + LEEWAY_SECONDS;
            let last = self.last.entry(kid).or_insert(over);
            *last = over.max(*last);
        }
        let newest = self.log[self.log.len() - 1].1.newest(kind());
        let latest = START + self.passed + PUBLISH_BEFORE_USE + 2 * CLOCK_SKEW_SECONDS;
        if newest.is_some_and(|key| key.is_confirmed() && key.signs_from > latest) {
            self.wrong = Some("the next key signs too late: rotation stops".to_owned());
        }
    }

    /// Returns durations until the next event by either clock.
    fn times(&self) -> BTreeSet<i64> {
        let mut times = BTreeSet::from([60, MAX_AGE - 1]);
        // A commit may take long.
        if self.nodes.iter().any(|node| node.looked.is_some()) {
            times.insert(2 * PUBLISH_BEFORE_USE);
        }
        for node in 0..2 {
            let now = self.now(node);
            for key in &self.log[self.log.len() - 1].1.keys {
                let gone = key.gone_at().map(|at| match self.fault {
                    Fault::DroppedWithoutSkew => at - LEEWAY_SECONDS - 2 * CLOCK_SKEW_SECONDS,
                    _ => at,
                });
                times.extend(
                    [Some(key.signs_from - now), gone.map(|at| at - now)]
                        .into_iter()
                        .flatten(),
                );
            }
        }
        times.retain(|seconds| (1..10_000).contains(seconds));
        // No view is older than allowed.
        let missed = self
            .nodes
            .iter()
            .filter_map(|node| self.log.get(node.seen + 1));
        if self.fault != Fault::CutOff
            && let Some(first) = missed.map(|(at, _)| *at).min()
        {
            let left = first + PROPAGATION_SECONDS - self.passed;
            times.retain(|seconds| *seconds <= left);
        }
        times
    }
}

/// Returns the keyring after an event that needs no new key.
fn decided_at_once(keyring: Keyring, event: &Event, now: i64) -> Keyring {
    match decide(&SETTINGS, &keyring, event, &[], now) {
        Ok(Decision::Write(change)) => change.keyring,
        _ => keyring,
    }
}

impl Model for World {
    type Step = Step;

    fn steps(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        for (number, node) in self.nodes.iter().enumerate() {
            if node.looked.is_some() {
                steps.push(Step::Commit(number));
            } else if node.left > 0 {
                let acts = [Act::Tick, Act::Rotate, Act::Compromised, Act::Over];
                steps.extend(acts.map(|act| Step::Look(number, act)));
            }
            if node.seen + 1 < self.log.len() {
                steps.push(Step::Follow(number));
            }
        }
        if self.steps_of_time > 0 {
            steps.extend(self.times().into_iter().map(Step::Seconds));
        }
        steps
    }

    fn step(&self, step: Step) -> World {
        let mut next = self.clone();
        match step {
            Step::Look(node, act) => {
                next.look(node, act);
                if next.nodes[node].looked.is_none() {
                    // There was nothing to decide.
                    return self.clone();
                }
            }
            Step::Commit(node) => next.commit(node),
            Step::Follow(node) => next.nodes[node].seen += 1,
            Step::Seconds(seconds) => {
                next.passed += seconds;
                next.steps_of_time -= 1;
            }
        }
        next.observe();
        next
    }

    fn check(&self) -> Result<(), String> {
        self.wrong.clone().map_or(Ok(()), Err)
    }
}

fn explored(fault: Fault, clocks: [i64; 2]) -> Explored<Step> {
    let explored = explore(World::new(fault, clocks, OPERATIONS));
    explored.print(format!("rotation, {fault:?}, clocks {clocks:?}"));
    explored
}

#[test]
fn both_searches_agree() {
    let world = World::new(Fault::None, CLOCKS[1], [1, 1]);
    let all = explore_depth_first(world.clone());
    assert!(all.wrong.is_none());
    assert_eq!(all.states, explore(world).states);
    let late = World::new(Fault::CommittedLate, CLOCKS[1], OPERATIONS);
    assert!(explore_depth_first(late).wrong.is_some());
}

/// A sample has the first.
#[test]
fn rotation_holds_in_every_interleaving() {
    let cases = [
        (Fault::None, CLOCKS[1]),
        // The shortest pre-publication period has a margin of 50 %.
        (Fault::StaleWhileRevalidate, CLOCKS[1]),
        (Fault::None, CLOCKS[0]),
        (Fault::None, CLOCKS[2]),
    ];
    for (fault, clocks) in cases.into_iter().take(if is_whole() { 4 } else { 1 }) {
        let wrong = explored(fault, clocks).wrong;
        assert!(wrong.is_none(), "{wrong:?}");
    }
}

/// Three operations of each node.
#[test]
#[ignore = "searches millions of states: minutes"]
fn larger_search_over_rotation_finds_nothing() {
    for clocks in CLOCKS {
        let explored = explore_depth_first(World::new(Fault::None, clocks, [3, 3]));
        explored.print(format!(
            "rotation, three operations each, clocks {clocks:?}"
        ));
        assert!(explored.wrong.is_none(), "{:?}", explored.wrong);
    }
}

#[test]
fn missing_protection_is_detected() {
    for fault in [
        Fault::ShortLead,
        Fault::CutOff,
        Fault::DroppedWithoutSkew,
        Fault::CommittedLate,
        Fault::LateCommitNotCorrected,
        Fault::Jumped,
    ] {
        assert!(explored(fault, CLOCKS[1]).wrong.is_some(), "{fault:?}");
    }
}
