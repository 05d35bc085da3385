//! The recommendation section: choices, reasons, what would change them, and what is not covered; or
//! the reasons why there is none.

use maud::{Markup, html};

use jeton_lab_model::names;
use jeton_lab_model::recommendation::{Choice, Out, Pick, Recommendation};
use jeton_lab_model::result::RunResult;
use jeton_lab_model::units::{self, Unit};

use crate::recommendation::{Case, cases_of, recommendation_of};
use crate::section::{Fold, Kind, Section};
use crate::table::{Table, Value, columns};

pub(crate) fn section(result: &RunResult) -> Section {
    let advice = recommendation_of(result);
    let cases = cases_of(result, &advice);
    let mut section = Section::new("Recommendation")
        .id("recommendation")
        .markup(Kind::Plain, requirements(&advice, !cases.is_empty()));
    if advice.allow_noisy && result.environment.disturbance.disturbed {
        let noisy = "**From a disturbed run:** requested with `--allow-noisy`.";
        section = section.callout("warn", noisy);
    }
    let is_chosen = cases.is_empty() && !advice.choices.is_empty();
    if !cases.is_empty() {
        section = section.markup(Kind::Block, three(&cases));
    } else if is_chosen {
        section = section.markup(Kind::Block, choices(&advice.choices));
        section = section.items(advice.because.last());
    } else {
        section = section.callout("bad", "**There is no recommendation.**");
        section = section.items(&advice.because);
    }
    let because: &[String] = if is_chosen { &advice.because } else { &[] };
    let lists = [
        ("Because", because),
        ("What would change it", &advice.would_change),
        ("Not covered", &advice.not_covered),
    ];
    let lists = lists.into_iter().filter(|(_, lines)| !lines.is_empty());
    let reasons = Section::new("Reasons, what would change it, and what it does not cover")
        .fold(Fold::Closed)
        .parts(lists.map(|(title, lines)| Section::new(title).items(lines)));
    section = section.parts([reasons]);
    if advice.out.is_empty() {
        return section;
    }
    let columns = columns![Out:
        text("token") |one| Value::text(&one.token);
        text("subject") |one| Value::text(&one.subject), .class("id");
        text("reason") |one| Value::text(&one.why), .class("reason");
    ];
    let excluded = units::count(advice.out.len(), "subject", "subjects");
    let caption = "Excluded subjects and reasons";
    let table = Table::named(caption, &columns, &advice.out).class("sortable");
    section.table(table.folded(&format!("{caption}: {excluded}")))
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
    let picks = choices.iter().flat_map(|choice| &choice.picks);
    let unit = Unit::for_times(
        picks
            .flat_map(|pick| [pick.make_ns, pick.open_ns])
            .flatten(),
    );
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
    let times = [(issues, pick.make_ns), (accepts, pick.open_ns)].into_iter();
    let times = times.filter_map(|(verb, ns)| Some(format!("{verb} in {}", unit.text(ns?))));
    let times: Vec<String> = times.collect();
    let language = names::language_of(&pick.language);
    let platform = pick.runtime.as_deref().unwrap_or(language);
    html! {
        li {
            strong { (pick.library) } " " (pick.version) " " span.muted { "· " (platform) }
            @if !times.is_empty() { small { (units::list(&times)) } }
        }
    }
}
