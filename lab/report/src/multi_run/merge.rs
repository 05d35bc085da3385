//! Merges several runs of one plan into one result.
//!
//! The rounds of several runs are more rounds, in which all subjects are still interleaved, and each
//! run has new processes. From [`RUN_VALUES_MIN`] runs on, verdicts take each run as one value (the geometric
//! mean of its rounds): rounds of one run share their processes and their time, so only then do the
//! intervals include these effects. With fewer runs, every round is a value, as in one run.

use std::collections::BTreeMap;

use super::aa_pairs::{PairRounds, objection};
use super::check::contradictions;
use super::inputs::{Named, Unmergeable, code, environment, mean, same_machine};
use super::machine::Difference;
use super::same::{Work, counterpart};
use super::servers::{has_servers_alone, of_servers};
use super::untimed::{self, untimed_runs};
use jeton_lab_model::result::{
    AaPair, MergedRun, NoiseFloor, Row, Rows, RunResult, SCHEMA, Status, Timing, Verdict,
};
use jeton_lab_published as published;
use jeton_lab_stats::median::median_interval;
use jeton_lab_stats::outliers::beyond_outer_fences;
use jeton_lab_stats::verdicts::{self, AaRounds, ComparisonInput, Entrant};

/// From this number of runs on, each counts as one value; with fewer, the intervals would be useless.
pub const RUN_VALUES_MIN: usize = 6;

/// Merges several runs of the same plan on the same machine, in the order of their starts. The result
/// has all rounds, the seeds, and all disturbances; its noise floor and verdicts are computed again. A
/// row that one run could not measure stays unmeasured, with the run's number.
///
/// Results of servers merge only with each other: repetitions of the same load are added.
///
/// Rows of attacks and interop, which have no times, are added to those of the runs if they are about
/// the same code. The published conclusions are then answered again.
///
/// # Errors
/// [`Unmergeable`], with the difference and the two results.
pub fn merge(mut results: Vec<Named>, command: &str) -> Result<RunResult, Unmergeable> {
    if results.len() < 2 {
        return Err(Unmergeable::TooFew);
    }
    for Named { name, result } in &results {
        if let Some(found) = contradictions(result).into_iter().next() {
            return Err(Unmergeable::Contradicts(name.clone(), found));
        }
    }
    results.sort_by_key(|run| began(&run.result));
    let has_servers = |named: &&Named| !named.result.rows.servers.is_empty();
    if let Some(servers) = results.iter().find(has_servers) {
        let is_other = |named: &&Named| !has_servers_alone(&named.result.rows);
        return match results.iter().find(is_other) {
            None => of_servers(&results, command),
            Some(other) => {
                let (servers, other) = (servers.name.clone(), other.name.clone());
                Err(Unmergeable::ServersBeside(servers, other))
            }
        };
    }
    let is_timed = |named: &&Named| !named.result.rows.measured.is_empty();
    let timed: Vec<Named> = results.iter().filter(is_timed).cloned().collect();
    let whole = match timed.as_slice() {
        [] => return Err(Unmergeable::NothingTimed),
        [one] => RunResult {
            command: command.to_owned(),
            runs: runs(&one.result),
            recommendation: None,
            ..one.result.clone()
        },
        several => of_one_plan(several, command)?,
    };
    untimed::join(whole, &results)
}

/// Merges at least two runs, in the order of their starts.
fn of_one_plan(results: &[Named], command: &str) -> Result<RunResult, Unmergeable> {
    let first = &results[0];
    for (i, later) in results.iter().enumerate() {
        for earlier in &results[..i] {
            not_twice(earlier, later)?;
        }
        same_plan(first, later)?;
        level(later)?;
    }
    let runs: Vec<MergedRun> = results.iter().flat_map(|n| runs(&n.result)).collect();
    let rows: Vec<Row> = first
        .result
        .rows
        .measured
        .iter()
        .map(|row| merged_row(row, results))
        .collect::<Result<_, _>>()?;
    if rows.iter().all(|row| row.ns_per_op.is_none()) {
        return Err(Unmergeable::NothingMeasured);
    }
    let noise_floor = noise_floor(results, &rows, &runs);
    let verdicts = verdicts(&first.result, &rows, &noise_floor, &runs);
    let rows = Rows::from(rows);
    let (environment, published) = (environment(results), published::tables(&rows));
    let answers = published::answers(&rows, &noise_floor);
    Ok(RunResult {
        schema: SCHEMA,
        command: command.to_owned(),
        seed: first.result.seed,
        environment,
        noise_floor,
        published,
        verdicts,
        claims_answered: answers,
        recommendation: None,
        runs,
        rows,
    })
}

fn began(result: &RunResult) -> Option<jiff::Timestamp> {
    result.environment.started.parse().ok()
}

/// Returns the timed runs of a result: itself, if it is not merged.
pub(super) fn runs(result: &RunResult) -> Vec<MergedRun> {
    if !result.runs.is_empty() {
        let timed = result.runs.iter().filter(|run| run.rounds > 0);
        return timed.cloned().collect();
    }
    vec![MergedRun {
        started: result.environment.started.clone(),
        command: result.command.clone(),
        seed: result.seed,
        rounds: result.environment.rounds_finished,
    }]
}

