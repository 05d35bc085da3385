//! Servers as a section: what a reader must know first, then each scenario. The page folds the published figures,
//! percentiles and histograms.

use std::collections::BTreeSet;
use std::iter::once;

use itertools::Itertools as _;
use jeton_lab_model::result::{RunResult, ServerLoad, ServerRow};
use jeton_lab_model::units;
use jeton_lab_published::servers::MACHINE;
use maud::html;

use super::columns::{LATENCIES, name};
use super::{Compared, Line, Loaded, ScenarioTable, columns, marks, ms, scenarios};
use crate::chart::{Axis, Chart, Point, Row};
use crate::grouped::{distinct, grouped};
use crate::section::{Fold, Kind, Section, coded};
use crate::table::{Column, MARKDOWN, PAGE, PLAIN, TERMINAL, Table, Value, WIDE, columns, picked};

/// The number of steps of the report's histograms.
const STEPS: u32 = 10;

pub(crate) fn section(result: &RunResult) -> Option<Section> {
    let (rows, e) = (&result.rows.servers, &result.environment);
    if rows.is_empty() {
        return None;
    }
    let tables = scenarios(rows);
    let parts = tables.iter().enumerate();
    let parts = parts.map(|(number, table)| table.section(number, is_open(&tables, number)));
    let mut section = said(result).id("servers");
    let took = format!(", measured in {:.0} s, seed {}", e.elapsed_s, result.seed);
    let are_gateways = tables.iter().all(ScenarioTable::is_of_gateways);
    let title = if are_gateways {
        "Cost of checking tokens in a gateway"
    } else {
        "Cost of issuing tokens over gRPC"
    };
    section.on_terminal = (Some(title.to_owned()), took);
    let another = format!("The report's figures come from another machine: {MACHINE}.");
    let another = Section::default().say(another).on(TERMINAL);
    let problems = distinct(rows.iter().filter_map(|row| {
        let (id, status, reason) = (&row.subject.id, row.status.name(), row.reason.as_ref()?);
        Some(format!("{id} ({status}): {reason}"))
    }));
    let has_problems = !problems.is_empty();
    let none = Section::new("Problems").on(TERMINAL);
    let problems = problems.into_iter().fold(none, Section::say);
    let section = section.parts(parts);
    let section = section.parts((!are_gateways).then_some(another));
    Some(section.parts(has_problems.then_some(problems)))
}

fn said(result: &RunResult) -> Section {
    let (rows, disturbance) = (&result.rows.servers, &result.environment.disturbance);
    let mut said = Section::new("Servers");
    let findings = findings(rows);
    if !findings.is_empty() {
        let list = html! {
            ul.findings { @for (server, what) in &findings { li { strong { (server) } ": " span.reason { (coded(what)) } "." } } }
        };
        said = said.markup(Kind::Block, list);
    }
    let about = format!(
        "Each server had its own cores, except in loads on shared cores, for which the machine has too few; all had the same \
         keys. A loader on another core loaded the servers interleaved. Tokens count successful calls only; errors are not \
         throughput. CPU time includes all threads and processes of the server. 3×50 means 3 connections with 50 calls in \
         flight on each.{} published: a server of the gRPC report as it was; fixed: without its faults. One project makes this \
         lab and rust/jeton.",
        repetitions(rows)
    );
    let brief = "Tokens count successful calls only. CPU is the server's CPU time per token in microseconds; latencies are in \
                 milliseconds, memory is in MiB.";
    said = said.note_on(PAGE, about).say_on(TERMINAL, brief);
    if disturbance.disturbed {
        let reasons = format!("Disturbed run: {}.", disturbance.reasons.join("; "));
        said = said.say_on(TERMINAL, reasons);
    }
    if let Some(loader) = rows.iter().find_map(|row| row.loader.as_ref()) {
        let text = html! { strong { "Imported: " } "rows with this mark were measured with " (loader) ", on an unknown machine." };
        said = said.markup(Kind::Plain, text);
    }
    said
}

