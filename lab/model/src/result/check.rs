//! Checks that types cannot express: ranges, and figures that contradict each other.
//!
//! A manual edit of a file is detected if it contradicts other members: for example a median that does
//! not match its rounds.

mod attack;
mod derived;
mod interop;
mod names;
mod published_comparison;
mod recommendation;
mod servers;

use std::collections::{HashMap, HashSet};

use super::{AaPair, Environment, Row, RunResult, Status};

/// The largest number of timed rows and verdicts. Lookups are quadratic: ten times as many would take a
/// hundred times as long.
const TIMED_MAX: usize = 20_000;

/// The largest number of A/A pairs; a run has nine.
const PAIRS_MAX: usize = 1_000;

/// The largest number of attack rows.
const ATTACKS_MAX: usize = 20_000;

/// The largest number of interop rows, and of kinds of token.
const EXCHANGES_MAX: usize = 200_000;
const KINDS_MAX: usize = 1_000;

/// The largest number of cells of all interop matrices: each kind of token has one matrix over all its
/// drivers. Seventy drivers and a hundred kinds reach this number.
const CELLS_MAX: usize = 500_000;

pub(super) use derived::derived;

/// The shortest and the longest time of an operation, in nanoseconds: a thousandth of a nanosecond, and eleven
/// days. Outside of them, ratios of times are no numbers.
const ROUND_NS: [f64; 2] = [1e-3, 1e15];

/// A stored and a recomputed figure may differ by rounding only.
const ROUNDING: f64 = 1e-9;

/// Checks what was measured; returns the first error as `place: message`.
pub(super) fn measured(result: &RunResult) -> Result<(), String> {
    counts(result)?;
    names::check(result)?;
    environment(&result.environment)?;
    for (i, pair) in result.noise_floor.pairs.iter().enumerate() {
        self::pair(pair)
            .map_err(|(member, what)| format!("noise_floor.pairs[{i}]{member}: {what}"))?;
    }
    for (i, row) in result.rows.measured.iter().enumerate() {
        self::row(row).map_err(|(member, what)| format!("rows[{i}]{member}: {what}"))?;
    }
    twice(&result.rows.measured)?;
    // The other kinds follow the measured rows in files of the lab.
    let before = result.rows.measured.len();
    interop::check(&result.rows.interop, before)?;
    let before = before + result.rows.interop.len();
    attack::check(&result.rows.attack, before)?;
    servers::check(&result.rows.servers, before + result.rows.attack.len())?;
    recommendation::requirements(result).map_err(|what| format!("recommendation{what}"))?;
    merged(result)
}

/// Checks the limits of counts before anything else.
fn counts(result: &RunResult) -> Result<(), String> {
    let rows = &result.rows;
    for (what, count, most) in [
        ("timed rows", rows.measured.len(), TIMED_MAX),
        ("A/A pairs", result.noise_floor.pairs.len(), PAIRS_MAX),
        ("server rows", rows.servers.len(), TIMED_MAX),
        ("interop rows", rows.interop.len(), EXCHANGES_MAX),
        ("attack rows", rows.attack.len(), ATTACKS_MAX),
        ("verdicts", result.verdicts.len(), TIMED_MAX),
    ] {
        at_most(what, count, most)?;
    }
    let mut kinds: HashMap<_, HashSet<_>> = HashMap::new();
    for row in &rows.interop {
        let kind = (&row.format, &row.alg, &row.enc);
        let parties =
            [&row.issuer, &row.verifier].map(|p| (&p.driver, &p.library, &p.version, &p.language));
        kinds.entry(kind).or_default().extend(parties);
    }
    at_most("kinds of token", kinds.len(), KINDS_MAX)?;
    let cells = kinds.values().map(|parties| parties.len().pow(2)).sum();
    at_most("cells of interop matrices", cells, CELLS_MAX)
}

fn at_most(what: &str, count: usize, most: usize) -> Result<(), String> {
    if count > most {
        Err(format!("{count} {what} exceed the limit of {most}"))
    } else {
        Ok(())
    }
}

