//! Several results side by side: one column for each, never merged.

use std::collections::{HashMap, HashSet};

use maud::{Markup, html};

use jeton_lab_model::result::{RunResult, Verdict};

use crate::multi_run::{self, Machines, Named, is_same_run, merge};
use crate::recommendation::answers::answers;
use crate::section::{Fold, Kind, Section};
use crate::servers::{ScenarioTable, scenarios};
use crate::table::{Column, Table, Value};
use crate::visible;

use super::cards::{self, Card};
use super::{document, glossary, section};
use jeton_lab_model::units;

/// Renders the page of several results, for example of several CPUs. Each keeps its own noise floor and
/// verdicts; nothing is computed across them.
#[must_use]
pub fn side_by_side(runs: &[Named]) -> String {
    let runs: Vec<Named> = runs.iter().map(visible).collect();
    let runs = runs.as_slice();
    let title = format!("{} side by side", units::count(runs.len(), "run", "runs"));
    let sections = [
        Some(machines(runs)),
        Some(compared(runs)),
        servers(runs),
        Some(verdicts(runs).fold(Fold::Closed)),
        Some(glossary::section().fold(Fold::Closed)),
    ];
    let body = html! {
        header.page-head {
            p.eyebrow { "jeton-lab, side by side" }
            h1 { (title) }
            p.facts {
                "Each run keeps its own noise floor and verdicts. Nothing is merged: times of different machines "
                "say nothing about a library."
            }
        }
        main #main {
            div.alone { @for one in sections.iter().flatten() { (section::shown(one)) } }
        }
        footer { p { "Created from " (units::count(runs.len(), "result file", "result files")) ". This page sends no requests." } }
    };
    document(&title, &body)
}

fn visible(run: &Named) -> Named {
    Named {
        name: visible::text(&run.name).into_owned(),
        result: visible::result(&run.result).into_owned(),
    }
}

/// Names a run by its number and its CPU. If several have a CPU of this name, its family and model are added, or
/// the name of the file.
fn name(index: usize, runs: &[Named]) -> String {
    let short = |run: &Named| match run.result.environment.cpu.as_str() {
        "" => "unknown CPU".to_owned(),
        cpu => cpu.to_owned(),
    };
    let longer = |run: &Named| {
        let processor = &run.result.environment.processor;
        let family = processor.family.as_deref().unwrap_or("unknown");
        let model = processor.model.as_deref().unwrap_or("unknown");
        format!("{}, family {family}, model {model}", short(run))
    };
    let with_file = |run: &Named| format!("{}, {}", short(run), run.name);
    let forms: [&dyn Fn(&Named) -> String; 3] = [&short, &longer, &with_file];
    let is_own = |form: &&&dyn Fn(&Named) -> String| {
        let own = form(&runs[index]);
        runs.iter().filter(|run| form(run) == own).count() == 1
    };
    let form = forms.iter().find(is_own).unwrap_or(&forms[2]);
    format!("{}: {}", index + 1, form(&runs[index]))
}

fn named(runs: &[Named]) -> impl Iterator<Item = (String, &Named)> {
    let name = |(index, run)| (name(index, runs), run);
    runs.iter().enumerate().map(name)
}

fn machines(runs: &[Named]) -> Section {
    let remarks = remarks(runs);
    let mut section = Section::new("Machines").id("machines");
    if !remarks.is_empty() {
        let list = html! { ul { @for remark in &remarks { li { (remark) } } } };
        section = section.markup(Kind::Callout("warn"), list);
    }
    let lines: Vec<Run<'_>> = named(runs).collect();
    section.table(Table::new(
        "The machine and the noise of each run",
        "Machines, table",
        &machine(),
        &lines,
    ))
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
            if floors.is_empty() {
                "unknown".to_owned()
            } else {
                floors.join(", ")
            }
        }),
        about("disturbed", |result| {
            let disturbance = &result.environment.disturbance;
            if disturbance.disturbed {
                disturbance.reasons.join("; ")
            } else {
                "no".to_owned()
            }
        }),
    ]
}

/// Names the pairs of runs that are the same, or of machines that do not differ.
fn remarks(runs: &[Named]) -> Vec<Markup> {
    let mut found = Vec::new();
    for (later, run) in runs.iter().enumerate() {
        for (earlier, other) in runs[..later].iter().enumerate() {
            let both = format!("runs {} and {}", earlier + 1, later + 1);
            found.extend(remark(&both, other, run));
        }
    }
    found
}

fn remark(both: &str, earlier: &Named, later: &Named) -> Option<Markup> {
    if is_same_run(&earlier.result, &later.result) {
        return Some(html! { (units::capitalised(both)) " are the same run." });
    }
    let machines = multi_run::machines(&earlier.result, &later.result);
    let said = match &machines {
        Machines::Differ => return None,
        Machines::Same => format!("{} are of the same machine.", units::capitalised(both)),
        Machines::NoDifferenceNamed(settings) => {
            let settings: Vec<String> = settings.iter().map(ToString::to_string).collect();
            if settings.is_empty() {
                format!("The files of {both} name no difference of their machines.")
            } else {
                format!(
                    "The files of {both} name no difference of their machines, apart from settings ({}).",
                    settings.join("; ")
                )
            }
        }
    };
    let is_timed = |run: &Named| !run.result.rows.measured.is_empty();
    let merges = merge(vec![earlier.clone(), later.clone()], "jeton-lab merge").is_ok();
    Some(html! {
        (said)
        @if is_timed(earlier) && is_timed(later) { " " code { "jeton-lab compare" } " judges such runs." }
        @if merges { " " code { "jeton-lab merge" } " joins them." }
    })
}

