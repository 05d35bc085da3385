//! What clients of a load balancer could not do: good tokens that nodes refused which said that they are ready.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use super::history::{Call, Outcome};
use super::load::{Answer, Asked, Record};

/// The most of the good tokens that ready nodes may refuse while things break. A clock that is ahead takes the most: what
/// its node issued until it was found, others accept five minutes later. That is a third of the tokens of some seconds, in
/// a history of two minutes.
pub(super) const REFUSED_SHARE: f64 = 0.1;

/// The longest time in which ready nodes may refuse every login at another ready node. A clock that is apart is found
/// with the next records of the other nodes, which they write every 10 s; a busy machine may take twice that.
pub(super) const REFUSED_FOR: Duration = Duration::from_secs(30);

/// A token that was issued this short a time ago is a login.
const LOGIN: u64 = 5_000_000;

/// Good tokens that ready nodes refused.
#[derive(Debug, Default)]
pub(super) struct Availability {
    pub(super) good: usize,
    pub(super) refused: usize,
    /// The longest time in which one node refused every login at another one.
    pub(super) longest: Duration,
    /// How often each reason was given.
    why: BTreeMap<String, usize>,
}

impl Availability {
    /// Judges the verifications of a record, whose history is `calls`.
    ///
    /// A token is good until somebody asks for a revocation that may be about it. Both its node and the one that
    /// verifies it must be ready for the whole call.
    pub(super) fn of(record: &Record, calls: &[Call]) -> Availability {
        let mut asked = vec![u64::MAX; record.tokens.len()];
        let revocations = calls
            .iter()
            .filter(|call| matches!(call.outcome, Outcome::Acknowledged | Outcome::Unknown));
        for call in revocations {
            asked[call.token] = asked[call.token].min(call.begun);
        }
        let mut judged = Availability::default();
        // Of each pair of nodes: since when every login was refused.
        let mut since: BTreeMap<(usize, usize), u64> = BTreeMap::new();
        let mut answers: Vec<&Answer> = record.answers.iter().collect();
        answers.sort_unstable_by_key(|answer| answer.begun);
        for answer in answers {
            let token = &record.tokens[answer.token];
            let is_good = answer.ended < asked[answer.token]
                && is_ready(&record.ready[token.node], token.begun, token.ended)
                && is_ready(&record.ready[answer.node], answer.begun, answer.ended);
            if !is_good {
                continue;
            }
            judged.good += 1;
            let is_login = answer.begun < token.ended + LOGIN;
            let pair = (token.node, answer.node);
            if let Some(why) = &answer.refusal {
                judged.refused += 1;
                *judged.why.entry(why.clone()).or_default() += 1;
                if is_login {
                    let since = *since.entry(pair).or_insert(answer.begun);
                    let lasts = Duration::from_micros(answer.ended - since);
                    judged.longest = judged.longest.max(lasts);
                }
            } else if is_login {
                since.remove(&pair);
            }
        }
        judged
    }

    pub(super) fn share(&self) -> f64 {
        self.refused as f64 / self.good.max(1) as f64
    }

    pub(super) fn is_within_bounds(&self) -> bool {
        self.share() <= REFUSED_SHARE && self.longest <= REFUSED_FOR
    }
}

impl fmt::Display for Availability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} of {} ({:.3} %, bound {} %), every login between two nodes for at most {:.1} s (bound {} s)",
            self.refused,
            self.good,
            100.0 * self.share(),
            100.0 * REFUSED_SHARE,
            self.longest.as_secs_f64(),
            REFUSED_FOR.as_secs()
        )?;
        self.why
            .iter()
            .try_for_each(|(why, times)| write!(f, "\n  {times:>7} {why}"))
    }
}

/// Whether a node said so before that time, after it, and whenever it was asked in between.
fn is_ready(asked: &[Asked], begun: u64, ended: u64) -> bool {
    let first = asked.partition_point(|one| one.ended <= begun);
    let last = asked.partition_point(|one| one.begun <= ended);
    let Some(first) = first.checked_sub(1) else {
        return false;
    };
    asked
        .get(first..=last)
        .is_some_and(|around| around.iter().all(|one| one.is_ready))
}

#[test]
fn good_tokens_are_those_of_ready_nodes_without_revocation() {
    use super::history::Issued;

    const SECOND: u64 = 1_000_000;
    let asked = |second: u64, is_ready| Asked {
        begun: second * SECOND,
        ended: second * SECOND + 1000,
        is_ready,
    };
    // The second node is not ready from 40 s to 49 s.
    let first = (0..100).map(|second| asked(second, true)).collect();
    let second = (0..100).map(|second| asked(second, !(40..50).contains(&second)));
    let tokens = (0..90).map(|second| Issued {
        node: 0,
        begun: second * SECOND + 2000,
        ended: second * SECOND + 3000,
        subject: 0,
        client: 0,
        kid: String::new(),
    });
    // Each token is verified at the second node, which refuses from 20 s to 59 s.
    let answers = (0..90).map(|token| {
        let begun = token as u64 * SECOND + 4000;
        Answer {
            node: 1,
            token,
            begun,
            ended: begun + 1000,
            refusal: (20..60).contains(&token).then(|| "not yet".to_owned()),
        }
    });
    let record = Record {
        tokens: tokens.collect(),
        answers: answers.collect(),
        ready: vec![first, second.collect()],
        ..Record::default()
    };
    let judged = Availability::of(&record, &[]);
    // A call counts if the node is ready before and after it.
    assert_eq!((judged.good, judged.refused), (79, 29));
    assert_eq!(judged.longest, Duration::from_micros(39 * SECOND + 1000));
    assert!(!judged.is_within_bounds());
    // A token is good until somebody asks for its revocation.
    let revoked = Call {
        node: 0,
        token: 20,
        begun: 20 * SECOND + 4500,
        ended: 21 * SECOND,
        outcome: Outcome::Unknown,
    };
    let judged = Availability::of(&record, &[revoked]);
    assert_eq!((judged.good, judged.refused), (78, 28));
}
