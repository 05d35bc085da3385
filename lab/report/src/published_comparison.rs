//! Published figures next to measured ones, and the answers to published conclusions.

use itertools::Itertools as _;
use maud::{Markup, html};

use jeton_lab_model::result::{
    Answer, ClaimAnswered, PublishedFigure, PublishedRow, PublishedTable, Quantity, RowId,
    RunResult,
};
use jeton_lab_model::units::{self, Unit};
use jeton_lab_published::{Source, decidable, reports};

use crate::grouped::grouped;
use crate::section::{Fold, Kind, Section};
use crate::table::{CSV, Column, MARKDOWN, PAGE, TEXT, Table, Value, WIDE, columns};
use crate::words::BOLD;

#[derive(Clone, Copy)]
pub(super) struct Figure<'a> {
    table: &'a PublishedTable,
    unit: Unit,
    row: &'a PublishedRow,
    column: &'a str,
    figure: &'a PublishedFigure,
}

impl Figure<'_> {
    fn text(&self, value: f64) -> String {
        match self.table.quantity {
            Quantity::Time => self.unit.figure(value),
            Quantity::Allocations if value.fract() != 0.0 => units::fixed(value, 1),
            _ => units::fixed(value, 0),
        }
    }
}

fn unit(table: &PublishedTable) -> Unit {
    let figures = table.rows.iter().flat_map(|row| &row.figures);
    Unit::for_times(figures.flat_map(|f| [f.published, f.measured]).flatten())
}

pub(super) fn figures(table: &PublishedTable) -> Vec<Figure<'_>> {
    let unit = unit(table);
    let of_row =
        |row| (0..table.columns.len()).filter_map(move |at| at_column(table, unit, row, at));
    table.rows.iter().flat_map(of_row).collect()
}

fn at_column<'a>(
    table: &'a PublishedTable,
    unit: Unit,
    row: &'a PublishedRow,
    index: usize,
) -> Option<Figure<'a>> {
    Some(Figure {
        table,
        unit,
        row,
        column: table.columns.get(index)?,
        figure: row.figures.get(index)?,
    })
}

pub(super) fn figure_columns<'a>() -> Vec<Column<'a, Figure<'a>>> {
    columns![Figure<'a>:
        text("report") |at| Value::text(at.table.report.to_string()), .on(CSV);
        text("table") |at| Value::text(&at.table.title), .on(CSV);
        text("row") |at| Value::text(&at.row.name), .on(CSV);
        text("column") |at| Value::text(at.column), .on(CSV);
        text("unit") |at| Value::text(at.table.quantity.unit()), .on(CSV);
        number("published") |at| published(at), .on(TEXT);
        text("published_text") |at| Value::text(&at.figure.text), .on(CSV);
        number("published_ratio") |at| ratio(at.figure.published_ratio), .titled("ratio"), .on(TEXT);
        number("measured") |at| measured(at), .on(TEXT);
        number("measured_ratio") |at| ratio(at.figure.measured_ratio), .titled("ratio"), .on(TEXT);
        text("missing") |at| Value::text(at.figure.missing.clone().unwrap_or_default()), .on(CSV);
        text("subject") |at| work(at, |work| work.subject.clone()), .on(CSV);
        text("contract") |at| work(at, |work| work.operation.clone()), .on(CSV);
        text("claims") |at| work(at, |work| work.claims.clone()), .on(CSV);
        text("threads") |at| work(at, |work| work.threads.to_string()), .on(CSV);
        text("ratio_to") |at| Value::text(&at.table.ratio_to), .on(CSV);
        text("machine") |at| Value::text(&at.table.machine), .on(CSV);
        text("source") |at| Value::text(&at.table.source), .on(CSV);
        number("figure") |at| Value::none().on_page(both(at)), .on(PAGE);
    ]
}

fn work(at: &Figure<'_>, value: fn(&RowId) -> String) -> Value {
    let work = at.figure.work.as_ref();
    work.map_or_else(Value::none, |work| Value::text(value(work)))
}

