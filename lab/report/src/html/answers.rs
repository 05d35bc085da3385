//! The top of the page: what the run cannot conclude, and a card for each of the three answers.
//!
//! The cards must lie within the first 1,000 pixels on a phone, so their charts have thin lines.

use maud::{Markup, html};

use jeton_lab_model::result::RunResult;

use crate::recommendation::answers::{Answer, Bar, Measured, Sureness, answers, limits};

use super::chart::cut;
use super::marks::Mark;
use super::scale::{LogScale, per_cent};
use super::units::{self, Unit};

/// The height of a line of a chart.
const LINE: f64 = 18.0;
/// Where the marks begin, and the width that they use, in per cent: names are to the left, times to the
/// right.
const MARKS: [f64; 2] = [54.0, 23.0];
/// Longer names do not fit 390 px; the table has them in full.
const NAME_CHARS_MAX: usize = 26;
/// A narrower interval, in per cent of the chart's width, is hidden by its mark.
const HIDDEN_BY_MARK: f64 = 4.0;

/// Renders the limits of the run and its answers; nothing if the run measured no times and had no
/// trouble.
pub(super) fn section(result: &RunResult) -> Markup {
    let answers = answers(result);
    let limits = limits(result);
    html! {
        section #answers aria-labelledby="answers-heading" {
            h2.spoken #answers-heading { "Answers" }
            @if !limits.is_empty() {
                p.callout.bad.limits {
                    strong { "Not concluded: " }
                    (limits.join("; ")) ". " a href="#gaps" { "Reasons" }
                }
            }
            @if !answers.is_empty() {
                div.cards3 { @for answer in &answers { (card(answer)) } }
                (tables(&answers))
            }
        }
    }
}

fn card(answer: &Answer) -> Markup {
    html! {
        article.answer {
            h3 { (answer.question) }
            p.said { (answer.sentence) }
            @match &answer.measured {
                Some(measured) => {
                    p.number {
                        strong { (measured.figure.value) } " "
                        span.muted { "(" (measured.figure.interval) ") " (measured.figure.what) }
                    }
                    (chart(answer, measured))
                    p.sure {
                        strong class=(class(measured.sure.sureness)) { (measured.sure.sureness.words()) }
                        ": " (measured.sure.why) "."
                    }
                }
                None => p.muted { "It is measured by " code { (answer.command) } "." },
            }
        }
    }
}

fn class(sureness: Sureness) -> &'static str {
    match sureness {
        Sureness::Sure => "good",
        Sureness::FairlySure => "warn",
        Sureness::NotSure => "bad",
    }
}

fn unit(bars: &[Bar]) -> Unit {
    Unit::for_times(bars.iter().map(|bar| bar.median))
}

fn table_id(answer: &Answer) -> String {
    format!("answer-{}", answer.id)
}

fn chart(answer: &Answer, measured: &Measured) -> Markup {
    let bars = &measured.bars;
    let unit = unit(bars);
    let ends = bars
        .iter()
        .flat_map(|b| [b.median, b.interval[0], b.interval[1]]);
    let scale = LogScale::holding(ends);
    let [start, width] = MARKS;
    html! {
        svg.mini role="img" height=(bars.len() as f64 * LINE)
            aria-label={ (measured.bars_show) ", on a log axis: " (units::list(&said(bars, unit))) "." }
            aria-details=(table_id(answer)) {
            @for (index, bar) in bars.iter().enumerate() {
                @let y = index as f64 * LINE + LINE / 2.0;
                @let [low, high] = bar.interval.map(|end| scale.place(end));
                text y=(y + 4.0) { (cut(&bar.name, NAME_CHARS_MAX)) }
                svg x=(per_cent(start)) y=(y) width=(per_cent(width)) {
                    line.axis x2="100%" {}
                    @if high - low > HIDDEN_BY_MARK { line x1=(per_cent(low)) x2=(per_cent(high)) {} }
                    (Mark::of_series(0).at(scale.place(bar.median), 0.0))
                }
                text.end x="100%" y=(y + 4.0) { (unit.text(bar.median)) }
            }
        }
    }
}

fn said(bars: &[Bar], unit: Unit) -> Vec<String> {
    let one = |bar: &Bar| format!("{} {}", bar.in_full, unit.text(bar.median));
    bars.iter().map(one).collect()
}

/// Renders the figures of the three charts as folded tables.
fn tables(answers: &[Answer]) -> Markup {
    let measured = || {
        answers
            .iter()
            .filter_map(|a| Some((a, a.measured.as_ref()?)))
    };
    html! {
        @if measured().count() > 0 {
            details {
                summary { "Figures of these charts" }
                @for (answer, measured) in measured() {
                    @let unit = unit(&measured.bars);
                    div.scroll tabindex="0" role="region" aria-label={ (answer.question) " Table" } {
                        table.figures #(table_id(answer)) {
                            caption { (measured.bars_show) ", in " (unit.name) }
                            thead { tr {
                                th.text scope="col" { "Subject" }
                                th scope="col" { "Median" } th scope="col" { "95 % interval" }
                            } }
                            tbody {
                                @for bar in &measured.bars {
                                    tr {
                                        th scope="row" { (bar.in_full) }
                                        td { (unit.figure(bar.median)) }
                                        td { (unit.figure(bar.interval[0])) " – " (unit.figure(bar.interval[1])) }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