type Wrong = (&'static str, String);

fn environment(e: &Environment) -> Result<(), String> {
    let wrong = |member: &str, what: &str| Err(format!("environment.{member}: {what}"));
    if e.started.parse::<jiff::Timestamp>().is_err() {
        return wrong("started", "is not an RFC 3339 time");
    }
    if !not_negative(e.elapsed_s) {
        return wrong("elapsed_s", "is not a duration");
    }
    if e.rounds_finished > e.rounds_planned {
        return wrong("rounds_finished", "is more than rounds_planned");
    }
    let disturbance = &e.disturbance;
    if !disturbance.steal.is_none_or(|s| (0.0..=1.0).contains(&s)) {
        return wrong("taint.steal", "is not between 0 and 1");
    }
    if !disturbance.shared.is_none_or(|s| (0.0..=1.0).contains(&s)) {
        return wrong("taint.shared", "is not between 0 and 1");
    }
    if !disturbance.load.is_none_or(not_negative) {
        return wrong("taint.load", "is not a number of cores");
    }
    if !disturbance.pressure.is_none_or(not_negative) {
        return wrong("taint.pressure", "is not a share of the time");
    }
    if disturbance.disturbed == disturbance.reasons.is_empty() {
        return wrong("taint.tainted", "contradicts taint.reasons");
    }
    Ok(())
}

fn pair(pair: &AaPair) -> Result<(), Wrong> {
    if pair.threads == 0 {
        return Err((".threads", "is zero".into()));
    }
    let [first, second] = &pair.rounds;
    if first.len() != second.len() {
        return Err((".rounds", "the two lists have different lengths".into()));
    }
    times(first).and_then(|()| times(second))
}

fn row(row: &Row) -> Result<(), Wrong> {
    match (&row.ns_per_op, row.status) {
        (Some(timing), _) => {
            times(&timing.rounds).map_err(|(_, what)| (".ns_per_op", what))?;
            if timing.rounds.is_empty() {
                let what = "0 finished rounds, at least 1 required: run more rounds";
                return Err((".ns_per_op", what.into()));
            }
        }
        (None, Status::Ok | Status::Disturbed) => {
            return Err((".ns_per_op", "is missing although the status is ok".into()));
        }
        (None, _) => {}
    }
    for (member, figure) in [
        (".bytes_per_op", row.bytes_per_op),
        (".allocs_per_op", row.allocs_per_op),
    ] {
        if !figure.is_none_or(not_negative) {
            return Err((member, "is negative".into()));
        }
    }
    if row.threads == 0 {
        return Err((".threads", "is zero".into()));
    }
    Ok(())
}

fn times(rounds: &[f64]) -> Result<(), Wrong> {
    let [shortest, longest] = ROUND_NS;
    for (round, &time) in rounds.iter().enumerate() {
        let what = match time {
            t if !(t.is_finite() && t > 0.0) => "is not a positive time".to_owned(),
            t if t < shortest => format!("is below {shortest} ns"),
            t if t > longest => format!("is above {longest:e} ns"),
            _ => continue,
        };
        let what = format!("round {round} (counted from 0) {what}");
        return Err((".rounds", what));
    }
    Ok(())
}

fn twice(rows: &[Row]) -> Result<(), String> {
    let mut seen = HashMap::new();
    for (i, row) in rows.iter().enumerate() {
        let key = (
            &row.suite,
            &row.operation,
            &row.subject,
            &row.claims,
            row.threads,
        );
        if let Some(before) = seen.insert(key, i) {
            return Err(format!(
                "rows[{i}]: is the same subject and work as rows[{before}]"
            ));
        }
    }
    Ok(())
}

/// Checks that the runs of a merged result have all of its rounds.
fn merged(result: &RunResult) -> Result<(), String> {
    if result.runs.is_empty() {
        return Ok(());
    }
    for (i, run) in result.runs.iter().enumerate() {
        if run.started.parse::<jiff::Timestamp>().is_err() {
            return Err(format!("runs[{i}].started: is not an RFC 3339 time"));
        }
    }
    let rounds: u64 = result.runs.iter().map(|run| u64::from(run.rounds)).sum();
    if rounds != u64::from(result.environment.rounds_finished) {
        return Err("runs: the sum of their rounds is not environment.rounds_finished".into());
    }
    Ok(())
}

fn not_negative(value: f64) -> bool {
    value.is_finite() && value >= 0.0
}
