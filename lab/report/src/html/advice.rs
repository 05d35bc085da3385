//! The recommendation section: choices, reasons, what would change them, and what is not covered; or
//! the reasons why there is none.

use maud::{Markup, html};

use jeton_lab_model::recommendation::{Choice, Out, Pick, Recommendation};
use jeton_lab_model::result::RunResult;

use crate::recommendation::{Case, cases_of, recommendation_of};
use crate::section::{Kind, Section};
use crate::table::{Column, Table, Value};
use jeton_lab_model::names;
use jeton_lab_model::units::{self, Unit};

pub(super) fn section(result: &RunResult) -> Section {
    let advice = recommendation_of(result);
    let cases = cases_of(result, &advice);
    let mut section = Section::new("Recommendation")
        .id("recommendation")
        .markup(Kind::Plain, requirements(&advice, !cases.is_empty()));
    if advice.allow_noisy && result.environment.disturbance.disturbed {
        let noisy = html! { strong { "From a disturbed run: " } "requested with " code { "--allow-noisy" } "." };
        section = section.markup(Kind::Callout("warn"), noisy);
    }
    if !cases.is_empty() {
        section = section.markup(Kind::Block, three(&cases));
    } else if advice.choices.is_empty() {
        let none = html! {
            p { strong { "There is no recommendation." } }
            ul { @for line in &advice.because { li { (line) } } }
        };
        section = section.markup(Kind::Callout("bad"), none);
    } else {
        section = section.markup(Kind::Block, choices(&advice.choices));
        if let Some(chosen) = advice.because.last() {
            section = section.say(chosen);
        }
    }
    let reasons = html! {
        details {
            summary { "Reasons, what would change it, and what it does not cover" }
            @if cases.is_empty() && !advice.choices.is_empty() { (list("Because", &advice.because)) }
            div.pair {
                div { (list("What would change it", &advice.would_change)) }
                div { (list("Not covered", &advice.not_covered)) }
            }
        }
    };
    section = section.markup(Kind::Block, reasons);
    if advice.out.is_empty() {
        return section;
    }
    let columns = [
        Column::text("token", |one: &Out| Value::text(&one.token)),
        Column::text("subject", |one: &Out| Value::text(&one.subject)).class("id"),
        Column::text("reason", |one: &Out| Value::text(&one.why)).class("reason"),
    ];
    let excluded = units::count(advice.out.len(), "subject", "subjects");
    let caption = "Excluded subjects and reasons";
    let table = Table::new(caption, "Excluded subjects, table", &columns, &advice.out);
    section.table(
        table
            .class("sortable")
            .folded(&format!("{caption}: {excluded}")),
    )
}

/// Renders the cases: the choice, what was measured with it, and the trade-off with the others.
fn three(cases: &[Case]) -> Markup {
    html! {
        div.choices {
            @for case in cases {
                div.choice {
                    h3 { (case.title) }
                    @match (&case.choice, &case.measured) {
                        (Some(choice), Some(measured)) => {
                            p.token { (choice) }
                            p { (units::capitalised(measured)) "." }
                        }
                        _ => p.muted { "No token of this kind was measured." },
                    }
                    @if !case.trade_offs.is_empty() {
                        ul.picks { @for line in &case.trade_offs { li { (line) } } }
                    }
                    @if case.dropped > 0 {
                        p.note {
                            (units::count(case.dropped, "other admitted token is", "other admitted tokens are"))
                            " no better in time or bytes."
                        }
                    }
                }
            }
        }
    }
}

fn requirements(advice: &Recommendation, has_cases: bool) -> Markup {
    html! {
        @if advice.requirements.is_empty() {
            @if has_cases { "No requirements given, so there are three cases. " }
            "Set your own requirements: "
            code { "jeton-lab report results.json --html --need verify-by-third-parties,languages=go+node" } "."
        } @else {
            "Requirements: "
            @for (index, requirement) in advice.requirements.iter().enumerate() {
                @if index > 0 { " " }
                span.tag { (requirement) }
            }
        }
    }
}

fn choices(choices: &[Choice]) -> Markup {
    let times = || {
        let picks = choices.iter().flat_map(|c| &c.picks);
        picks.flat_map(|p| [p.make_ns, p.open_ns]).flatten()
    };
    let unit = Unit::for_times(times());
    html! {
        @if choices.len() > 1 {
            p { strong { "The fastest group; this run cannot distinguish its members:" } }
        }
        div.choices {
            @for choice in choices {
                div.choice {
                    p.token { (choice.token) @if let Some(bytes) = choice.token_bytes { " " span.muted { (units::whole(bytes)) " bytes" } } }
                    ul.picks { @for pick in &choice.picks { (self::pick(pick, unit)) } }
                }
            }
        }
    }
}

fn pick(pick: &Pick, unit: Unit) -> Markup {
    let [issues, accepts] = pick.verbs();
    let times = [(issues, pick.make_ns), (accepts, pick.open_ns)];
    let times: Vec<String> = times
        .into_iter()
        .filter_map(|(verb, ns)| Some(format!("{verb} in {}", unit.text(ns?))))
        .collect();
    html! {
        li {
            strong { (pick.library) } " " (pick.version) " " span.muted { "· " (pick.runtime.as_deref().unwrap_or_else(|| names::language_of(&pick.language))) }
            @if !times.is_empty() { small { (units::list(&times)) } }
        }
    }
}

fn list(heading: &str, lines: &[String]) -> Markup {
    html! {
        @if !lines.is_empty() {
            h3 { (heading) }
            ul { @for line in lines { li { (line) } } }
        }
    }
}
