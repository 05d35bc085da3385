//! Merges several runs of `lab servers` into one result.
//!
//! A table compares servers that were loaded interleaved. So if two results have the same load (a
//! scenario with a rate), they must have the same servers, and their repetitions are added. A load of
//! one result only is copied. Rates that a run derived from its own peak are loads of that run.

use super::inputs::{Named, Unmergeable, code, environment, same_machine};
use super::machine::Difference;
use super::runs::untimed_runs;
use jeton_lab_model::result::{Rows, RunResult, ServerLoad, ServerRow, Status, latency_ms};
use jeton_lab_model::servers::Scenario;
use jeton_lab_published::answers_of_servers;
use jeton_lab_stats::median::median;

/// Reports whether a result has only server rows.
pub(super) fn has_servers_alone(rows: &Rows) -> bool {
    !rows.servers.is_empty()
        && rows.measured.is_empty()
        && rows.attack.is_empty()
        && rows.interop.is_empty()
}

/// Merges results with server rows only, in the order of their starts.
pub(super) fn of_servers(results: &[Named], command: &str) -> Result<RunResult, Unmergeable> {
    let first = &results[0];
    for (i, later) in results.iter().enumerate() {
        for earlier in &results[..i] {
            not_twice(earlier, later)?;
            same_servers(earlier, later)?;
            same_code(earlier, later)?;
        }
        same_machine(first, later)?;
    }
    let mut rows: Vec<ServerRow> = Vec::new();
    for row in results.iter().flat_map(|named| &named.result.rows.servers) {
        if !rows.iter().any(|merged| Key::of(merged) == Key::of(row)) {
            rows.push(merged_row(row, results)?);
        }
    }
    let environment = environment(results);
    let rows = Rows {
        servers: rows,
        ..Rows::default()
    };
    let runs = results.iter().flat_map(|n| untimed_runs(&n.result));
    let command = command.to_owned();
    Ok(RunResult {
        // As in a run of servers: no answers about the other reports.
        claims_answered: answers_of_servers(&rows.servers),
        runs: runs.collect(),
        ..RunResult::without_verdicts(command, first.result.seed, environment, rows)
    })
}

/// One server under one load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Key<'a> {
    server: &'a str,
    load: (Scenario, Option<u64>),
}

impl<'a> Key<'a> {
    fn of(row: &'a ServerRow) -> Self {
        Self {
            server: &row.subject.id,
            load: (row.of_scenario(), row.rate.map(f64::to_bits)),
        }
    }
}

fn not_twice(a: &Named, b: &Named) -> Result<(), Unmergeable> {
    let theirs = untimed_runs(&b.result);
    if (untimed_runs(&a.result).iter()).any(|run| theirs.contains(run)) {
        Err(Unmergeable::Twice(a.name.clone(), b.name.clone()))
    } else {
        Ok(())
    }
}

/// Checks that both have the same servers under each common load.
fn same_servers(a: &Named, b: &Named) -> Result<(), Unmergeable> {
    for (with, without) in [(a, b), (b, a)] {
        let theirs: Vec<Key<'_>> = (without.result.rows.servers.iter()).map(Key::of).collect();
        let lacks = |row: &&ServerRow| {
            let key = Key::of(row);
            theirs.iter().any(|other| other.load == key.load) && !theirs.contains(&key)
        };
        if let Some(row) = with.result.rows.servers.iter().find(lacks) {
            return Err(Unmergeable::AnotherPlan {
                with: with.name.clone(),
                without: without.name.clone(),
                row: name(row),
            });
        }
    }
    Ok(())
}

/// Formats `go/fixed in 1 core, 5×50, HS256`.
fn name(row: &ServerRow) -> String {
    format!("{} in {}", row.subject.id, row.of_scenario().name())
}

