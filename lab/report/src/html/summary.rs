//! The head of the page, the summary of all verdicts, and the groups.

use std::collections::BTreeSet;

use maud::{Markup, html};

use jeton_lab_model::result::{NoiseFloor, RunResult};
use jeton_lab_model::{names, units};

use crate::comparison::{Comparison, sets, time};
use crate::section::{Fold, Kind, Section, Sentence};
use crate::sentences;
use crate::table::{Column, Table, Value};

/// With more claims sets than this, only their number is shown.
const CLAIMS_NAMED_MAX: usize = 3;

/// Renders the facts about the run on one line: when, on what machine, by which commit, and how well.
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
    facts.push(format!("jeton {}", environment.jeton));
    facts.push(cpu(result));
    if environment.cores > 0 {
        facts.push(units::count(environment.cores, "core", "cores"));
    }
    if environment.hypervisor.is_some() {
        let disturbance = &environment.disturbance;
        let is_shared = [disturbance.shared, disturbance.steal]
            .into_iter()
            .flatten()
            .any(|share| share > 0.0);
        facts.push(
            if is_shared {
                "virtual, shared"
            } else {
                "virtual"
            }
            .to_owned(),
        );
    }
    if !measured.is_empty() {
        let timed = measured.iter().filter(|row| time(row).is_some()).count();
        let [timed, all] = [timed, measured.len()].map(|count| units::whole(count as u64));
        facts.push(format!("{timed} of {all} rows"));
        facts.push(format!("{} rounds", rounds(result)));
        let floor = noise_floor(&result.noise_floor);
        facts.push(format!(
            "noise floor {}",
            floor.as_deref().unwrap_or("unknown")
        ));
    }
    html! {
        p.facts { @for (index, fact) in facts.iter().enumerate() { @if index > 0 { " · " } (fact) } }
    }
}

/// Names the CPU with its model: names of virtual machines often have none.
fn cpu(result: &RunResult) -> String {
    let (cpu, processor) = (&result.environment.cpu, &result.environment.processor);
    match (cpu.as_str(), &processor.family, &processor.model) {
        ("", ..) => "unknown CPU".to_owned(),
        (cpu, Some(family), Some(model)) => format!("{cpu} (family {family}, model {model})"),
        (cpu, ..) => cpu.to_owned(),
    }
}

fn rounds(result: &RunResult) -> String {
    let environment = &result.environment;
    format!(
        "{} of {}",
        environment.rounds_finished, environment.rounds_planned
    )
}

/// Renders what the run measured, and its command.
fn asked(result: &RunResult) -> Markup {
    let (rows, environment) = (&result.rows, &result.environment);
    let libraries = rows.measured.iter().filter(|row| !row.reference);
    let libraries: BTreeSet<_> = libraries
        .map(|row| (&row.subject.language, &row.subject.library))
        .collect();
    let algorithms: BTreeSet<_> = rows
        .measured
        .iter()
        .map(|row| names::algorithm(&row.subject))
        .collect();
    let operations = in_order(rows.measured.iter().map(|row| row.operation.clone()));
    let what = if !rows.measured.is_empty() {
        format!(
            "{}, {}, {}, on {}.",
            units::count(libraries.len(), "library", "libraries"),
            units::count(algorithms.len(), "algorithm", "algorithms"),
            units::list(&operations),
            claims(result)
        )
    } else if !rows.interop.is_empty() {
        "Every library verified the tokens of every other library.".to_owned()
    } else if !rows.servers.is_empty() {
        "Servers that issue tokens over gRPC, loaded interleaved.".to_owned()
    } else if !rows.attack.is_empty() {
        "Every library got tokens and keys that it must reject.".to_owned()
    } else {
        "The run has no rows.".to_owned()
    };
    html! {
        p.command { code { (result.command) } }
        p.asked { (what) }
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

/// What the run measured, then a summary of every comparison.
pub(super) fn section(result: &RunResult, comparisons: &[Comparison<'_>]) -> Section {
    let environment = &result.environment;
    let mut section = Section::new("Verdicts")
        .id("summary")
        .markup(Kind::Block, asked(result));
    if environment.disturbance.disturbed || !environment.complete {
        let why = match (environment.disturbance.disturbed, environment.complete) {
            (true, true) => "the run was disturbed.",
            (true, false) => "the run was disturbed and ended early.",
            _ => "the run ended early.",
        };
        let care = html! { strong { "Read the verdicts with care: " } (why) " " a href="#trust" { "See measurement quality" } "." };
        section = section.markup(Kind::Callout("bad"), care);
    }
    if comparisons.is_empty() {
        let why = match result.rows.measured.len() {
            0 => "The result has no rows.".to_owned(),
            rows => format!(
                "None of the {} was measured.",
                units::count(rows, "row", "rows")
            ),
        };
        return section.markup(
            Kind::Callout("bad"),
            html! { strong { "No verdict. " } (why) },
        );
    }
    let sets = sets(comparisons).map(|set| {
        Section::new(set.heading())
            .beside(html! { small { (units::count(set.comparisons.len(), "comparison", "comparisons")) } })
            .fold(Fold::Closed)
            .markup(Kind::Block, said(set.comparisons))
    });
    section
        .note(
            "“3 × faster” means one third of the time per operation. In brackets: the 95 % interval, simultaneous over all \
             subjects of one comparison.",
        )
        .parts(sets)
}

/// Summarises each comparison of a set.
fn said(set: &[Comparison<'_>]) -> Markup {
    html! {
        dl.verdicts {
            @for comparison in set {
                dt { a href={ "#" (comparison.anchor) } { (comparison.title) } }
                dd {
                    @if comparison.confounded { p.confounded { (sentences::factors(comparison).unwrap_or_default()) } }
                    p {
                        @if let Some(first) = sentences::first_group(comparison) { strong { (first) } " " }
                        @for sentence in sentences::verdicts(comparison) { (sentence) " " }
                    }
                }
            }
        }
    }
}

/// The groups of every comparison.
pub(super) fn groups(comparisons: &[Comparison<'_>]) -> Section {
    let section = Section::new("Groups").id("groups");
    let grouped = comparisons.iter().filter(|c| !c.groups().is_empty());
    let grouped: Vec<&Comparison<'_>> = grouped.collect();
    if grouped.is_empty() {
        return section.say("No comparison has a verdict, so there are no groups.");
    }
    let columns = [
        Column::text("comparison", |comparison: &&Comparison<'_>| {
            Value::text(&comparison.title).on_page(html! {
                a href={ "#" (comparison.anchor) } { (comparison.title) } " " (comparison.tag())
            })
        }),
        Column::text("groups", |comparison: &&Comparison<'_>| {
            let groups = comparison.groups();
            Value::text(groups.len().to_string()).on_page(html! {
                ol.groups {
                    @for (number, members) in &groups {
                        @let names: Vec<&String> = members.iter().map(|member| &member.name).collect();
                        li { span.group { (number) } span { (units::list(&names)) } }
                    }
                }
            })
        }),
    ];
    section
        .with(Sentence::new(
            Kind::Plain,
            "Members of a group cannot be distinguished from its fastest member; the order inside a group has no meaning. \
             Groups correct for all pairs of a table, verdicts only for pairs with the baseline. A subject can therefore be \
             slower than the baseline and still be in its group.",
        ))
        .table(
            Table::new("Groups of each comparison, the fastest first", "Groups, table", &columns, &grouped)
                .class("group-table"),
        )
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
