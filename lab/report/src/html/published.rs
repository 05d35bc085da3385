//! Published figures next to measured ones, and the answers to published conclusions.

use maud::{Markup, html};

use jeton_lab_model::result::{Answer, ClaimAnswered, PublishedFigure, PublishedTable, RunResult};
use jeton_lab_model::units;
use jeton_lab_published::{Source, decidable, reports};

use crate::published_comparison::{FigureUnit, answer_columns, columns, tag};
use crate::section::{Fold, Kind, Section};
use crate::table::Table;

/// Every report: its question, its tables with the measured figure of each work, its conclusions.
pub(super) fn section(result: &RunResult) -> Option<Section> {
    let (tables, claims) = (&result.published, &result.claims_answered);
    if tables.is_empty() && claims.is_empty() {
        return None;
    }
    let measured = claims
        .iter()
        .filter(|claim| claim.answer.is_measured())
        .count();
    let intro = html! {
        strong { (units::whole(measured as u64)) " of " (units::whole(decidable() as u64)) }
        " conclusions of four public reports are measured in this run. The published and measured figures come from two \
        different machines. Do not compare them directly; compare the ratios within each. Sizes are exact on every machine. \
        An artefact is a real difference with a cause other than the published one. An undecided conclusion was measured, \
        and its interval leaves it open."
    };
    let parts = reports()
        .into_iter()
        .filter_map(|source| report(&source, tables, claims));
    Some(
        Section::new("The four public reports")
            .id("reports")
            .markup(Kind::Plain, intro)
            .parts(parts),
    )
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
    let counts = html! {
        @for (index, (answer, count)) in counts.iter().enumerate() {
            @if index > 0 { ", " }
            strong { (units::whole(*count as u64)) } " " (tag(*answer))
        }
    };
    let title = format!("Report {number}: {}", source.question);
    let (caption, label) = (
        format!("{title} Its conclusions, answered"),
        format!("{title} Conclusions, table"),
    );
    let answers = Table::new(caption, label, &answer_columns(), &claims).class("answers");
    let own = tables
        .iter()
        .enumerate()
        .filter(|(_, table)| table.report == number);
    Some(
        Section::new(title)
            .id(format!("report-{number}"))
            .note(format!(
                "{}. Published on: {}.",
                source.name, source.machine
            ))
            .markup(Kind::Plain, counts)
            .table(answers)
            .parts(own.map(|(index, table)| of_table(table, index))),
    )
}

fn of_table(table: &PublishedTable, number: usize) -> Section {
    let measured = figures(table).filter(|f| f.measured.is_some()).count();
    let all = units::count(figures(table).count(), "figure", "figures");
    let rows: Vec<_> = table.rows.iter().collect();
    let shown = Table::new(
        caption(table),
        format!("{}, table", table.title),
        &columns(table),
        &rows,
    );
    let section = Section::new(&table.title)
        .id(format!("published-{number}"))
        .fold(Fold::Closed)
        .note(format!(
            "{} of {all} measured in this run.",
            units::whole(measured as u64)
        ))
        .items(&table.notes)
        .table(shown.figures().class("published figures"));
    match absent(table) {
        Some(absent) => section.markup(Kind::Note, absent),
        None => section,
    }
}

fn caption(table: &PublishedTable) -> String {
    let (title, unit) = (&table.title, FigureUnit::of(table).unit());
    let has_ratios =
        figures(table).any(|f| f.published_ratio.is_some() || f.measured_ratio.is_some());
    let ratios = if has_ratios {
        format!("; ratios to {}", table.ratio_to)
    } else {
        String::new()
    };
    format!("{title}, {unit}: measured in this run, and published below{ratios}")
}

fn figures(table: &PublishedTable) -> impl Iterator<Item = &PublishedFigure> {
    table.rows.iter().flat_map(|row| &row.figures)
}

/// Renders the reasons for unmeasured figures, each reason once.
fn absent(table: &PublishedTable) -> Option<Markup> {
    let mut reasons: Vec<(&str, usize)> = Vec::new();
    for reason in figures(table).filter_map(|f| f.missing.as_deref()) {
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, count)) => *count += 1,
            None => reasons.push((reason, 1)),
        }
    }
    let said = reasons
        .iter()
        .map(|(reason, count)| format!("{reason} ({})", units::count(*count, "figure", "figures")));
    let said = said.collect::<Vec<_>>().join("; ");
    (!reasons.is_empty()).then(|| html! { "Not measured: " (said) "." })
}
