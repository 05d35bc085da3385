//! Merges several runs of `lab servers` into one result.
//!
//! A table compares servers that were loaded interleaved. So if two results have the same load (a
//! scenario with a rate), they must have the same servers, and their repetitions are added. A load of
//! one result only is copied. Rates that a run derived from its own peak are loads of that run.

use super::machine::Difference;
use super::mergeable::{
    NOTHING_MEASURED, environment, in_run, other_machine, other_plan, twice, without,
};
use super::runs::{Named, untimed_runs};
use jeton_lab_model::result::{Rows, RunResult, ServerLoad, ServerRow, Status, latency_ms};
use jeton_lab_model::servers::Scenario;
use jeton_lab_published::answers_of_servers;
use jeton_lab_stats::median::median;

pub(super) fn has_servers_alone(rows: &Rows) -> bool {
    let others = rows.measured.len() + rows.attack.len() + rows.interop.len();
    !rows.servers.is_empty() && others == 0
}

pub(super) fn of_servers(results: &[Named], command: &str) -> Result<RunResult, String> {
    let first = &results[0];
    for (i, later) in results.iter().enumerate() {
        let earlier = &results[..i];
        let of_rows = |a: &RunResult, b: &RunResult| {
            let mut rows = a.rows.servers.iter();
            rows.find_map(|row| other_work(row, counterpart(b, row)?))
        };
        let other_plan = |one| other_plan(one, later, "server", lacked, of_rows);
        without(
            twice(earlier, later, untimed_runs)
                .or_else(|| earlier.iter().find_map(other_plan))
                .or_else(|| other_machine(first, later)),
        )?;
    }
    let mut rows = Rows::default();
    for row in results.iter().flat_map(|named| &named.result.rows.servers) {
        if !rows.servers.iter().any(|merged| key(merged) == key(row)) {
            rows.servers.push(merged_row(row, results)?);
        }
    }
    let runs = results.iter().flat_map(|named| untimed_runs(&named.result));
    let (command, seed) = (command.to_owned(), first.result.seed);
    Ok(RunResult {
        // As in a run of servers: no answers about the other reports.
        claims_answered: answers_of_servers(&rows.servers),
        runs: runs.collect(),
        ..RunResult::without_verdicts(command, seed, environment(results), rows)
    })
}

fn load(row: &ServerRow) -> (Scenario, Option<u64>) {
    (row.of_scenario(), row.rate.map(f64::to_bits))
}

fn key(row: &ServerRow) -> (&str, (Scenario, Option<u64>)) {
    (&row.subject.id, load(row))
}

fn counterpart<'r>(result: &'r RunResult, row: &ServerRow) -> Option<&'r ServerRow> {
    let mut rows = result.rows.servers.iter();
    rows.find(|other| key(other) == key(row))
}

fn lacked(with: &RunResult, without: &RunResult) -> Option<String> {
    let lacks = |row: &&ServerRow| {
        let mut others = without.rows.servers.iter();
        others.any(|other| load(other) == load(row)) && counterpart(without, row).is_none()
    };
    with.rows.servers.iter().find(lacks).map(name)
}

/// Formats `go/fixed in 1 core, 5×50, HS256`.
fn name(row: &ServerRow) -> String {
    format!("{} in {}", row.subject.id, row.of_scenario().name())
}

fn other_work(a: &ServerRow, b: &ServerRow) -> Option<Difference> {
    let loader = |row: &ServerRow| row.loader.clone().unwrap_or_else(|| "jeton's".to_owned());
    let cores = |row: &ServerRow| {
        if row.oversubscribed {
            "shared with the loader"
        } else {
            "its own"
        }
    };
    let what = |fact: &str| format!("{fact} of {}", name(a));
    Difference::of(
        what("libraries"),
        &a.subject.libraries,
        &b.subject.libraries,
    )
    .or_else(|| Difference::of(what("loader"), loader(a), loader(b)))
    .or_else(|| Difference::of(what("cores"), cores(a), cores(b)))
}

/// Merges a row with its repetitions. A row that is not measured in all results stays unmeasured, with
/// the reason.
fn merged_row(row: &ServerRow, results: &[Named]) -> Result<ServerRow, String> {
    let all = results.iter().enumerate();
    let all = all.filter_map(|(i, named)| Some((i, counterpart(&named.result, row)?)));
    let all: Vec<(usize, &ServerRow)> = all.collect();
    let mut merged = row.clone();
    if let Some((i, without)) = all.iter().find(|(_, row)| row.load.is_none()) {
        merged.status = without.status;
        merged.load = None;
        merged.reason.clone_from(&without.reason);
        if all.iter().any(|(_, row)| row.reason != without.reason) {
            merged.reason = Some(in_run(*i, results, without.reason.as_deref()));
        }
        return Ok(merged);
    }
    let not_ok = all.iter().find(|(_, row)| row.status != Status::Ok);
    merged.status = not_ok.map_or(Status::Ok, |(_, row)| row.status);
    let reasons = all.iter().filter_map(|(_, row)| row.reason.as_deref());
    let mut reasons: Vec<&str> = reasons.collect();
    reasons.dedup();
    merged.reason = (!reasons.is_empty()).then(|| reasons.join("; "));
    let loads = all.iter().filter_map(|(_, row)| row.load.as_ref());
    let loads: Vec<&ServerLoad> = loads.collect();
    merged.load = Some(merged_load(&loads).ok_or(NOTHING_MEASURED)?);
    Ok(merged)
}

fn merged_load(loads: &[&ServerLoad]) -> Option<ServerLoad> {
    let (first, rest) = loads.split_first()?;
    let mut all = ServerLoad::clone(first);
    for load in rest {
        all.repetitions.extend_from_slice(&load.repetitions);
        all.latencies.add(&load.latencies);
        for (status, times) in &load.statuses {
            let calls = all.statuses.entry(status.clone()).or_default();
            *calls = calls.saturating_add(*times);
        }
        all.verified = all.verified.saturating_add(load.verified);
        all.peak_rss_bytes = all.peak_rss_bytes.max(load.peak_rss_bytes);
    }
    // A file has a single figure for the loader, over all repetitions.
    let client: Option<Vec<f64>> = loads.iter().map(|l| l.client_cpu_us_per_request).collect();
    let bound: Option<Vec<bool>> = loads.iter().map(|l| l.client_bound).collect();
    all.client_cpu_us_per_request = client.and_then(|cpu| median(&cpu));
    all.client_bound = bound.map(|bound| bound.contains(&true));
    set_figures(&mut all).then_some(all)
}

/// Computes the figures of all repetitions. False if the row has no repetition.
pub(super) fn set_figures(load: &mut ServerLoad) -> bool {
    let repetitions = || load.repetitions.iter();
    let rates: Vec<f64> = repetitions().map(|r| r.requests_per_s).collect();
    let cpu: Option<Vec<f64>> = repetitions().map(|r| r.cpu_us_per_request).collect();
    let rate = median(&rates);
    load.requests_per_s = rate.unwrap_or(load.requests_per_s);
    load.cpu_us_per_request = cpu.and_then(|cpu| median(&cpu));
    load.latency_ms = latency_ms(&load.latencies);
    rate.is_some()
}
