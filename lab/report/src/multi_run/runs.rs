//! The runs that made a result, and the runs that two results have in common.

use jeton_lab_model::result::{MergedRun, RunResult};

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

/// The runs that made rows without times; they have no rounds.
pub(super) fn untimed_runs(result: &RunResult) -> Vec<MergedRun> {
    if !result.runs.is_empty() {
        let untimed = result.runs.iter().filter(|run| run.rounds == 0);
        return untimed.cloned().collect();
    }
    vec![MergedRun {
        started: result.environment.started.clone(),
        command: result.command.clone(),
        seed: result.seed,
        rounds: 0,
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
