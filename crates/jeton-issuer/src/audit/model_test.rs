//! Model checking of the chains: a node that appends, also when answers are lost or late, two nodes that write
//! checkpoints and seal, and a command that exports and drops.
//!
//! Hashes and revisions are numbers that nothing else has. Each [`Fault`] removes a protection, and the search must
//! detect it.

use std::collections::BTreeMap;

use crate::model_checker::{Explored, Model, explore};

/// Entries that the node sends.
const APPENDS: u8 = 3;
/// Answers that are lost.
const LOST: u8 = 1;
/// Checkpoints of each of two nodes.
const CHECKPOINTS: [u8; 2] = [2, 1];
const EXPORTS: u8 = 2;

/// A missing protection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Fault {
    None,
    /// An entry is appended without a condition on the head.
    UnconditionalAppend,
    /// A chain is sealed without a condition on its head.
    UnconditionalSeal,
    /// A node that finds its chain sealed appends to it.
    AppendsToSealed,
    /// A node whose chain has gone begins another one with the same name.
    SameName,
    /// A checkpoint has no condition on the head of the main chain.
    UnconditionalCheckpoint,
    /// A drop takes what is joined, and not what was exported.
    DropsWhatIsJoined,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
struct Head {
    number: u8,
    hash: u8,
    revision: u8,
    is_sealed: bool,
}

/// A chain in the store, and its exported entries.
#[derive(Debug, Clone, Default, Hash)]
struct Chain {
    /// Hash and previous hash, by number.
    entries: BTreeMap<u8, (u8, u8)>,
    exported: BTreeMap<u8, u8>,
    head: Option<Head>,
    base: u8,
    /// By the last checkpoint.
    joined: u8,
}

/// A transaction with an entry that follows `before`.
#[derive(Debug, Clone, Copy, Hash)]
struct Write {
    chain: usize,
    before: Option<Head>,
    hash: u8,
}

/// What a checkpoint is decided from.
#[derive(Debug, Clone, Hash)]
struct Looked {
    main: Option<Head>,
    heads: Vec<(usize, Head)>,
    seals: bool,
}

#[derive(Debug, Clone, Hash)]
struct World {
    fault: Fault,
    last_number: u8,
    main: Chain,
    chains: Vec<Chain>,
    /// The chain of the node, and its head if the node knows it.
    own: (usize, Option<Head>),
    is_known: bool,
    sent: Option<Write>,
    /// The head after the transaction, or None for a conflict.
    answer: Option<Option<Head>>,
    /// Given up, and not yet at the store.
    late: Vec<Write>,
    appends: u8,
    lost: u8,
    checkpoints: [u8; 2],
    looked: [Option<Looked>; 2],
    exports: u8,
    /// A chain whose head is about to be deleted.
    sweeps: Option<usize>,
    /// Chain, number and hash of acknowledged entries, and of those that checkpoints name.
    promised: Vec<(usize, u8, u8)>,
    /// Number and hash of checkpoints.
    written: Vec<(u8, u8)>,
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Send,
    Arrive,
    ArriveLate(usize),
    Hear,
    GiveUp,
    Look(usize, bool),
    Join(usize),
    Export(usize),
    Drop(usize),
    Sweep,
}

impl Chain {
    fn hash_at(&self, number: u8) -> Option<u8> {
        let there = self.entries.get(&number).map(|(hash, _)| *hash);
        let there = there.or(self.exported.get(&number).copied());
        if number == 0 { Some(0) } else { there }
    }

    fn put(&mut self, before: Option<Head>, hash: u8, revision: u8) -> Head {
        let before = before.unwrap_or_default();
        let number = before.number + 1;
        self.entries.insert(number, (hash, before.hash));
        let head = Head {
            number,
            hash,
            revision,
            is_sealed: false,
        };
        *self.head.insert(head)
    }

