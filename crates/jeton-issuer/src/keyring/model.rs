//! Every interleaving of two nodes that rotate keys, each by a clock of its own and with a view that lags, and
//! of a verifier that fetches the key set from either at any moment and keeps it for as long as it may.
//!
//! What is decided is the product's: [`decide`]. A [`Fault`] takes a protection away, and must be found.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use super::{Decision, Event, Keyring, NewKey, decide};
use crate::exhaustive::{Explored, Model, explore};
use crate::limits::{CLOCK_SKEW_SECONDS, LEEWAY_SECONDS, PROPAGATION_SECONDS};
use crate::{IssuerSettings, KeyKind};

const START: i64 = 1_800_000_000;
const LEAD: i64 = 600;
const MAX_AGE: i64 = 300;
const LIFETIME: i64 = 900;
/// What the nodes do, the first and the second: more is too much for one search.
const OPERATIONS: [u8; 2] = [2, 1];
const STEPS_OF_TIME: u8 = 2;
const CLOCKS: [[i64; 2]; 3] = [[0, 0], [0, CLOCK_SKEW_SECONDS], [CLOCK_SKEW_SECONDS, 0]];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Fault {
    None,
    /// Verifiers keep a key set for half as long again as they are told.
    StaleWhileRevalidate,
    /// They may keep it for as long as a key is published before it signs.
    ShortLead,
    /// A node that is cut off serves its key set without a bound.
    CutOff,
    /// Keys are dropped with their last token, whatever the other clock says.
    DroppedWithoutSkew,
    /// What was decided is committed whenever that may be, as by a machine that is suspended meanwhile.
    CommittedLate,
    /// The clock of the second node has jumped ahead by forty days, and it publishes keys by it.
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
    /// Which of the keyrings it has.
    seen: usize,
    left: u8,
    /// What it decided, and from which keyring.
    looked: Option<(usize, Keyring, Option<String>)>,
    looked_at: i64,
}

#[derive(Debug, Clone, Hash)]
struct World {
    fault: Fault,
    passed: i64,
    steps_of_time: u8,
    made: usize,
    /// What was committed, and when.
    log: Vec<(i64, Keyring)>,
    nodes: [Node; 2],
    /// The key set that the verifier has, and until when it keeps it.
    copy: Option<(usize, i64)>,
    /// Keys that need not have waited.
    hurried: BTreeSet<String>,
    compromised: BTreeSet<String>,
    /// When the last token of each key is over.
    last: BTreeMap<String, i64>,
    wrong: Option<String>,
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Look(usize, Act),
    Commit(usize),
    Follow(usize),
    Fetch(usize),
    Seconds(i64),
}

static SETTINGS: LazyLock<IssuerSettings> = LazyLock::new(|| {
    let text = format!(
        r#"{{"iss":"i","lead_seconds":{LEAD},"max_age_seconds":{MAX_AGE},"rotate_every_seconds":1200,
        "profiles":[{{"name":"p","alg":"ES256","lifetime_seconds":{LIFETIME},"audiences":["a"]}}]}}"#
    );
    IssuerSettings::from_json(&text).expect("these are allowed")
});

fn kind() -> KeyKind {
    SETTINGS.profiles()[0].alg
}

impl World {
    fn new(fault: Fault, clocks: [i64; 2]) -> World {
        let mut world = World {
            fault,
            passed: 0,
            steps_of_time: STEPS_OF_TIME,
            made: 0,
            log: vec![(0, Keyring::default())],
            nodes: clocks.map(|clock| Node {
                clock,
                seen: 0,
                left: 1,
                looked: None,
                looked_at: 0,
            }),
            copy: None,
            hurried: BTreeSet::new(),
            compromised: BTreeSet::new(),
            last: BTreeMap::new(),
            wrong: None,
        };
        world.look(1, Act::Tick);
        world.commit(1);
        world.log.remove(0);
        for (node, left) in world.nodes.iter_mut().zip(OPERATIONS) {
            node.seen = 0;
            node.left = left;
        }
        let first = world.log[0].1.keys[0].kid.clone();
        world.hurried.insert(first);
        world
    }

    fn now(&self, node: usize) -> i64 {
        START + self.passed + self.nodes[node].clock
    }

    fn view(&self, node: usize) -> &Keyring {
        &self.log[self.nodes[node].seen].1
    }

