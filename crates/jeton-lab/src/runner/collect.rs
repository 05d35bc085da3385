//! From the benches to the result file.

use super::Options;
use super::bench::Bench;
use super::judge::{noise_floor, verdicts};
use crate::published;
use crate::result::{ClaimsSet, Environment, Row, Rows, RunResult, SCHEMA, Status, Timing};
use crate::stats::median::median_interval;
use crate::stats::outliers::beyond_outer_fences;
use crate::suite::{ClaimsSets, Plan};

pub(super) fn result(
    benches: Vec<Bench>,
    plan: &Plan,
    options: &Options,
    mut environment: Environment,
    sets: &ClaimsSets,
) -> RunResult {
    for hello in benches.iter().filter_map(|b| b.hello.as_ref()) {
        // Of several runtimes the one on PATH comes first, and is the one that this member is of.
        let runtimes = &mut environment.runtimes;
        let runtime = runtimes.entry(hello.language.clone());
        runtime.or_insert_with(|| hello.runtime.clone());
    }
    let noise_floor = noise_floor(&benches);
    let verdicts = verdicts(&benches, &plan.comparisons, &noise_floor);
    let originals = benches.into_iter().filter(|b| b.twin_of.is_none());
    let rows: Vec<Row> = originals.map(|b| row(b, sets)).collect();
    let published = published::tables(&rows);
    let rows = Rows::from(rows);
    let answers = published::answers(&rows, &noise_floor, &environment.taint);
    RunResult {
        schema: SCHEMA,
        command: options.command.clone(),
        seed: options.seed,
        environment,
        noise_floor,
        published,
        verdicts,
        claims_answered: answers,
        recommendation: None,
        runs: Vec::new(),
        rows,
    }
}

fn row(bench: Bench, sets: &ClaimsSets) -> Row {
    let timing = timing(&bench);
    let (status, reason) = match (bench.failure, &timing) {
        (Some((status, reason)), _) => (status, Some(reason)),
        (None, Some(_)) => (Status::Ok, None),
        (None, None) => (
            Status::Unavailable,
            Some("the run was ended before its first round was finished".into()),
        ),
    };
    Row {
        suite: bench.suite.into(),
        contract: bench.cell.contract.name().into(),
        status,
        reason,
        subject: bench.cell.subject(),
        reference: bench.cell.is_reference(),
        claims: ClaimsSet {
            bytes: sets
                .named(&bench.cell.claims)
                .map_or(0, |set| set.bytes(bench.cell.format)),
            name: bench.cell.claims.clone(),
        },
        token_bytes: bench.token_bytes,
        threads: bench.cell.threads,
        ns_per_op: timing,
        bytes_per_op: bench.bytes_per_op,
        allocs_per_op: bench.allocs_per_op,
        peak_rss_bytes: bench.peak_rss_bytes,
    }
}

fn timing(bench: &Bench) -> Option<Timing> {
    let median = median_interval(&bench.rounds).ok()?;
    Some(Timing {
        median: median.median,
        interval: median.interval,
        rounds: bench.rounds.clone(),
        outliers: beyond_outer_fences(&bench.rounds),
        unsettled: bench.unsettled,
    })
}
