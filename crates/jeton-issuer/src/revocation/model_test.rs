//! Model checking of revocation: two nodes that issue, revoke, clean up and change settings, with different
//! clocks and lagging views.
//!
//! The rules are [`RuleRecord`] and [`Stamp`]. The model adds a store with one rule. Each [`Fault`] removes
//! a protection, and the search must detect it.
//!
//! Issuing affects nothing else. So in each state every node issues a token if it may. It is not a separate
//! step, which keeps the number of states small.
//!
//! A lagging node issues for as long as it may. Cleanup trusts the clock at once, unlike on real nodes.
//! Blind overwriting of a rule is not among the faults: the newer stamp rejects what the older one did.
//! Only tokens without a stamp would reveal it, and the model has none.

use super::{Revoked, RuleRecord, Stamp};
use crate::limits::{
    CLOCK_SKEW_SECONDS, ISSUE_WITHOUT_STORE_MAX, LEEWAY_SECONDS, PROPAGATION_SECONDS,
    RULE_AFTER_SECONDS,
};
use crate::model_checker::{Explored, Model, explore, explore_depth_first};
use jeton_store::Revision;
use jeton_testkit::is_whole;

const ISS: &str = "https://id.example";
const START: i64 = 1_800_000_000;
/// Operations of each node.
const OPERATIONS: u8 = 2;
/// Number of time steps.
const STEPS_OF_TIME: u8 = 1;
/// Token lifetimes before and after the change of settings.
const LIFETIMES: [i64; 2] = [900, 86_400];
/// How long a disconnected node issues.
const CUT_OFF: i64 = ISSUE_WITHOUT_STORE_MAX.as_secs().cast_signed();
/// Equal clocks, or clocks that differ as much as allowed.
const CLOCKS: [[i64; 2]; 2] = [[0, 0], [0, CLOCK_SKEW_SECONDS]];

/// A missing protection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Fault {
    None,
    /// Writes between read and commit cause no conflict.
    UnconditionalRule,
    /// Cleanup deletes unconditionally.
    UnconditionalDeletion,
    /// The issue time decides whether a token is older than a rule.
    CutByTheClock,
    /// The end of a rule comes from the node's view of the settings.
    EndFromTheView,
    /// A late rule is not written again.
    CommittedLate,
    /// The end of a rule ignores nodes that do not know it.
    EndWithoutLag,
    /// A rule is ended by its deletion, which looks like cleanup.
    EndByDeletion,
    /// An administrator also ends a rule that was made after the look.
    EndOfTheUnseen,
    /// The rule of a compromised key can be ended.
    EndOfTheCompromised,
    /// A rule that is made after an ended one is ended too.
    EndLasts,
}

/// Optional operations. All together exceed one search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum About {
    Settings,
    Keys,
    Ends,
}

/// What a transaction changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Change {
    Rule(Rule),
    Deleted,
    /// An administrator has ended the rules before this position.
    Ended {
        rule: Rule,
        looked: usize,
    },
    Lifetime,
}

/// A comparable [`RuleRecord`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Rule {
    not_before: i64,
    until: i64,
    stamp: Stamp,
    /// Whether it was acknowledged.
    is_acknowledged: bool,
    is_ended: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
struct View {
    rule: Option<Rule>,
    /// The rule counter.
    counter: Stamp,
    /// Index in [`LIFETIMES`].
    lifetime: usize,
}

