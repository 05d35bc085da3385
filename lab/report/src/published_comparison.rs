//! Published figures next to measured ones, and answers to published conclusions, in Markdown.

use std::fmt::{self, Write};

use super::cell::cell;
use super::table::{self, CSV, Column, Value};
use jeton_lab_model::result::{
    Answer, ClaimAnswered, PublishedFigure, PublishedTable, Quantity, RunResult,
};
use jeton_lab_model::units;

/// Formats the figures of a quantity in one unit for a whole table.
#[derive(Debug, Clone, Copy)]
pub(super) struct Figures {
    quantity: Quantity,
    unit: units::Unit,
}

impl Figures {
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
            _ => units::fixed(value, 0),
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
    let answered: Vec<&ClaimAnswered> = result
        .claims_answered
        .iter()
        .filter(|claim| claim.answer != Answer::NotMeasured)
        .collect();
    let open = result.claims_answered.len() - answered.len();
    if answered.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n## Published conclusions\n")?;
    table::markdown(&answer_columns(), &answered, out)?;
    if open > 0 {
        writeln!(
            out,
            "\n{} not measured in this run; see results.json for the reasons.",
            units::count(open, "conclusion was", "conclusions were")
        )?;
    }
    Ok(())
}

/// Returns the columns of the answers to published conclusions.
pub(super) fn answer_columns<'a>() -> Vec<Column<'a, &'a ClaimAnswered>> {
    let text = |name: &str, value: fn(&ClaimAnswered) -> &str| {
        Column::text(name, move |claim: &&ClaimAnswered| {
            Value::text(value(claim))
        })
    };
    vec![
        text("id", |claim| &claim.id).titled("no."),
        Column::text("report", |claim: &&ClaimAnswered| {
            Value::text(claim.report.to_string())
        })
        .on(CSV),
        text("claim", |claim| &claim.claim).titled("conclusion"),
        Column::text("answer", |claim: &&ClaimAnswered| {
            Value::text(claim.answer.label()).emphasised()
        }),
        text("measured", |claim| &claim.measured),
        text("why", |claim| &claim.why).titled("reason"),
        text("machine", |claim| &claim.machine).on(CSV),
    ]
}

fn published_table(table: &PublishedTable, out: &mut String) -> fmt::Result {
    let figures = Figures::of(table);
    writeln!(out, "\n### {}, {}\n", cell(&table.title), figures.unit())?;
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
    write!(out, "\n| |")?;
    for column in &table.columns {
        let column = cell(column);
        write!(out, " {column}: published | ratio | measured | ratio |")?;
    }
    writeln!(
        out,
        "\n|---|{}",
        "--:|--:|--:|--:|".repeat(table.columns.len())
    )?;
    for row in &table.rows {
        write!(out, "| {} |", cell(&row.name))?;
        for figure in &row.figures {
            one(figure, figures, out)?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn one(figure: &PublishedFigure, figures: Figures, out: &mut String) -> fmt::Result {
    let ratio = |value: Option<f64>| value.map_or_else(String::new, units::ratio);
    let published = match figure.published {
        Some(value) => figures.text(value),
        None => cell(&figure.text),
    };
    let measured = match (figure.measured, &figure.missing) {
        (Some(value), _) => figures.text(value),
        (None, Some(why)) => cell(why),
        (None, None) => "n/a".to_owned(),
    };
    write!(
        out,
        " {published} | {} | {measured} | {} |",
        ratio(figure.published_ratio),
        ratio(figure.measured_ratio)
    )
}
