//! Published figures next to measured ones, and the answers to published conclusions.

use maud::{Markup, html};

use jeton_lab_model::result::{Answer, ClaimAnswered, PublishedFigure, PublishedTable};

use super::units;
use crate::published_comparison::{FigureUnit, answer_columns, columns, tag};
use crate::table::Page;

/// Renders the published tables, each figure with the measured one of the same work.
pub(super) fn published(tables: &[PublishedTable]) -> Option<Markup> {
    if tables.is_empty() {
        return None;
    }
    Some(html! {
        p {
            "The published and measured figures come from two different machines. Do not compare them directly; compare the "
            "ratios within each. Sizes are exact on every machine."
        }
        @for (number, table) in tables.iter().enumerate() { (self::table(table, number)) }
    })
}

fn table(table: &PublishedTable, number: usize) -> Markup {
    let measured = figures(table).filter(|f| f.measured.is_some()).count();
    let all = figures(table).count();
    html! {
        article.comparison {
            h3 #{ "published-" (number) } { (table.title) }
            p.note {
                (table.source) ". Published on: " (table.machine) ". "
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
    match shows_ratios(table) {
        true => format!("{caption}; ratios to {}", table.ratio_to),
        false => caption,
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

/// Renders the published conclusions with the answers of this run.
pub(super) fn answered(claims: &[ClaimAnswered]) -> Option<Markup> {
    if claims.is_empty() {
        return None;
    }
    let count = |answer: Answer| claims.iter().filter(|c| c.answer == answer).count();
    let answers = [
        Answer::Holds,
        Answer::DoesNotHold,
        Answer::Artefact,
        Answer::NotMeasured,
    ];
    Some(html! {
        p {
            "Every conclusion of the four reports, paraphrased, with the answer of this run. "
            @for (index, answer) in answers.into_iter().enumerate() {
                @if index > 0 { ", " }
                strong { (units::whole(count(answer) as u64)) } " " (tag(answer))
            }
            ". An artefact is a real difference with a cause other than the published one."
        }
        (Page::new("Published conclusions, answered", "Published conclusions, table")
            .class("answers")
            .table(&answer_columns(), &claims.iter().collect::<Vec<_>>()))
    })
}