/// Reports whether a scenario is open: the first of each algorithm, and each of gateways.
fn is_open(tables: &[ScenarioTable<'_>], number: usize) -> bool {
    let alg = |table: &ScenarioTable<'_>| table.all().next().map(|row| row.alg);
    let own = alg(&tables[number]);
    tables[number].is_of_gateways() || !tables[..number].iter().any(|table| alg(table) == own)
}

/// Says how often and how long each load ran, if that is the same for all.
fn repetitions(rows: &[ServerRow]) -> String {
    let loads = rows.iter().filter_map(|row| row.load.as_ref());
    let counts: BTreeSet<usize> = loads.clone().map(|load| load.repetitions.len()).collect();
    let seconds = loads.flat_map(|load| &load.repetitions);
    let seconds: BTreeSet<String> = seconds
        .map(|one| units::fixed(one.seconds.round(), 0))
        .collect();
    match (counts.first(), seconds.first()) {
        (Some(count), Some(each)) if counts.len() == 1 && seconds.len() == 1 => {
            let count = units::count(*count, "repetition", "repetitions");
            format!(" Each load ran {count} of {each} s.")
        }
        _ => String::new(),
    }
}

pub(crate) fn figure(value: f64) -> String {
    units::fixed(value, if value < 100.0 { 1 } else { 0 })
}

impl ScenarioTable<'_> {
    fn section(&self, number: usize, is_open: bool) -> Section {
        let id = format!("servers-{number}");
        let mut section = Section::new(&self.title).fold(Fold::open_if(is_open));
        if self.oversubscribed {
            section.on_terminal.1 = " (oversubscribed: compare only CPU time)".to_owned();
            section = section.beside(html! { small { "shared cores: CPU time only" } });
        }
        if self.rate.is_some() {
            section = section.say_on(WIDE, "Open loop: latencies count from when a call was due.");
        }
        if self.oversubscribed {
            let text = "Oversubscribed: server and loader share cores. Compare only CPU time.";
            let markup = html! { strong { "Shared cores: " } "server and loader use the same. Compare only the CPU time per token." };
            section = section.say_on(MARKDOWN, text).markup(Kind::Plain, markup);
        }
        section = section.items(self.sentences());
        for row in self.all() {
            let Some(reason) = &row.reason else { continue };
            let (id, status) = (&row.subject.id, row.status.name());
            section = section.item_on(MARKDOWN, format!("`{id}` {status}: {reason}"));
            if row.load.is_none() {
                let markup = html! { (id) " (" (status) "): " span.reason { (coded(reason)) } };
                section = section.markup(Kind::Item, markup);
            }
        }
        section = section.table(Table::new("", "", &columns(0), &self.lines()).on(PLAIN));
        if self.measured.is_empty() {
            return section;
        }
        if let Some(chart) = self.chart(&id) {
            section = section.chart(chart);
        }
        section.table(self.shown(id)).parts([self.whole()])
    }

    /// Returns the compared figure of each server. The line reaches from the lowest to the highest repetition.
    pub(crate) fn chart(&self, id: &str) -> Option<Chart> {
        let row = |(row, load): &Loaded<'_>| {
            let (median, ends) = self.compared.figure(load)?;
            Some(Row {
                name: super::name(row),
                value: figure(median),
                points: vec![Point::new("dot", median, ends)],
                ..Row::default()
            })
        };
        let rows: Vec<Row> = self.measured.iter().filter_map(row).collect();
        let said = units::list(rows.iter().map(|row| format!("{} {}", row.name, row.value)));
        let (title, quantity) = (&self.title, self.compared.quantity());
        let label = format!("{title}, {quantity}, on a log axis: {said}.");
        (!rows.is_empty()).then(|| Chart {
            caption: format!(
                "{}: the median of the repetitions, and the lowest and the highest one. The axis is logarithmic.",
                units::capitalised(quantity)
            ),
            is_small: true,
            ..Chart::rows(label, id.to_owned(), Axis::Plain, rows)
        })
    }

    fn shown(&self, id: String) -> Table {
        let (title, quantity) = (&self.title, self.compared.quantity());
        let verdict = if self.is_of_gateways() {
            "is the CPU time that the check adds".to_owned()
        } else {
            format!("compares {quantity} with the best server")
        };
        let caption = format!("{title}: latencies in milliseconds; the verdict {verdict}");
        let mut lines = self.lines();
        lines.retain(|line| line.load().is_some());
        let figures = [
            "tokens_per_s",
            "cpu_us_per_token",
            "p50_ms",
            "p99_ms",
            "peak_rss_bytes",
        ];
        let mut all = columns![Line<'_>:
            text("server") |line| line.load().map_or_else(Value::none, |(row, _)| {
                Value::text(&row.subject.id).and_on_page(html! { small { (row.subject.libraries) } })
            });
        ];
        all.extend(picked(columns(0), &figures));
        all.extend(columns![Line<'_>:
            text("verdict") |line| line.load().map_or_else(Value::none, |(row, load)| {
                // The verdict and the name of the server say the others.
                let marks = marks(row, load).into_iter().filter(|mark| !["faulty", "as published"].contains(mark));
                Value::text(self.verdict(row, load)).and_on_page(html! { @for mark in marks { " " span.tag.warn { (mark) } } })
            });
        ]);
        Table::new(caption, format!("{title}, table"), &all, &lines)
            .on(PAGE)
            .id(id)
    }

    /// Every figure with the published ones, all percentiles, and histograms in the form of the published report.
    fn whole(&self) -> Section {
        let (title, lines) = (&self.title, self.lines());
        let caption = format!("{title}: tokens, CPU time, latency in milliseconds, memory");
        let whole = Table::new(
            caption,
            format!("{title}, all figures"),
            &columns(0),
            &lines,
        );
        let mut section = Section::new("All figures, with those of the public report")
            .fold(Fold::Closed)
            .on(PAGE)
            .table(whole);
        if !self.published.is_empty() {
            section = section.note(format!(
                "Rows in italics are figures that the gRPC report published, measured on {MACHINE}."
            ));
        }
        let mut all = vec![name()];
        all.extend(columns![Line<'_>:
            number("calls") |line| match (line, line.load()) {
                (_, Some((_, load))) => Value::count(load.statuses.values().sum()),
                (Line::Published(run), _) => run.count.map_or_else(Value::none, |count| Value::number(count, units::fixed(count, 0))),
                _ => Value::none(),
            };
        ]);
        let percentiles = LATENCIES.map(|(name, _)| format!("{name}_ms"));
        let percentiles = percentiles.each_ref().map(String::as_str);
        // The average is no percentile.
        all.extend(picked(columns(0), &percentiles[1..]));
        let measured = self.measured.iter().map(|(row, load)| {
            let steps = load.latencies.steps(STEPS).into_iter();
            let steps = steps.map(|(bound, calls)| (bound, units::whole(calls)));
            steps_table(title, &row.subject.id, steps)
        });
        let published = self.published.iter().map(|run| {
            let steps = run.histogram.iter();
            let steps = steps.map(|(bound, calls)| (*bound, units::fixed(*calls, 0)));
            steps_table(title, &format!("{}, published", run.server), steps)
        });
        let label = format!("{title}, percentiles");
        let percentiles = Table::new("Latency in milliseconds", label, &all, &lines);
        let behind = Section::new("Percentiles and histograms").fold(Fold::Closed);
        let mut behind = behind.table(percentiles);
        behind.tables.extend(measured.chain(published));
        section.parts([behind])
    }
}

