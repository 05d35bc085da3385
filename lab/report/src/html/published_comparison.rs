//! Published figures next to measured ones, and the answers to published conclusions.

use maud::{Markup, html};

use jeton_lab_model::result::{Answer, ClaimAnswered, PublishedFigure, PublishedTable, Quantity};

use super::units;

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
            div.scroll tabindex="0" role="region" aria-label={ (table.title) ", table" } {
                table.published.figures {
                    caption {
                        (table.title) ", " (table.quantity.unit()) ": measured in this run, and published below"
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
        div.scroll tabindex="0" role="region" aria-label="Published conclusions, table" {
            table.answers {
                caption { "Published conclusions, answered" }
                thead { tr {
                    th scope="col" { "No." }
                    th scope="col" { "Conclusion" }
                    th scope="col" { "Answer" }
                    th scope="col" { "Measured in this run, and reason" }
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
    html! { span.tag.(class) { (answer.label()) } }
}
