//! Published figures next to measured ones, and answers to published conclusions: the columns of all
//! formats, and the tables in Markdown.

use std::fmt::{self, Write};

use maud::{Markup, html};

use super::cell::cell;
use super::table::{self, CSV, Column, PAGE, TEXT, Value};
use jeton_lab_model::result::{
    Answer, ClaimAnswered, PublishedFigure, PublishedRow, PublishedTable, Quantity, RowId,
    RunResult,
};
use jeton_lab_model::units;

/// Formats the figures of a quantity in one unit for a whole table.
#[derive(Debug, Clone, Copy)]
pub(super) struct FigureUnit {
    quantity: Quantity,
    unit: units::Unit,
}

impl FigureUnit {
    /// Chooses a unit for the published and measured figures of a table.
    pub(super) fn of(table: &PublishedTable) -> Self {
        let figures = table.rows.iter().flat_map(|row| &row.figures);
        let values = figures.flat_map(|f| [f.published, f.measured]).flatten();
        Self {
            quantity: table.quantity,
            unit: units::Unit::for_times(values),
        }
    }

    /// Returns the unit's name.
    pub(super) fn unit(self) -> &'static str {
        match self.quantity {
            Quantity::Time => self.unit.name,
            other => other.unit(),
        }
    }

    /// Formats one figure without its unit.
    pub(super) fn text(self, value: f64) -> String {
        match self.quantity {
            Quantity::Time => self.unit.figure(value),
            Quantity::Allocations if value.fract() != 0.0 => units::fixed(value, 1),
            _ => units::fixed(value, 0),
        }
    }
}

/// One figure of a published table.
#[derive(Clone, Copy)]
pub(super) struct Figure<'a> {
    table: &'a PublishedTable,
    /// The unit of the table.
    in_unit: FigureUnit,
    row: &'a PublishedRow,
    column: &'a str,
    figure: &'a PublishedFigure,
}

/// Returns all figures of a table.
pub(super) fn figures(table: &PublishedTable) -> Vec<Figure<'_>> {
    let in_unit = FigureUnit::of(table);
    let of_row =
        |row| (0..table.columns.len()).filter_map(move |index| at(table, in_unit, row, index));
    table.rows.iter().flat_map(of_row).collect()
}

fn at<'a>(
    table: &'a PublishedTable,
    in_unit: FigureUnit,
    row: &'a PublishedRow,
    index: usize,
) -> Option<Figure<'a>> {
    Some(Figure {
        table,
        in_unit,
        row,
        column: table.columns.get(index)?,
        figure: row.figures.get(index)?,
    })
}

/// Returns the columns of one line for each figure.
pub(super) fn figure_columns<'a>() -> Vec<Column<'a, Figure<'a>>> {
    let text = |name: &str, value: fn(&Figure<'_>) -> String| {
        Column::text(name, move |figure: &Figure<'_>| Value::text(value(figure))).on(CSV)
    };
    let work = |name: &str, value: fn(&RowId) -> String| {
        Column::text(name, move |figure: &Figure<'_>| {
            let work = figure.figure.work.as_ref();
            work.map_or_else(Value::none, |work| Value::text(value(work)))
        })
        .on(CSV)
    };
    let number = |name: &str, value: fn(&Figure<'_>) -> Value| Column::number(name, value);
    vec![
        text("report", |figure| figure.table.report.to_string()),
        text("table", |figure| figure.table.title.clone()),
        text("row", |figure| figure.row.name.clone()),
        text("column", |figure| figure.column.to_owned()),
        text("unit", |figure| figure.table.quantity.unit().to_owned()),
        number("published", published).on(TEXT),
        text("published_text", |figure| figure.figure.text.clone()),
        number("published_ratio", |figure| {
            ratio(figure.figure.published_ratio)
        })
        .titled("ratio")
        .on(TEXT),
        number("measured", measured).on(TEXT),
        number("measured_ratio", |figure| {
            ratio(figure.figure.measured_ratio)
        })
        .titled("ratio")
        .on(TEXT),
        text("missing", |figure| {
            figure.figure.missing.clone().unwrap_or_default()
        }),
        work("subject", |work| work.subject.clone()),
        work("contract", |work| work.operation.clone()),
        work("claims", |work| work.claims.clone()),
        work("threads", |work| work.threads.to_string()),
        text("ratio_to", |figure| figure.table.ratio_to.clone()),
        text("machine", |figure| figure.table.machine.clone()),
        text("source", |figure| figure.table.source.clone()),
        number("figure", |figure| Value::none().on_page(both(figure))).on(PAGE),
    ]
}