pub(super) fn columns<'t>(table: &'t PublishedTable) -> Vec<Column<'t, &'t PublishedRow>> {
    let unit = unit(table);
    let mut all = columns![&'t PublishedRow: text("row") |row| Value::text(&row.name), .titled("row of the report");];
    for (index, name) in table.columns.iter().enumerate() {
        let of_figure = figure_columns().into_iter();
        all.extend(of_figure.filter(|one| !one.is_only_on(CSV)).map(|column| {
            let title = match column.name() {
                "figure" => name.clone(),
                "published" => format!("{name}: published"),
                _ => column.title().to_owned(),
            };
            let held = move |row: &&'t PublishedRow| at_column(table, unit, row, index);
            column.of(held).named(title)
        }));
    }
    all
}

fn published(figure: &Figure<'_>) -> Value {
    match figure.figure.published {
        Some(value) => Value::number(value, figure.text(value)),
        None => Value::number("", figure.figure.text.clone()),
    }
}

fn measured(figure: &Figure<'_>) -> Value {
    match (figure.figure.measured, &figure.figure.missing) {
        (Some(value), _) => Value::number(value, figure.text(value)),
        (None, Some(why)) => Value::number("", why.clone()),
        (None, None) => Value::unknown(),
    }
}

fn ratio(value: Option<f64>) -> Value {
    let shown = |value| Value::number(value, units::ratio(value));
    value.map_or_else(Value::none, shown)
}

fn both(at: &Figure<'_>) -> Markup {
    let figure = at.figure;
    let same = at.table.quantity == Quantity::TokenBytes
        && figure.measured.is_some()
        && figure.measured == figure.published;
    let published = published(at);
    let published = match published.as_shown() {
        "" => "not published",
        text => text,
    };
    html! {
        @match figure.measured {
            Some(_) => b { (measured(at).as_shown()) },
            None => span.muted { "n/a" },
        }
        @if figure.measured_ratio.is_some() {
            " " span.muted { (ratio(figure.measured_ratio).as_shown()) " ×" }
        }
        @if same { " " span.tag.good { "same" } }
        small {
            (published)
            @if figure.published_ratio.is_some() {
                ", " (ratio(figure.published_ratio).as_shown()) " ×"
            }
        }
    }
}

pub(crate) fn section(result: &RunResult) -> Option<Section> {
    let (tables, claims) = (&result.published, &result.claims_answered);
    if tables.is_empty() && claims.is_empty() {
        return None;
    }
    let measured = claims.iter().filter(|claim| claim.answer.is_measured());
    let measured = measured.count();
    let intro = format!(
        "**{measured} of {}** conclusions of four public reports are measured in this run. The published and measured \
         figures come from two different machines. Do not compare them directly; compare the ratios within each. Sizes are \
         exact on every machine. An artefact is a real difference with a cause other than the published one. An undecided \
         conclusion was measured, and its interval leaves it open.",
        decidable()
    );
    let reports = reports().into_iter();
    let parts = reports.filter_map(|source| report(&source, tables, claims));
    let section = Section::new("The four public reports").id("reports");
    Some(section.on(WIDE).say(intro).parts(parts))
}

fn report(source: &Source, tables: &[PublishedTable], claims: &[ClaimAnswered]) -> Option<Section> {
    let (number, claims) = (source.report, of_report(source, claims));
    if claims.is_empty() {
        return None;
    }
    let counts = counts(&claims);
    let text = counts.iter();
    let text = text
        .map(|(answer, count)| format!("{count} {}", answer.label()))
        .join(", ");
    let tags = html! {
        @for (index, (answer, count)) in counts.iter().enumerate() {
            @if index > 0 { ", " }
            strong { (count) } " " (tag(*answer))
        }
    };
    let title = format!("Report {number}: {}", source.question);
    let caption = format!("{title} Its conclusions, answered");
    let answers = Table::named(caption, &answer_columns(), &claims).class("answers");
    // Markdown leaves out what the run did not measure.
    let mut measured = claims.clone();
    measured.retain(|claim| claim.answer.is_measured());
    let in_text = Table::named("", &answer_columns(), &measured).on(MARKDOWN);
    let own = tables.iter().enumerate();
    let own = own.filter(|(_, table)| table.report == number);
    let mut section = Section::new(title)
        .id(format!("report-{number}"))
        .note(format!(
            "{}. Published on: {}.",
            source.name, source.machine
        ))
        .shown(Kind::Plain, text, tags)
        .table(answers.on(PAGE));
    if !measured.is_empty() {
        section = section.table(in_text);
    }
    Some(section.parts(own.map(|(index, table)| of_table(table, index))))
}

fn of_report<'a>(source: &Source, claims: &'a [ClaimAnswered]) -> Vec<&'a ClaimAnswered> {
    let own = |claim: &&ClaimAnswered| claim.report == source.report;
    claims.iter().filter(own).collect()
}

fn counts(claims: &[&ClaimAnswered]) -> Vec<(Answer, usize)> {
    let of = |answer| claims.iter().filter(|claim| claim.answer == answer).count();
    let counts = Answer::ALL.into_iter().map(|answer| (answer, of(answer)));
    counts.filter(|(_, count)| *count > 0).collect()
}

