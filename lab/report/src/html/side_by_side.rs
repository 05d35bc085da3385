//! Several results side by side: one column for each, never merged.

use std::collections::{HashMap, HashSet};

use maud::{Markup, html};

use jeton_lab_model::result::{RunResult, Verdict};

use crate::multi_run::Named;
use crate::recommendation::answers::{Answer, answers};
use crate::table::{Column, Page, Value};

use super::{Section, always, answers as cards, document, folded, glossary, units};

/// Renders the page of several results, for example of several CPUs. Each keeps its own noise floor and
/// verdicts; nothing is computed across them.
#[must_use]
pub fn side_by_side(runs: &[Named]) -> String {
    let title = format!("{} side by side", units::count(runs.len(), "run", "runs"));
    let sections: Vec<Section> = [
        always("machines", "Machines", machines(runs)),
        always("compared", "Answers", compared(runs)),
        folded("verdicts", "Verdicts", verdicts(runs)),
        folded("glossary", "Glossary", glossary::section()),
    ]
    .into_iter()
    .flatten()
    .collect();
    let body = html! {
        header.page-head {
            p.eyebrow { "jeton lab, side by side" }
            h1 { (title) }
            p.facts {
                "Each run keeps its own noise floor and verdicts. Nothing is merged: times of different machines "
                "say nothing about a library."
            }
        }
        main #main {
            div.alone { @for section in &sections { (section.shown()) } }
        }
        footer { p { "Created from " (units::count(runs.len(), "result file", "result files")) ". This page sends no requests." } }
    };
    document(&title, &body)
}

/// Names a run by its number and its CPU.
fn name(index: usize, run: &Named) -> String {
    let cpu = match run.result.environment.cpu.as_str() {
        "" => "unknown CPU",
        cpu => cpu,
    };
    format!("{}: {cpu}", index + 1)
}

fn named(runs: &[Named]) -> impl Iterator<Item = (String, &Named)> {
    let name = |(index, run)| (name(index, run), run);
    runs.iter().enumerate().map(name)
}

fn machines(runs: &[Named]) -> Markup {
    let same = same_machine(runs);
    html! {
        @if !same.is_empty() {
            p.callout.warn {
                (units::capitalised(&same.join("; "))) ". "
                code { "jeton lab compare" } " judges such runs, and " code { "jeton lab merge" } " joins them."
            }
        }
        (Page::new("The machine and the noise of each run", "Machines, table")
            .table(&machine(), &named(runs).collect::<Vec<_>>()))
    }
}

type Run<'a> = (String, &'a Named);

/// Returns the columns about the machine of each run.
fn machine<'a>() -> Vec<Column<'a, Run<'a>>> {
    let about = |name: &str, value: fn(&RunResult) -> String| {
        Column::text(name, move |(_, run): &Run<'_>| {
            Value::text(value(&run.result))
        })
    };
    vec![
        Column::text("run", |(name, _): &Run<'_>| Value::text(name)),
        Column::text("file", |(_, run): &Run<'_>| {
            Value::text(&run.name).on_page(html! { code { (run.name) } })
        }),
        about("machine", |result| {
            let environment = &result.environment;
            format!(
                "{}, {}, {}",
                environment.cpu_in_full(),
                units::count(environment.cores, "core", "cores"),
                environment.kernel
            )
        }),
        about("date", |result| {
            let started = result.environment.started.split('T');
            started.take(1).collect()
        }),
        about("rounds", |result| {
            let environment = &result.environment;
            format!(
                "{} of {}",
                environment.rounds_finished, environment.rounds_planned
            )
        }),
        about("noise floor", |result| {
            let noise = &result.noise_floor;
            let floors: Vec<String> = [(noise.floor, ""), (noise.managed, " managed")]
                .into_iter()
                .filter_map(|(floor, kind)| Some(format!("{}{kind}", units::percent(floor?))))
                .collect();
            match floors.is_empty() {
                true => "unknown".to_owned(),
                false => floors.join(", "),
            }
        }),
        about("disturbed", |result| {
            let disturbance = &result.environment.disturbance;
            match disturbance.disturbed {
                true => disturbance.reasons.join("; "),
                false => "no".to_owned(),
            }
        }),
    ]
}

