//! Computes every derived figure of a result again.

use jeton_lab_model::recommendation::Requirements;
use jeton_lab_model::result::{NoiseFloor, Row, RunResult};
use jeton_lab_published as published;
use jeton_lab_stats::median::median_interval;
use jeton_lab_stats::outliers::beyond_outer_fences;

use super::pooled::{noise_floor, verdicts};
use super::runs::{Named, runs};
use super::servers::{has_servers_alone, set_figures};
use crate::recommendation::recommend;

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
        // Imported figures are of another machine.
        if row.loader.is_none() {
            row.oversubscribed = row.cores as usize >= cores;
        }
        row.scenario = row.of_scenario().load();
        if let Some(load) = &mut row.load {
            set_figures(load);
        }
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
        // Reading the file already rejected requirements that do not parse.
        let requirements = Requirements::parse(&stored.requirements).unwrap_or_default();
        own.recommendation = Some(recommend(&own, &requirements, stored.allow_noisy));
    }
    own
}

fn measured(row: &mut Row) {
    row.reference = row.is_reference_work();
    row.subject.id = row.subject.id_for(row.subject.driver());
    if let Some(timing) = &mut row.ns_per_op {
        if let Ok(own) = median_interval(&timing.rounds) {
            (timing.median, timing.interval) = (own.median, own.interval);
        }
        timing.outliers = beyond_outer_fences(&timing.rounds);
    }
}
