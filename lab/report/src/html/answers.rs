//! The top of the page: what the run cannot conclude, and a card for each of the three answers.
//!
//! The cards must lie within the first 1,000 pixels on a phone, so their charts have thin lines.

use maud::{Markup, html};

use jeton_lab_model::recommendation::LANGUAGES;
use jeton_lab_model::result::RunResult;

use crate::recommendation::answers::{
    Answer, Bar, Measured, Sureness, answers, by_language, limits,
};
use crate::table::{Column, Page, Value};

use super::chart::cut;
use super::marks::Mark;
use super::scale::{LogScale, per_cent};
use super::units::{self, Unit};

/// The prefix of ids on the page of one result.
const PREFIX: &str = "answer";
/// The height of a line of a chart.
const LINE: f64 = 16.0;
/// Where the marks begin, and the width that they use, in per cent: names are to the left, times to the
/// right.
const MARKS: [f64; 2] = [54.0, 23.0];
/// What a reader must know about the cards.
const ABOUT: &str = "Each small chart has its own logarithmic scale: in one chart, equal distances are equal ratios. One project makes this lab and the \
    libraries called jeton. Its libraries for Go, Node, Python and Java call one core in Rust.";
/// Longer names do not fit 390 px; the table has them in full.
const NAME_CHARS_MAX: usize = 26;
/// A narrower interval, in per cent of the chart's width, is hidden by its mark.
const HIDDEN_BY_MARK: f64 = 2.0;

/// Renders the limits of the run and its answers; nothing if the run measured no times and had no
/// trouble.
pub(super) fn section(result: &RunResult) -> Markup {
    let answers = answers(result);
    let limits = limits(result);
    // Results of commands without timings have no section with the reasons.
    let has_gaps = !result.rows.measured.is_empty() || result.rows.is_empty();
    if answers.is_empty() && limits.is_empty() && !has_gaps {
        return Markup::default();
    }
    html! {
        section #answers aria-labelledby="answers-heading" {
            h2.spoken #answers-heading { "Answers" }
            @if !limits.is_empty() {
                p.callout.bad.limits {
                    strong { "Not concluded: " }
                    (limits.join("; ")) ". "
                    @if has_gaps { a href="#gaps" { "Reasons" } }
                }
            }
            @if !answers.is_empty() {
                div.cards3 { @for answer in &answers { (card(answer, PREFIX, &question(answer))) } }
                p.note.about { (ABOUT) }
                (tables(&answers, PREFIX, "Figures of these charts"))
            }
        }
    }
}

/// Renders the answer to one question more: jeton in the reader's language.
pub(super) fn language(result: &RunResult) -> Markup {
    let answer = by_language(result);
    html! {
        div.cards1 { (card(&answer, PREFIX, &question(&answer))) }
        @if answer.measured.as_ref().is_some_and(|m| m.bars.len() < 2 * LANGUAGES.len()) {
            p.note {
                code { (answer.command) } " measures jeton in every language whose toolchain is installed."
            }
        }
        (tables(std::slice::from_ref(&answer), PREFIX, "Figures of this chart"))
    }
}

fn question(answer: &Answer) -> Markup {
    html! { h3 { (answer.question) } }
}

/// Renders one answer. The prefix makes the id of its table unique on the page.
pub(super) fn card(answer: &Answer, prefix: &str, heading: &Markup) -> Markup {
    html! {
        article.answer {
            (heading)
            p.said { (answer.sentence) }
            @match &answer.measured {
                Some(measured) => {
                    p.number {
                        strong { (measured.figure.value) } " "
                        span.muted { "(" (measured.figure.interval) ") " (measured.figure.what) }
                    }
                    (chart(answer, measured, prefix))
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

fn table_id(answer: &Answer, prefix: &str) -> String {
    format!("{prefix}-{}", answer.id)
}

fn chart(answer: &Answer, measured: &Measured, prefix: &str) -> Markup {
    let bars = &measured.bars;
    let unit = unit(bars);
    let said = format!(
        "{}, on a log axis: {}.",
        measured.bars_show,
        units::list(&said(bars, unit))
    );
    dots(&said, &table_id(answer, prefix), bars, MARKS, |value| {
        unit.text(value)
    })
}

/// Renders a line for each bar: its name, its mark with the interval, and its value as text. The marks begin
/// at a place and use a width, in per cent.
pub(super) fn dots(
    label: &str,
    table: &str,
    bars: &[Bar],
    [start, width]: [f64; 2],
    text: impl Fn(f64) -> String,
) -> Markup {
    let ends = bars.iter().flat_map(|bar| bar.interval);
    let scale = LogScale::around(bars.iter().map(|bar| bar.median), ends);
    html! {
        svg.mini role="img" height=(bars.len() as f64 * LINE) aria-label=(label) aria-details=(table) {
            @for (index, bar) in bars.iter().enumerate() {
                @let y = index as f64 * LINE + LINE / 2.0;
                @let [low, high] = bar.interval.map(|end| scale.place(end));
                text y=(y + 4.0) { (cut(&bar.name, NAME_CHARS_MAX)) }
                svg x=(per_cent(start)) y=(y) width=(per_cent(width)) {
                    line.axis x2="100%" {}
                    @if high - low > HIDDEN_BY_MARK { line x1=(per_cent(low)) x2=(per_cent(high)) {} }
                    (Mark::dot().at(scale.place(bar.median), 0.0))
                }
                text.end x="100%" y=(y + 4.0) { (text(bar.median)) }
            }
        }
    }
}

fn said(bars: &[Bar], unit: Unit) -> Vec<String> {
    let one = |bar: &Bar| format!("{} {}", bar.in_full, unit.text(bar.median));
    bars.iter().map(one).collect()
}

fn columns<'a>(unit: Unit) -> Vec<Column<'a, &'a Bar>> {
    vec![
        Column::text("subject", |bar: &&Bar| Value::text(&bar.in_full)),
        Column::interval("median", ["low", "high"], move |bar: &&Bar| {
            Value::interval(bar.median, bar.interval, |ns| unit.figure(ns))
        }),
    ]
}

/// Renders the figures of the charts as folded tables.
pub(super) fn tables(answers: &[Answer], prefix: &str, summary: &str) -> Markup {
    let measured = || {
        answers
            .iter()
            .filter_map(|a| Some((a, a.measured.as_ref()?)))
    };
    html! {
        @if measured().count() > 0 {
            details {
                summary { (summary) }
                @for (answer, measured) in measured() {
                    @let unit = unit(&measured.bars);
                    (Page::new(
                        format!("{}, in {}", measured.bars_show, unit.name),
                        format!("{} {summary}", answer.question),
                    )
                        .figures()
                        .id(table_id(answer, prefix))
                        .table(&columns(unit), &measured.bars.iter().collect::<Vec<_>>()))
                }
            }
        }
    }
}