/// Names the pairs of runs whose machines do not differ.
fn same_machine(runs: &[Named]) -> Vec<String> {
    let mut found = Vec::new();
    for (later, run) in runs.iter().enumerate() {
        for (earlier, other) in runs[..later].iter().enumerate() {
            if crate::multi_run::is_same_machine(&other.result, &run.result) {
                let (earlier, later) = (earlier + 1, later + 1);
                found.push(format!(
                    "runs {earlier} and {later} are of the same machine"
                ));
            }
        }
    }
    found
}

/// Renders each question with the answer of each run.
fn compared(runs: &[Named]) -> Markup {
    let answered: Vec<(String, Vec<Answer>)> = named(runs)
        .map(|(name, run)| (name, answers(&run.result)))
        .collect();
    let most = answered.iter().map(|(_, own)| own.len()).max();
    let questions = 0..most.unwrap_or_default();
    html! {
        @if questions.is_empty() { p { "None of these runs measured times." } }
        @for question in questions {
            @let asked = answered.iter().find_map(|(_, own)| own.get(question));
            @if let Some(asked) = asked { h3 { (asked.question) } }
            div.cards3 {
                @for (index, (name, own)) in answered.iter().enumerate() {
                    @if let Some(answer) = own.get(question) {
                        (cards::card(answer, &prefix(index), &html! { h4 { (name) } }))
                    }
                }
            }
        }
        @for (index, (name, own)) in answered.iter().enumerate() {
            (cards::tables(own, &prefix(index), &format!("Figures of the charts of {name}")))
        }
    }
}

fn prefix(index: usize) -> String {
    format!("run-{}", index + 1)
}

/// What a verdict of several runs is about.
type Judged<'a> = (&'a str, &'a str, &'a str);

fn about(verdict: &Verdict) -> Judged<'_> {
    (&verdict.comparison, &verdict.baseline, &verdict.subject)
}

/// Renders the verdicts of all runs, one line for each comparison and subject.
fn verdicts(runs: &[Named]) -> Markup {
    let mut lines: Vec<Judged<'_>> = Vec::new();
    let mut known = HashSet::new();
    for verdict in runs.iter().flat_map(|run| &run.result.verdicts) {
        if known.insert(about(verdict)) {
            lines.push(about(verdict));
        }
    }
    let mut columns = vec![
        Column::text("comparison", |line: &Judged<'_>| Value::text(line.0)),
        Column::text("subject", |line: &Judged<'_>| Value::text(line.2)).class("id"),
        Column::text("baseline", |line: &Judged<'_>| Value::text(line.1)).class("id"),
    ];
    for (name, run) in named(runs) {
        let verdicts: HashMap<Judged<'_>, &Verdict> =
            run.result.verdicts.iter().map(|v| (about(v), v)).collect();
        let one = move |line: &Judged<'_>| one(verdicts.get(line).copied());
        columns.push(Column::text(&name, one).named(&name));
    }
    html! {
        @if lines.is_empty() { p { "None of these runs has a verdict." } } @else {
            p { "The time of the subject as a multiple of the baseline of its own run, with the verdict." }
            (Page::new("Verdicts of each run", "Verdicts, table").table(&columns, &lines))
        }
    }
}

fn one(verdict: Option<&Verdict>) -> Value {
    let Some(verdict) = verdict else {
        return Value::text("not measured");
    };
    let (ratio, word) = (units::ratio(verdict.ratio), Value::verdict(verdict.verdict));
    let text = format!("{ratio} {}", word.as_shown());
    Value::text(text).on_page(html! { (ratio) " " (word.markup()) })
}