/// Returns the columns of one line for each row of the report.
pub(super) fn columns<'t>(table: &'t PublishedTable) -> Vec<Column<'t, &'t PublishedRow>> {
    let in_unit = FigureUnit::of(table);
    let mut all = vec![
        Column::text("row", |row: &&PublishedRow| Value::text(&row.name))
            .titled("row of the report"),
    ];
    for (index, name) in table.columns.iter().enumerate() {
        let of_figure = figure_columns().into_iter();
        all.extend(
            of_figure
                .filter(|column| !column.is_only_on(CSV))
                .map(|column| {
                    let title = match column.name() {
                        "figure" => name.clone(),
                        "published" => format!("{name}: published"),
                        _ => column.title().to_owned(),
                    };
                    let held = move |row: &&'t PublishedRow| at(table, in_unit, row, index);
                    column.of(held).named(title)
                }),
        );
    }
    all
}

fn published(figure: &Figure<'_>) -> Value {
    match figure.figure.published {
        Some(value) => Value::number(value, figure.in_unit.text(value)),
        None => Value::number("", figure.figure.text.clone()),
    }
}

fn measured(figure: &Figure<'_>) -> Value {
    match (figure.figure.measured, &figure.figure.missing) {
        (Some(value), _) => Value::number(value, figure.in_unit.text(value)),
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

/// Writes the published tables and the answered conclusions, if any.
pub(super) fn write(result: &RunResult, out: &mut String) -> fmt::Result {
    if !result.published.is_empty() {
        writeln!(
            out,
            "\n## Published and measured figures\n\nThe figures come from two different machines. Compare \
             only the ratios within each."
        )?;
    }
    for published in &result.published {
        published_table(published, out)?;
    }
    let claims = result.claims_answered.iter();
    let (open, answered): (Vec<&ClaimAnswered>, Vec<_>) =
        claims.partition(|claim| claim.answer == Answer::NotMeasured);
    if answered.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n## Published conclusions\n")?;
    table::markdown(&answer_columns(), &answered, out)?;
    if open.is_empty() {
        return Ok(());
    }
    let open = units::count(open.len(), "conclusion was", "conclusions were");
    writeln!(
        out,
        "\n{open} not measured in this run; see results.json for the reasons."
    )
}

/// Returns the columns of the answers to published conclusions.
pub(super) fn answer_columns<'a>() -> Vec<Column<'a, &'a ClaimAnswered>> {
    let text = |name: &str, value: fn(&ClaimAnswered) -> &str| {
        Column::text(name, move |claim: &&ClaimAnswered| {
            Value::text(value(claim))
        })
    };
    vec![
        text("id", |claim| &claim.id).titled("no.").class("id"),
        Column::text("report", |claim: &&ClaimAnswered| {
            Value::text(claim.report.to_string())
        })
        .on(CSV),
        Column::text("claim", |claim: &&ClaimAnswered| {
            let markup = html! { (claim.claim) small { "from " (claim.machine) } };
            Value::text(&claim.claim).on_page(markup)
        })
        .titled("conclusion")
        .header(),
        Column::text("answer", |claim: &&ClaimAnswered| {
            Value::text(claim.answer.label())
                .emphasised()
                .on_page(tag(claim.answer))
        }),
        Column::text("measured", |claim: &&ClaimAnswered| {
            Value::text(&claim.measured).on_page(html! {
                (claim.measured)
                @if !claim.why.is_empty() { " " small { (claim.why) } }
            })
        })
        .titled("measured in this run")
        .subtitled("reason"),
        text("why", |claim| &claim.why).titled("reason").on(TEXT),
        text("machine", |claim| &claim.machine).on(CSV),
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

fn published_table(table: &PublishedTable, out: &mut String) -> fmt::Result {
    let in_unit = FigureUnit::of(table);
    writeln!(out, "\n### {}, {}\n", cell(&table.title), in_unit.unit())?;
    writeln!(
        out,
        "Published by {}: {}. Ratios are to {}.",
        cell(&table.source),
        cell(&table.machine),
        cell(&table.ratio_to)
    )?;
    for note in &table.notes {
        writeln!(out, "{}", cell(note))?;
    }
    writeln!(out)?;
    let rows: Vec<&PublishedRow> = table.rows.iter().collect();
    table::markdown(&columns(table), &rows, out)
}