/// A decision that waits for its commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Looked {
    Revoke {
        is_endless: bool,
        now: i64,
        revision: usize,
        store: View,
    },
    /// The transaction that wrote the expired rule.
    Clean { written: usize },
    /// The position of the look, and the rule.
    End { revision: usize, rule: Rule },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Node {
    /// Difference of its clock.
    clock: i64,
    view: View,
    /// Number of transactions that it has seen.
    seen: usize,
    left: u8,
    looked: Option<Looked>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Token {
    stamp: Stamp,
    issued_at: i64,
    expires_at: i64,
    /// Number of transactions that its node had seen.
    seen: usize,
}

#[derive(Debug, Clone, Hash)]
struct World {
    fault: Fault,
    about: About,
    passed: i64,
    steps_of_time: u8,
    /// Committed changes, and when.
    log: Vec<(i64, Change)>,
    store: View,
    nodes: [Node; 2],
    tokens: Vec<Token>,
}

#[derive(Debug, Clone, Copy)]
enum Step {
    LookToRevoke(usize),
    /// Because the key is compromised.
    LookToRevokeAll(usize),
    LookToClean(usize),
    LookToEnd(usize),
    Lengthen(usize),
    Commit(usize),
    Follow(usize),
    /// Until the last second in which that node issues without an update.
    CutOff(usize),
    /// Until the rule ends by the clock of that node.
    Over(usize),
}

impl World {
    fn new(fault: Fault, about: About, clocks: [i64; 2], operations: u8) -> World {
        let mut world = World {
            fault,
            about,
            passed: 0,
            steps_of_time: STEPS_OF_TIME,
            log: Vec::new(),
            store: View::default(),
            nodes: clocks.map(|clock| Node {
                clock,
                view: View::default(),
                seen: 0,
                left: operations,
                looked: None,
            }),
            tokens: Vec::new(),
        };
        world.issue();
        world
    }

    fn now(&self, node: usize) -> i64 {
        START + self.passed + self.nodes[node].clock
    }

    /// Returns until when the node issues.
    fn issues_until(&self, node: usize) -> Option<i64> {
        let (missed, _) = self.log.get(self.nodes[node].seen)?;
        Some(missed + CUT_OFF)
    }

    /// A node that knows that the key is compromised stops using it.
    fn may_issue(&self, node: usize) -> bool {
        let mut known = self.log[..self.nodes[node].seen].iter();
        !known.any(|(_, change)| change.is_endless())
            && (self.issues_until(node)).is_none_or(|until| self.passed <= until)
    }

    /// Returns the transaction of the known rule, if the rule has ended by the node's clock.
    fn known_to_be_over(&self, node: usize) -> Option<usize> {
        let Node { view, seen, .. } = &self.nodes[node];
        let rule = view.rule.filter(|rule| rule.until <= self.now(node));
        let is_rule =
            |(_, change): &(i64, Change)| matches!(change, Change::Rule(_) | Change::Ended { .. });
        rule.and(self.log[..*seen].iter().rposition(is_rule))
    }

    fn look_to_revoke(&mut self, node: usize, is_endless: bool) {
        self.nodes[node].looked = Some(Looked::Revoke {
            is_endless,
            now: self.now(node),
            revision: self.log.len(),
            store: self.store,
        });
    }

    /// Returns the rule in the store that an administrator may end.
    fn endable(&self, node: usize) -> Option<Rule> {
        let now = self.now(node);
        let rule = self.store.rule;
        let rule = rule.filter(|rule| !rule.is_ended && rule.until > now);
        rule.filter(|rule| !rule.is_endless() || self.fault == Fault::EndOfTheCompromised)
    }

    /// Every node issues if it may.
    fn issue(&mut self) {
        for node in 0..2 {
            if !self.may_issue(node) {
                continue;
            }
            let now = self.now(node);
            let Node { view, seen, .. } = self.nodes[node];
            self.tokens.push(Token {
                stamp: view.counter,
                issued_at: now,
                expires_at: now + LIFETIMES[view.lifetime],
                seen,
            });
        }
        // Order and duplicates do not matter.
        self.tokens.sort_unstable();
        self.tokens.dedup();
    }

    fn write(&mut self, change: Change) {
        self.log.push((self.passed, change));
        match change {
            Change::Rule(rule) => {
                self.store.rule = Some(rule);
                self.store.counter = rule.stamp;
            }
            Change::Deleted => self.store.rule = None,
            Change::Ended { rule, .. } => self.store.rule = Some(rule),
            Change::Lifetime => self.store.lifetime = 1,
        }
    }

    fn commit(&mut self, node: usize) {
        let fault = self.fault;
        match self.nodes[node].looked.take() {
            Some(Looked::Revoke {
                is_endless,
                now,
                revision,
                store,
            }) => {
                // Deletions do not extend the main audit chain, so they cause no conflict.
                let mut others = self.log[revision..].iter();
                if others.any(|(_, change)| *change != Change::Deleted)
                    && fault != Fault::UnconditionalRule
                {
                    // It reads again, without another conflict.
                    self.look_to_revoke(node, is_endless);
                    return self.commit(node);
                }
                let is_late = self.now(node) - now > PROPAGATION_SECONDS;
                let is_acknowledged = !is_late || fault == Fault::CommittedLate;
                let rule = self.rule(node, is_endless, now, store);
                self.write(Change::Rule(Rule {
                    is_acknowledged,
                    ..rule
                }));
                if !is_acknowledged {
                    // Written again at once.
                    self.look_to_revoke(node, is_endless);
                    self.commit(node);
                }
            }
            Some(Looked::Clean { written }) => {
                let newest = self
                    .log
                    .iter()
                    .rposition(|(_, change)| !change.is_setting());
                if newest == Some(written) || fault == Fault::UnconditionalDeletion {
                    self.write(Change::Deleted);
                }
            }
            Some(Looked::End { revision, rule }) => {
                let mut others = self.log[revision..].iter();
                let is_decided = !others.any(|(_, change)| change.is_about_rules());
                let rule = if is_decided {
                    Some(rule)
                } else if fault == Fault::EndOfTheUnseen {
                    self.endable(node)
                } else {
                    // It reads again, and the rule is another one.
                    None
                };
                if let Some(rule) = rule {
                    let record = rule.record().ended(self.now(node));
                    let rule = Rule::of(record);
                    self.write(Change::Ended {
                        rule,
                        looked: revision,
                    });
                    if fault == Fault::EndByDeletion {
                        self.store.rule = None;
                    }
                }
            }
            None => {}
        }
    }

    fn rule(&self, node: usize, is_endless: bool, now: i64, store: View) -> Rule {
        // The counter never goes back: the number alone identifies rules.
        let at = Revision::from_number(0);
        let counter = match store.counter {
            Stamp { epoch: 0, .. } => Stamp::begin(now),
            counter => counter,
        };
        let lifetime = match self.fault {
            Fault::EndFromTheView => self.nodes[node].view.lifetime,
            _ => store.lifetime,
        };
        let after = match self.fault {
            Fault::EndWithoutLag => RULE_AFTER_SECONDS - CUT_OFF,
            _ => RULE_AFTER_SECONDS,
        };
        let rule = Rule {
            not_before: if is_endless { i64::MAX } else { now },
            until: now + LIFETIMES[lifetime] + after,
            stamp: counter.next(at),
            is_acknowledged: true,
            is_ended: false,
        };
        let made = Rule::of(rule.record().over(store.rule.map(Rule::record)));
        let is_ended = store.rule.is_some_and(|rule| rule.is_ended);
        Rule {
            is_ended: is_ended && self.fault == Fault::EndLasts,
            ..made
        }
    }

    fn follow(&mut self, node: usize) {
        let now = self.now(node);
        let Node { view, seen, .. } = &mut self.nodes[node];
        match self.log[*seen].1 {
            Change::Rule(rule) => {
                let known = view.rule.map(Rule::record);
                view.rule = Some(Rule::of(rule.record().over_known(known)));
                view.counter = rule.stamp;
            }
            // A rule that has not ended by its own clock remains.
            Change::Deleted => view.rule = view.rule.filter(|rule| rule.until > now),
            Change::Ended { .. } if self.fault == Fault::EndByDeletion => {
                view.rule = view.rule.filter(|rule| rule.until > now);
            }
            Change::Ended { rule, .. } => {
                let known = view.rule.map(Rule::record);
                view.rule = Some(Rule::of(rule.record().over_known(known)));
            }
            Change::Lifetime => view.lifetime = 1,
        }
        *seen += 1;
    }

    /// Returns whether a node with that view must, and may, reject the token.
    fn rejected_by(&self, seen: usize, token: &Token) -> (bool, bool) {
        let (mut must, mut may) = (false, false);
        let ends = self.log[..seen].iter().enumerate();
        let ends: Vec<(usize, usize)> = ends
            .filter_map(|(at, (_, change))| match change {
                Change::Ended { looked, .. } => Some((at, *looked)),
                _ => None,
            })
            .collect();
        for (at, (_, change)) in self.log[..seen].iter().enumerate() {
            if let Change::Rule(rule) = change
                && (rule.is_endless() || at >= token.seen)
            {
                // An administrator ends what was there at the look, except the rule of a compromised key.
                let is_meant =
                    |(_, looked): &(usize, usize)| at < *looked && !self.is_compromised(*looked);
                let is_ended = ends.iter().any(is_meant);
                must |= rule.is_acknowledged && !is_ended;
                may |= !is_ended;
            }
        }
        (must, may)
    }

    /// Returns whether the rule there was that of a compromised key.
    fn is_compromised(&self, at: usize) -> bool {
        let rules = self.log[..at].iter().rev();
        let mut rules = rules.filter_map(|(_, change)| match change {
            Change::Rule(rule) => Some(rule.is_endless()),
            Change::Ended { .. } | Change::Deleted => Some(false),
            Change::Lifetime => None,
        });
        rules.next().unwrap_or(false)
    }

    fn judge(&self, who: &str, rule: Option<Rule>, seen: usize, now: i64) -> Result<(), String> {
        let is_over = |token: &&Token| token.expires_at + LEEWAY_SECONDS <= now;
        let is_early = |token: &&Token| token.issued_at > now + LEEWAY_SECONDS;
        let judged = self.tokens.iter();
        for token in judged.filter(|token| !is_over(token) && !is_early(token)) {
            let (must, may) = self.rejected_by(seen, token);
            // It forgets what has ended by its own clock.
            let may_forget = rule.is_some_and(|rule| rule.until <= now);
            let rejects = rule.is_some_and(|rule| rule.rejects(token, self.fault));
            if rejects && !may {
                return Err(format!("{who} rejects a token that is newer than the rule"));
            }
            if must && (may_forget || !rejects) {
                return Err(format!("{who} accepts a token that is revoked"));
            }
        }
        Ok(())
    }
}

impl Model for World {
    type Step = Step;

    fn steps(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        for (number, node) in self.nodes.iter().enumerate() {
            if node.seen < self.log.len() {
                steps.push(Step::Follow(number));
            }
            if node.looked.is_some() {
                steps.push(Step::Commit(number));
            } else if node.left > 0 {
                steps.push(Step::LookToRevoke(number));
                match self.about {
                    About::Settings if self.store.lifetime == 0 => {
                        steps.push(Step::Lengthen(number));
                    }
                    About::Settings => {}
                    About::Keys => steps.push(Step::LookToRevokeAll(number)),
                    About::Ends => {
                        // One kind of endless rule is enough.
                        if number == 0 {
                            steps.push(Step::LookToRevokeAll(number));
                        }
                        if self.endable(number).is_some() {
                            steps.push(Step::LookToEnd(number));
                        }
                    }
                }
                if self.known_to_be_over(number).is_some() {
                    steps.push(Step::LookToClean(number));
                }
            }
            if self.steps_of_time == 0 {
                continue;
            }
            if self.issues_until(number) > Some(self.passed) {
                steps.push(Step::CutOff(number));
            }
            let now = self.now(number);
            if self.store.rule.is_some_and(|rule| rule.until > now) {
                steps.push(Step::Over(number));
            }
        }
        steps
    }

    fn step(&self, step: Step) -> World {
        let mut next = self.clone();
        match step {
            Step::LookToRevoke(node)
            | Step::LookToRevokeAll(node)
            | Step::LookToClean(node)
            | Step::LookToEnd(node)
            | Step::Lengthen(node) => next.nodes[node].left -= 1,
            Step::CutOff(_) | Step::Over(_) => next.steps_of_time -= 1,
            Step::Commit(_) | Step::Follow(_) => {}
        }
        match step {
            Step::LookToRevoke(node) => next.look_to_revoke(node, false),
            Step::LookToRevokeAll(node) => next.look_to_revoke(node, true),
            Step::LookToClean(node) => {
                let written = self.known_to_be_over(node);
                next.nodes[node].looked = written.map(|written| Looked::Clean { written });
            }
            Step::LookToEnd(node) => {
                let revision = self.log.len();
                let rule = self.endable(node);
                next.nodes[node].looked = rule.map(|rule| Looked::End { revision, rule });
            }
            Step::Lengthen(_) => next.write(Change::Lifetime),
            Step::Commit(node) => next.commit(node),
            Step::Follow(node) => next.follow(node),
            Step::CutOff(node) => next.passed = self.issues_until(node).unwrap_or(self.passed),
            Step::Over(node) => {
                let until = self.store.rule.map_or(0, |rule| rule.until);
                next.passed += until - self.now(node);
            }
        }
        next.issue();
        next
    }

    /// Checks that each node, and a node that starts now, accepts a token exactly if its node had seen the
    /// rules when it issued it.
    fn check(&self) -> Result<(), String> {
        for (number, node) in self.nodes.iter().enumerate() {
            let now = self.now(number);
            self.judge(&format!("node {number}"), node.view.rule, node.seen, now)?;
            self.judge("a node that begins", self.store.rule, self.log.len(), now)?;
        }
        Ok(())
    }
}

impl Change {
    fn is_setting(self) -> bool {
        self == Change::Lifetime
    }

    fn is_endless(self) -> bool {
        matches!(self, Change::Rule(rule) if rule.is_endless())
    }

    /// Whether it extends the main audit chain with something about the rule.
    fn is_about_rules(self) -> bool {
        matches!(self, Change::Rule(_) | Change::Ended { .. })
    }
}

impl Rule {
    fn of(record: RuleRecord) -> Rule {
        Rule {
            not_before: record.not_before,
            until: record.until,
            stamp: record.stamp.unwrap_or_default(),
            is_acknowledged: true,
            is_ended: record.is_ended,
        }
    }

    fn is_endless(self) -> bool {
        self.not_before == i64::MAX
    }

    fn record(self) -> RuleRecord {
        RuleRecord {
            not_before: self.not_before,
            until: self.until,
            stamp: Some(self.stamp),
            by: None,
            is_ended: self.is_ended,
            known: None,
        }
    }

    fn rejects(self, token: &Token, fault: Fault) -> bool {
        if fault == Fault::CutByTheClock && !self.is_ended {
            return token.issued_at <= self.not_before;
        }
        let Stamp { epoch, number } = token.stamp;
        let id = format!("{:032x}-{epoch:x}-{number:x}", 7);
        self.record().rejects(Revoked {
            iss: ISS,
            token_id: Some(&id),
            issued_at: Some(token.issued_at),
            is_lost: false,
        })
    }
}

fn explored(fault: Fault, about: About, clocks: [i64; 2]) -> Explored<Step> {
    let explored = explore(World::new(fault, about, clocks, OPERATIONS));
    explored.print(format!(
        "revocation and {about:?}, {fault:?}, clocks {clocks:?}"
    ));
    explored
}

/// A sample is about keys, with the clocks that differ.
#[test]
fn revocation_holds_in_every_interleaving() {
    let clocks = if is_whole() {
        &CLOCKS[..]
    } else {
        &CLOCKS[1..]
    };
    let about = [About::Keys, About::Ends, About::Settings];
    for about in about.into_iter().take(if is_whole() { 3 } else { 2 }) {
        for &clocks in clocks {
            let Explored { states, wrong } = explored(Fault::None, about, clocks);
            assert!(wrong.is_none(), "{wrong:?}");
            assert!(states > 10_000, "{states} are not all");
        }
    }
}

/// Three operations of each node.
#[test]
#[ignore = "searches a million states: minutes"]
fn larger_search_over_revocation_finds_nothing() {
    for about in [About::Settings, About::Keys, About::Ends] {
        for clocks in CLOCKS {
            let explored = explore_depth_first(World::new(Fault::None, about, clocks, 3));
            explored.print(format!(
                "revocation and {about:?}, three operations each, clocks {clocks:?}"
            ));
            assert!(explored.wrong.is_none(), "{:?}", explored.wrong);
        }
    }
}

#[test]
fn missing_protection_is_detected() {
    for (fault, about) in [
        (Fault::UnconditionalRule, About::Settings),
        (Fault::UnconditionalDeletion, About::Keys),
        (Fault::CutByTheClock, About::Keys),
        (Fault::EndFromTheView, About::Settings),
        (Fault::CommittedLate, About::Keys),
        (Fault::EndWithoutLag, About::Keys),
        (Fault::EndByDeletion, About::Ends),
        (Fault::EndOfTheUnseen, About::Ends),
        (Fault::EndOfTheCompromised, About::Ends),
        (Fault::EndLasts, About::Ends),
    ] {
        let found = CLOCKS.map(|clocks| explored(fault, about, clocks).wrong.is_some());
        assert_eq!(found, [true; 2], "{fault:?}");
    }
}
