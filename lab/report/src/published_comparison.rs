//! Published figures next to measured ones, and the answers to published conclusions.

use maud::{Markup, html};

use jeton_lab_model::result::{
    Answer, ClaimAnswered, PublishedFigure, PublishedRow, PublishedTable, Quantity, RowId,
    RunResult,
};
use jeton_lab_model::units::{self, Unit};
use jeton_lab_published::{Source, decidable, reports};

use crate::grouped::grouped;
use crate::section::{Fold, Kind, Section, Sentence};
use crate::table::{CSV, Column, MARKDOWN, PAGE, TEXT, Table, Value, WIDE, columns};

/// One figure of a published table.
#[derive(Clone, Copy)]
pub(super) struct Figure<'a> {
    table: &'a PublishedTable,
    /// The unit of the times of the table.
    unit: Unit,
    row: &'a PublishedRow,
    column: &'a str,
    figure: &'a PublishedFigure,
}

impl Figure<'_> {
    /// Formats a figure without its unit.
    fn text(&self, value: f64) -> String {
        match self.table.quantity {
            Quantity::Time => self.unit.figure(value),
            Quantity::Allocations if value.fract() != 0.0 => units::fixed(value, 1),
            _ => units::fixed(value, 0),
        }
    }
}

/// Chooses a unit for the published and measured times of a table.
fn unit(table: &PublishedTable) -> Unit {
    let figures = table.rows.iter().flat_map(|row| &row.figures);
    Unit::for_times(figures.flat_map(|f| [f.published, f.measured]).flatten())
}

/// Returns all figures of a table.
pub(super) fn figures(table: &PublishedTable) -> Vec<Figure<'_>> {
    let unit = unit(table);
    let of_row =
        |row| (0..table.columns.len()).filter_map(move |index| at(table, unit, row, index));
    table.rows.iter().flat_map(of_row).collect()
}

fn at<'a>(
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

/// Returns the columns of one line for each figure.
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

/// Returns the columns of one line for each row of the report.
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
            let held = move |row: &&'t PublishedRow| at(table, unit, row, index);
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
    value.map_or_else(Value::none, |value| {
        Value::number(value, units::ratio(value))
    })
}

/// Renders the measured figure, and the published one below.
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

/// Every report: its question, its tables with the measured figure of each work, its conclusions.
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
    let number = source.report;
    let claims: Vec<&ClaimAnswered> = claims.iter().filter(|c| c.report == number).collect();
    if claims.is_empty() {
        return None;
    }
    let counts =
        Answer::ALL.map(|answer| (answer, claims.iter().filter(|c| c.answer == answer).count()));
    let counts: Vec<_> = counts.into_iter().filter(|(_, count)| *count > 0).collect();
    let text = (counts.iter()).map(|(answer, count)| format!("{count} {}", answer.label()));
    let text: Vec<String> = text.collect();
    let tags = html! {
        @for (index, (answer, count)) in counts.iter().enumerate() {
            @if index > 0 { ", " }
            strong { (count) } " " (tag(*answer))
        }
    };
    let counts = Sentence::new(Kind::Plain, text.join(", ")).markup(tags);
    let title = format!("Report {number}: {}", source.question);
    let caption = format!("{title} Its conclusions, answered");
    let answers = Table::named(caption, &answer_columns(), &claims).class("answers");
    // Markdown leaves out what the run did not measure.
    let mut measured = claims.clone();
    measured.retain(|claim| claim.answer.is_measured());
    let in_text = Table::named("", &answer_columns(), &measured).on(MARKDOWN);
    let own = tables.iter().enumerate();
    let own = own.filter(|(_, table)| table.report == number);
    let published = format!("{}. Published on: {}.", source.name, source.machine);
    let section = Section::new(title).id(format!("report-{number}"));
    let section = section.note(published).with(counts);
    let mut section = section.table(answers.on(PAGE));
    if !measured.is_empty() {
        section = section.table(in_text);
    }
    Some(section.parts(own.map(|(index, table)| of_table(table, index))))
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
    let section = Section::new(title)
        .id(format!("published-{number}"))
        .fold(Fold::Closed)
        .note(format!(
            "{measured} of {all} measured in this run, in {unit}."
        ))
        .items(&table.notes)
        .table(shown.class("published figures"));
    // Each reason once.
    let missing = figures
        .iter()
        .filter_map(|at| Some((at.figure.missing.as_deref()?, at)));
    let said = grouped(missing).into_iter().map(|(reason, figures)| {
        let count = units::count(figures.len(), "figure", "figures");
        format!("{reason} ({count})")
    });
    match said.collect::<Vec<_>>().join("; ").as_str() {
        "" => section,
        said => section.note(format!("Not measured: {said}.")),
    }
}

/// Returns the columns of the answers to published conclusions.
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

/// Renders an answer as a tag.
pub(super) fn tag(answer: Answer) -> Markup {
    let class = match answer {
        Answer::Holds => "good",
        Answer::DoesNotHold => "bad",
        Answer::Artefact => "warn",
        Answer::Undecided | Answer::NotMeasured | Answer::Opinion => "plain",
    };
    html! { span.tag.(class) { (answer.label()) } }
}
