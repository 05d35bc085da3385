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
    let mut limits = Vec::new();
    if let Some(limit) = of_machine(result) {
        limits.push(limit);
    }
    limits.extend(of_threads(result));
    limits.extend(of_rows(&result.rows.measured));
    limits.extend(of_others(&result.rows));
    limits.extend(of_shared_cores(result));
    if let Some(ended) = result.environment.out_of_support() {
        limits.push(format!("figures of supported runtimes: {ended}"));
    }
    limits
}

fn of_machine(result: &RunResult) -> Option<String> {
    let environment = &result.environment;
    let noise = &result.noise_floor;
    let below = noise
        .floor
        .into_iter()
        .chain(noise.managed)
        .fold(None, |most: Option<f64>, share| {
            Some(most.map_or(share, |m| m.max(share)))
        });
    let differences = match below {
        Some(_) => {
            let bands = sentences::bands_in_words(noise, units::percent);
            format!("differences below {bands}")
        }
        None => "small differences".to_owned(),
    };
    if environment.disturbance.disturbed {
        let reason = environment.disturbance.reasons.first();
        let reason = reason.map_or_else(String::new, |why| {
            // The section about quality names the limit.
            let why = why.split(" (limit").next().unwrap_or_default();
            format!(": {}", why.trim_end_matches('.'))
        });
        return Some(format!("{differences} (disturbed run{reason})"));
    }
    if !environment.complete {
        return Some(format!(
            "{differences} (the run ended early, after {} of {} rounds)",
            environment.rounds_finished, environment.rounds_planned
        ));
    }
    let timed = !result.rows.measured.is_empty();
    if timed && noise.floor.is_none() {
        return Some(format!("{differences} (no noise floor was measured)"));
    }
    let is_noisy = below.is_some_and(|share| share > MAX_EQUIVALENCE);
    (is_noisy || environment.is_cut_by_budget()).then(|| {
        let mut why = vec!["noise".to_owned()];
        if environment.is_cut_by_budget() {
            why.push(format!(
                "{} of {} rounds in the time limit",
                environment.rounds_finished, environment.rounds_planned
            ));
        }
        let is_open = |verdict: &&Verdict| verdict.verdict == VerdictKind::Undecided;
        let open = result.verdicts.iter().filter(is_open).count();
        if open > 0 {
            why.push(format!(
                "{} of {} comparisons undecided",
                units::whole(open as u64),
                units::whole(result.verdicts.len() as u64)
            ));
        }
        format!("{differences} ({})", why.join("; "))
    })
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
    let kinds = [
        (
            "attacks",
            rows.attack.len(),
            rows.attack
                .iter()
                .filter(|row| row.outcome.is_none())
                .count(),
        ),
        (
            "exchanges between libraries",
            rows.interop.len(),
            rows.interop
                .iter()
                .filter(|row| row.outcome.is_none())
                .count(),
        ),
        (
            "loads of servers",
            rows.servers.len(),
            rows.servers.iter().filter(|row| row.load.is_none()).count(),
        ),
    ];
    let open = kinds.into_iter().filter(|(_, _, open)| *open > 0);
    open.map(|(what, all, open)| {
        format!(
            "{} of {} {what}, which failed or were not measured",
            units::whole(open as u64),
            units::whole(all as u64)
        )
    })
    .collect()
}

/// Names the libraries of rows without an undisturbed time, by the reason.
fn of_rows(rows: &[Row]) -> Vec<String> {
    let silent = |row: &&Row| row.status != Status::Ok || row.ns_per_op.is_none();
    let reasons = [
        "which failed",
        "disturbed",
        "whose driver was not built or started",
        "not offered by the library",
    ];
    let why = |row: &Row| match row.status {
        Status::Ok | Status::FailedPreflight | Status::Crashed | Status::TimedOut => reasons[0],
        Status::Disturbed => reasons[1],
        Status::Unavailable if !row.is_not_offered() => reasons[2],
        Status::Unavailable => reasons[3],
    };
    let silent: Vec<&Row> = rows.iter().filter(silent).collect();
    let named = reasons.into_iter().filter_map(|reason| {
        let of_reason = silent.iter().filter(|row| why(row) == reason);
        let rows = named(&of_reason.copied().collect::<Vec<_>>())?;
        Some(format!("{rows}, {reason}"))
    });
    named.collect()
}

/// Names the libraries of rows, with the number of rows.
fn named(rows: &[&Row]) -> Option<String> {
    let mut libraries: Vec<(String, usize)> = Vec::new();
    for row in rows {
        let subject = &row.subject;
        let name = format!("{} ({})", subject.library, names::language(subject));
        match libraries.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => libraries.push((name, 1)),
        }
    }
    if libraries.is_empty() {
        return None;
    }
    let rest = libraries.split_off(libraries.len().min(LIBRARIES_MAX));
    let mut named: Vec<String> = libraries
        .into_iter()
        .map(|(name, count)| format!("{} of {name}", units::count(count, "row", "rows")))
        .collect();
    if !rest.is_empty() {
        let rows: usize = rest.iter().map(|(_, count)| count).sum();
        named.push(format!(
            "{} of {}",
            units::count(rows, "row", "rows"),
            units::count(rest.len(), "other library", "other libraries")
        ));
    }
    Some(units::list(&named))
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
        assert_eq!(
            limits(&result(rows.clone(), 1.1)),
            ["differences below 110.0\u{a0}% (noise)"]
        );
        let mut cut = result(rows, 0.02);
        cut.environment.rounds_planned = 12;
        let mut cut_quiet = cut.clone();
        cut_quiet.noise_floor.floor = Some(0.008);
        let [limit] = limits(&cut_quiet).try_into().expect("one limit");
        assert!(
            limit.starts_with("differences below 2.0\u{a0}% ("),
            "the band, not the floor: {limit}"
        );
        cut_quiet.noise_floor.managed = Some(0.039);
        let [limit] = limits(&cut_quiet).try_into().expect("one limit");
        let both = "differences below 2.0\u{a0}%, or 3.9\u{a0}% with a managed runtime (";
        assert!(limit.starts_with(both), "{limit}");
        assert_eq!(
            limits(&cut),
            ["differences below 2.0\u{a0}% (noise; 8 of 12 rounds in the time limit)"]
        );
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
