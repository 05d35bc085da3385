//! Differential fuzzing. One changed token, token with unusual claims, or changed key goes to every
//! driver of its format. Drivers that disagree with the others are reported.
//!
//! The changes are known. So a disagreement is minimised by removing changes while the drivers
//! still disagree. It is classified by its changes and the drivers that accept. One case of each
//! class is kept.

mod change;
mod corpus;
mod panel;
mod run;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

pub use change::Changed;
pub use corpus::{CASES_MAX, CorpusEntry, Replayed, add_to_corpus, read_corpus};
pub use run::{fuzz, replay};

use self::change::{ChangeList, MutatedInput};
use self::corpus::is_jeton;
use self::panel::{Panel, Question, Verdicts, agree};
use super::fixtures::Stage;
use super::session::Stopped;
use jeton_lab_harness::Stop;

/// A time in the far future, for `exp`: a kept case is replayed for years.
const LATER_S: i64 = 4_102_444_800;

/// How many changes of each input are tried before the next format and algorithm. Another algorithm
/// or key requires that every driver is prepared again.
const TURN: [(Changed, usize); 3] = [
    (Changed::Token, 150),
    (Changed::Claims, 50),
    (Changed::Key, 12),
];

/// The result of a fuzzing run.
#[derive(Debug, Clone, Default)]
pub struct Fuzzed {
    /// The number of changed tokens.
    pub tokens: u64,
    /// The number of tokens with unusual claims.
    pub claims: u64,
    /// The number of changed keys.
    pub keys: u64,
    /// The number of inputs on which the drivers disagreed.
    pub disagreements: u64,
    /// The drivers with the versions of their libraries.
    pub drivers: Vec<String>,
    /// One case of each class.
    pub cases: Vec<CorpusEntry>,
}

fn fuzz_panel(
    mut panel: Panel<'_>,
    stages: &[&Stage],
    seed: u64,
    time: Duration,
    stop: &Stop,
) -> Result<Fuzzed, Stopped> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut fuzzed = Fuzzed {
        drivers: panel.names(),
        ..Fuzzed::default()
    };
    let mut classes = BTreeSet::new();
    let began = Instant::now();
    for stage in stages.iter().cycle() {
        let payload = stage.claims_until(LATER_S);
        let valid = stage.token(&payload);
        for (changed, times) in TURN {
            for _ in 0..times {
                if began.elapsed() >= time || stop.requested() {
                    return Ok(fuzzed);
                }
                let changes = ChangeList::some(changed, &mut random);
                let Some(input) = changes.apply(stage, &valid, &payload) else {
                    continue;
                };
                match changed {
                    Changed::Token => fuzzed.tokens += 1,
                    Changed::Claims => fuzzed.claims += 1,
                    Changed::Key => fuzzed.keys += 1,
                }
                let verdicts = panel.ask(&changes.question(stage, &input))?;
                if agree(&verdicts) {
                    continue;
                }
                fuzzed.disagreements += 1;
                let first = Disagreement {
                    changes,
                    input,
                    verdicts,
                };
                let smallest = first.smallest(&mut panel, stage, &valid, &payload)?;
                let Some(case) = smallest.case(&mut panel, stage)? else {
                    continue;
                };
                if classes.insert(case.class()) && fuzzed.cases.len() < CASES_MAX {
                    fuzzed.cases.push(case);
                }
            }
        }
    }
    Ok(fuzzed)
}

struct Disagreement {
    changes: ChangeList,
    input: MutatedInput,
    verdicts: Verdicts,
}

impl Disagreement {
    /// Returns the disagreement with the fewest changes about which the drivers still disagree.
    fn smallest(
        mut self,
        panel: &mut Panel<'_>,
        stage: &Stage,
        valid: &str,
        payload: &str,
    ) -> Result<Self, Stopped> {
        let mut at = 0;
        while at < self.changes.changes.len() && self.changes.changes.len() > 1 {
            let changes = self.changes.without(at);
            at += 1;
            let Some(input) = changes.apply(stage, valid, payload) else {
                continue;
            };
            let verdicts = panel.ask(&changes.question(stage, &input))?;
            if !agree(&verdicts) {
                at -= 1;
                self = Self {
                    changes,
                    input,
                    verdicts,
                };
            }
        }
        Ok(self)
    }

    /// Returns the case with the verdicts of new processes, or nothing if these agree.
    fn case(self, panel: &mut Panel<'_>, stage: &Stage) -> Result<Option<CorpusEntry>, Stopped> {
        let question = self.changes.question(stage, &self.input);
        let names: Vec<String> = self.verdicts.iter().map(|(name, _)| name.clone()).collect();
        let verdicts = panel.ask_anew(&question, &names)?;
        if agree(&verdicts) {
            return Ok(None);
        }
        let of = |yes: bool| -> Vec<String> {
            let those = verdicts.iter().filter(|(_, v)| *v == yes);
            those.map(|(name, _)| name.clone()).collect()
        };
        let (accepted, refused) = (of(true), of(false));
        let alone = |side: &[String]| !side.is_empty() && side.iter().all(|who| is_jeton(who));
        Ok(Some(CorpusEntry {
            format: stage.format.name().into(),
            alg: stage.alg.clone(),
            enc: stage.enc.clone(),
            changed: self.changes.changed,
            changes: self.changes.names(),
            token: self.input.token,
            keys: self.input.keys,
            jeton_alone: alone(&accepted) || alone(&refused),
            accepted,
            refused,
        }))
    }
}

impl ChangeList {
    fn question<'a>(&self, stage: &'a Stage, input: &'a MutatedInput) -> Question<'a> {
        Question {
            stage,
            changed: self.changed,
            keys: &input.keys,
            token: &input.token,
        }
    }
}
