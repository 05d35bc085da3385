//! Several results side by side: one column for each, never merged.

use std::collections::HashMap;

use itertools::Itertools as _;
use maud::{Markup, html};

use jeton_lab_model::result::{Environment, NoiseFloor, Verdict};

use crate::grouped::{distinct, grouped};
use crate::multi_run::{self, Machines, Named, is_same_run, merge};
use crate::recommendation::answers::answers;
use crate::section::{Fold, Kind, Section};
use crate::servers::{ScenarioTable, figure, scenarios};
use crate::table::{Column, Table, Value, columns};
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
    let forms = runs.iter().map(|run| {
        let environment = &run.result.environment;
        let (cpu, processor) = (environment.cpu.as_str(), &environment.processor);
        let cpu = if cpu.is_empty() { "unknown CPU" } else { cpu };
        let [family, model] = [&processor.family, &processor.model]
            .map(|known| known.as_deref().unwrap_or("unknown"));
        let longer = format!("{cpu}, family {family}, model {model}");
        [cpu.to_owned(), longer, format!("{cpu}, {}", run.name)]
    });
    let forms: Vec<[String; 3]> = forms.collect();
    let is_own = |n: &usize| forms.iter().filter(|f| f[*n] == forms[index][*n]).count() == 1;
    let form = (0..3).find(is_own).unwrap_or(2);
    format!("{}: {}", index + 1, forms[index][form])
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
    let machine = |e: &Environment| {
        let cores = units::count(e.cores, "core", "cores");
        format!("{}, {cores}, {}", e.cpu_in_full(), e.kernel)
    };
    let noise = |noise: &NoiseFloor| {
        let managed = noise.managed.map(units::percent);
        let managed = managed.map(|floor| format!("{floor} managed"));
        let mut floors = noise.floor.map(units::percent).into_iter().chain(managed);
        let floors = floors.join(", ");
        if floors.is_empty() {
            "unknown".to_owned()
        } else {
            floors
        }
    };
    let lines = named(runs).map(|(name, run)| (name, run, &run.result.environment));
    let columns = columns![Run<'_>:
        text("run") |(name, ..)| Value::text(name);
        text("file") |(_, run, _)| Value::code(&run.name);
        text("machine") |(.., e)| Value::text(machine(e));
        text("date") |(.., e)| Value::text(e.started.split('T').next().unwrap_or_default());
        text("rounds") |(.., e)| Value::text(format!("{} of {}", e.rounds_finished, e.rounds_planned));
        text("noise floor") |(_, run, _)| Value::text(noise(&run.result.noise_floor));
        text("disturbed") |(.., e)| Value::text(if e.disturbance.disturbed { e.disturbance.reasons.join("; ") } else { "no".to_owned() });
    ];
    let caption = "The machine and the noise of each run";
    let lines: Vec<Run<'_>> = lines.collect();
    section.table(Table::named(caption, &columns, &lines))
}

type Run<'a> = (String, &'a Named, &'a Environment);

