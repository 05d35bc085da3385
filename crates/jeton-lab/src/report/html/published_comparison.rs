//! What the four reports published, beside what was measured; and their conclusions, answered.

use maud::{Markup, html};

use crate::result::{Answer, ClaimAnswered, PublishedFigure, PublishedTable, Quantity};

use super::units;

/// The published tables, each figure beside the one measured of the same work.
pub(super) fn published(tables: &[PublishedTable]) -> Option<Markup> {
    if tables.is_empty() {
        return None;
    }
    Some(html! {
        p {
            "Two machines stand beside each other here, years apart. Their figures are not compared; what can be compared "
            "is the ratio inside each of them. Sizes are exact on every machine."
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
                (units::whole(measured as u64)) " of " (units::count(all, "figure has", "figures have")) " a measured one beside it here."
            }
            @if !table.notes.is_empty() { ul.note { @for note in &table.notes { li { (note) } } } }
            div.scroll tabindex="0" role="region" aria-label={ (table.title) ", table" } {
                table.published.figures {
                    caption {
                        (table.title) ", " (table.quantity.unit()) ": measured here, and below it as published"
                        @if shows_ratios(table) { "; ratios to " (table.ratio_to) }
                    }
                    thead { tr {
                        th.text scope="col" { "Row of the report" }
                        @for column in &table.columns { th scope="col" { (column) } }
                    } }
                    tbody {
                        @for row in &table.rows {
                            tr {
                                th scope="row" { (row.name) }
                                @for figure in &row.figures { (cell(figure, table.quantity)) }
                            }
                        }
                    }
                }
            }
            (absent(table))
        }
    }
}

fn figures(table: &PublishedTable) -> impl Iterator<Item = &PublishedFigure> {
    table.rows.iter().flat_map(|row| &row.figures)
}

fn shows_ratios(table: &PublishedTable) -> bool {
    figures(table).any(|f| f.published_ratio.is_some() || f.measured_ratio.is_some())
}

fn cell(figure: &PublishedFigure, quantity: Quantity) -> Markup {
    let same = quantity == Quantity::TokenBytes
        && figure.measured.is_some()
        && figure.measured == figure.published;
    html! {
        td {
            @match figure.measured {
                Some(measured) => b { (value(measured, quantity)) },
                None => span.muted { "n/a" },
            }
            @if let Some(ratio) = figure.measured_ratio { " " span.muted { (units::ratio(ratio)) " ×" } }
            @if same { " " span.tag.good { "same" } }
            small {
                (if figure.text.is_empty() { "not published" } else { &figure.text })
                @if let Some(ratio) = figure.published_ratio { ", " (units::ratio(ratio)) " ×" }
            }
        }
    }
}

fn value(value: f64, quantity: Quantity) -> String {
    match quantity {
        Quantity::Time => units::fixed(value, if value < 100.0 { 1 } else { 0 }),
        Quantity::Allocations => units::fixed(value, 1),
        _ => units::fixed(value, 0),
    }
}

/// Why figures have nothing measured beside them, each reason once.
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

/// The conclusions that the reports drew, and what this run says of them.
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
            "Every conclusion that the four reports drew, in our words, and what this run says of it. "
            @for (index, answer) in answers.into_iter().enumerate() {
                @if index > 0 { ", " }
                strong { (units::whole(count(answer) as u64)) } " " (tag(answer))
            }
            ". An artefact is a difference that is there and has another cause than the one that was named."
        }
        div.scroll tabindex="0" role="region" aria-label="Published conclusions, table" {
            table.answers {
                caption { "Published conclusions, answered" }
                thead { tr {
                    th scope="col" { "No." }
                    th scope="col" { "Conclusion" }
                    th scope="col" { "Answer" }
                    th scope="col" { "Measured here, and why" }
                } }
                tbody {
                    @for claim in claims {
                        tr {
                            td.id { (claim.id) }
                            th scope="row" { (claim.claim) small { "from " (claim.machine) } }
                            td { (tag(claim.answer)) }
                            td { (claim.measured) @if !claim.why.is_empty() { " " small { (claim.why) } } }
                        }
                    }
                }
            }
        }
    })
}

fn tag(answer: Answer) -> Markup {
    let class = match answer {
        Answer::Holds => "good",
        Answer::DoesNotHold => "bad",
        Answer::Artefact => "warn",
        Answer::NotMeasured => "plain",
    };
    html! { span.tag.(class) { (answer.words()) } }
}
