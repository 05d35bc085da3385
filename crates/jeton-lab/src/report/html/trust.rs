//! How far the run may be believed: noise floor, completeness, what the machine said.

use maud::{Markup, html};

use crate::result::{RunResult, VerdictKind};
use crate::stats::verdict::{Band, PRACTICAL_DIFFERENCE};

use super::{sentences, units};

pub(super) fn section(result: &RunResult) -> Markup {
    let environment = &result.environment;
    let disturbance = &environment.disturbance;
    html! {
        h3 { "The machine" }
        @if disturbance.disturbed {
            div.callout.bad {
                p { strong { "The run was disturbed." } " The figures stand as measured; draw no advice from them." }
                ul { @for reason in &disturbance.reasons { li { (reason) } } }
            }
        } @else {
            p.callout.good { strong { "No witness crossed its limit." } " The machine was as quiet as could be seen." }
        }
        @if !environment.complete {
            p.callout.bad {
                strong { "The run is not complete." } " " (environment.rounds_finished) " of "
                (environment.rounds_planned) " planned rounds were finished; the intervals are wider for it."
            }
        }
        @if environment.is_cut_by_budget() {
            p.callout.warn {
                (environment.rounds_finished) " of " (environment.rounds_planned)
                " rounds: the budget had time for no more; the intervals are wider for it."
            }
        }
        ul.facts {
            @if let Some(steal) = disturbance.steal { li { "CPU time stolen by the hypervisor: " (units::percent(steal)) } }
            @if let Some(load) = disturbance.load { li { "Cores that other work kept busy, on average: " (units::fixed(load, 2)) } }
            @if let Some(shared) = disturbance.shared { li { "Measured time during which another machine had a part of the drivers' core, left out where a round had other: " (units::percent(shared)) } }
        }
        @if !disturbance.unwatched.is_empty() {
            p { "What could not be watched here:" }
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
                    "Identical subjects, measured under two names, were up to " strong { (units::percent(share)) }
                    " apart. The noise band is ±" (units::percent(band.believed_beyond()))
                    ": the noise floor, and never less than " (units::percent(PRACTICAL_DIFFERENCE)) "."
                    @if let Some(managed) = floor.managed {
                        " Where a managed runtime (Node, Java, Python) takes part, the floor is "
                        strong { (units::percent(managed)) } ", from pairs of its own."
                    }
                }
                None => {
                    strong { "No noise floor was measured." } " The noise band is ±"
                    (units::percent(PRACTICAL_DIFFERENCE)) " without it, and small differences deserve doubt."
                }
            }
        }
        p {
            "A subject is called faster or slower when its whole interval is on one side of 1 and its ratio is beyond "
            "the noise band; equivalent when the whole interval is within ±" (units::percent(band.equivalent_within()))
            "; else the run cannot tell."
        }
        @if !floor.pairs.is_empty() {
            div.scroll tabindex="0" role="region" aria-label="Identical pairs, table" {
                table {
                    caption { "Identical pairs: each should come out equivalent" }
                    thead { tr {
                        th scope="col" { "Subject" } th scope="col" { "Contract" }
                        th scope="col" { "Ratio" } th scope="col" { "95 % interval" }
                        th scope="col" { "Verdict" }
                    } }
                    tbody {
                        @for pair in &floor.pairs {
                            tr {
                                th.id scope="row" { (pair.subject) }
                                td { (pair.operation) }
                                td { (units::ratio(pair.ratio)) }
                                td { (units::ratio(pair.interval[0])) " – " (units::ratio(pair.interval[1])) }
                                td { (verdict(pair.verdict)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// A verdict in a table: a word and a colour; its mark is the style's.
pub(super) fn verdict(kind: VerdictKind) -> Markup {
    let (class, _, word) = sentences::kind(kind);
    html! { span.verdict.(class) { (word) } }
}
