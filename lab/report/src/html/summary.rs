//! The head of the page, the summary of all verdicts, and the groups.

use std::collections::BTreeSet;

use maud::{Markup, html};

use jeton_lab_model::result::{NoiseFloor, RunResult, Status};

use super::comparison::{Comparison, time};
use super::folds::sets;
use super::{names, sentences, units};
use crate::table::{Column, Page, Value};

/// With more claims sets than this, only their number is shown.
const CLAIMS_NAMED_MAX: usize = 3;

/// Renders the facts about the run on one line.
pub(super) fn facts(result: &RunResult) -> Markup {
    let environment = &result.environment;
    let measured = &result.rows.measured;
    let mut facts = Vec::new();
    if let Some((date, _)) = environment.started.split_once('T') {
        facts.push(date.to_owned());
    }
    let minutes = environment.elapsed_s / 60.0;
    facts.push(if minutes < 2.0 {
        format!("{}\u{a0}s", units::fixed(environment.elapsed_s, 0))
    } else {
        format!("{}\u{a0}min", units::fixed(minutes, 0))
    });
    facts.push(match environment.cpu.as_str() {
        "" => "unknown CPU".to_owned(),
        cpu => cpu.to_owned(),
    });
    if environment.cores > 0 {
        facts.push(units::count(environment.cores, "core", "cores"));
    }
    if !measured.is_empty() {
        let timed = measured.iter().filter(|row| time(row).is_some()).count();
        facts.push(format!(
            "{} of {} rows",
            units::whole(timed as u64),
            units::whole(measured.len() as u64)
        ));
        facts.push(format!(
            "{} of {} rounds",
            environment.rounds_finished, environment.rounds_planned
        ));
        let floor = noise_floor(&result.noise_floor);
        facts.push(format!(
            "noise floor {}",
            floor.as_deref().unwrap_or("unknown")
        ));
    }
    html! {
        p.facts {
            @for (index, fact) in facts.iter().enumerate() {
                @if index > 0 { " · " }
                (fact)
            }
        }
    }
}

/// Renders what the run measured, and its command.
fn asked(result: &RunResult) -> Markup {
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
    let environment = &result.environment;
    html! {
        p.command { code { (result.command) } }
        @if !result.rows.interop.is_empty() && result.rows.measured.is_empty() {
            p.asked { "Every library verified the tokens of every other library." }
        } @else if !result.rows.servers.is_empty() && result.rows.measured.is_empty() {
            p.asked { "Servers that issue tokens over gRPC, loaded interleaved." }
        } @else if !result.rows.attack.is_empty() && result.rows.measured.is_empty() {
            p.asked { "Every library got tokens and keys that it must reject." }
        } @else if result.rows.measured.is_empty() {
            p.asked { "The run has no rows." }
        } @else {
            p.asked {
                (units::count(libraries.len(), "library", "libraries")) ", "
                (units::count(algorithms.len(), "algorithm", "algorithms")) ", "
                (units::list(&operations)) ", on " (claims(result)) "."
            }
        }
        p.when {
            @if !environment.started.is_empty() { (moment(&environment.started)) ", " }
            (units::fixed(environment.elapsed_s, 0)) " s"
            @for runtime in &environment.runtimes_used { ", " (runtime.name) }
        }
        @if let Some(ended) = environment.out_of_support() {
            p.callout.bad {
                strong { "Out of support: " } (ended) ". A newer runtime may give other figures. "
                a href="#environment" { "See the runtimes" } "."
            }
        }
    }
}

/// Names the claims sets, or counts them, with their sizes.
fn claims(result: &RunResult) -> String {
    let sets = || result.rows.measured.iter().map(|row| &row.claims);
    let names = in_order(sets().map(|set| set.name.clone()));
    let least = sets().map(|set| set.bytes).min().unwrap_or_default();
    let most = sets().map(|set| set.bytes).max().unwrap_or_default();
    let bytes = if least == most {
        format!("{}\u{a0}B", units::whole(least))
    } else {
        format!("{} to {}\u{a0}B", units::whole(least), units::whole(most))
    };
    match names.as_slice() {
        [one] => format!("the claims set {one} ({bytes})"),
        few if few.len() <= CLAIMS_NAMED_MAX => {
            format!("the claims sets {} ({bytes})", units::list(few))
        }
        many => format!("{} claims sets ({bytes})", many.len()),
    }
}

