//! The recommendation: choices, reasons, what would change them, and what is not covered; or the reasons why there is
//! none. The terminal has it in short.

use maud::{Markup, html};

use jeton_lab_model::names;
use jeton_lab_model::recommendation::{Choice, Out, Pick};
use jeton_lab_model::result::RunResult;
use jeton_lab_model::units::{self, Unit};

use crate::recommendation::{Case, cases_of, recommendation_of};
use crate::section::{Fold, Kind, Section};
use crate::table::{Table, Value, columns};
use crate::words::{BOLD, microseconds};

pub(crate) fn section(result: &RunResult) -> Section {
    let advice = recommendation_of(result);
    let cases = cases_of(result, &advice);
    let requirements = html! {
        @if advice.requirements.is_empty() {
            @if !cases.is_empty() { "No requirements given, so there are three cases. " }
            "Set your own requirements: "
            code { "jeton-lab report results.json --html --need verify-by-third-parties,languages=go+node" } "."
        } @else {
            "Requirements:" @for requirement in &advice.requirements { " " span.tag { (requirement) } }
        }
    };
    let mut section = Section::new("Recommendation")
        .id("recommendation")
        .markup(Kind::Plain, requirements);
    if advice.allow_noisy && result.environment.disturbance.disturbed {
        let noisy = "**From a disturbed run:** requested with `--allow-noisy`.";
        section = section.callout("warn", noisy);
    }
    let is_chosen = cases.is_empty() && !advice.choices.is_empty();
    section = match advice.because.as_slice() {
        _ if !cases.is_empty() => section.markup(Kind::Block, of_cases(&cases)),
        because if is_chosen => {
            let section = section.markup(Kind::Block, of_choices(&advice.choices));
            section.items(because.last())
        }
        because => section
            .callout("bad", "**There is no recommendation.**")
            .items(because),
    };
    let because = advice.because.as_slice();
    let lists = [
        ("Because", if is_chosen { because } else { &[] }),
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
fn of_cases(cases: &[Case]) -> Markup {
    html! {
        div.choices {
            @for case in cases {
                div.choice {
                    h3 { (case.title) }
                    @if let Some((choice, measured)) = &case.choice {
                        p.token { (choice) }
                        p { (units::capitalised(measured)) "." }
                    } @else {
                        p.muted { "No token of this kind was measured." }
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

fn of_choices(choices: &[Choice]) -> Markup {
    let picks = choices.iter().flat_map(|choice| &choice.picks);
    let all = picks.flat_map(|pick| [pick.make_ns, pick.open_ns]);
    let unit = Unit::for_times(all.flatten());
    html! {
        @if choices.len() > 1 {
            p { strong { "The fastest group; this run cannot distinguish its members:" } }
        }
        div.choices {
            @for choice in choices {
                div.choice {
                    p.token { (choice.token) @if let Some(bytes) = choice.token_bytes { " " span.muted { (units::whole(bytes)) " bytes" } } }
                    ul.picks {
                        @for pick in &choice.picks {
                            @let (times, language) = (times(pick, |ns| unit.text(ns)), names::language_of(&pick.language));
                            li {
                                strong { (pick.library) } " " (pick.version) " "
                                span.muted { "· " (pick.runtime.as_deref().unwrap_or(language)) }
                                @if !times.is_empty() { small { (times) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Formats the times of a library: `signs in 20 µs and verifies in 40 µs`.
fn times(pick: &Pick, text: impl Fn(f64) -> String) -> String {
    let [issues, accepts] = pick.verbs();
    let times = [(issues, pick.make_ns), (accepts, pick.open_ns)].into_iter();
    units::list(times.filter_map(|(verb, ns)| Some(format!("{verb} in {}", text(ns?)))))
}

pub(crate) fn in_short(result: &RunResult) -> Section {
    let advice = recommendation_of(result);
    let asked = match advice.requirements.as_slice() {
        [] => String::new(),
        requirements => format!(" for {}", requirements.join(", ")),
    };
    let cases = cases_of(result, &advice);
    let not_covered = advice.not_covered.len();
    let rest = format!("The page lists what it does not cover ({not_covered}).");
    let changes = Section::new("What would change it").items(&advice.would_change);
    let section = if !cases.is_empty() {
        Section::new("Recommended, by case").items(cases.iter().map(case_in_short))
    } else {
        let title = if advice.choices.is_empty() {
            "No recommendation"
        } else {
            "Recommended"
        };
        Section::new(format!("{title}{asked}"))
            .items(advice.choices.iter().map(choice_in_short))
            .items(&advice.because)
    };
    let has_changes = !advice.would_change.is_empty();
    section.items([rest]).parts(has_changes.then_some(changes))
}

fn case_in_short(case: &Case) -> String {
    let title = case.title;
    let Some((choice, measured)) = &case.choice else {
        return format!("{title}: no token of this kind was measured.");
    };
    let trade_offs = case.trade_offs.iter().map(|line| format!(" {line}"));
    let trade_offs: String = trade_offs.collect();
    format!("{title}: {BOLD}{choice}{BOLD:#}, {measured}.{trade_offs}")
}

fn choice_in_short(choice: &Choice) -> String {
    let bytes = choice.token_bytes.map(|bytes| format!(", {bytes} bytes"));
    let picks = choice.picks.iter().map(|pick| {
        let times = times(pick, |ns| format!("{} µs", microseconds(ns)));
        let comma = if times.is_empty() { "" } else { ", " };
        let (library, version) = (&pick.library, &pick.version);
        let platform = pick.runtime.as_ref().unwrap_or(&pick.language);
        format!("{library} {version} ({platform}){comma}{times}")
    });
    let picks = picks.collect::<Vec<_>>().join("; ");
    let (token, bytes) = (&choice.token, bytes.unwrap_or_default());
    format!("{BOLD}{token}{BOLD:#}{bytes}: {picks}")
}
