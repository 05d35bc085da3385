//! Model checking of readers that resume: a history of a store that may go back, two nodes that start and forget at
//! different times, and a reader that changes between them.
//!
//! The rules are [`State::find`] and [`State::read`]. The model adds the store. Each [`Fault`] removes a protection, and
//! the search must detect it.

use super::*;
use crate::model_checker::{Explored, Model, explore};

const ISS: &str = "https://id.example";
/// Number of each kind of step.
const WRITES: u8 = 4;
const BACK: u8 = 1;
const RESTARTS: u8 = 2;
const FORGETS: u8 = 1;
const CONNECTIONS: u8 = 3;

/// A missing protection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Fault {
    None,
    /// A node resumes although it no longer has what the reader has missed.
    NotKept,
    /// A node resumes in another history.
    OtherHistory,
    /// A node resumes at its newest change.
    WithoutTheMissed,
}

/// A node: the number of transactions that it had loaded or has forgotten since, and that it has seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Server {
    oldest: usize,
    seen: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct World {
    fault: Fault,
    /// The revocation of each transaction. Its position is its revision.
    history: Vec<u8>,
    /// Revocations ever made.
    made: u8,
    servers: [Server; 2],
    /// What the reader knows, one bit for each revocation.
    known: u16,
    /// Where it resumes.
    token: Option<[u8; TOKEN_BYTES]>,
    /// Where it was told that it knows everything.
    whole_at: usize,
    back: u8,
    restarts: u8,
    forgets: u8,
    connections: u8,
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Write,
    /// The store is replaced by its state so many transactions ago, and the nodes load it.
    Back(usize),
    Follow(usize),
    Restart(usize),
    /// A node forgets its oldest change.
    Forget(usize),
    Connect(usize),
}

impl World {
    fn new(fault: Fault) -> World {
        World {
            fault,
            history: Vec::new(),
            made: 0,
            servers: [Server { oldest: 0, seen: 0 }; 2],
            known: 0,
            token: None,
            whole_at: 0,
            back: BACK,
            restarts: RESTARTS,
            forgets: FORGETS,
            connections: CONNECTIONS,
        }
    }

    fn mark(&self, position: usize) -> Mark {
        let of = |before: usize| Mark {
            revision: position as u64,
            digest: self.history[before].into(),
        };
        position.checked_sub(1).map_or(Mark::default(), of)
    }

    /// The recent revocations of a node.
    fn state(&self, Server { oldest, seen }: Server) -> State {
        let recent = Recent::new(
            Revision::from_number(oldest as u64),
            Moment::now(),
            self.mark(oldest),
        );
        let mut state = recent.0.into_inner().unwrap();
        for position in oldest + 1..=seen {
            let update = Update {
                revision: Revision::from_number(position as u64),
                events: Vec::new(),
                as_of: None,
            };
            let revoked = Revoked {
                tokens: vec![(self.history[position - 1].into(), 0)],
                rules: Vec::new(),
            };
            state.newest = self.mark(position);
            state.revision = update.revision;
            state.push(&update, state.newest, ISS.into(), revoked);
        }
        state
    }

    /// The reader resumes, or loads everything, and reads what there is.
    fn connect(&mut self, server: usize) {
        let server = self.servers[server];
        let mut state = self.state(server);
        let resumed = self.token.map(|token| {
            let mut token = ResumeToken::from_bytes(&token).unwrap();
            if self.fault == Fault::NotKept && token.revision < state.oldest {
                (token.revision, token.mark) = (state.oldest, state.base);
            }
            if self.fault == Fault::OtherHistory {
                let at = usize::try_from(token.revision.number()).unwrap();
                let there = at.min(server.seen).max(server.oldest);
                token.mark = self.mark(there);
            }
            state.find(&token).map(|at| (at, token))
        });
        match resumed {
            Some(Ok((at, token))) => {
                let mut position = Position {
                    at,
                    revision: token.revision,
                    mark: token.mark,
                    ..state.begin()
                };
                if self.fault == Fault::WithoutTheMissed {
                    position = state.end(position.feed);
                }
                let read = state.read(&mut position, ISS).unwrap();
                for (revoked, _) in read.tokens {
                    self.known |= 1 << revoked;
                }
                self.token = Some(position.resume_token().to_bytes());
            }
            Some(Err(_)) | None => {
                self.known = bits(&self.history[..server.seen]);
                self.token = Some(state.begin().resume_token().to_bytes());
            }
        }
        self.whole_at = server.seen;
    }
}

fn bits(revocations: &[u8]) -> u16 {
    revocations.iter().fold(0, |bits, one| bits | 1 << one)
}

impl Model for World {
    type Step = Step;

    fn steps(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        if self.made < WRITES {
            steps.push(Step::Write);
        }
        if self.back > 0 {
            steps.extend((1..=self.history.len().min(2)).map(Step::Back));
        }
        for (number, server) in self.servers.iter().enumerate() {
            if server.seen < self.history.len() {
                steps.push(Step::Follow(number));
            }
            if self.restarts > 0 {
                steps.push(Step::Restart(number));
            }
            if self.forgets > 0 && server.oldest < server.seen {
                steps.push(Step::Forget(number));
            }
            if self.connections > 0 {
                steps.push(Step::Connect(number));
            }
        }
        steps
    }

    fn step(&self, step: Step) -> World {
        let mut next = self.clone();
        let newest = self.history.len();
        let loaded = |newest| Server {
            oldest: newest,
            seen: newest,
        };
        match step {
            Step::Write => {
                next.history.push(self.made);
                next.made += 1;
            }
            Step::Back(by) => {
                next.back -= 1;
                next.history.truncate(newest - by);
                next.servers = [loaded(newest - by); 2];
                // The reader knows more than there is now, and was told of a history that is gone.
                next.whole_at = 0;
            }
            Step::Follow(server) => next.servers[server].seen += 1,
            Step::Restart(server) => {
                next.restarts -= 1;
                next.servers[server] = loaded(newest);
            }
            Step::Forget(server) => {
                next.forgets -= 1;
                next.servers[server].oldest += 1;
            }
            Step::Connect(server) => {
                next.connections -= 1;
                next.connect(server);
            }
        }
        next
    }

    /// Checks that a reader knows everything up to where it was told so.
    fn check(&self) -> Result<(), String> {
        let there = bits(&self.history[..self.whole_at]);
        if there & !self.known == 0 {
            Ok(())
        } else {
            Err(format!(
                "the reader was told that it knows everything up to {}, and it does not",
                self.whole_at
            ))
        }
    }
}

fn explored(fault: Fault) -> Explored<Step> {
    let explored = explore(World::new(fault));
    explored.print(format!("resumed readers, {fault:?}"));
    explored
}

#[test]
fn resumed_reader_misses_nothing_in_every_interleaving() {
    let Explored { states, wrong } = explored(Fault::None);
    assert!(wrong.is_none(), "{wrong:?}");
    assert!(states > 10_000, "{states} are not all");
}

#[test]
fn missing_protection_is_detected() {
    for fault in [Fault::NotKept, Fault::OtherHistory, Fault::WithoutTheMissed] {
        assert!(explored(fault).wrong.is_some(), "{fault:?}");
    }
}
