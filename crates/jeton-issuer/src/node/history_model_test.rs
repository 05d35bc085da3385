//! Model checking of a store that goes back: two nodes that issue, revoke, follow, check their records and start
//! again, while the store is restored from a copy once.
//!
//! The counter is [`Counter`], and rules are compared by their stamps. Each [`Fault`] removes a protection, and the
//! search must detect it.

use std::hash::{Hash, Hasher};

use jeton_store::Revision;
use jeton_testkit::is_whole;

use crate::model_checker::{Model, explore};
use crate::revocation::{Counter, Stamp, is_of_lost_history};

const START: i64 = 1_800_000_000;
/// How long it takes to restore the store, seconds.
const RESTORING: i64 = 300;
/// Rules of each node.
const RULES: [u8; 2] = [2, 2];

/// A missing protection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Fault {
    None,
    /// A lower revision is no proof: the node only loads everything again.
    LowerRevision,
    /// Nobody looks at the record of the node and at the counter.
    OwnRecord,
    /// The first rule after a start does not begin an epoch.
    FirstRule,
}

/// A rule about everybody, and how many tokens were issued before it was acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Rule {
    stamp: Stamp,
    changed: u64,
    older: u8,
    /// Its node had checked the history: at most some seconds pass until it does.
    is_sure: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Records {
    revision: u64,
    counter: Counter,
    counter_changed: u64,
    rule: Option<Rule>,
    /// Revisions of the records of the nodes.
    nodes: [u64; 2],
}

