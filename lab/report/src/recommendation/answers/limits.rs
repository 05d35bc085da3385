//! What a run cannot conclude, because rows are missing or the machine was disturbed.

use std::collections::BTreeSet;

use jeton_lab_model::result::{Row, Rows, RunResult, Status, Verdict, VerdictKind};
use jeton_lab_model::units;
use jeton_lab_stats::verdict::MAX_EQUIVALENCE;
use jeton_lab_stats::verdicts::band_for;

use super::super::candidate::named;
use crate::grouped::grouped;
use crate::sentences;

/// With more libraries than this, the rest is counted.
const LIBRARIES_MAX: usize = 3;

/// Returns one phrase for each reason; empty if the run was complete and undisturbed.
pub(crate) fn limits(result: &RunResult) -> Vec<String> {
    let ended = result.environment.out_of_support();
    let ended = ended.map(|ended| format!("figures of supported runtimes: {ended}"));
    let machine = of_machine(result).into_iter().chain(of_threads(result));
    let rows = of_rows(&result.rows.measured).chain(of_others(&result.rows));
    let all = machine.chain(rows).chain(of_shared_cores(result));
    all.chain(ended).collect()
}

fn of_machine(result: &RunResult) -> Option<String> {
    let (environment, noise) = (&result.environment, &result.noise_floor);
    let floors = || noise.floor.into_iter().chain(noise.managed);
    let differences = if floors().next().is_some() {
        format!(
            "differences below {}",
            sentences::bands_in_words(noise, units::percent)
        )
    } else {
        "small differences".to_owned()
    };
    let disturbance = &environment.disturbance;
    let (finished, planned) = (environment.rounds_finished, environment.rounds_planned);
    let because = if disturbance.disturbed {
        let reason = disturbance.reasons.first().map_or_else(String::new, |why| {
            // The section about quality names the limit.
            let why = why.split(" (limit").next().unwrap_or_default();
            format!(": {}", why.trim_end_matches('.'))
        });
        format!("disturbed run{reason}")
    } else if !environment.complete {
        format!("the run ended early, after {finished} of {planned} rounds")
    } else if !result.rows.measured.is_empty() && noise.floor.is_none() {
        "no noise floor was measured".to_owned()
    } else if environment.is_cut_by_budget() || floors().any(|share| share > MAX_EQUIVALENCE) {
        let cut = if environment.is_cut_by_budget() {
            format!("; {finished} of {planned} rounds in the time limit")
        } else {
            String::new()
        };
        let is_open = |verdict: &&Verdict| verdict.verdict == VerdictKind::Undecided;
        let open = result.verdicts.iter().filter(is_open).count();
        let open = part(open, result.verdicts.len());
        let open = open.map(|open| format!("; {open} comparisons undecided"));
        format!("noise{cut}{}", open.unwrap_or_default())
    } else {
        return None;
    };
    Some(format!("{differences} ({because})"))
}

/// Names the numbers of threads on which no A/A pair ran: comparisons on as many threads have no verdict.
fn of_threads(result: &RunResult) -> Option<String> {
    let noise = &result.noise_floor;
    let is_unknown = |threads: &u32| !band_for(noise, std::iter::empty(), *threads).is_known();
    let threads = result.verdicts.iter().map(|verdict| verdict.threads);
    let unknown: BTreeSet<u32> = threads.filter(is_unknown).collect();
    let counts = unknown.into_iter();
    let counts = units::list(counts.map(|n| units::count(n as usize, "thread", "threads")));
    (!counts.is_empty()).then(|| format!("comparisons on {counts} (noise not measured)"))
}

fn of_shared_cores(result: &RunResult) -> Option<String> {
    let shared = result.rows.servers.iter().filter(|row| row.oversubscribed);
    let loads = shared.map(|row| (row.of_scenario(), row.rate.map(f64::to_bits)));
    let loads = loads.collect::<BTreeSet<_>>().len();
    let cores = units::count(result.environment.cores, "core", "cores");
    (loads > 0).then(|| {
        let loads = units::count(loads, "load", "loads");
        format!("tokens per second of {loads}, because server and loader shared {cores}")
    })
}

fn of_others(rows: &Rows) -> impl Iterator<Item = String> {
    let attacks = rows.attack.iter().map(|row| row.outcome.is_none());
    let exchanges = rows.interop.iter().map(|row| row.outcome.is_none());
    let loads = rows.servers.iter().map(|row| row.load.is_none());
    let kinds: [(_, Vec<bool>); 3] = [
        ("attacks", attacks.collect()),
        ("exchanges between libraries", exchanges.collect()),
        ("loads of servers", loads.collect()),
    ];
    kinds.into_iter().filter_map(|(what, missing)| {
        let some = missing.iter().filter(|is_missing| **is_missing).count();
        let part = part(some, missing.len())?;
        Some(format!("{part} {what}, which failed or were not measured"))
    })
}

/// Formats `2 of 10`; none if it is no part.
fn part(some: usize, all: usize) -> Option<String> {
    let [said, all] = [some, all].map(|count| units::whole(count as u64));
    (some > 0).then(|| format!("{said} of {all}"))
}

/// Names the libraries of rows without an undisturbed time, by the reason.
fn of_rows(rows: &[Row]) -> impl Iterator<Item = String> {
    const REASONS: [&str; 4] = [
        "which failed",
        "disturbed",
        "whose driver was not built or started",
        "not offered by the library",
    ];
    let why = |row: &Row| match row.status {
        Status::Ok | Status::FailedPreflight | Status::Crashed | Status::TimedOut => REASONS[0],
        Status::Disturbed => REASONS[1],
        Status::Unavailable if !row.is_not_offered() => REASONS[2],
        Status::Unavailable => REASONS[3],
    };
    let silent = |row: &&Row| row.status != Status::Ok || row.ns_per_op.is_none();
    REASONS.into_iter().filter_map(move |reason| {
        let of_reason = rows.iter().filter(silent).filter(|row| why(row) == reason);
        Some(format!("{}, {reason}", libraries(of_reason)?))
    })
}

fn libraries<'r>(rows: impl Iterator<Item = &'r Row>) -> Option<String> {
    let libraries = grouped(rows.map(|row| (named(&row.subject), ()))).into_iter();
    let mut libraries: Vec<(String, usize)> =
        libraries.map(|(name, rows)| (name, rows.len())).collect();
    let rest = libraries.split_off(libraries.len().min(LIBRARIES_MAX));
    if !rest.is_empty() {
        let others = units::count(rest.len(), "other library", "other libraries");
        libraries.push((others, rest.iter().map(|(_, count)| count).sum()));
    }
    let named = units::list(
        libraries
            .into_iter()
            .map(|(name, count)| format!("{} of {name}", units::count(count, "row", "rows"))),
    );
    (!named.is_empty()).then_some(named)
}
