//! Computes every derived figure of a result again.

use jeton_lab_model::recommendation::Requirements;
use jeton_lab_model::result::{NoiseFloor, Row, RunResult, ServerRow, Timing, latency_ms};
use jeton_lab_published as published;
use jeton_lab_stats::median::{median, median_interval};
use jeton_lab_stats::outliers::beyond_outer_fences;

use super::inputs::Named;
use super::pooled::{noise_floor, verdicts};
use super::runs::runs;
use super::servers::has_servers_alone;
use crate::recommendation::{Noisy, recommend};

/// Returns the result with its derived figures computed again: medians, intervals, outliers, the noise
/// floor, verdicts with their groups, the figures of servers, the published figures beside the measured
/// ones, the answers to the published conclusions and the recommendation. A part that the file does not
/// have is not added.
///
/// A verdict whose rows have no rounds is left out, and so is an A/A pair whose rounds are not of a row. Without
/// pairs there is no noise floor.
#[must_use]
pub fn recomputed(result: &RunResult) -> RunResult {
    let mut own = result.clone();
    own.rows.measured.iter_mut().for_each(measured);
    let cores = own.environment.cores;
    for row in &mut own.rows.servers {
        server(row, cores);
    }
    let runs = runs(&own);
    let named = [Named {
        name: String::new(),
        result: own.clone(),
    }];
    own.noise_floor = noise_floor(&named, &own.rows.measured, &runs);
    if own.noise_floor.pairs.is_empty() {
        own.noise_floor = NoiseFloor::default();
    }
    own.verdicts = verdicts(&own, &own.rows.measured, &own.noise_floor, &runs);
    if !own.published.is_empty() {
        own.published = published::tables(&own.rows);
    }
    if !own.claims_answered.is_empty() {
        own.claims_answered = if has_servers_alone(&own.rows) {
            published::answers_of_servers(&own.rows.servers)
        } else {
            published::answers(&own.rows, &own.noise_floor)
        };
    }
    if let Some(stored) = own.recommendation.take() {
        let noisy = if stored.allow_noisy {
            Noisy::Allowed
        } else {
            Noisy::Refused
        };
        // Reading the file already rejected requirements that do not parse.
        let requirements = Requirements::parse(&stored.requirements).unwrap_or_default();
        own.recommendation = Some(recommend(&own, &requirements, noisy));
    }
    own
}

fn measured(row: &mut Row) {
    row.reference = row.is_reference_work();
    row.subject.id = row.subject.id_for(row.subject.driver());
    if let Some(timing) = &mut row.ns_per_op {
        self::timing(timing);
    }
}

fn timing(timing: &mut Timing) {
    if let Ok(own) = median_interval(&timing.rounds) {
        (timing.median, timing.interval) = (own.median, own.interval);
    }
    timing.outliers = beyond_outer_fences(&timing.rounds);
}

/// `cores` are those of the machine.
fn server(row: &mut ServerRow, cores: usize) {
    // Imported figures are of another machine.
    if row.loader.is_none() {
        row.oversubscribed = row.cores as usize >= cores;
    }
    row.scenario = row.of_scenario().load();
    let Some(load) = &mut row.load else {
        return;
    };
    let rates: Vec<f64> = load.repetitions.iter().map(|r| r.requests_per_s).collect();
    let cpu: Option<Vec<f64>> = (load.repetitions.iter())
        .map(|r| r.cpu_us_per_request)
        .collect();
    if let Some(rate) = median(&rates) {
        load.requests_per_s = rate;
    }
    load.cpu_us_per_request = cpu.and_then(|cpu| median(&cpu));
    load.latency_ms = latency_ms(&load.latencies);
}
