//! What was asked, what the verdicts say in words, the tiers, and why there is no recommendation.

use std::collections::BTreeSet;

use maud::{Markup, html};

use crate::result::{RunResult, Status};

use super::comparison::{Comparison, time};
use super::folds::sets;
use super::{names, sentences, units};

/// Of more claims sets than these the number is told.
const CLAIMS_NAMED_MAX: usize = 3;

/// The line below the title: the command, and what it made the lab do.
pub(super) fn asked(result: &RunResult) -> Markup {
    let libraries: BTreeSet<_> = result
        .rows
        .measured
        .iter()
        .filter(|row| !row.reference)
        .map(|row| (&row.subject.language, &row.subject.library))
        .collect();
    let algorithms: BTreeSet<_> = result
        .rows
        .measured
        .iter()
        .map(|r| names::algorithm(&r.subject))
        .collect();
    let operations = in_order(result.rows.measured.iter().map(|row| row.operation.clone()));
    let minutes = result.environment.elapsed_s / 60.0;
    let lasted = if minutes < 2.0 {
        format!("{} s", units::fixed(result.environment.elapsed_s, 0))
    } else {
        format!("{} min", units::fixed(minutes, 0))
    };
    html! {
        p.command { code { (result.command) } }
        @if !result.rows.interop.is_empty() && result.rows.measured.is_empty() {
            p.asked { "Every library was given every other's tokens." }
        } @else if !result.rows.servers.is_empty() && result.rows.measured.is_empty() {
            p.asked { "Servers that issue tokens over gRPC were loaded in turns." }
        } @else if !result.rows.attack.is_empty() && result.rows.measured.is_empty() {
            p.asked { "Every library was given tokens and keys that must be refused." }
        } @else if result.rows.measured.is_empty() {
            p.asked { "The run has no rows: nothing was asked, or it ended before the first answer." }
        } @else {
            p.asked {
                (units::count(libraries.len(), "library", "libraries")) ", "
                (units::count(algorithms.len(), "algorithm", "algorithms")) ", "
                (units::list(&operations)) ", on " (claims(result)) "."
            }
        }
        p.when {
            @if !result.environment.started.is_empty() { (moment(&result.environment.started)) ", " }
            (lasted) ", on " (if result.environment.cpu.is_empty() { "an unnamed CPU" } else { &result.environment.cpu })
            @for runtime in &result.environment.runtimes_used { ", " (runtime.name) }
        }
        @if let Some(ended) = result.environment.out_of_support() {
            p.callout.bad {
                strong { "Out of support: " } (ended) ". A newer runtime may give other figures. "
                a href="#environment" { "The runtimes" } "."
            }
        }
    }
}

/// The claims sets by name, or how many there are; of each format they may have another length.
fn claims(result: &RunResult) -> String {
    let sets = || result.rows.measured.iter().map(|row| &row.claims);
    let names = in_order(sets().map(|set| set.name.clone()));
    let least = sets().map(|set| set.bytes).min().unwrap_or_default();
    let most = sets().map(|set| set.bytes).max().unwrap_or_default();
    let bytes = match least == most {
        true => format!("{}\u{a0}B", units::whole(least)),
        false => format!("{} to {}\u{a0}B", units::whole(least), units::whole(most)),
    };
    match names.as_slice() {
        [one] => format!("the claims set {one} ({bytes})"),
        few if few.len() <= CLAIMS_NAMED_MAX => {
            format!("the claims sets {} ({bytes})", units::list(few))
        }
        many => format!("{} claims sets ({bytes})", many.len()),
    }
}