    fn look(&mut self, node: usize, act: Act) {
        self.nodes[node].left -= 1;
        let is_jumped = self.fault == Fault::Jumped && node == 1 && self.made > 0;
        let now = self.now(node) + i64::from(is_jumped) * 40 * 24 * 3600;
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
            kid: format!("k{}", self.made),
            kind: kind(),
            public: None,
        };
        let decided = match decide(&SETTINGS, &keyring, &event, &[], now) {
            Ok(Decision::Make(_)) => decide(&SETTINGS, &keyring, &event, &[made], now),
            other => other,
        };
        if let Ok(Decision::Write(change)) = decided {
            self.made += change.added.len();
            self.nodes[node].looked = Some((at, change.keyring, compromised));
            self.nodes[node].looked_at = self.passed;
        }
    }

    fn commit(&mut self, node: usize) {
        let Some((at, keyring, compromised)) = self.nodes[node].looked.take() else {
            return;
        };
        // Compare and swap: whoever was slower has decided nothing.
        if at != self.log.len() - 1 {
            return;
        }
        let slowest = START + self.passed + self.nodes[0].clock.min(self.nodes[1].clock);
        for key in &self.log[at].1.keys {
            let over = self.last.get(&key.kid).copied().unwrap_or(0);
            let is_gone = keyring.find(&key.kid).is_none();
            if is_gone && compromised.as_ref() != Some(&key.kid) && over > slowest {
                self.wrong = Some(format!("{} is gone before its last token", key.kid));
            }
        }
        if let Some(kid) = compromised {
            self.compromised.insert(kid);
            for other in 0..2 {
                let signer = keyring.signer(kind(), self.now(other));
                self.hurried.extend(signer.map(|key| key.kid.clone()));
            }
        }
        self.log.push((self.passed, keyring));
        // It is told when its own view has it.
        self.nodes[node].seen = self.log.len() - 1;
    }

    /// Every node signs whatever it can.
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
            let is_known = |(at, until): (usize, i64)| {
                until <= self.passed || self.log[at].1.find(&kid).is_some()
            };
            if !self.hurried.contains(&kid) && !self.copy.is_none_or(is_known) {
                self.wrong = Some(format!("{kid} signs, and a verifier may not have it"));
            }
            let over = now + LIFETIME + LEEWAY_SECONDS;
            let last = self.last.entry(kid).or_insert(over);
            *last = over.max(*last);
        }
        let newest = self.log[self.log.len() - 1].1.newest(kind());
        let latest = START + self.passed + LEAD + 2 * CLOCK_SKEW_SECONDS;
        if newest.is_some_and(|key| key.signs_from > latest) {
            self.wrong = Some("the next key signs too late: rotation stops".to_owned());
        }
    }

    /// How long until something happens by one of the clocks.
    fn times(&self) -> BTreeSet<i64> {
        let mut times = BTreeSet::from([60, MAX_AGE - 1]);
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
        // No view is older than it may be.
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
        // Nor does a store take longer to commit.
        let waiting = self.nodes.iter().filter(|node| node.looked.is_some());
        if self.fault != Fault::CommittedLate
            && let Some(first) = waiting.map(|node| node.looked_at).min()
        {
            let left = first + PROPAGATION_SECONDS - self.passed;
            times.retain(|seconds| *seconds <= left);
        }
        times
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
            steps.push(Step::Fetch(number));
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
            Step::Fetch(node) => {
                let keeps = match self.fault {
                    Fault::StaleWhileRevalidate => MAX_AGE * 3 / 2,
                    Fault::ShortLead => LEAD,
                    _ => MAX_AGE,
                };
                next.copy = Some((self.nodes[node].seen, self.passed + keeps));
            }
            Step::Seconds(seconds) => {
                next.passed += seconds;
                next.steps_of_time -= 1;
            }
        }
        next.sign();
        next
    }

    fn check(&self) -> Result<(), String> {
        self.wrong.clone().map_or(Ok(()), Err)
    }
}

fn explored(fault: Fault, clocks: [i64; 2]) -> Explored<Step> {
    let explored = explore(World::new(fault, clocks));
    explored.print(format!("rotation, {fault:?}, clocks {clocks:?}"));
    explored
}

#[test]
fn keys_are_known_and_stay_for_their_tokens_in_every_interleaving() {
    // Half as long again is what the shortest lead has room for.
    for (fault, clocks) in [
        (Fault::None, CLOCKS[0]),
        (Fault::None, CLOCKS[1]),
        (Fault::None, CLOCKS[2]),
        (Fault::StaleWhileRevalidate, CLOCKS[1]),
    ] {
        let wrong = explored(fault, clocks).wrong;
        assert!(wrong.is_none(), "{wrong:?}");
    }
}

#[test]
fn protection_that_is_missing_is_found() {
    for fault in [
        Fault::ShortLead,
        Fault::CutOff,
        Fault::DroppedWithoutSkew,
        Fault::CommittedLate,
        Fault::Jumped,
    ] {
        assert!(explored(fault, CLOCKS[1]).wrong.is_some(), "{fault:?}");
    }
}
