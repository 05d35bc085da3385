//! Checks that a recommendation matches its result.

use crate::recommendation::Requirements;
use crate::result::RunResult;

/// Checks the requirements, from which the advice follows. Returns an error as `.member: message`.
pub(super) fn requirements(result: &RunResult) -> Result<(), String> {
    let Some(advice) = &result.recommendation else {
        return Ok(());
    };
    let parsed = Requirements::parse(&advice.requirements);
    parsed.map_or_else(|why| Err(format!(".needs: {why}")), |_| Ok(()))
}

/// Returns the first error as `.member: message`.
pub(super) fn check(result: &RunResult) -> Result<(), String> {
    let Some(advice) = &result.recommendation else {
        return Ok(());
    };
    if result.environment.disturbance.disturbed && !advice.allow_noisy && !advice.choices.is_empty()
    {
        return Err(".choices: a disturbed run has no recommendation".into());
    }
    if advice.because.is_empty() {
        return Err(".because: is empty".into());
    }
    for (i, choice) in advice.choices.iter().enumerate() {
        if choice.picks.is_empty() {
            return Err(format!(".choices[{i}].picks: is empty"));
        }
        for (k, pick) in choice.picks.iter().enumerate() {
            let median = |operations: [&str; 2], ns: f64| {
                result.rows.measured.iter().any(|row| {
                    row.subject.id == pick.subject
                        && operations.contains(&row.operation.as_str())
                        && row.ns_per_op.as_ref().is_some_and(|t| t.median == ns)
                })
            };
            let made = pick
                .make_ns
                .is_none_or(|ns| median(["sign", "encrypt"], ns));
            let opened = pick
                .open_ns
                .is_none_or(|ns| median(["verify", "decrypt"], ns));
            let is_there = result
                .rows
                .measured
                .iter()
                .any(|r| r.subject.id == pick.subject);
            if !(is_there && made && opened) {
                return Err(format!(".choices[{i}].picks[{k}]: no row measured that"));
            }
        }
    }
    Ok(())
}
