//! The noise floor and the verdicts over the rounds of several runs.

use std::collections::BTreeMap;

use super::aa_pairs::{PairRounds, objection};
use super::inputs::Named;
use jeton_lab_model::result::{
    AaPair, MergedRun, NoiseFloor, Row, RunResult, Status, Timing, Verdict,
};
use jeton_lab_stats::verdicts::{self, AaRounds, ComparisonInput, Entrant};

/// From this number of runs on, each counts as one value; with fewer, the intervals would be useless.
pub const RUN_VALUES_MIN: usize = 6;

/// Returns the times of a row, if they count.
pub(super) fn measured(row: &Row) -> Option<&Timing> {
    let ok = matches!(row.status, Status::Ok | Status::Disturbed);
    row.ns_per_op.as_ref().filter(|_| ok)
}

/// Returns one value per run if there are enough runs; otherwise the rounds.
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

/// Merges the A/A pairs that every run has, and whose rounds are those of rows. If results do not contain the
/// rounds of their pairs, the largest floor is used.
pub(super) fn noise_floor(results: &[Named], rows: &[Row], runs: &[MergedRun]) -> NoiseFloor {
    let mut pooled: Vec<(&AaPair, PairRounds, usize)> = Vec::new();
    for (run, named) in results.iter().enumerate() {
        for pair in &named.result.noise_floor.pairs {
            // A subject may have two pairs with different claims; they are matched in order.
            let same = |(p, _, held): &&mut (&AaPair, PairRounds, usize)| {
                (&p.subject, &p.operation, p.threads, run)
                    == (&pair.subject, &pair.operation, pair.threads, *held)
            };
            match pooled.iter_mut().find(same) {
                Some((_, rounds, held)) => {
                    rounds[0].extend_from_slice(&pair.rounds[0]);
                    rounds[1].extend_from_slice(&pair.rounds[1]);
                    *held += 1;
                }
                None => pooled.push((pair, pair.rounds.clone(), 1)),
            }
        }
    }
    let total: usize = runs.iter().map(|run| run.rounds as usize).sum();
    pooled.retain(|(_, rounds, held)| *held == results.len() && rounds[0].len() == total);
    let is_of_rows: Vec<bool> = (0..pooled.len())
        .map(|at| {
            let earlier: Vec<&PairRounds> = pooled[..at].iter().map(|(_, r, _)| r).collect();
            objection(pooled[at].0, &pooled[at].1, rows, &earlier).is_none()
        })
        .collect();
    let mut whole: Vec<_> = (pooled.into_iter().zip(is_of_rows))
        .filter_map(|(pair, is_of_rows)| is_of_rows.then_some(pair))
        .collect();
    let aa_pairs: Vec<AaRounds> = whole
        .iter()
        .map(|(pair, rounds, _)| AaRounds {
            subject: pair.subject.clone(),
            operation: pair.operation.clone(),
            threads: pair.threads,
            managed: rows
                .iter()
                .any(|r| r.subject.id == pair.subject && r.subject.is_managed()),
            rounds: [0, 1].map(|side| run_values(&rounds[side], runs)),
        })
        .collect();
    let floors = results.iter().map(|n| &n.result.noise_floor);
    let widest =
        |floor: fn(&NoiseFloor) -> Option<f64>| floors.clone().filter_map(floor).reduce(f64::max);
    if aa_pairs.is_empty() {
        return NoiseFloor {
            floor: widest(|n| n.floor),
            managed: widest(|n| n.managed),
            ..NoiseFloor::default()
        };
    }
    let mut judged = verdicts::noise_floor(&aa_pairs);
    // The file keeps every round, also if verdicts used one value per run.
    for pair in &mut judged.pairs {
        let same = |(p, _, _): &(&AaPair, PairRounds, usize)| {
            (&p.subject, &p.operation, p.threads) == (&pair.subject, &pair.operation, pair.threads)
        };
        if let Some(at) = whole.iter().position(same) {
            pair.rounds = whole.remove(at).1;
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
    let mut order: Vec<&str> = Vec::new();
    let mut comparisons: BTreeMap<&str, Vec<&Verdict>> = BTreeMap::new();
    for verdict in &first.verdicts {
        let title = verdict.comparison.as_str();
        if !order.contains(&title) {
            order.push(title);
        }
        let planned = comparisons.entry(title).or_default();
        // A verdict stands once, and none is on the baseline itself.
        let is_known = planned.iter().any(|other| other.subject == verdict.subject);
        if !is_known && verdict.subject != verdict.baseline {
            planned.push(verdict);
        }
    }
    let entrant = |verdict: &Verdict, id: &str| {
        let row = rows.iter().find(|r| verdict.is_about(r, id))?;
        let baseline = rows
            .iter()
            .find(|r| verdict.is_about(r, &verdict.baseline))?;
        let factors = baseline.subject.factors(&row.subject);
        Some(Entrant {
            id: id.to_owned(),
            managed: row.subject.is_managed(),
            factors: factors.into_iter().map(str::to_owned).collect(),
            rounds: run_values(&measured(row)?.rounds, runs),
        })
    };
    let mut judged = Vec::new();
    for title in order {
        let planned = &comparisons[title];
        let first = planned.first();
        let Some(baseline) = first.and_then(|first| entrant(first, &first.baseline)) else {
            continue;
        };
        let others = planned.iter().filter_map(|v| entrant(v, &v.subject));
        let input = ComparisonInput {
            suite: planned[0].suite.clone(),
            operation: planned[0].operation.clone(),
            claims: planned[0].claims.clone(),
            threads: planned[0].threads,
            title: title.to_owned(),
            entrants: std::iter::once(baseline).chain(others).collect(),
        };
        judged.extend(verdicts::verdicts(&input, noise));
    }
    judged
}
