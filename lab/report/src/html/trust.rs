//! The measurement quality section: disturbances, completeness and noise floor.

use maud::{Markup, html};

use jeton_lab_model::result::{AaPair, RunResult};
use jeton_lab_stats::verdict::{Band, PRACTICAL_DIFFERENCE};

use super::units;
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
    let band = Band::new(floor.floor);
    html! {
        p {
            @match floor.floor {
                Some(share) => {
                    "A/A pairs (identical subjects, measured twice) differed by up to " strong { (units::percent(share)) }
                    ". The noise band is ±" (units::percent(band.believed_beyond()))
                    ": the noise floor, but at least " (units::percent(PRACTICAL_DIFFERENCE)) "."
                    @if let Some(managed) = floor.managed {
                        " For managed runtimes (Node, Java, Python), the noise floor is "
                        strong { (units::percent(managed)) } ", from their own pairs."
                    }
                }
                None => {
                    strong { "No noise floor was measured." } " Less than " (units::times(1.0 + band.believed_beyond()))
                    "× the time is undecided."
                }
            }
        }
        p {
            "A subject is faster or slower if its whole interval is on one side of 1 and its ratio is beyond the noise "
            "band. It is equivalent if the whole interval is within ±" (units::percent(band.equivalent_within()))
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
        Column::interval("ratio", ["ratio_low", "ratio_high"], |pair: &&AaPair| {
            Value::interval(pair.ratio, pair.interval, units::ratio)
        }),
        Column::text("verdict", |pair: &&AaPair| Value::verdict(pair.verdict)),
    ]
}