    /// As `check_audit` does with the exported files.
    fn check(&self) -> Result<(), &'static str> {
        let last = self.head.map_or(self.base, |head| head.number);
        for number in self.base + 1..=last {
            let previous = self.entries.get(&number).map(|(_, previous)| *previous);
            if previous.is_none() || previous != self.hash_at(number - 1) {
                return Err("an entry is missing or not linked");
            }
        }
        let is_head = |head: Head| self.hash_at(head.number) == Some(head.hash);
        if self.entries.keys().any(|number| *number > last) || !self.head.is_none_or(is_head) {
            return Err("the head is not the last entry");
        }
        let mut both = self
            .entries
            .iter()
            .map(|(number, (hash, _))| (self.exported.get(number), hash));
        if both.any(|(exported, hash)| exported.is_some_and(|exported| exported != hash)) {
            return Err("a file has another entry");
        }
        Ok(())
    }
}

impl World {
    fn new(fault: Fault) -> World {
        World {
            fault,
            last_number: 0,
            main: Chain::default(),
            chains: vec![Chain::default()],
            own: (0, None),
            is_known: true,
            sent: None,
            answer: None,
            late: Vec::new(),
            appends: APPENDS,
            lost: LOST,
            checkpoints: CHECKPOINTS,
            looked: [None, None],
            exports: EXPORTS,
            sweeps: None,
            promised: Vec::new(),
            written: Vec::new(),
        }
    }

    fn new_number(&mut self) -> u8 {
        self.last_number += 1;
        self.last_number
    }

    /// Reads the head if it is not known, and sends the next entry.
    fn send(&mut self) {
        if !self.is_known {
            self.own.1 = self.chains[self.own.0].head;
            let is_usable = match (self.own.1, self.fault) {
                (Some(head), Fault::AppendsToSealed) => head.number > 0,
                (head, _) => head.is_some_and(|head| !head.is_sealed),
            };
            if !is_usable {
                self.own.1 = None;
                if self.fault != Fault::SameName {
                    self.chains.push(Chain::default());
                    self.own.0 = self.chains.len() - 1;
                }
            }
        }
        self.appends -= 1;
        self.is_known = false;
        self.sent = Some(Write {
            chain: self.own.0,
            before: self.own.1,
            hash: self.new_number(),
        });
    }

    /// Commits if the condition holds.
    fn arrive(&mut self, write: Write) -> Option<Head> {
        let revision = |head: Option<Head>| head.map(|head| head.revision);
        let is_met = revision(self.chains[write.chain].head) == revision(write.before);
        (is_met || self.fault == Fault::UnconditionalAppend).then(|| {
            let revision = self.new_number();
            self.chains[write.chain].put(write.before, write.hash, revision)
        })
    }

    fn hear(&mut self) {
        if let (Some(write), Some(Some(head))) = (self.sent.take(), self.answer.take()) {
            self.promised.push((write.chain, head.number, head.hash));
            self.own.1 = Some(head);
            self.is_known = true;
        }
    }

    fn open_heads(&self) -> Vec<(usize, Head)> {
        let heads = self.chains.iter().enumerate();
        let heads = heads.filter_map(|(index, chain)| Some((index, chain.head?)));
        heads.filter(|(_, head)| !head.is_sealed).collect()
    }

    fn join(&mut self, looked: Looked) {
        let is_met = self.main.head == looked.main || self.fault == Fault::UnconditionalCheckpoint;
        let is_equal = |(chain, head): &(usize, Head)| self.chains[*chain].head == Some(*head);
        let may_seal = self.fault == Fault::UnconditionalSeal || looked.heads.iter().all(is_equal);
        if !is_met || (looked.seals && !may_seal) {
            return;
        }
        let (hash, revision) = (self.new_number(), self.new_number());
        let main = self.main.put(looked.main, hash, revision);
        self.written.push((main.number, hash));
        for (index, head) in looked.heads {
            self.promised.push((index, head.number, head.hash));
            let chain = &mut self.chains[index];
            chain.joined = chain.joined.max(head.number);
            if looked.seals {
                chain.head = Some(Head {
                    is_sealed: true,
                    revision,
                    ..head
                });
            }
        }
    }

    fn export(&mut self, chain: usize) {
        let chain = &mut self.chains[chain];
        for (number, (hash, _)) in chain.entries.range(..=chain.joined) {
            // A file is never replaced.
            chain.exported.entry(*number).or_insert(*hash);
        }
    }