fn of_table(table: &PublishedTable, number: usize) -> Section {
    let figures = figures(table);
    let measured = figures.iter().filter(|at| at.figure.measured.is_some());
    let measured = units::whole(measured.count() as u64);
    let all = units::count(figures.len(), "figure", "figures");
    let unit = match table.quantity {
        Quantity::Time => unit(table).name,
        other => other.unit(),
    };
    let has_ratio = |at: &Figure<'_>| at.figure.published_ratio.or(at.figure.measured_ratio);
    let ratios = match figures.iter().find_map(has_ratio) {
        Some(_) => format!("; ratios to {}", table.ratio_to),
        None => String::new(),
    };
    let title = &table.title;
    let caption = format!("{title}, {unit}: measured in this run, and published below{ratios}");
    let rows: Vec<_> = table.rows.iter().collect();
    let shown = Table::named(caption, &columns(table), &rows).figures();
    // Each reason once.
    let missing = figures.iter();
    let missing = grouped(missing.filter_map(|at| Some((at.figure.missing.as_deref()?, at))));
    let missing = missing.into_iter().map(|(reason, figures)| {
        let count = units::count(figures.len(), "figure", "figures");
        format!("{reason} ({count})")
    });
    let missing = missing.collect::<Vec<_>>().join("; ");
    let section = Section::new(title)
        .id(format!("published-{number}"))
        .fold(Fold::Closed)
        .note(format!(
            "{measured} of {all} measured in this run, in {unit}."
        ))
        .items(&table.notes)
        .table(shown.class("published figures"));
    if missing.is_empty() {
        return section;
    }
    section.note(format!("Not measured: {missing}."))
}

pub(super) fn answer_columns<'a>() -> Vec<Column<'a, &'a ClaimAnswered>> {
    columns![&'a ClaimAnswered:
        text("id") |one| Value::text(&one.id), .titled("no."), .class("id");
        text("report") |one| Value::text(one.report.to_string()), .on(CSV);
        text("claim") |one| Value::text(&one.claim).on_page(html! { (one.claim) small { "from " (one.machine) } }), .titled("conclusion"), .header();
        text("answer") |one| Value::text(one.answer.label()).emphasised().on_page(tag(one.answer));
        text("measured") |one| Value::text(&one.measured).on_page(html! { (one.measured) @if !one.why.is_empty() { " " small { (one.why) } } }), .titled("measured in this run"), .subtitled("reason");
        text("why") |one| Value::text(&one.why), .titled("reason"), .on(TEXT);
        text("machine") |one| Value::text(&one.machine), .on(CSV);
    ]
}

pub(super) fn tag(answer: Answer) -> Markup {
    let class = match answer {
        Answer::Holds => "good",
        Answer::DoesNotHold => "bad",
        Answer::Artefact => "warn",
        Answer::Undecided | Answer::NotMeasured | Answer::Opinion => "plain",
    };
    html! { span.tag.(class) { (answer.label()) } }
}

/// For the terminal: how many conclusions this run answers, and for each report the answers that matter most; `None`
/// if the run relates to no report.
pub(crate) fn in_short(result: &RunResult) -> Option<Section> {
    let claims = &result.claims_answered;
    let measured = claims.iter().filter(|claim| claim.answer.is_measured());
    let (measured, all) = (measured.count(), decidable());
    let title = format!("The four public reports: {measured} of {all} conclusions measured");
    let reports = reports().into_iter();
    let parts = reports.filter_map(|source| report_in_short(&source, of_report(&source, claims)));
    let note = "The page has every conclusion and table of the reports.";
    (measured > 0).then(|| Section::new(title).note(note).parts(parts))
}

fn report_in_short(source: &Source, claims: Vec<&ClaimAnswered>) -> Option<Section> {
    let said = units::list(
        counts(&claims)
            .into_iter()
            .map(|(answer, count)| match count {
                1 => format!("1 {}", answer.label()),
                several => format!("{several} {}", answer.plural()),
            }),
    );
    let told = source.in_short.iter();
    let told = told.filter_map(|id| claims.iter().find(|claim| claim.id == *id));
    let is_measured = |claim: &&&ClaimAnswered| claim.answer.is_measured();
    // A report without a measured conclusion says what it needs.
    let needs = told
        .clone()
        .next()
        .filter(|_| !claims.iter().any(|one| one.answer.is_measured()));
    let needs = needs.map(|claim| format!("needs {}", claim.measured));
    let told = told.filter(is_measured).map(|one| {
        let (claim, answer, measured, why) =
            (&one.claim, one.answer.label(), &one.measured, &one.why);
        format!("\u{201c}{claim}\u{201d} {BOLD}{answer}{BOLD:#}: {measured}; {why}.")
    });
    let (number, question) = (source.report, source.question);
    let section = Section::new(format!("{number} {question}")).say(format!("{said}."));
    (!said.is_empty()).then(|| section.items(told).items(needs))
}