fn remarks(runs: &[Named]) -> Vec<Markup> {
    let pairs = (0..runs.len()).flat_map(|later| (0..later).map(move |earlier| (earlier, later)));
    let remarks = pairs.filter_map(|(earlier, later)| {
        let both = format!("runs {} and {}", earlier + 1, later + 1);
        remark(&both, &runs[earlier], &runs[later])
    });
    remarks.collect()
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
            let apart = match multi_run::joined(settings).as_str() {
                "" => String::new(),
                settings => format!(", apart from settings ({settings})"),
            };
            format!("The files of {both} name no difference of their machines{apart}.")
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

fn compared(runs: &[Named]) -> Section {
    let answered = named(runs).enumerate().map(|(index, (name, run))| {
        let prefix = format!("run-{}", index + 1);
        let cards = answers(&run.result).into_iter();
        let cards = cards.map(|answer| Card::of(answer, &prefix));
        (name, cards.collect())
    });
    let answered: Vec<(String, Vec<Card>)> = answered.collect();
    let counts = answered.iter().map(|(_, own)| own.len());
    let most = counts.max().unwrap_or_default();
    let mut section = Section::new("Answers").id("compared");
    if most == 0 {
        section = section.say("None of these runs measured times of libraries.");
    }
    for question in 0..most {
        let own = || (answered.iter()).filter_map(|(name, own)| Some((name, own.get(question)?)));
        let cards = html! {
            @if let Some((_, asked)) = own().next() { h3 { (asked.answer.question) } }
            div.cards3 { @for (name, card) in own() { (card.shown(&html! { h4 { (name) } })) } }
        };
        section = section.markup(Kind::Block, cards);
    }
    for (name, own) in &answered {
        let tables = cards::tables(own, &format!("Figures of the charts of {name}"));
        section = section.markup(Kind::Block, tables);
    }
    section
}

fn servers(runs: &[Named]) -> Option<Section> {
    let tables = runs.iter().map(|run| scenarios(&run.result.rows.servers));
    let tables: Vec<Vec<ScenarioTable<'_>>> = tables.collect();
    let loaded = tables.iter().flatten().flat_map(|table| {
        let (title, quantity) = (table.title.as_str(), table.compared.quantity());
        let servers = table.measured.iter();
        servers.map(move |(row, _)| (title, (title, quantity, row.subject.id.as_str())))
    });
    // The servers of a scenario stay together.
    let lines = grouped(loaded).into_iter();
    let lines: Vec<Loaded<'_>> = lines.flat_map(|(_, servers)| distinct(servers)).collect();
    if lines.is_empty() {
        return None;
    }
    let mut columns = columns![Loaded<'_>:
        text("scenario") |(scenario, ..)| Value::text(*scenario);
        text("server") |(.., server)| Value::text(*server), .class("id");
        text("figure") |(_, quantity, _)| Value::text(*quantity);
    ];
    for ((name, _), tables) in named(runs).zip(&tables) {
        columns.push(Column::text(&name, |line| loaded_in(tables, *line)).named(&name));
    }
    let about = "The compared figure of each server, with the lowest and the highest repetition of its own run.";
    let table = Table::named("Servers of each run", &columns, &lines);
    let section = Section::new("Servers").id("servers");
    Some(section.say(about).table(table))
}

type Loaded<'a> = (&'a str, &'static str, &'a str);

fn loaded_in(tables: &[ScenarioTable<'_>], (scenario, quantity, server): Loaded<'_>) -> Value {
    let own = tables.iter();
    let mut own =
        own.filter(|table| table.title == scenario && table.compared.quantity() == quantity);
    let found = own.find_map(|table| {
        let mut measured = table.measured.iter();
        let (_, load) = measured.find(|(row, _)| row.subject.id == server)?;
        table.compared.figure(load)
    });
    Value::text(match found {
        None => "not measured".to_owned(),
        Some((middle, [low, high])) if low < high => {
            format!("{} ({} to {})", figure(middle), figure(low), figure(high))
        }
        Some((middle, _)) => figure(middle),
    })
}

type Judged<'a> = (&'a str, &'a str, &'a str);

fn about(verdict: &Verdict) -> Judged<'_> {
    (&verdict.comparison, &verdict.baseline, &verdict.subject)
}

fn verdicts(runs: &[Named]) -> Section {
    let all = runs.iter().flat_map(|run| &run.result.verdicts);
    let lines: Vec<Judged<'_>> = all.map(about).unique().collect();
    let mut columns = columns![Judged<'_>:
        text("comparison") |(comparison, ..)| Value::text(*comparison);
        text("subject") |(.., subject)| Value::text(*subject), .class("id");
        text("baseline") |(_, baseline, _)| Value::text(*baseline), .class("id");
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
        .table(Table::named("Verdicts of each run", &columns, &lines))
}

fn one(verdict: Option<&Verdict>) -> Value {
    let Some(verdict) = verdict else {
        return Value::text("not measured");
    };
    let (ratio, word) = (units::ratio(verdict.ratio), Value::verdict(verdict.verdict));
    let text = format!("{ratio} {}", word.as_shown());
    Value::text(text).on_page(html! { (ratio) " " (word.markup()) })
}
