//! Checks that types cannot express: ranges, and figures that contradict each other.
//!
//! A manual edit of a file is detected if it contradicts other members: for example a median that does
//! not match its rounds.

mod attack;
mod interop;
mod published_comparison;
mod recommendation;
mod servers;

use std::collections::{HashMap, HashSet};

use crate::median;

use super::{AaPair, Environment, NoiseFloor, Row, RunResult, Status, Timing, Verdict};

/// A stored and a recomputed figure may differ by rounding only.
const ROUNDING: f64 = 1e-9;

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

/// Returns the first error as `place: message`.
pub(super) fn check(result: &RunResult) -> Result<(), String> {
    counts(result)?;
    environment(&result.environment)?;
    noise_floor(&result.noise_floor)?;
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
    for (i, verdict) in result.verdicts.iter().enumerate() {
        self::verdict(verdict, &result.rows.measured)
            .map_err(|(member, what)| format!("verdicts[{i}]{member}: {what}"))?;
    }
    published_comparison::check(result)?;
    recommendation::check(result).map_err(|what| format!("recommendation{what}"))?;
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
    match count > most {
        true => Err(format!("{count} {what} exceed the limit of {most}")),
        false => Ok(()),
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
    if disturbance.disturbed == disturbance.reasons.is_empty() {
        return wrong("taint.tainted", "contradicts taint.reasons");
    }
    Ok(())
}

fn noise_floor(noise: &NoiseFloor) -> Result<(), String> {
    for (member, floor) in [("floor", noise.floor), ("managed", noise.managed)] {
        if !floor.is_none_or(not_negative) {
            return Err(format!(
                "noise_floor.{member}: is not a ratio above one (0.012 is 1.2 %)"
            ));
        }
    }
    for (i, pair) in noise.pairs.iter().enumerate() {
        self::pair(pair)
            .map_err(|(member, what)| format!("noise_floor.pairs[{i}]{member}: {what}"))?;
    }
    Ok(())
}

fn pair(pair: &AaPair) -> Result<(), Wrong> {
    ratio(pair.ratio, pair.interval)?;
    let [first, second] = &pair.rounds;
    if first.len() != second.len() {
        return Err((".rounds", "the two lists have different lengths".into()));
    }
    times(first).and_then(|()| times(second))
}

fn row(row: &Row) -> Result<(), Wrong> {
    match (&row.ns_per_op, row.status) {
        (Some(timing), _) => {
            self::timing(timing).map_err(|(_, what)| (".ns_per_op", what))?;
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

fn timing(timing: &Timing) -> Result<(), Wrong> {
    times(&timing.rounds)?;
    let Some(median) = median(&timing.rounds) else {
        return Err((
            ".rounds",
            "0 finished rounds, at least 1 required: run more rounds".into(),
        ));
    };
    let same = |a: f64, b: f64| (a - b).abs() <= ROUNDING * b;
    if !same(timing.median, median) {
        return Err((".median", "is not the median of the rounds".into()));
    }
    let [low, high] = timing.interval;
    if !(low > 0.0 && low <= timing.median && timing.median <= high && high.is_finite()) {
        return Err((".interval", "does not contain the median".into()));
    }
    Ok(())
}

fn verdict(verdict: &Verdict, rows: &[Row]) -> Result<(), Wrong> {
    ratio(verdict.ratio, verdict.interval)?;
    if !(0.0..=1.0).contains(&verdict.p_value) {
        return Err((".p_value", "is not a probability".into()));
    }
    if verdict.group == 0 || verdict.baseline_group == Some(0) {
        return Err((".tier", "must be at least 1".into()));
    }
    let measured = |id: &str| {
        let mut about = rows.iter().filter(|row| verdict.is_about(row, id));
        about.any(|row| row.ns_per_op.is_some())
    };
    for (member, id) in [
        (".baseline", &verdict.baseline),
        (".subject", &verdict.subject),
    ] {
        if !measured(id) {
            return Err((member, "no row measured it with this operation".into()));
        }
    }
    Ok(())
}

fn ratio(ratio: f64, [low, high]: [f64; 2]) -> Result<(), Wrong> {
    if !(ratio.is_finite() && ratio > 0.0) {
        return Err((".ratio", "is not a ratio above zero".into()));
    }
    // Both are exponentials of sums: an interval of zero width may differ by rounding.
    let holds = low <= ratio * (1.0 + ROUNDING) && ratio <= high * (1.0 + ROUNDING);
    if !(low >= 0.0 && holds) {
        return Err((".interval", "does not contain the ratio".into()));
    }
    Ok(())
}

fn times(rounds: &[f64]) -> Result<(), Wrong> {
    match rounds.iter().position(|&t| !(t.is_finite() && t > 0.0)) {
        Some(round) => Err((
            ".rounds",
            format!("round {round} (counted from 0) is not a positive time"),
        )),
        None => Ok(()),
    }
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