/// The figures to read first, then every comparison in a sentence or two.
pub(super) fn section(result: &RunResult, comparisons: &[Comparison<'_>]) -> Markup {
    html! {
        (cards(result))
        @let environment = &result.environment;
        @if environment.disturbance.disturbed || !environment.complete {
            p.callout.bad {
                strong { "Read the verdicts with care: " }
                @match (environment.disturbance.disturbed, environment.complete) {
                    (true, true) => "the machine was disturbed during the run.",
                    (true, false) => "the machine was disturbed, and the run was ended early.",
                    _ => "the run was ended early.",
                }
                " " a href="#trust" { "What is known" } "."
            }
        }
        @if comparisons.is_empty() {
            p.callout.bad {
                strong { "No verdict. " }
                @if result.rows.measured.is_empty() { "The result has no rows." }
                @else { "None of the " (units::count(result.rows.measured.len(), "row", "rows")) " was measured." }
            }
        }
        @for set in sets(comparisons) { (set.shown(None, &said(set.comparisons))) }
        @if !comparisons.is_empty() {
            p.note {
                "“3 × faster” means a third of the time per operation, in this run. In brackets: the 95 % interval, "
                "simultaneous over all that one comparison compares."
            }
        }
    }
}

/// What each comparison of a group came to.
fn said(set: &[Comparison<'_>]) -> Markup {
    html! {
        dl.verdicts {
            @for comparison in set {
                dt { a href={ "#" (comparison.anchor) } { (comparison.title) } }
                dd {
                    @if comparison.confounded {
                        p.confounded { (sentences::factors(comparison).unwrap_or_default()) }
                    }
                    p {
                        @if let Some(first) = sentences::first_group(comparison) { strong { (first) } " " }
                        @for sentence in sentences::verdicts(comparison) { (sentence) " " }
                    }
                }
            }
        }
    }
}

/// The tiers of every comparison: never ranks inside the noise.
pub(super) fn groups(comparisons: &[Comparison<'_>]) -> Markup {
    html! {
        @if comparisons.iter().all(|c| c.groups().is_empty()) {
            p { "No comparison came to a verdict, so there are no tiers." }
        } @else {
            p {
                "Who is in one tier cannot be told from its fastest; the order inside a tier means nothing. Tiers allow "
                "for every pair of a table and verdicts for those with the baseline: somebody may be a little slower than "
                "the baseline and be in its tier."
            }
            div.scroll tabindex="0" role="region" aria-label="Tiers, table" {
                table.group-table {
                    caption { "Tiers per comparison, the fastest first" }
                    thead { tr {
                        th scope="col" { "Comparison" } th scope="col" { "Tiers" }
                    } }
                    tbody {
                        @for comparison in comparisons {
                            @let groups = comparison.groups();
                            @if !groups.is_empty() {
                                tr {
                                    th scope="row" {
                                        a href={ "#" (comparison.anchor) } { (comparison.title) }
                                        @if comparison.confounded { " " (confounded_tag()) }
                                    }
                                    td {
                                        ol.groups {
                                            @for (number, members) in &groups {
                                                li {
                                                    span.group { (number) }
                                                    span { (units::list(&members.iter().map(|m| &m.name).collect::<Vec<_>>())) }
                                                }
                                            }
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The mark of a comparison in which more than one factor differs.
pub(super) fn confounded_tag() -> Markup {
    html! { span.tag.warn { "confounded" } }
}

fn cards(result: &RunResult) -> Markup {
    let environment = &result.environment;
    let measured = result
        .rows
        .measured
        .iter()
        .filter(|row| time(row).is_some())
        .count();
    let troubled = result
        .rows
        .measured
        .iter()
        .filter(|row| row.status != Status::Ok)
        .count();
    let rounds = format!(
        "{} of {}",
        environment.rounds_finished, environment.rounds_planned
    );
    let disturbance = &environment.disturbance;
    let blind = disturbance.steal.is_none() && disturbance.load.is_none();
    html! {
        dl.cards {
            div.bad[result.noise_floor.floor.is_none()] {
                dt { "Noise floor" }
                dd.figure { (result.noise_floor.floor.map_or_else(|| "not measured".to_owned(), units::percent)) }
                dd { "from " (units::count(result.noise_floor.pairs.len(), "identical pair", "identical pairs")) }
            }
            div.bad[!environment.complete] {
                dt { "Rounds" }
                dd.figure { (rounds) }
                dd {
                    @if !environment.complete { "the run was ended early" }
                    @else if environment.is_cut_by_budget() { "the budget had time for no more" }
                    @else { "the run is complete" }
                }
            }
            div.bad[measured == 0] {
                dt { "Rows measured" }
                dd.figure { (units::whole(measured as u64)) " of " (units::whole(result.rows.measured.len() as u64)) }
                dd {
                    @if troubled == 0 { "none failed" }
                    @else { a href="#gaps" { (units::whole(troubled as u64)) " not ok, and why" } }
                }
            }
            div.bad[disturbance.disturbed] {
                dt { "Machine" }
                dd.figure {
                    (if disturbance.disturbed { "disturbed" } else if blind { "not watched" } else { "quiet" })
                }
                dd {
                    @if disturbance.disturbed || !disturbance.unwatched.is_empty() {
                        a href="#trust" {
                            @if disturbance.disturbed { (units::count(disturbance.reasons.len(), "reason", "reasons")) }
                            @else { (units::count(disturbance.unwatched.len(), "thing", "things")) " could not be watched" }
                        }
                    } @else { "no witness crossed its limit" }
                }
            }
        }
    }
}

/// RFC 3339 in UTC as people write it; anything else as it stands.
fn moment(started: &str) -> String {
    match started
        .strip_suffix('Z')
        .and_then(|rest| rest.split_once('T'))
    {
        Some((date, time)) => format!("{date}, {time} UTC"),
        None => started.to_owned(),
    }
}

fn in_order(values: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = Vec::new();
    for value in values {
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    seen
}
