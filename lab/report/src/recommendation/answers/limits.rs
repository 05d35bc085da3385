//! What a run cannot conclude, because rows are missing or the machine was disturbed.

use std::collections::BTreeSet;

use jeton_lab_model::names;
use jeton_lab_model::result::{Row, Rows, RunResult, Status, Verdict, VerdictKind};
use jeton_lab_model::units;
use jeton_lab_stats::verdict::MAX_EQUIVALENCE;
use jeton_lab_stats::verdicts::band_for;

use crate::sentences;

/// With more libraries than this, the rest is counted.
const LIBRARIES_MAX: usize = 3;

/// Returns one phrase for each reason; empty if the run was complete and undisturbed.
pub(crate) fn limits(result: &RunResult) -> Vec<String> {
    let ended = result.environment.out_of_support();
    let ended = ended.map(|ended| format!("figures of supported runtimes: {ended}"));
    let machine = of_machine(result).into_iter().chain(of_threads(result));
    let rows = of_rows(&result.rows.measured)
        .into_iter()
        .chain(of_others(&result.rows));
    machine
        .chain(rows)
        .chain(of_shared_cores(result))
        .chain(ended)
        .collect()
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
    let (finished, planned) = (environment.rounds_finished, environment.rounds_planned);
    let because = if environment.disturbance.disturbed {
        let reason = environment
            .disturbance
            .reasons
            .first()
            .map_or_else(String::new, |why| {
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
        let cut = format!("; {finished} of {planned} rounds in the time limit");
        let cut = if environment.is_cut_by_budget() {
            cut
        } else {
            String::new()
        };
        let is_open = |verdict: &&Verdict| verdict.verdict == VerdictKind::Undecided;
        let open = match result.verdicts.iter().filter(is_open).count() {
            0 => String::new(),
            open => {
                let [open, all] =
                    [open, result.verdicts.len()].map(|count| units::whole(count as u64));
                format!("; {open} of {all} comparisons undecided")
            }
        };
        format!("noise{cut}{open}")
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
    if unknown.is_empty() {
        return None;
    }
    let counts: Vec<String> = unknown
        .into_iter()
        .map(|threads| units::count(threads as usize, "thread", "threads"))
        .collect();
    let counts = units::list(&counts);
    Some(format!("comparisons on {counts} (noise not measured)"))
}

/// Counts the loads in which server and loader shared cores.
fn of_shared_cores(result: &RunResult) -> Option<String> {
    let shared = result.rows.servers.iter().filter(|row| row.oversubscribed);
    let loads: BTreeSet<_> = shared
        .map(|row| (row.of_scenario(), row.rate.map(f64::to_bits)))
        .collect();
    (!loads.is_empty()).then(|| {
        format!(
            "tokens per second of {}, because server and loader shared {}",
            units::count(loads.len(), "load", "loads"),
            units::count(result.environment.cores, "core", "cores")
        )
    })
}

/// Counts the rows of the other commands that have no outcome or no figures.
fn of_others(rows: &Rows) -> Vec<String> {
    let attacks = rows.attack.iter().filter(|row| row.outcome.is_none());
    let exchanges = rows.interop.iter().filter(|row| row.outcome.is_none());
    let loads = rows.servers.iter().filter(|row| row.load.is_none());
    let kinds = [
        ("attacks", rows.attack.len(), attacks.count()),
        (
            "exchanges between libraries",
            rows.interop.len(),
            exchanges.count(),
        ),
        ("loads of servers", rows.servers.len(), loads.count()),
    ];
    let open = kinds.into_iter().filter(|(_, _, open)| *open > 0);
    open.map(|(what, all, open)| {
        let [open, all] = [open, all].map(|count| units::whole(count as u64));
        format!("{open} of {all} {what}, which failed or were not measured")
    })
    .collect()
}

/// Names the libraries of rows without an undisturbed time, by the reason.
fn of_rows(rows: &[Row]) -> Vec<String> {
    let reasons = [
        "which failed",
        "disturbed",
        "whose driver was not built or started",
        "not offered by the library",
    ];
    let why = |row: &Row| match row.status {
        Status::Ok | Status::FailedPreflight | Status::Crashed | Status::TimedOut => 0,
        Status::Disturbed => 1,
        Status::Unavailable if !row.is_not_offered() => 2,
        Status::Unavailable => 3,
    };
    let silent = |row: &&Row| row.status != Status::Ok || row.ns_per_op.is_none();
    let named = reasons
        .into_iter()
        .enumerate()
        .filter_map(|(reason, words)| {
            let of_reason = rows.iter().filter(silent).filter(|row| why(row) == reason);
            Some(format!("{}, {words}", named(of_reason)?))
        });
    named.collect()
}

/// Names the libraries of rows, with the number of rows.
fn named<'r>(rows: impl Iterator<Item = &'r Row>) -> Option<String> {
    let mut libraries: Vec<(String, usize)> = Vec::new();
    for subject in rows.map(|row| &row.subject) {
        let name = format!("{} ({})", subject.library, names::language(subject));
        match libraries.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => libraries.push((name, 1)),
        }
    }
    let rest = libraries.split_off(libraries.len().min(LIBRARIES_MAX));
    let rows = |count| units::count(count, "row", "rows");
    let named = libraries
        .into_iter()
        .map(|(name, count)| format!("{} of {name}", rows(count)));
    let others = (!rest.is_empty()).then(|| {
        let count = rest.iter().map(|(_, count)| count).sum();
        let libraries = units::count(rest.len(), "other library", "other libraries");
        format!("{} of {libraries}", rows(count))
    });
    let named: Vec<String> = named.chain(others).collect();
    (!named.is_empty()).then(|| units::list(&named))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recommendation::sample::{fail, result, row};
    use jeton_lab_model::result::NOT_OFFERED;

    #[test]
    fn limits_of_an_undisturbed_run_name_its_noise() {
        let rows = vec![row("go", "a", "jwt", "ES256", "sign", 100.0)];
        assert!(limits(&result(rows.clone(), 0.02)).is_empty());
        let noisy = limits(&result(rows.clone(), 1.1));
        assert_eq!(noisy, ["differences below 110.0\u{a0}% (noise)"]);
        // The band, not the floor.
        let mut cut = result(rows, 0.008);
        cut.environment.rounds_planned = 12;
        let why = "noise; 8 of 12 rounds in the time limit";
        assert_eq!(
            limits(&cut),
            [format!("differences below 2.0\u{a0}% ({why})")]
        );
        cut.noise_floor.managed = Some(0.039);
        let both = "differences below 2.0\u{a0}%, or 3.9\u{a0}% with a managed runtime";
        assert_eq!(limits(&cut), [format!("{both} ({why})")]);
    }

    #[test]
    fn rows_without_a_time_are_named_by_their_reason() {
        let with = |library: &str, status: Status, reason: &str| {
            let mut row = row("go", library, "jwt", "ES256", "sign", 100.0);
            fail(&mut row, status);
            row.reason = Some(reason.to_owned());
            row
        };
        let rows = vec![
            with("a", Status::Unavailable, NOT_OFFERED),
            with("b", Status::Unavailable, "build failed"),
            with("c", Status::Disturbed, "the core was shared"),
            with("d", Status::TimedOut, "no answer"),
            with("e", Status::Crashed, "exited"),
        ];
        assert_eq!(
            limits(&result(rows, 0.02)),
            [
                "1 row of d (Go) and 1 row of e (Go), which failed",
                "1 row of c (Go), disturbed",
                "1 row of b (Go), whose driver was not built or started",
                "1 row of a (Go), not offered by the library",
            ]
        );
    }
}
