//! Differential fuzzing: one changed token, or token of odd claims, or key goes to every driver of its
//! format at once, and whoever stands apart is looked at.
//!
//! What is changed is known, so a disagreement is minimised by leaving changes out while the drivers go
//! on disagreeing, and classified by its changes and by who accepts. One of each class is kept.

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

use self::change::{Dish, Recipe};
use self::corpus::is_jeton;
use self::panel::{Panel, Verdicts, agree};
use super::fixtures::Stage;
use super::session::Stopped;
use crate::stop::Stop;

/// A time far from now, for `exp`: what is kept is replayed for years.
const LATER_S: i64 = 4_102_444_800;

/// How many changes are tried of each thing before the next format and algorithm has its turn: for
/// another, and for another key, every driver has to be prepared again.
const TURN: [(Changed, usize); 3] = [
    (Changed::Token, 150),
    (Changed::Claims, 50),
    (Changed::Key, 12),
];

/// What a time of fuzzing came to.
#[derive(Debug, Clone, Default)]
pub struct Fuzzed {
    /// How many changed tokens went to the drivers.
    pub tokens: u64,
    /// How many tokens of odd claims.
    pub claims: u64,
    /// How many changed keys.
    pub keys: u64,
    /// How many of all these were not judged alike.
    pub disagreements: u64,
    /// The drivers, with their libraries' versions.
    pub drivers: Vec<String>,
    /// One of each class.
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
                let recipe = Recipe::some(changed, &mut random);
                let Some(dish) = recipe.follow(stage, &valid, &payload) else {
                    continue;
                };
                match changed {
                    Changed::Token => fuzzed.tokens += 1,
                    Changed::Claims => fuzzed.claims += 1,
                    Changed::Key => fuzzed.keys += 1,
                }
                let verdicts = panel.ask(stage, changed, &dish.keys, &dish.token)?;
                if agree(&verdicts) {
                    continue;
                }
                fuzzed.disagreements += 1;
                let first = Disagreement {
                    recipe,
                    dish,
                    verdicts,
                };
                let case = first
                    .smallest(&mut panel, stage, &valid, &payload)?
                    .case(stage);
                if classes.insert(case.class()) && fuzzed.cases.len() < CASES_MAX {
                    fuzzed.cases.push(case);
                }
            }
        }
    }
    Ok(fuzzed)
}

struct Disagreement {
    recipe: Recipe,
    dish: Dish,
    verdicts: Verdicts,
}

impl Disagreement {
    /// With the fewest of the changes about which the drivers still disagree.
    fn smallest(
        mut self,
        panel: &mut Panel<'_>,
        stage: &Stage,
        valid: &str,
        payload: &str,
    ) -> Result<Self, Stopped> {
        let mut at = 0;
        while at < self.recipe.changes.len() && self.recipe.changes.len() > 1 {
            let recipe = self.recipe.without(at);
            at += 1;
            let Some(dish) = recipe.follow(stage, valid, payload) else {
                continue;
            };
            let verdicts = panel.ask(stage, recipe.changed, &dish.keys, &dish.token)?;
            if !agree(&verdicts) {
                at -= 1;
                self = Self {
                    recipe,
                    dish,
                    verdicts,
                };
            }
        }
        Ok(self)
    }

    fn case(self, stage: &Stage) -> CorpusEntry {
        let of = |yes: bool| -> Vec<String> {
            let those = self.verdicts.iter().filter(|(_, v)| *v == yes);
            those.map(|(name, _)| name.clone()).collect()
        };
        let (accepted, refused) = (of(true), of(false));
        let alone = |side: &[String]| side.len() == 1 && is_jeton(&side[0]);
        CorpusEntry {
            format: stage.format.name().into(),
            alg: stage.alg.clone(),
            enc: stage.enc.clone(),
            changed: self.recipe.changed,
            changes: self.recipe.names(),
            token: self.dish.token,
            keys: self.dish.keys,
            jeton_alone: alone(&accepted) || alone(&refused),
            accepted,
            refused,
        }
    }
}
