//! The noise floor and the verdicts over the rounds of several runs, and every derived figure of a result computed again.

use super::runs::{self, Named, runs};
use super::servers::{has_servers_alone, set_figures};
use crate::grouped::{distinct_by, grouped};
use crate::recommendation::recommend;
use jeton_lab_model::recommendation::Requirements;
use jeton_lab_model::result::{AaPair, MergedRun, NoiseFloor, Row, RunResult, Verdict};
use jeton_lab_published as published;
use jeton_lab_stats::median::median_interval;
use jeton_lab_stats::outliers::beyond_outer_fences;
use jeton_lab_stats::verdicts::{self, AaRounds, ComparisonInput, Entrant};

/// From this number of runs on, each counts as one value; with fewer, the intervals would be useless.
pub const RUN_VALUES_MIN: usize = 6;

pub(super) const NO_ROUNDS: &str = "has no rounds that it follows from";

pub(super) type PairRounds = [Vec<f64>; 2];

/// Returns why the rounds of an A/A pair are not of the run with these rows: the first measurement of a pair is that
/// of a row. `earlier` are the rounds of the pairs before it.
pub(super) fn objection(
    pair: &AaPair,
    rounds: &PairRounds,
    rows: &[Row],
    earlier: &[&PairRounds],
) -> Option<&'static str> {
    let is_measured = |row: &Row| {
        let timing = row.ns_per_op.as_ref();
        row.subject.id == pair.subject
            && row.operation == pair.operation
            && row.threads == pair.threads
            && timing.is_some_and(|timing| timing.rounds == rounds[0])
    };
    // Two measurements never take the same times in every round.
    let is_known = |pair: &&PairRounds| pair.iter().any(|other| rounds.contains(other));
    if rounds[0].is_empty() {
        Some(NO_ROUNDS)
    } else if !rows.iter().any(is_measured) {
        Some("no row of this subject and operation has the rounds of its first measurement")
    } else {
        let is_copy = rounds[0] == rounds[1] || earlier.iter().any(is_known);
        is_copy.then_some("has the same rounds as another measurement of the A/A pairs")
    }
}

pub(super) fn is_like(one: &AaPair, other: &AaPair) -> bool {
    (&one.subject, &one.operation, one.threads) == (&other.subject, &other.operation, other.threads)
}

fn run_values(rounds: &[f64], runs: &[MergedRun]) -> Vec<f64> {
    if runs.len() < RUN_VALUES_MIN {
        return rounds.to_vec();
    }
    let mut rest = rounds;
    let means = runs.iter().map(|run| {
        let (own, others) = rest.split_at(rest.len().min(run.rounds as usize));
        rest = others;
        (own.iter().map(|t| t.ln()).sum::<f64>() / own.len() as f64).exp()
    });
    means.collect()
}

struct Pooled<'a> {
    pair: &'a AaPair,
    rounds: PairRounds,
    held: usize,
}

/// Merges the A/A pairs that every run has, and whose rounds are those of rows. If results do not contain the
/// rounds of their pairs, the largest floor is used.
pub(super) fn noise_floor(results: &[Named], rows: &[Row], runs: &[MergedRun]) -> NoiseFloor {
    let floors = || results.iter().map(|named| &named.result.noise_floor);
    let mut pooled: Vec<Pooled<'_>> = Vec::new();
    for (run, noise) in floors().enumerate() {
        for pair in &noise.pairs {
            // A subject may have two pairs with different claims; they are matched in order.
            let mut known = pooled.iter_mut();
            if let Some(known) = known.find(|p| p.held == run && is_like(p.pair, pair)) {
                let own = known.rounds.iter_mut().zip(&pair.rounds);
                own.for_each(|(all, more)| all.extend_from_slice(more));
                known.held += 1;
            } else {
                let (rounds, held) = (pair.rounds.clone(), 1);
                pooled.push(Pooled { pair, rounds, held });
            }
        }
    }
    let total: usize = runs.iter().map(|run| run.rounds as usize).sum();
    pooled.retain(|p| p.held == results.len() && p.rounds[0].len() == total);
    let is_of_rows = (0..pooled.len()).map(|at| {
        let earlier: Vec<&PairRounds> = pooled[..at].iter().map(|p| &p.rounds).collect();
        objection(pooled[at].pair, &pooled[at].rounds, rows, &earlier).is_none()
    });
    let mut is_of_rows = is_of_rows.collect::<Vec<bool>>().into_iter();
    pooled.retain(|_| is_of_rows.next() == Some(true));
    let is_managed = |pair: &AaPair| {
        let mut rows = rows.iter().filter(|row| row.subject.id == pair.subject);
        rows.any(|row| row.subject.is_managed())
    };
    let aa_pairs = pooled.iter().map(|Pooled { pair, rounds, .. }| AaRounds {
        subject: pair.subject.clone(),
        operation: pair.operation.clone(),
        threads: pair.threads,
        managed: is_managed(pair),
        rounds: [0, 1].map(|side| run_values(&rounds[side], runs)),
    });
    let aa_pairs: Vec<AaRounds> = aa_pairs.collect();
    if aa_pairs.is_empty() {
        let widest =
            |floor: fn(&NoiseFloor) -> Option<f64>| floors().filter_map(floor).reduce(f64::max);
        return NoiseFloor {
            floor: widest(|n| n.floor),
            managed: widest(|n| n.managed),
            ..NoiseFloor::default()
        };
    }
    let mut judged = verdicts::noise_floor(&aa_pairs);
    // The file keeps every round, also if verdicts used one value per run.
    for pair in &mut judged.pairs {
        if let Some(at) = pooled.iter().position(|p| is_like(p.pair, pair)) {
            pair.rounds = pooled.remove(at).rounds;
        }
    }
    judged
}

