//! The measurement quality section: disturbances, completeness and noise floor.

use maud::{Markup, html};

use jeton_lab_model::result::{AaPair, RunResult};
use jeton_lab_stats::verdict::{MAX_EQUIVALENCE, PRACTICAL_DIFFERENCE, UNMEASURED_FLOOR};

use super::{sentences, units};
use crate::table::{Column, Page, Value};

pub(super) fn section(result: &RunResult) -> Markup {
    let environment = &result.environment;
    let disturbance = &environment.disturbance;
    html! {
        h3 { "The machine" }
        @if disturbance.disturbed {
            div.callout.bad {
                p { strong { "The run was disturbed." } " The figures include this disturbance; do not base decisions on them." }
                ul { @for reason in &disturbance.reasons { li { (reason) } } }
            }
        } @else {
            p.callout.good { strong { "No disturbance detected." } " All checks of the machine were within their limits." }
        }
        @if !environment.complete {
            p.callout.bad {
                strong { "The run is not complete." } " " (environment.rounds_finished) " of "
                (environment.rounds_planned) " planned rounds finished, so the intervals are wider."
            }
        }
        @if environment.is_cut_by_budget() {
            p.callout.warn {
                (environment.rounds_finished) " of " (environment.rounds_planned)
                " rounds: the time limit was reached, so the intervals are wider."
            }
        }
        ul.facts {
            @if let Some(steal) = disturbance.steal { li { "CPU time stolen by the hypervisor: " (units::percent(steal)) } }
            @if let Some(load) = disturbance.load { li { "Cores used by other processes, on average: " (units::fixed(load, 2)) } }
            @if let Some(shared) = disturbance.shared { li { "Measured time in which another virtual machine shared the drivers' core (excluded if a round has other measurements): " (units::percent(shared)) } }
        }
        @if !disturbance.unwatched.is_empty() {
            p { "Not checked on this machine:" }
            ul { @for line in &disturbance.unwatched { li { (line) } } }
        }
        h3 { "The noise floor" }
        (noise_floor(result))
    }
}

fn noise_floor(result: &RunResult) -> Markup {
    let floor = &result.noise_floor;
    let bands = sentences::bands_in_words(floor, units::percent);
    // No interval is equivalent that reaches farther, however wide the band is.
    let (compiled, managed) = sentences::bands(floor);
    let widest = managed.unwrap_or(compiled);
    html! {
        p {
            @match floor.floor {
                Some(share) => {
                    "By the A/A pairs (identical subjects, measured twice), identical subjects can differ by "
                    strong { (units::percent(share)) } " in this run"
                    @if let Some(managed) = floor.wider_managed() {
                        ", those with a managed runtime (Node, Java, Python) by "
                        strong { (units::percent(managed)) }
                    }
                    @for own in &floor.threads {
                        ", those on " (own.threads) " threads by " strong { (units::percent(own.floor)) }
                    }
                    ". The noise band is ±" (bands)
                    ": the noise floor, but at least " (units::percent(PRACTICAL_DIFFERENCE)) "."
                }
                None => {
                    strong { "No noise floor was measured." } " Less than " (units::times(1.0 + UNMEASURED_FLOOR))
                    "× the time is undecided."
                }
            }
        }
        p {
            "A subject is faster or slower if its whole interval is on one side of 1 and its ratio is beyond the noise "
            "band. It is equivalent if the whole interval is within the noise band"
            @if widest > MAX_EQUIVALENCE { ", and within ±" (units::percent(MAX_EQUIVALENCE)) }
            ". Otherwise it is undecided."
        }
        @if !floor.pairs.is_empty() {
            (Page::new("A/A pairs: each should be equivalent", "A/A pairs, table")
                .figures()
                .table(&columns(), &floor.pairs.iter().collect::<Vec<_>>()))
        }
    }
}

fn columns<'a>() -> Vec<Column<'a, &'a AaPair>> {
    vec![
        Column::text("subject", |pair: &&AaPair| Value::text(&pair.subject)).class("id"),
        Column::text("operation", |pair: &&AaPair| Value::text(&pair.operation)),
        Column::number("threads", |pair: &&AaPair| {
            Value::count(u64::from(pair.threads))
        }),
        Column::interval("ratio", ["ratio_low", "ratio_high"], |pair: &&AaPair| {
            Value::interval(pair.ratio, pair.interval, units::ratio)
        }),
        Column::text("verdict", |pair: &&AaPair| Value::verdict(pair.verdict)),
    ]
}
