//! Collects the cases into a result.

use super::Options;
use super::case_run::CaseRun;
use super::verdicts::{noise_floor, verdicts};
use crate::suite::Plan;
use jeton_lab_model::claims::ClaimsSets;
use jeton_lab_model::result::{
    ClaimsSet, Environment, Row, Rows, RunResult, SCHEMA, Status, Timing,
};
use jeton_lab_stats::median::median_interval;
use jeton_lab_stats::outliers::beyond_outer_fences;

pub(super) fn result(
    case_runs: Vec<CaseRun>,
    plan: &Plan,
    options: &Options,
    mut environment: Environment,
    sets: &ClaimsSets,
) -> RunResult {
    for hello in case_runs.iter().filter_map(|b| b.hello.as_ref()) {
        // With several runtimes, the one on PATH comes first and is recorded here.
        let runtimes = &mut environment.runtimes;
        let runtime = runtimes.entry(hello.language.clone());
        runtime.or_insert_with(|| hello.runtime.clone());
    }
    let noise_floor = noise_floor(&case_runs);
    let verdicts = verdicts(&case_runs, &plan.comparisons, &noise_floor);
    let originals = case_runs.into_iter().filter(|b| b.aa_pair_of.is_none());
    let rows: Vec<Row> = originals.map(|b| row(b, sets)).collect();
    RunResult {
        schema: SCHEMA,
        command: options.command.clone(),
        seed: options.seed,
        environment,
        noise_floor,
        published: Vec::new(),
        verdicts,
        claims_answered: Vec::new(),
        recommendation: None,
        runs: Vec::new(),
        rows: Rows::from(rows),
    }
}

fn row(case_run: CaseRun, sets: &ClaimsSets) -> Row {
    let timing = timing(&case_run);
    let (status, reason) = match (case_run.failure, &timing) {
        (Some((status, reason)), _) => (status, Some(reason)),
        (None, Some(_)) => (Status::Ok, None),
        (None, None) => (
            Status::Unavailable,
            Some("the run ended before its first round finished".into()),
        ),
    };
    Row {
        suite: case_run.suite.into(),
        operation: case_run.case.operation.name().into(),
        status,
        reason,
        subject: case_run.case.subject(),
        reference: case_run.case.is_reference(),
        claims: ClaimsSet {
            bytes: sets
                .named(&case_run.case.claims)
                .map_or(0, |set| set.bytes(case_run.case.format)),
            name: case_run.case.claims.clone(),
        },
        token_bytes: case_run.token_bytes,
        threads: case_run.case.threads,
        ns_per_op: timing,
        bytes_per_op: case_run.bytes_per_op,
        allocs_per_op: case_run.allocs_per_op,
        peak_rss_bytes: case_run.peak_rss_bytes,
        loads_wrong_keys: case_run.loads_wrong_keys,
    }
}

fn timing(case_run: &CaseRun) -> Option<Timing> {
    let median = median_interval(&case_run.rounds).ok()?;
    Some(Timing {
        median: median.median,
        interval: median.interval,
        rounds: case_run.rounds.clone(),
        outliers: beyond_outer_fences(&case_run.rounds),
        unsettled: case_run.unsettled,
    })
}
