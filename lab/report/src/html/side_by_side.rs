//! Several results side by side: one column for each, never merged.

use maud::{Markup, html};

use jeton_lab_model::result::Verdict;

use crate::multi_run::Named;
use crate::recommendation::answers::{Answer, answers};

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
        div.scroll tabindex="0" role="region" aria-label="Machines, table" {
            table {
                caption { "The machine and the noise of each run" }
                thead { tr {
                    th scope="col" { "Run" } th scope="col" { "File" } th scope="col" { "Machine" }
                    th scope="col" { "Date" } th scope="col" { "Rounds" } th scope="col" { "Noise floor" }
                    th scope="col" { "Disturbed" }
                } }
                tbody { @for (name, run) in named(runs) { (machine(&name, run)) } }
            }
        }
    }
}

fn machine(name: &str, run: &Named) -> Markup {
    let environment = &run.result.environment;
    let noise = &run.result.noise_floor;
    let floors: Vec<String> = [(noise.floor, ""), (noise.managed, " managed")]
        .into_iter()
        .filter_map(|(floor, kind)| Some(format!("{}{kind}", units::percent(floor?))))
        .collect();
    let date = environment.started.split('T').next().unwrap_or_default();
    html! {
        tr {
            th scope="row" { (name) }
            td { code { (run.name) } }
            td {
                (environment.cpu_in_full()) ", "
                (units::count(environment.cores, "core", "cores")) ", " (environment.kernel)
            }
            td { (date) }
            td { (environment.rounds_finished) " of " (environment.rounds_planned) }
            td { @if floors.is_empty() { "unknown" } @else { (floors.join(", ")) } }
            td {
                @if environment.disturbance.disturbed { (environment.disturbance.reasons.join("; ")) }
                @else { "no" }
            }
        }
    }
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
    let mut known = std::collections::HashSet::new();
    for verdict in runs.iter().flat_map(|run| &run.result.verdicts) {
        if known.insert(about(verdict)) {
            lines.push(about(verdict));
        }
    }
    let by_run: Vec<std::collections::HashMap<Judged<'_>, &Verdict>> = runs
        .iter()
        .map(|run| run.result.verdicts.iter().map(|v| (about(v), v)).collect())
        .collect();
    html! {
        @if lines.is_empty() { p { "None of these runs has a verdict." } } @else {
            p { "The time of the subject as a multiple of the baseline of its own run, with the verdict." }
            div.scroll tabindex="0" role="region" aria-label="Verdicts, table" {
                table {
                    caption { "Verdicts of each run" }
                    thead { tr {
                        th scope="col" { "Comparison" } th scope="col" { "Subject" } th scope="col" { "Baseline" }
                        @for (name, _) in named(runs) { th scope="col" { (name) } }
                    } }
                    tbody {
                        @for line in &lines {
                            tr {
                                th scope="row" { (line.0) }
                                td.id { (line.2) } td.id { (line.1) }
                                @for own in &by_run { td { (one(own.get(line).copied())) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn one(verdict: Option<&Verdict>) -> Markup {
    html! {
        @match verdict {
            Some(verdict) => {
                (units::ratio(verdict.ratio)) " "
                span class={ "verdict " (verdict.verdict.label()) } { (verdict.verdict.label()) }
            }
            None => "not measured",
        }
    }
}
