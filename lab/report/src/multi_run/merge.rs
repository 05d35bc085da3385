//! Merges several runs of one plan into one result.
//!
//! The rounds of several runs are more rounds, in which all subjects are still interleaved, and each
//! run has new processes. From [`RUN_VALUES_MIN`](super::RUN_VALUES_MIN) runs on, verdicts take each run as
//! one value (the geometric mean of its rounds): rounds of one run share their processes and their time, so only
//! then do the intervals include these effects. With fewer runs, every round is a value, as in one run.

use super::check::contradictions;
use super::inputs::{Named, Unmergeable, code, environment, mean, same_machine};
use super::machine::Difference;
use super::pooled::{measured, noise_floor, verdicts};
use super::runs::{has_run_in_common, runs};
use super::same::{Work, counterpart};
use super::servers::{has_servers_alone, of_servers};
use super::untimed;
use jeton_lab_model::result::{MergedRun, Row, Rows, RunResult, SCHEMA, Status, Timing};
use jeton_lab_published as published;
use jeton_lab_stats::median::median_interval;
use jeton_lab_stats::outliers::beyond_outer_fences;

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