impl Hash for Records {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.revision, self.counter_changed, self.rule, self.nodes).hash(state);
        (self.counter.stamp, &self.counter.ended).hash(state);
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Node {
    view: Records,
    /// The revision of its record.
    written: u64,
    has_begun: bool,
    left: u8,
    /// It has checked the history since the store went back.
    is_sure: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Token {
    stamp: Stamp,
    /// When it was issued, as a number of rules.
    at: u8,
}

#[derive(Debug, Clone, Hash)]
struct World {
    fault: Fault,
    store: Records,
    copy: Option<Records>,
    went_back: bool,
    nodes: [Node; 2],
    tokens: Vec<Token>,
    /// Rules so far.
    rules: u8,
    restarts: u8,
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Revoke(usize),
    Follow(usize),
    WriteRecord(usize),
    Restart(usize),
    Copy,
    GoBack,
}

impl World {
    fn new(fault: Fault, rules: [u8; 2]) -> World {
        let nodes = rules.map(|left| Node {
            view: Records::default(),
            written: 0,
            has_begun: false,
            left,
            is_sure: true,
        });
        let mut world = World {
            fault,
            store: Records::default(),
            copy: None,
            went_back: false,
            nodes,
            tokens: Vec::new(),
            rules: 0,
            restarts: 1,
        };
        world.issue();
        world
    }

    /// It takes longer to restore a store than clocks differ.
    fn now(&self) -> i64 {
        START + if self.went_back { RESTORING } else { 0 }
    }

    /// Every node issues.
    fn issue(&mut self) {
        for node in &self.nodes {
            self.tokens.push(Token {
                stamp: node.view.counter.stamp,
                at: self.rules,
            });
        }
        self.tokens.sort_unstable();
        self.tokens.dedup();
    }

    fn begin_epoch(&mut self, node: usize) {
        let known = self.nodes[node].view.counter.stamp;
        if self.store.counter.stamp.epoch > known.epoch {
            return;
        }
        self.store.revision += 1;
        self.store.counter_changed = self.store.revision;
        self.store.counter = self.store.counter.clone().new_epoch(self.now(), known);
        self.nodes[node].has_begun = true;
    }

    /// The node loads everything again after a proof.
    fn recover(&mut self, node: usize) {
        self.begin_epoch(node);
        let remembered = self.nodes[node].view.rule;
        let node = &mut self.nodes[node];
        node.view = self.store.clone();
        // It keeps the rules that it knows.
        node.view.rule = node.view.rule.max_by_stamp(remembered);
        node.is_sure = true;
    }

    fn revoke(&mut self, at: usize) {
        // The read shows the revision of the store.
        if self.store.revision < self.nodes[at].view.revision && self.fault != Fault::LowerRevision
        {
            self.recover(at);
        }
        let begins = !self.nodes[at].has_begun && self.fault != Fault::FirstRule;
        let revision = Revision::from_number(self.store.revision);
        let counter = match &self.store.counter {
            counter if counter.stamp == Stamp::default() => Counter::begin(self.now()),
            counter if begins => counter.clone().new_epoch(self.now(), Stamp::default()),
            counter => counter.clone(),
        };
        let counter = counter.next(revision);
        self.store.revision += 1;
        self.rules += 1;
        self.store.rule = Some(Rule {
            stamp: counter.stamp,
            changed: self.store.revision,
            older: self.rules,
            is_sure: self.nodes[at].is_sure,
        });
        self.store.counter = counter;
        self.store.counter_changed = self.store.revision;
        self.nodes[at].has_begun = true;
        self.nodes[at].left -= 1;
        // Acknowledged once the node sees it.
        self.follow(at);
    }

    fn follow(&mut self, at: usize) {
        let known = self.nodes[at].view.revision;
        if self.store.revision < known {
            if self.fault == Fault::LowerRevision {
                let remembered = self.nodes[at].view.rule;
                let node = &mut self.nodes[at];
                node.view = self.store.clone();
                node.view.rule = node.view.rule.max_by_stamp(remembered);
                node.is_sure = true;
            } else {
                self.recover(at);
            }
            return;
        }
        let has_other_history = self.store.counter_changed > known
            && is_of_lost_history(
                self.nodes[at].view.counter.stamp,
                &self.store.counter.ended,
                self.store.counter.stamp,
            );
        if has_other_history && self.fault != Fault::OwnRecord {
            return self.recover(at);
        }
        // Only what changed after its position.
        let (store, node) = (&self.store, &mut self.nodes[at]);
        if store.counter_changed > known {
            node.view.counter = store.counter.clone();
            node.view.counter_changed = store.counter_changed;
        }
        if let Some(rule) = store.rule.filter(|rule| rule.changed > known) {
            node.view.rule = Some(rule).max_by_stamp(node.view.rule);
        }
        node.view.revision = store.revision;
    }

    fn write_record(&mut self, at: usize) {
        let Node { view, written, .. } = &self.nodes[at];
        let is_lower = self.store.revision < view.revision;
        let is_other = self.store.nodes[at] != *written
            || self.store.counter_changed <= view.revision
                && self.store.counter.stamp != view.counter.stamp;
        let (lower, other) = (
            is_lower && self.fault != Fault::LowerRevision,
            is_other && self.fault != Fault::OwnRecord,
        );
        if lower || other {
            self.recover(at);
        }
        self.store.revision += 1;
        self.store.nodes[at] = self.store.revision;
        self.nodes[at].written = self.store.revision;
        self.follow(at);
        self.nodes[at].is_sure = true;
    }

    fn restart(&mut self, at: usize) {
        self.store.revision += 1;
        self.store.nodes[at] = self.store.revision;
        self.nodes[at] = Node {
            view: self.store.clone(),
            written: self.store.revision,
            has_begun: false,
            left: self.nodes[at].left,
            is_sure: true,
        };
    }
}

trait MaxByStamp {
    fn max_by_stamp(self, other: Self) -> Self;
}

impl MaxByStamp for Option<Rule> {
    fn max_by_stamp(self, other: Option<Rule>) -> Option<Rule> {
        [self, other]
            .into_iter()
            .flatten()
            .max_by_key(|rule| rule.stamp)
    }
}

impl Model for World {
    type Step = Step;

    fn steps(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        for (at, node) in self.nodes.iter().enumerate() {
            if node.left > 0 {
                steps.push(Step::Revoke(at));
            }
            if node.view.revision != self.store.revision {
                steps.push(Step::Follow(at));
            }
            // Otherwise it would be endless.
            if !node.is_sure || node.written == 0 {
                steps.push(Step::WriteRecord(at));
            }
            if self.restarts > 0 {
                steps.push(Step::Restart(at));
            }
        }
        match &self.copy {
            None => steps.push(Step::Copy),
            // A copy is older than a view may be: every node has seen a part of what is lost.
            Some(copy) if !self.went_back => {
                let has_seen = |node: &Node| node.view.revision > copy.revision;
                steps.extend(self.nodes.iter().all(has_seen).then_some(Step::GoBack));
            }
            Some(_) => {}
        }
        steps
    }

    fn step(&self, step: Step) -> World {
        let mut next = self.clone();
        match step {
            Step::Revoke(at) => next.revoke(at),
            Step::Follow(at) => next.follow(at),
            Step::WriteRecord(at) => next.write_record(at),
            Step::Restart(at) => {
                next.restarts -= 1;
                next.restart(at);
            }
            Step::Copy => next.copy = Some(next.store.clone()),
            Step::GoBack => {
                next.store = next.copy.clone().unwrap_or_default();
                next.went_back = true;
                next.nodes.iter_mut().for_each(|node| node.is_sure = false);
            }
        }
        next.issue();
        next
    }

    /// A node that has checked the history rejects what is older than the newest rule of the store, if it has seen the
    /// rule. It accepts what was issued with its own view.
    fn check(&self) -> Result<(), String> {
        let Some(newest) = self.store.rule.filter(|rule| rule.is_sure) else {
            return Ok(());
        };
        for (number, node) in self.nodes.iter().enumerate() {
            let Some(rule) = node.view.rule.filter(|_| node.is_sure) else {
                continue;
            };
            let has_seen = node.view.revision >= newest.changed && rule.stamp >= newest.stamp;
            let Counter { stamp, ended } = &node.view.counter;
            // A token of a lost history is judged by its time too, which is that of the rules here.
            let is_judged_by_stamp =
                |token: &&Token| !is_of_lost_history(token.stamp, ended, *stamp);
            for token in self.tokens.iter().filter(is_judged_by_stamp) {
                if has_seen && token.at < newest.older && token.stamp >= rule.stamp {
                    return Err(format!(
                        "node {number} accepts a token that is older than the rule"
                    ));
                }
            }
            if node.view.counter.stamp < rule.stamp {
                return Err(format!("node {number} rejects every token that it issues"));
            }
        }
        Ok(())
    }
}

/// A sample has three rules.
#[test]
fn store_that_goes_back_makes_no_rule_ineffective() {
    let rules = if is_whole() { RULES } else { [2, 1] };
    let explored = explore(World::new(Fault::None, rules));
    explored.print("store that goes back");
    assert!(explored.wrong.is_none(), "{:?}", explored.wrong);
    assert!(explored.states > 1000, "{} are not all", explored.states);
}

#[test]
fn missing_protection_of_the_history_is_detected() {
    for fault in [Fault::LowerRevision, Fault::OwnRecord, Fault::FirstRule] {
        let explored = explore(World::new(fault, RULES));
        explored.print(format!("store that goes back, {fault:?}"));
        assert!(explored.wrong.is_some(), "{fault:?}");
    }
}
