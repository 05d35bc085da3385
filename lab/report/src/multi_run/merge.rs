//! Merges several runs of one plan into one result.
//!
//! The rounds of several runs are more rounds, in which all subjects are still interleaved, and each
//! run has new processes. From [`RUN_VALUES_MIN`](super::RUN_VALUES_MIN) runs on, verdicts take each run as
//! one value (the geometric mean of its rounds): rounds of one run share their processes and their time, so only
//! then do the intervals include these effects. With fewer runs, every round is a value, as in one run.

use std::collections::HashMap;

use super::check::{Contradiction, contradictions};
use super::machine::Difference;
use super::mergeable::{
    NOTHING_MEASURED, differ, environment, in_run, mean, other_machine, other_plan, twice, without,
};
use super::pooled::{noise_floor, verdicts};
use super::runs::{Named, Work, code, counterpart, measured, other_version, runs, untimed_runs};
use super::servers::{has_servers_alone, of_servers};
use jeton_lab_model::result::{
    AttackRow, InteropRow, MergedRun, Row, Rows, RunResult, Status, Timing,
};
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
/// Why they cannot be merged: the difference and the two results.
pub fn merge(mut results: Vec<Named>, command: &str) -> Result<RunResult, String> {
    if results.len() < 2 {
        return Err("a merge requires at least two results".to_owned());
    }
    for Named { name, result } in &results {
        let found = contradictions(result).into_iter().next();
        without(found.map(|Contradiction { about, what }| {
            format!("{name} contradicts itself: {about}: {what}; see `jeton-lab check`")
        }))?;
    }
    results.sort_by_key(|named| {
        let started = &named.result.environment.started;
        started.parse::<jiff::Timestamp>().ok()
    });
    let mut all = results.iter();
    if let Some(servers) = all.find(|named| !named.result.rows.servers.is_empty()) {
        let mut all = results.iter();
        let other = all.find(|named| !has_servers_alone(&named.result.rows));
        without(other.map(|other| {
            let (with, other) = (&servers.name, &other.name);
            format!("{with} has server rows, and {other} has other rows; results of `jeton-lab servers` merge only with each other")
        }))?;
        return of_servers(&results, command);
    }
    let is_timed = |named: &&Named| !named.result.rows.measured.is_empty();
    let timed: Vec<Named> = results.iter().filter(is_timed).cloned().collect();
    let whole = match timed.as_slice() {
        [] => {
            let why = "none of the results is from `jeton-lab run`; results of attack and interop can only be added to a run";
            return Err(why.to_owned());
        }
        [one] => RunResult {
            command: command.to_owned(),
            runs: runs(&one.result),
            recommendation: None,
            ..one.result.clone()
        },
        several => of_one_plan(several, command)?,
    };
    with_untimed(whole, &results)
}

/// Merges at least two runs, in the order of their starts.
fn of_one_plan(results: &[Named], command: &str) -> Result<RunResult, String> {
    let first = &results[0];
    for (i, later) in results.iter().enumerate() {
        let rounds = later.result.environment.rounds_finished as usize;
        let of_rows = |a: &RunResult, b: &RunResult| {
            let mut rows = a.rows.measured.iter();
            rows.find_map(|row| other_work(row, counterpart(b, row)?))
        };
        let is_uneven = |row: &&Row| measured(row).is_some_and(|t| t.rounds.len() != rounds);
        let mut rows = later.result.rows.measured.iter();
        let uneven = || Some(ragged(&later.name, rows.find(is_uneven)?));
        without(
            twice(&results[..i], later, runs)
                .or_else(|| other_machine(first, later))
                .or_else(|| other_plan(first, later, "driver", lacked, of_rows))
                .or_else(uneven),
        )?;
    }
    let runs: Vec<MergedRun> = results.iter().flat_map(|n| runs(&n.result)).collect();
    let rows = first.result.rows.measured.iter();
    let rows = rows.map(|row| merged_row(row, results));
    let rows: Vec<Row> = rows.collect::<Result<_, _>>()?;
    if rows.iter().all(|row| row.ns_per_op.is_none()) {
        return Err(NOTHING_MEASURED.to_owned());
    }
    let noise_floor = noise_floor(results, &rows, &runs);
    let verdicts = verdicts(&first.result, &rows, &noise_floor, &runs);
    let rows = Rows::from(rows);
    Ok(RunResult {
        published: published::tables(&rows),
        claims_answered: published::answers(&rows, &noise_floor),
        noise_floor,
        verdicts,
        runs,
        ..RunResult::without_verdicts(
            command.to_owned(),
            first.result.seed,
            environment(results),
            rows,
        )
    })
}

