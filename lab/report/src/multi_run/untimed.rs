//! Adds rows without times (attacks and interop) to those of a run.

use std::collections::HashMap;

use super::inputs::{Named, Unmergeable, code};
use super::runs::untimed_runs;
use super::same::other_version;
use jeton_lab_model::result::{AttackRow, InteropRow, RunResult};
use jeton_lab_published as published;

/// Adds the rows without times to the run, and answers the published conclusions again. These rows have
/// no times, so the machine may differ, but the code must not.
pub(super) fn join(mut whole: RunResult, results: &[Named]) -> Result<RunResult, Unmergeable> {
    let mut seen = HashMap::new();
    whole.rows.attack.clear();
    whole.rows.interop.clear();
    for named in results {
        let rows = &named.result.rows;
        if rows.attack.is_empty() && rows.interop.is_empty() {
            continue;
        }
        same_code(&whole, named)?;
        let names = (rows.attack.iter().map(attack)).chain(rows.interop.iter().map(exchange));
        for name in names {
            match seen.insert(name.clone(), &named.name) {
                Some(other) if *other != named.name => {
                    let (a, b) = (other.clone(), named.name.clone());
                    return Err(Unmergeable::Overlap(a, b, name));
                }
                _ => {}
            }
        }
        whole.rows.attack.extend(rows.attack.iter().cloned());
        whole.rows.interop.extend(rows.interop.iter().cloned());
        whole.runs.extend(untimed_runs(&named.result));
        let (all, own) = (&mut whole.environment, &named.result.environment);
        all.runtimes.extend(own.runtimes.clone());
        all.drivers.extend(own.drivers.clone());
        all.complete &= own.complete;
    }
    whole.claims_answered = published::answers(&whole.rows, &whole.noise_floor);
    Ok(whole)
}

fn same_code(whole: &RunResult, named: &Named) -> Result<(), Unmergeable> {
    let differ = |difference| {
        let run = "the run".to_owned();
        Err(Unmergeable::AnotherSubject(
            run,
            named.name.clone(),
            difference,
        ))
    };
    if let Some(difference) = code(&whole.environment, &named.result.environment, "driver") {
        return differ(difference);
    }
    match other_version(&whole.rows, &named.result.rows) {
        Some(difference) => differ(difference),
        None => Ok(()),
    }
}

/// Formats `alg-none on go/golang-jwt (jwt, documented)`.
fn attack(row: &AttackRow) -> String {
    let (driver, format, practice) = (&row.subject.driver, &row.format, row.practice.name());
    format!("{} on {driver} ({format}, {practice})", row.attack)
}

/// Formats `go/jwx to rust/jeton (jwt ES256)`.
fn exchange(row: &InteropRow) -> String {
    let kind = [
        Some(row.format.as_str()),
        row.alg.as_deref(),
        row.enc.as_deref(),
    ];
    let kind: Vec<&str> = kind.into_iter().flatten().collect();
    let (from, to) = (&row.issuer.driver, &row.verifier.driver);
    format!("{from} to {to} ({})", kind.join(" "))
}
