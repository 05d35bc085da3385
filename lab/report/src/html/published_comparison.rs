//! Published figures next to measured ones, and the answers to published conclusions.

use maud::{Markup, html};

use jeton_lab_model::result::{Answer, ClaimAnswered, PublishedFigure, PublishedTable, RunResult};
use jeton_lab_published::{Source, decidable, reports};

use super::units;
use crate::published_comparison::{FigureUnit, answer_columns, columns, tag};
use crate::table::Page;

/// Renders every report: its question, its tables with the measured figure of each work, its conclusions.
pub(super) fn section(result: &RunResult) -> Option<Markup> {
    let (tables, claims) = (&result.published, &result.claims_answered);
    if tables.is_empty() && claims.is_empty() {
        return None;
    }
    let measured = claims.iter().filter(|claim| claim.answer.is_measured());
    let measured = measured.count();
    Some(html! {
        p {
            strong { (units::whole(measured as u64)) " of " (units::whole(decidable() as u64)) }
            " conclusions of four public reports are measured in this run. The published and measured figures come from "
            "two different machines. Do not compare them directly; compare the ratios within each. Sizes are exact on "
            "every machine. An artefact is a real difference with a cause other than the published one. An "
            "undecided conclusion was measured, and its interval leaves it open."
        }
        @for source in reports() { (report(&source, tables, claims)) }
    })
}

fn report(source: &Source, tables: &[PublishedTable], claims: &[ClaimAnswered]) -> Markup {
    let number = source.report;
    let claims: Vec<&ClaimAnswered> = claims.iter().filter(|c| c.report == number).collect();
    if claims.is_empty() {
        return html! {};
    }
    let count = |answer: Answer| claims.iter().filter(|c| c.answer == answer).count();
    let counts = Answer::ALL.map(|answer| (answer, count(answer)));
    let title = format!("Report {number}: {}", source.question);
    html! {
        h3 #{ "report-" (number) } { (title) }
        p.note { (source.name) ". Published on: " (source.machine) "." }
        p {
            @for (index, (answer, count)) in counts.into_iter().filter(|(_, count)| *count > 0).enumerate() {
                @if index > 0 { ", " }
                strong { (units::whole(count as u64)) } " " (tag(answer))
            }
        }
        @for (index, table) in tables.iter().enumerate().filter(|(_, table)| table.report == number) {
            (self::table(table, index))
        }
        (Page::new(format!("{title} Its conclusions, answered"), format!("{title} Conclusions, table"))
            .class("answers")
            .table(&answer_columns(), &claims))
    }
}

fn table(table: &PublishedTable, number: usize) -> Markup {
    let measured = figures(table).filter(|f| f.measured.is_some()).count();
    let all = figures(table).count();
    html! {
        article.comparison {
            h4 #{ "published-" (number) } { (table.title) }
            p.note {
                (units::whole(measured as u64)) " of " (units::count(all, "figure", "figures")) " measured in this run."
            }
            @if !table.notes.is_empty() { ul.note { @for note in &table.notes { li { (note) } } } }
            (Page::new(caption(table), format!("{}, table", table.title))
                .figures()
                .class("published figures")
                .table(&columns(table), &table.rows.iter().collect::<Vec<_>>()))
            (absent(table))
        }
    }
}

fn caption(table: &PublishedTable) -> String {
    let (title, unit) = (&table.title, FigureUnit::of(table).unit());
    let caption = format!("{title}, {unit}: measured in this run, and published below");
    if shows_ratios(table) {
        format!("{caption}; ratios to {}", table.ratio_to)
    } else {
        caption
    }
}

fn figures(table: &PublishedTable) -> impl Iterator<Item = &PublishedFigure> {
    table.rows.iter().flat_map(|row| &row.figures)
}

fn shows_ratios(table: &PublishedTable) -> bool {
    figures(table).any(|f| f.published_ratio.is_some() || f.measured_ratio.is_some())
}

/// Renders the reasons for unmeasured figures, each reason once.
fn absent(table: &PublishedTable) -> Markup {
    let mut reasons: Vec<(&str, usize)> = Vec::new();
    for reason in figures(table).filter_map(|f| f.missing.as_deref()) {
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, count)) => *count += 1,
            None => reasons.push((reason, 1)),
        }
    }
    html! {
        @if !reasons.is_empty() {
            p.note {
                "Not measured: "
                @for (index, (reason, count)) in reasons.iter().enumerate() {
                    @if index > 0 { "; " }
                    (reason) " (" (units::count(*count, "figure", "figures")) ")"
                }
                "."
            }
        }
    }
}