fn lacked(with: &RunResult, without: &RunResult) -> Option<String> {
    let mut rows = with.rows.measured.iter();
    let lacked = rows.find(|row| counterpart(without, row).is_none())?;
    Some(Work::of(lacked).to_string())
}

fn other_work(a: &Row, b: &Row) -> Option<Difference> {
    let what = |fact: &str| format!("{fact} of {}", Work::of(a));
    let bytes = |bytes: u64| format!("{bytes} bytes");
    let token = || a.token_bytes.zip(b.token_bytes);
    Difference::of(what("version"), &a.subject.version, &b.subject.version)
        .or_else(|| Difference::of(what("claims"), bytes(a.claims.bytes), bytes(b.claims.bytes)))
        .or_else(|| token().and_then(|(a, b)| Difference::of(what("token"), bytes(a), bytes(b))))
}

fn ragged(name: &str, row: &Row) -> String {
    let work = Work::of(row);
    format!("{name} has a different number of rounds of {work} than of its other rows")
}

fn merged_row(row: &Row, results: &[Named]) -> Result<Row, String> {
    let mut merged = row.clone();
    let (mut rounds, mut unsettled, mut weights) = (Vec::new(), false, Vec::new());
    let (mut bytes, mut allocs) = (Vec::new(), Vec::new());
    for (i, named) in results.iter().enumerate() {
        // Every result has every row: the plans are the same.
        let Some(own) = counterpart(&named.result, row) else {
            continue;
        };
        let Some(timing) = measured(own) else {
            merged.status = own.status;
            merged.reason = Some(in_run(i, results, own.reason.as_deref()));
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
    let median = median_interval(&rounds).map_err(|_| ragged("one", row))?;
    merged.ns_per_op = Some(Timing {
        median: median.median,
        interval: median.interval,
        outliers: beyond_outer_fences(&rounds),
        unsettled,
        rounds,
    });
    Ok(merged)
}

/// Adds the rows without times (attacks and interop) to the run, and answers the published conclusions again. These
/// rows have no times, so the machine may differ, but the code must not.
fn with_untimed(mut whole: RunResult, results: &[Named]) -> Result<RunResult, String> {
    let mut seen: HashMap<String, &str> = HashMap::new();
    whole.rows.attack.clear();
    whole.rows.interop.clear();
    for Named { name, result } in results {
        let rows = &result.rows;
        if rows.attack.is_empty() && rows.interop.is_empty() {
            continue;
        }
        let own = &result.environment;
        let versions = || other_version(&whole.rows, rows);
        let difference = code(&whole.environment, own, "driver").or_else(versions);
        without(differ("the run", name, difference))?;
        let exchanges = rows.interop.iter().map(exchange);
        for what in rows.attack.iter().map(attack).chain(exchanges) {
            let other = seen.insert(what.clone(), name);
            without(other.filter(|other| other != name).map(|other| {
                format!("{other} and {name} both have rows of {what}; omit one of them")
            }))?;
        }
        whole.rows.attack.extend(rows.attack.iter().cloned());
        whole.rows.interop.extend(rows.interop.iter().cloned());
        whole.runs.extend(untimed_runs(result));
        let all = &mut whole.environment;
        all.runtimes.extend(own.runtimes.clone());
        all.drivers.extend(own.drivers.clone());
        all.complete &= own.complete;
    }
    whole.claims_answered = published::answers(&whole.rows, &whole.noise_floor);
    Ok(whole)
}

/// Formats `alg-none on go/golang-jwt (jwt, documented)`.
fn attack(row: &AttackRow) -> String {
    let (driver, format, practice) = (&row.subject.driver, &row.format, row.practice.name());
    format!("{} on {driver} ({format}, {practice})", row.attack)
}

/// Formats `go/jwx to rust/jeton (jwt ES256)`.
fn exchange(row: &InteropRow) -> String {
    let kind = [Some(&row.format), row.alg.as_ref(), row.enc.as_ref()];
    let kind: Vec<&str> = kind.into_iter().flatten().map(String::as_str).collect();
    let (from, to) = (&row.issuer.driver, &row.verifier.driver);
    format!("{from} to {to} ({})", kind.join(" "))
}