/// Computes the comparisons of the first result over the merged rounds. A comparison whose baseline was
/// not measured in every run is omitted.
pub(super) fn verdicts(
    first: &RunResult,
    rows: &[Row],
    noise: &NoiseFloor,
    runs: &[MergedRun],
) -> Vec<Verdict> {
    let planned = first.verdicts.iter();
    let comparisons = grouped(planned.map(|verdict| (&verdict.comparison, verdict)));
    let entrant = |verdict: &Verdict, id: &str| {
        let row = |id: &str| rows.iter().find(|row| verdict.is_about(row, id));
        let (row, baseline) = (row(id)?, row(&verdict.baseline)?);
        let factors = baseline.subject.factors(&row.subject);
        Some(Entrant {
            id: id.to_owned(),
            managed: row.subject.is_managed(),
            factors: factors.into_iter().map(str::to_owned).collect(),
            rounds: run_values(&runs::measured(row)?.rounds, runs),
        })
    };
    let judged = comparisons.into_iter().filter_map(|(_, planned)| {
        // A verdict stands once, and none is on the baseline itself.
        let mut planned = distinct_by(planned, |verdict| verdict.subject.clone());
        planned.retain(|verdict| verdict.subject != verdict.baseline);
        let first = *planned.first()?;
        let baseline = entrant(first, &first.baseline)?;
        let others = planned.iter().filter_map(|v| entrant(v, &v.subject));
        let input = ComparisonInput {
            suite: first.suite.clone(),
            operation: first.operation.clone(),
            claims: first.claims.clone(),
            threads: first.threads,
            title: first.comparison.clone(),
            entrants: std::iter::once(baseline).chain(others).collect(),
        };
        Some(verdicts::verdicts(&input, noise))
    });
    judged.flatten().collect()
}

/// Returns the result with its derived figures computed again: medians, intervals, outliers, the noise
/// floor, verdicts with their groups, the figures of servers, the published figures beside the measured
/// ones, the answers to the published conclusions and the recommendation. A part that the file does not
/// have is not added.
///
/// A verdict whose rows have no rounds is left out, and so is an A/A pair whose rounds are not of a row. Without
/// pairs there is no noise floor.
#[must_use]
pub fn recomputed(result: &RunResult) -> RunResult {
    let mut own = result.clone();
    own.rows.measured.iter_mut().for_each(measured);
    let cores = own.environment.cores;
    for row in &mut own.rows.servers {
        // Imported figures are of another machine.
        if row.loader.is_none() {
            row.oversubscribed = row.cores as usize >= cores;
        }
        row.scenario = row.of_scenario().load();
        if let Some(load) = &mut row.load {
            set_figures(load);
        }
    }
    let runs = runs(&own);
    let named = [Named {
        name: String::new(),
        result: own.clone(),
    }];
    own.noise_floor = noise_floor(&named, &own.rows.measured, &runs);
    if own.noise_floor.pairs.is_empty() {
        own.noise_floor = NoiseFloor::default();
    }
    own.verdicts = verdicts(&own, &own.rows.measured, &own.noise_floor, &runs);
    if !own.published.is_empty() {
        own.published = published::tables(&own.rows);
    }
    if !own.claims_answered.is_empty() {
        own.claims_answered = if has_servers_alone(&own.rows) {
            published::answers_of_servers(&own.rows.servers)
        } else {
            published::answers(&own.rows, &own.noise_floor)
        };
    }
    if let Some(stored) = own.recommendation.take() {
        // Reading the file already rejected requirements that do not parse.
        let requirements = Requirements::parse(&stored.requirements).unwrap_or_default();
        own.recommendation = Some(recommend(&own, &requirements, stored.allow_noisy));
    }
    own
}

fn measured(row: &mut Row) {
    row.reference = row.is_reference_work();
    row.subject.id = row.subject.id_for(row.subject.driver());
    if let Some(timing) = &mut row.ns_per_op {
        if let Ok(own) = median_interval(&timing.rounds) {
            (timing.median, timing.interval) = (own.median, own.interval);
        }
        timing.outliers = beyond_outer_fences(&timing.rounds);
    }
}