/// Reports whether two results have a run in common, by its start, command and seed.
#[must_use]
pub(crate) fn is_same_run(one: &RunResult, other: &RunResult) -> bool {
    let all = |result: &RunResult| [runs(result), untimed_runs(result)].concat();
    let theirs = all(other);
    all(one).iter().any(|run| theirs.contains(run))
}

/// Reports whether two results have times of the same run.
pub(super) fn has_run_in_common(one: &RunResult, other: &RunResult) -> bool {
    let theirs = runs(other);
    runs(one).iter().any(|run| theirs.contains(run))
}

fn not_twice(a: &Named, b: &Named) -> Result<(), Unmergeable> {
    if has_run_in_common(&a.result, &b.result) {
        return Err(Unmergeable::Twice(a.name.clone(), b.name.clone()));
    }
    Ok(())
}

fn same_plan(first: &Named, other: &Named) -> Result<(), Unmergeable> {
    let (a, b) = (&first.result, &other.result);
    let names = || (first.name.clone(), other.name.clone());
    same_machine(first, other)?;
    for (with, without) in [(first, other), (other, first)] {
        let lacks = |row: &&Row| counterpart(&without.result, row).is_none();
        if let Some(row) = with.result.rows.measured.iter().find(lacks) {
            return Err(Unmergeable::AnotherPlan {
                with: with.name.clone(),
                without: without.name.clone(),
                row: Work::of(row).to_string(),
            });
        }
    }
    let differ = |difference| {
        let (a, b) = names();
        Err(Unmergeable::AnotherSubject(a, b, difference))
    };
    if let Some(difference) = code(&a.environment, &b.environment, "driver") {
        return differ(difference);
    }
    for row in &a.rows.measured {
        if let Some(difference) = counterpart(b, row).and_then(|o| same_work(row, o)) {
            return differ(difference);
        }
    }
    Ok(())
}

/// Returns the difference between two rows with the same name.
fn same_work(a: &Row, b: &Row) -> Option<Difference> {
    let size = |row: &Row| row.token_bytes.map(|b| format!("{b} bytes"));
    let both = size(a).zip(size(b));
    let facts = [
        (
            "version",
            a.subject.version.clone(),
            b.subject.version.clone(),
        ),
        (
            "claims",
            format!("{} bytes", a.claims.bytes),
            format!("{} bytes", b.claims.bytes),
        ),
        (
            "token",
            both.clone().map_or_else(String::new, |(a, _)| a),
            both.map_or_else(String::new, |(_, b)| b),
        ),
    ];
    let differs = facts.into_iter().find(|(_, a, b)| a != b);
    differs.map(|(what, before, after)| Difference {
        what: format!("{what} of {}", Work::of(a)),
        before,
        after,
    })
}

/// Checks that all measured rows have the same number of rounds.
fn level(named: &Named) -> Result<(), Unmergeable> {
    let rounds = named.result.environment.rounds_finished as usize;
    let uneven = |row: &&Row| measured(row).is_some_and(|t| t.rounds.len() != rounds);
    match named.result.rows.measured.iter().find(uneven) {
        Some(row) => Err(Unmergeable::Ragged(
            named.name.clone(),
            Work::of(row).to_string(),
        )),
        None => Ok(()),
    }
}

fn measured(row: &Row) -> Option<&Timing> {
    let ok = matches!(row.status, Status::Ok | Status::Disturbed);
    row.ns_per_op.as_ref().filter(|_| ok)
}

fn merged_row(row: &Row, results: &[Named]) -> Result<Row, Unmergeable> {
    let work = Work::of(row);
    let mut merged = row.clone();
    let (mut rounds, mut unsettled, mut weights) = (Vec::new(), false, Vec::new());
    let (mut bytes, mut allocs) = (Vec::new(), Vec::new());
    for (i, named) in results.iter().enumerate() {
        // Every result has every row: the plans are the same.
        let Some(own) = counterpart(&named.result, row) else {
            continue;
        };
        let Some(timing) = measured(own) else {
            let why = own.reason.as_deref().unwrap_or("no reason recorded");
            merged.status = own.status;
            merged.reason = Some(format!("in run {} of {}: {why}", i + 1, results.len()));
            merged.ns_per_op = None;
            return Ok(merged);
        };
        rounds.extend_from_slice(&timing.rounds);
        unsettled |= timing.unsettled;
        weights.push(timing.rounds.len() as f64);
        bytes.push(own.bytes_per_op);
        allocs.push(own.allocs_per_op);
        merged.peak_rss_bytes = merged.peak_rss_bytes.max(own.peak_rss_bytes);
        if own.status == Status::Disturbed {
            merged.status = Status::Disturbed;
            merged.reason.clone_from(&own.reason);
        }
    }
    merged.bytes_per_op = mean(&bytes, &weights);
    merged.allocs_per_op = mean(&allocs, &weights);
    let median = median_interval(&rounds)
        .map_err(|_| Unmergeable::Ragged("one".into(), work.to_string()))?;
    merged.ns_per_op = Some(Timing {
        median: median.median,
        interval: median.interval,
        outliers: beyond_outer_fences(&rounds),
        unsettled,
        rounds,
    });
    Ok(merged)
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

/// Merges the A/A pairs that every run has, and whose rounds are those of rows. If results do not contain the rounds of their pairs, the
/// largest floor is used.
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