    fn drop_exported(&mut self, index: usize) {
        let chain = &mut self.chains[index];
        let exported = chain.exported.keys().last().copied().unwrap_or_default();
        chain.base = match self.fault {
            Fault::DropsWhatIsJoined => chain.joined,
            _ => exported,
        };
        let base = chain.base;
        chain.entries.retain(|number, _| *number > base);
        if chain
            .head
            .is_some_and(|head| head.is_sealed && head.number == base)
        {
            self.sweeps = Some(index);
        }
    }
}

impl Model for World {
    type Step = Step;

    fn steps(&self) -> Vec<Step> {
        let mut steps: Vec<Step> = (0..self.late.len()).map(Step::ArriveLate).collect();
        match (self.sent, self.answer) {
            (None, _) if self.appends > 0 => steps.push(Step::Send),
            (None, _) => {}
            (Some(_), None) => steps.push(Step::Arrive),
            (Some(_), Some(_)) => steps.push(Step::Hear),
        }
        if self.sent.is_some() && self.lost > 0 {
            steps.push(Step::GiveUp);
        }
        for node in 0..2 {
            if self.looked[node].is_some() {
                steps.push(Step::Join(node));
            } else if self.checkpoints[node] > 0 && !self.open_heads().is_empty() {
                steps.extend([Step::Look(node, false), Step::Look(node, true)]);
            }
        }
        for (index, chain) in self.chains.iter().enumerate() {
            if self.exports > 0 && chain.joined > chain.base {
                steps.push(Step::Export(index));
            }
            if chain.exported.keys().last() > Some(&chain.base) {
                steps.push(Step::Drop(index));
            }
        }
        steps.extend(self.sweeps.map(|_| Step::Sweep));
        steps
    }

    fn step(&self, step: Step) -> World {
        let mut next = self.clone();
        match step {
            Step::Send => next.send(),
            Step::Arrive => next.answer = self.sent.map(|write| next.arrive(write)),
            Step::ArriveLate(index) => {
                let write = next.late.remove(index);
                next.arrive(write);
            }
            Step::Hear => next.hear(),
            Step::GiveUp => {
                next.lost -= 1;
                let sent = next.sent.take();
                if next.answer.take().is_none() {
                    next.late.extend(sent);
                }
            }
            Step::Look(node, seals) => {
                next.checkpoints[node] -= 1;
                next.looked[node] = Some(Looked {
                    main: self.main.head,
                    heads: self.open_heads(),
                    seals,
                });
            }
            Step::Join(node) => {
                if let Some(looked) = next.looked[node].take() {
                    next.join(looked);
                }
            }
            Step::Export(chain) => {
                next.exports -= 1;
                next.export(chain);
            }
            Step::Drop(chain) => next.drop_exported(chain),
            Step::Sweep => {
                // The deletion has no condition: a sealed chain does not change.
                if let Some(chain) = next.sweeps.take() {
                    next.chains[chain].head = None;
                }
            }
        }
        next
    }

    /// Checks that the log verifies, and that nothing acknowledged or joined is lost or contradicted.
    fn check(&self) -> Result<(), String> {
        for chain in self.chains.iter().chain([&self.main]) {
            chain.check()?;
        }
        let is_kept = |(chain, number, hash): &(usize, u8, u8)| {
            self.chains[*chain].hash_at(*number) == Some(*hash)
        };
        let is_written = |(number, hash): &(u8, u8)| self.main.hash_at(*number) == Some(*hash);
        if self.promised.iter().all(is_kept) && self.written.iter().all(is_written) {
            Ok(())
        } else {
            Err("an acknowledged entry or a checkpoint is lost".to_owned())
        }
    }
}

fn explored(fault: Fault) -> Explored<Step> {
    let explored = explore(World::new(fault));
    explored.print(format!("audit log, {fault:?}"));
    explored
}

#[test]
fn log_holds_in_every_interleaving() {
    let Explored { states, wrong } = explored(Fault::None);
    assert!(wrong.is_none(), "{wrong:?}");
    assert!(states > 10_000, "{states} are not all");
}

#[test]
fn missing_protection_is_detected() {
    for fault in [
        Fault::UnconditionalAppend,
        Fault::UnconditionalSeal,
        Fault::AppendsToSealed,
        Fault::SameName,
        Fault::UnconditionalCheckpoint,
        Fault::DropsWhatIsJoined,
    ] {
        assert!(explored(fault).wrong.is_some(), "{fault:?}");
    }
}