fn same_code(a: &Named, b: &Named) -> Result<(), Unmergeable> {
    let differ = |difference| {
        let (a, b) = (a.name.clone(), b.name.clone());
        Err(Unmergeable::AnotherSubject(a, b, difference))
    };
    if let Some(difference) = code(&a.result.environment, &b.result.environment, "server") {
        return differ(difference);
    }
    for row in &a.result.rows.servers {
        let mut theirs = b.result.rows.servers.iter();
        let other = theirs.find(|other| Key::of(other) == Key::of(row));
        if let Some(difference) = other.and_then(|other| same_work(row, other)) {
            return differ(difference);
        }
    }
    Ok(())
}

/// Returns the difference between two rows of one server under one load.
fn same_work(a: &ServerRow, b: &ServerRow) -> Option<Difference> {
    let facts = |row: &ServerRow| {
        [
            ("libraries", row.subject.libraries.clone()),
            (
                "loader",
                row.loader.clone().unwrap_or_else(|| "jeton's".to_owned()),
            ),
            (
                "cores",
                if row.oversubscribed {
                    "shared with the loader".to_owned()
                } else {
                    "its own".to_owned()
                },
            ),
        ]
    };
    let mut both = facts(a).into_iter().zip(facts(b));
    both.find(|((_, a), (_, b))| a != b)
        .map(|((what, before), (_, after))| Difference {
            what: format!("{what} of {}", name(a)),
            before,
            after,
        })
}

/// Merges a row with its repetitions. A row that is not measured in all results stays unmeasured, with
/// the reason.
fn merged_row(row: &ServerRow, results: &[Named]) -> Result<ServerRow, Unmergeable> {
    let counterpart = |named: &'_ Named| -> Option<ServerRow> {
        let mut rows = named.result.rows.servers.iter();
        rows.find(|other| Key::of(other) == Key::of(row)).cloned()
    };
    let all: Vec<(usize, ServerRow)> = (results.iter().enumerate())
        .filter_map(|(i, named)| Some((i, counterpart(named)?)))
        .collect();
    let mut merged = row.clone();
    if let Some((i, without)) = all.iter().find(|(_, row)| row.load.is_none()) {
        merged.status = without.status;
        merged.load = None;
        let everywhere = all.iter().all(|(_, row)| row.reason == without.reason);
        merged.reason = match &without.reason {
            reason if everywhere => reason.clone(),
            reason => Some(format!(
                "in run {} of {}: {}",
                i + 1,
                results.len(),
                reason.as_deref().unwrap_or("no reason recorded")
            )),
        };
        return Ok(merged);
    }
    let not_ok = all.iter().find(|(_, row)| row.status != Status::Ok);
    merged.status = not_ok.map_or(Status::Ok, |(_, row)| row.status);
    let mut reasons: Vec<&str> = all
        .iter()
        .filter_map(|(_, r)| r.reason.as_deref())
        .collect();
    reasons.dedup();
    merged.reason = (!reasons.is_empty()).then(|| reasons.join("; "));
    let loads: Vec<&ServerLoad> = all.iter().filter_map(|(_, r)| r.load.as_ref()).collect();
    merged.load = Some(merged_load(&loads).ok_or(Unmergeable::NothingMeasured)?);
    Ok(merged)
}

/// Merges all repetitions; `None` if there are none.
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
    let rates: Vec<f64> = all.repetitions.iter().map(|r| r.requests_per_s).collect();
    let cpu: Option<Vec<f64>> = (all.repetitions.iter())
        .map(|r| r.cpu_us_per_request)
        .collect();
    // A file has a single figure for the loader, over all repetitions.
    let client: Option<Vec<f64>> = loads.iter().map(|l| l.client_cpu_us_per_request).collect();
    let bound: Option<Vec<bool>> = loads.iter().map(|l| l.client_bound).collect();
    all.requests_per_s = median(&rates)?;
    all.cpu_us_per_request = cpu.and_then(|cpu| median(&cpu));
    all.client_cpu_us_per_request = client.and_then(|cpu| median(&cpu));
    all.client_bound = bound.map(|bound| bound.contains(&true));
    all.latency_ms = latency_ms(&all.latencies);
    Some(all)
}