/// Renders the key figures, then a summary of every comparison.
pub(super) fn section(result: &RunResult, comparisons: &[Comparison<'_>]) -> Markup {
    html! {
        (asked(result))
        (cards(result))
        @let environment = &result.environment;
        @if environment.disturbance.disturbed || !environment.complete {
            p.callout.bad {
                strong { "Read the verdicts with care: " }
                @match (environment.disturbance.disturbed, environment.complete) {
                    (true, true) => "the run was disturbed.",
                    (true, false) => "the run was disturbed and ended early.",
                    _ => "the run ended early.",
                }
                " " a href="#trust" { "See measurement quality" } "."
            }
        }
        @if comparisons.is_empty() {
            p.callout.bad {
                strong { "No verdict. " }
                @if result.rows.measured.is_empty() { "The result has no rows." }
                @else { "None of the " (units::count(result.rows.measured.len(), "row", "rows")) " was measured." }
            }
        }
        @for set in sets(comparisons, 0) { (set.shown(None, &said(set.comparisons))) }
        @if !comparisons.is_empty() {
            p.note {
                "“3 × faster” means one third of the time per operation. In brackets: the 95 % interval, simultaneous "
                "over all subjects of one comparison."
            }
        }
    }
}

/// Summarises each comparison of a set.
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

/// Renders the groups of every comparison.
pub(super) fn groups(comparisons: &[Comparison<'_>]) -> Markup {
    let grouped = comparisons.iter().filter(|c| !c.groups().is_empty());
    let grouped: Vec<&Comparison<'_>> = grouped.collect();
    html! {
        @if grouped.is_empty() {
            p { "No comparison has a verdict, so there are no groups." }
        } @else {
            p {
                "Members of a group cannot be distinguished from its fastest member; the order inside a group has no meaning. "
                "Groups correct for all pairs of a table, verdicts only for pairs with the baseline. A subject can therefore be "
                "slower than the baseline and still be in its group."
            }
            (Page::new("Groups of each comparison, the fastest first", "Groups, table")
                .class("group-table")
                .table(&group_columns(), &grouped))
        }
    }
}

fn group_columns<'c, 'a: 'c>() -> [Column<'c, &'c Comparison<'a>>; 2] {
    let title = Column::text("comparison", |comparison: &&Comparison<'_>| {
        Value::text(&comparison.title).on_page(html! {
            a href={ "#" (comparison.anchor) } { (comparison.title) }
            @if comparison.confounded { " " (confounded_tag()) }
        })
    });
    let groups = Column::text("groups", |comparison: &&Comparison<'_>| {
        let groups = comparison.groups();
        let groups = groups.iter().map(|(number, members)| {
            let names: Vec<&String> = members.iter().map(|member| &member.name).collect();
            (number, units::list(&names))
        });
        let groups: Vec<_> = groups.collect();
        let text: Vec<String> = groups
            .iter()
            .map(|(n, names)| format!("{n} {names}"))
            .collect();
        Value::text(text.join("; ")).on_page(html! {
            ol.groups {
                @for (number, names) in &groups {
                    li { span.group { (number) } span { (names) } }
                }
            }
        })
    });
    [title, groups]
}

/// Renders the tag of a comparison in which more than one factor differs.
pub(super) fn confounded_tag() -> Markup {
    html! { span.tag.warn { "confounded" } }
}

/// Formats the noise floor; from that of compiled to that of managed subjects, if they differ.
fn noise_floor(noise: &NoiseFloor) -> Option<String> {
    let floor = noise.floor?;
    Some(match noise.wider_managed() {
        None => units::percent(floor),
        Some(managed) => format!(
            "{} to {}",
            units::fixed(floor * 100.0, 1),
            units::percent(managed)
        ),
    })
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
                dd.figure { (noise_floor(&result.noise_floor).unwrap_or_else(|| "not measured".to_owned())) }
                dd { "from " (units::count(result.noise_floor.pairs.len(), "A/A pair", "A/A pairs")) }
            }
            div.bad[!environment.complete] {
                dt { "Rounds" }
                dd.figure { (rounds) }
                dd {
                    @if !environment.complete { "ended early" }
                    @else if environment.is_cut_by_budget() { "time limit reached" }
                    @else { "complete" }
                }
            }
            div.bad[measured == 0] {
                dt { "Rows measured" }
                dd.figure { (units::whole(measured as u64)) " of " (units::whole(result.rows.measured.len() as u64)) }
                dd {
                    @if troubled == 0 { "none failed" }
                    @else { a href="#gaps" { (units::whole(troubled as u64)) " not ok: see the reasons" } }
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
                            @else { (units::count(disturbance.unwatched.len(), "check", "checks")) " unavailable" }
                        }
                    } @else { "all checks within their limits" }
                }
            }
        }
    }
}

/// Formats an RFC 3339 time in UTC for people; returns other text unchanged.
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