/// Each question with the answer of each run.
fn compared(runs: &[Named]) -> Section {
    let answered = named(runs).enumerate().map(|(index, (name, run))| {
        let answers = answers(&run.result);
        let cards = answers
            .iter()
            .map(|answer| Card::of(answer, &prefix(index)));
        (name, cards.collect())
    });
    let answered: Vec<(String, Vec<Card>)> = answered.collect();
    let most = answered
        .iter()
        .map(|(_, own)| own.len())
        .max()
        .unwrap_or_default();
    let mut section = Section::new("Answers").id("compared");
    if most == 0 {
        section = section.say("None of these runs measured times of libraries.");
    }
    for question in 0..most {
        let cards = html! {
            @if let Some(asked) = answered.iter().find_map(|(_, own)| own.get(question)) { h3 { (asked.question) } }
            div.cards3 {
                @for (name, own) in &answered {
                    @if let Some(card) = own.get(question) { (card.shown(&html! { h4 { (name) } })) }
                }
            }
        };
        section = section.markup(Kind::Block, cards);
    }
    for (name, own) in &answered {
        section = section.markup(
            Kind::Block,
            cards::tables(own, &format!("Figures of the charts of {name}")),
        );
    }
    section
}

fn prefix(index: usize) -> String {
    format!("run-{}", index + 1)
}

/// The compared figure of each server in each scenario; `None` without servers.
fn servers(runs: &[Named]) -> Option<Section> {
    let tables: Vec<Vec<ScenarioTable<'_>>> = (runs.iter())
        .map(|run| scenarios(&run.result.rows.servers))
        .collect();
    let mut lines: Vec<Loaded> = Vec::new();
    for table in tables.iter().flatten() {
        for (row, _) in &table.measured {
            let line = Loaded {
                scenario: table.title.clone(),
                quantity: table.quantity(),
                server: row.subject.id.clone(),
            };
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    if lines.is_empty() {
        return None;
    }
    // The servers of a scenario stay together.
    let titles: Vec<String> = lines.iter().map(|line| line.scenario.clone()).collect();
    lines.sort_by_key(|line| titles.iter().position(|title| *title == line.scenario));
    let mut columns = vec![
        Column::text("scenario", |line: &Loaded| Value::text(&line.scenario)),
        Column::text("server", |line: &Loaded| Value::text(&line.server)).class("id"),
        Column::text("figure", |line: &Loaded| Value::text(line.quantity)),
    ];
    for ((name, _), tables) in named(runs).zip(&tables) {
        columns.push(Column::text(&name, |line: &Loaded| line.figure(tables)).named(&name));
    }
    let about = "The compared figure of each server, with the lowest and the highest repetition of its own run.";
    let table = Table::new("Servers of each run", "Servers, table", &columns, &lines);
    Some(
        Section::new("Servers")
            .id("servers")
            .say(about)
            .table(table),
    )
}

/// A server in a scenario, and the quantity that its scenario compares.
#[derive(PartialEq)]
struct Loaded {
    scenario: String,
    quantity: &'static str,
    server: String,
}

impl Loaded {
    /// Returns the figure in one of the runs.
    fn figure(&self, tables: &[ScenarioTable<'_>]) -> Value {
        let mut own = tables
            .iter()
            .filter(|table| table.title == self.scenario && table.quantity() == self.quantity);
        let figure = own.find_map(|table| {
            let (_, load) =
                (table.measured.iter()).find(|(row, _)| row.subject.id == self.server)?;
            table.figure(load)
        });
        let text = |value: f64| match value {
            value if value < 100.0 => units::fixed(value, 1),
            value => units::fixed(value, 0),
        };
        match figure {
            None => Value::text("not measured"),
            Some((middle, [low, high])) if low < high => Value::text(format!(
                "{} ({} to {})",
                text(middle),
                text(low),
                text(high)
            )),
            Some((middle, _)) => Value::text(text(middle)),
        }
    }
}

/// What a verdict of several runs is about.
type Judged<'a> = (&'a str, &'a str, &'a str);

fn about(verdict: &Verdict) -> Judged<'_> {
    (&verdict.comparison, &verdict.baseline, &verdict.subject)
}

/// The verdicts of all runs, one line for each comparison and subject.
fn verdicts(runs: &[Named]) -> Section {
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
    let section = Section::new("Verdicts").id("verdicts");
    if lines.is_empty() {
        return section.say("None of these runs has a verdict.");
    }
    section
        .say("The time of the subject as a multiple of the baseline of its own run, with the verdict.")
        .table(Table::new("Verdicts of each run", "Verdicts, table", &columns, &lines))
}

fn one(verdict: Option<&Verdict>) -> Value {
    let Some(verdict) = verdict else {
        return Value::text("not measured");
    };
    let (ratio, word) = (units::ratio(verdict.ratio), Value::verdict(verdict.verdict));
    let text = format!("{ratio} {}", word.as_shown());
    Value::text(text).on_page(html! { (ratio) " " (word.markup()) })
}