fn steps_table(title: &str, name: &str, steps: impl Iterator<Item = (f64, String)>) -> Table {
    let first = Column::text("up to, ms", |()| Value::text("calls"));
    let steps = steps.map(|(bound, calls)| {
        let bound = ms(bound);
        Column::number(&bound, move |()| Value::number(&calls, calls.clone())).named(&bound)
    });
    let columns: Vec<_> = once(first).chain(steps).collect();
    let caption = format!("{name}: calls by latency, up to this many milliseconds");
    let label = format!("{title}, {name}, histogram");
    Table::new(caption, label, &columns, &[()])
}

/// Returns what a reader must know first: which server came out best how often, then servers with faults
/// and servers without figures.
fn findings(rows: &[ServerRow]) -> Vec<(String, String)> {
    let mut tables = scenarios(rows);
    tables.retain(|table| table.measured.len() > 1 && !table.leaders().is_empty());
    tables.retain(|table| !table.is_of_gateways());
    let faults = rows.iter().filter_map(|row| {
        let mark = if row.load.is_some() {
            ""
        } else {
            " (not measured)"
        };
        Some((format!("{}{mark}", row.subject.id), row.reason.clone()?))
    });
    distinct(best(&tables).into_iter().chain(faults))
}

/// Counts for each server, and for each set of servers that cannot be told apart, in how many loads it came
/// out best, by each quantity.
fn best(tables: &[ScenarioTable<'_>]) -> Vec<(String, String)> {
    let leaders = tables.iter();
    let mut counted = grouped(leaders.map(|table| (table.leaders(), table.compared)));
    // Those alone first, then those who came out best most often.
    counted.sort_by_key(|(leaders, loads)| (leaders.len() > 1, usize::MAX - loads.len()));
    let quantities = [
        (Compared::Tokens, "by tokens per second"),
        (Compared::CpuTime, "on shared cores, by CPU time"),
        (Compared::Latency, "at a fixed rate, by p99 latency"),
    ];
    let said = |loads: &[Compared]| {
        let said = quantities.into_iter().filter_map(|(quantity, name)| {
            let times = loads.iter().filter(|own| **own == quantity).count();
            let all = tables.iter().filter(|table| table.compared == quantity);
            let all = units::count(all.count(), "load", "loads");
            (times > 0).then(|| format!("{times} of {all} {name}"))
        });
        said.collect::<Vec<_>>().join("; in ")
    };
    let one = |(leaders, loads): (Vec<&str>, Vec<Compared>)| {
        let (names, loads) = (units::list(&leaders), said(&loads));
        if leaders.len() == 1 {
            (names, format!("alone the best in {loads}"))
        } else {
            let overlap = format!("the repetitions of {names} overlap in {loads}");
            ("Undecided".to_owned(), overlap)
        }
    };
    let found = counted.into_iter().map(one);
    found.chain(others(tables)).collect()
}

/// Counts who has the shortest p99 and the least memory: figures without an interval, and without a verdict.
fn others(tables: &[ScenarioTable<'_>]) -> Option<(String, String)> {
    // On shared cores the loader delays answers too; at a fixed rate, p99 has a verdict.
    let timed = tables
        .iter()
        .filter(|table| table.compared == Compared::Tokens);
    let p99 = least(timed, |load| {
        let worth = Compared::Latency.worth(load);
        (worth > 0.0).then(|| worth.recip())
    });
    let memory = least(tables.iter(), |load| Some(load.peak_rss_bytes? as f64));
    let p99 = p99.map(|said| format!("shortest p99: {said}"));
    let memory = memory.map(|said| format!("least memory: {said}"));
    let said = [p99, memory].into_iter().flatten().join("; ");
    (!said.is_empty()).then(|| ("Without a verdict".to_owned(), said))
}

fn least<'t>(
    tables: impl Iterator<Item = &'t ScenarioTable<'t>>,
    figure: impl Fn(&ServerLoad) -> Option<f64>,
) -> Option<String> {
    let first = tables.filter_map(|table| {
        let figures = table.sound();
        let figures = figures.filter_map(|(row, load)| Some((&row.subject.id, figure(load)?)));
        let figures: Vec<_> = figures.sorted_by(|a, b| a.1.total_cmp(&b.1)).collect();
        (figures.len() > 1).then(|| (figures[0].0, ()))
    });
    let mut counts = grouped(first);
    counts.sort_by_key(|(_, times)| usize::MAX - times.len());
    let loads: usize = counts.iter().map(|(_, times)| times.len()).sum();
    let said = counts.iter();
    let said = units::list(said.map(|(id, times)| format!("{id} in {}", times.len())));
    let loads_in_words = units::count(loads, "load", "loads");
    (loads > 0).then(|| format!("{said} of {loads_in_words}"))
}
