//! The cards at the top of the page: one for each answer, for all languages, for one language, or for servers.

use maud::{Markup, html};

use jeton_lab_model::names;
use jeton_lab_model::result::{RunResult, VerdictKind};
use jeton_lab_model::units::{self, Unit};

use super::{chart, table};
use crate::chart::{Axis, Chart, Point, Row};
use crate::languages::{CASES, Case, Library, languages, ranking};
use crate::recommendation::answers::{Answer, Bar, Figure, Measured, Sure, Sureness, answers};
use crate::recommendation::{cases_of, recommendation_of};
use crate::servers::{ScenarioTable, figure, scenarios};
use crate::table::{Table, Value, columns};

/// The words behind which the tables of several cards are folded.
pub(super) const FIGURES: &str = "Figures of these charts";

/// An answer with its chart and table.
pub(super) struct Card {
    /// Unique on the page; its table has it.
    id: String,
    /// The case that the card is about, or none.
    case: &'static str,
    pub(super) answer: Answer,
    chart: Option<Chart>,
    table: Option<Table>,
    /// More sentences.
    lines: Vec<String>,
}

/// What the table of a card says: its caption, its columns, and the heading of the ends.
type Heads<'h> = (String, [&'h str; 2], Option<&'static str>);

impl Card {
    /// Creates the card of an answer. The prefix makes the id of its table unique on the page.
    pub(super) fn of(answer: Answer, prefix: &str) -> Self {
        let mut card = Self {
            id: format!("{prefix}-{}", answer.id),
            case: "",
            chart: None,
            table: None,
            lines: Vec::new(),
            answer,
        };
        card.draw_times();
        card
    }

    /// Creates a card of one case.
    fn of_case(case: &'static str, prefix: &str, answer: Answer) -> Self {
        Self {
            case,
            ..Self::of(answer, prefix)
        }
    }

    fn draw_times(&mut self) {
        let Some(measured) = &self.answer.measured else {
            return;
        };
        let unit = Unit::for_times(measured.bars.iter().map(|bar| bar.median));
        let caption = format!("{}, in {}", measured.bars_show, unit.name);
        let heads = (caption, ["subject", "median"], None);
        self.draw(heads, |ns| unit.figure(ns), &format!(" {}", unit.name));
    }

    /// Draws the bars, with a table of their figures.
    fn draw(&mut self, heads: Heads<'_>, text: impl Fn(f64) -> String, unit: &str) {
        let (Some(measured), (caption, [name, figure], ends)) = (&self.answer.measured, heads)
        else {
            return;
        };
        let (what, bars) = (&measured.bars_show, &measured.bars);
        let figures = bars.iter().map(|bar| format!("{}{unit}", text(bar.median)));
        let said: Vec<String> = (bars.iter().zip(figures.clone()))
            .map(|(bar, figure)| format!("{} {figure}", bar.in_full))
            .collect();
        let rows = bars.iter().zip(figures).map(|(bar, value)| Row {
            name: bar.name.clone(),
            value,
            points: vec![Point::new("dot", bar.median, bar.interval)],
            ..Row::default()
        });
        let label = format!("{what}, on a log axis: {}.", units::list(&said));
        self.chart = Some(Chart {
            is_small: true,
            ..Chart::rows(label, self.id.clone(), Axis::Plain, rows.collect())
        });
        let columns = columns![Bar:
            text(name) |bar| Value::text(&bar.in_full);
            range(figure) |bar| Value::interval(bar.median, bar.interval, &text), .subtitled(ends.unwrap_or("95 % interval"));
        ];
        // Several languages and runs have the same question.
        let label = format!("{} {what}, table {}", self.answer.question, self.id);
        self.table = Some(
            Table::new(caption, label, &columns, bars)
                .figures()
                .id(&self.id),
        );
    }

    pub(super) fn shown(&self, heading: &Markup) -> Markup {
        let Answer {
            sentence,
            measured,
            command,
            ..
        } = &self.answer;
        html! {
            article.answer data-case=[(!self.case.is_empty()).then_some(self.case)] {
                (heading)
                p.said { (sentence) }
                @if let Some(Measured { figure, .. }) = measured {
                    p.number {
                        strong { (figure.value) } " "
                        span.muted { @if !figure.interval.is_empty() { "(" (figure.interval) ") " } (figure.what) }
                    }
                }
                @if let Some(drawn) = &self.chart { (chart::svg(drawn)) }
                @if !self.lines.is_empty() { ul.lines { @for line in &self.lines { li { (line) } } } }
                @match measured {
                    Some(Measured { sure, .. }) => p.sure {
                        strong class=(class(sure.sureness)) { (sure.sureness.words()) } ": " (sure.why) "."
                    },
                    None if !command.is_empty() => p.muted { "It is measured by " code { (command) } "." },
                    None => "",
                }
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

/// Renders cards side by side, each with its question.
pub(super) fn side_by_side(cards: &[Card]) -> Markup {
    html! { div.cards3 { @for card in cards { (card.shown(&html! { h3 { (card.answer.question) } })) } } }
}

/// Renders the figures of the charts as folded tables.
pub(super) fn tables(cards: &[Card], summary: &str) -> Markup {
    let tables = || cards.iter().filter_map(|card| card.table.as_ref());
    html! {
        @if tables().next().is_some() {
            details { summary { (summary) } @for one in tables() { (table::shown(one)) } }
        }
    }
}

fn times(value: f64) -> String {
    format!("{}\u{a0}×", units::times(value))
}

fn bar(name: String, one: &Library<'_>) -> Bar {
    Bar {
        in_full: format!("{name} {}", one.subject.version),
        name,
        median: one.median,
        interval: one.interval,
    }
}

/// Replaces the chart of the first answer: the fastest library of each language, and the next one by name.
pub(super) fn with_next(card: &mut Card, result: &RunResult, token: &str) {
    let Some(measured) = &mut card.answer.measured else {
        return;
    };
    let ranked = languages(result).into_iter().map(|language| {
        (
            names::language_of(language),
            ranking(result, language, token),
        )
    });
    let mut ranked: Vec<_> = ranked.filter(|(_, all)| !all.is_empty()).collect();
    ranked.sort_by(|(_, a), (_, b)| a[0].median.total_cmp(&b[0].median));
    let of_language = |(language, all): &(&str, Vec<Library<'_>>)| {
        let two = all.iter().take(2);
        let bars = two.map(|one| Bar {
            in_full: format!("{language}: {}", one.name),
            ..bar(format!("{language}: {}", one.name), one)
        });
        bars.collect::<Vec<_>>()
    };
    measured.bars = ranked.iter().flat_map(of_language).collect();
    measured.bars_show = format!(
        "Time to make and open one {token}, the fastest library of each language and the next one"
    );
    card.draw_times();
    let unit = Unit::for_times(ranked.iter().map(|(_, all)| all[0].median));
    let row = |(language, all): &(&str, Vec<Library<'_>>)| {
        let first = &all[0];
        let then = all.get(1).map_or_else(
            || "no other library".to_owned(),
            |next| format!("then {} {}", next.name, times(next.median / first.median)),
        );
        let point = |one: &Library<'_>| Point {
            words: one.name.clone(),
            ..Point::new("dot", one.median, one.interval)
        };
        Row {
            name: format!("{language}: {}", first.name),
            value: unit.text(first.median),
            effect: [then, String::new()],
            points: all.iter().take(2).map(point).collect(),
            ..Row::default()
        }
    };
    if let Some(chart) = &mut card.chart {
        chart.rows = ranked.iter().map(row).collect();
    }
}

/// The cards of one language: its libraries in each case, the choice of a signature, and the recommended tokens.
pub(super) fn of_language(result: &RunResult, language: &str) -> Vec<Card> {
    let mut own = result.clone();
    let rows = &mut own.rows.measured;
    rows.retain(|row| row.subject.language == language);
    own.recommendation = None;
    let cases = CASES.into_iter();
    let libraries = cases.filter_map(|case| libraries(result, language, case));
    let algorithm = answers(&own).into_iter().nth(1);
    let algorithm = algorithm.filter(|answer| answer.measured.is_some());
    let algorithm = algorithm.map(|answer| Card::of_case("public", language, answer));
    let advice = recommendation_of(&own);
    let advised = cases_of(&own, &advice).into_iter().zip(CASES);
    let tokens = advised.filter_map(|(advised, case)| {
        let (choice, measured) = (advised.choice?, units::capitalised(&advised.measured?));
        let answer = Answer {
            id: "token",
            question: "Which token?",
            sentence: format!("{}: {choice}. {measured}.", case.title),
            measured: None,
            command: "",
        };
        Some(Card {
            lines: advised.trade_offs,
            ..Card::of_case(case.id, &format!("{language}-{}", case.id), answer)
        })
    });
    libraries.chain(algorithm).chain(tokens).collect()
}

/// Ranks all libraries of a language by the first kind of token of a case that several have.
fn libraries(result: &RunResult, language: &str, case: Case) -> Option<Card> {
    let ranked = case.tokens.iter();
    let ranked = ranked.map(|token| (*token, ranking(result, language, token)));
    let ranked: Vec<_> = ranked.filter(|(_, all)| !all.is_empty()).collect();
    let several = ranked.iter().find(|(_, all)| all.len() > 1);
    let (token, all) = several.or(ranked.first())?;
    let (first, next) = (&all[0], all.get(1));
    let named = names::language_of(language);
    let then = match next {
        None => "; no other library".to_owned(),
        Some(next) => {
            let ratio = times(next.median / first.median);
            format!(", then {} ({ratio} the time)", next.name)
        }
    };
    let sure = match next.and_then(|next| Some((next, next.against_first.as_ref()?))) {
        None => Sure {
            sureness: Sureness::NotSure,
            why: "no other library was measured".to_owned(),
        },
        Some((next, against)) => {
            let word = match against.verdict {
                VerdictKind::Equivalent => format!("{} is as fast", next.name),
                VerdictKind::Undecided => format!("undecided against {}", next.name),
                _ => {
                    let ratio = times(against.ratio.ratio());
                    format!("{} takes {ratio} the time", next.name)
                }
            };
            against.sure(result, &word)
        }
    };
    let unit = Unit::for_times(all.iter().map(|one| one.median));
    let [low, high] = first.interval;
    let answer = Answer {
        id: "libraries",
        question: "Which library?",
        sentence: format!(
            "The fastest in {named}, with {token}: {}{then}.",
            first.name
        ),
        measured: Some(Measured {
            figure: Figure {
                value: unit.text(first.median),
                interval: format!("{} to {}", unit.figure(low), unit.text(high)),
                what: format!(
                    "to make and open one {token} with {} {}",
                    first.name, first.subject.version
                ),
            },
            bars_show: format!("Time to make and open one {token} in {named}"),
            bars: all.iter().map(|one| bar(one.name.clone(), one)).collect(),
            sure,
        }),
        command: "",
    };
    let prefix = format!("{language}-{}", case.id);
    Some(Card::of_case(case.id, &prefix, answer))
}

/// The cards of a run of servers: tokens per second, and CPU time, in its first load.
pub(super) fn of_servers(result: &RunResult) -> Vec<Card> {
    let tables = scenarios(&result.rows.servers);
    let kinds = [
        ("tokens", "Which server issues most tokens?", false),
        ("cpu", "Which server needs least CPU time?", true),
    ];
    let card = |(id, question, is_shared)| {
        let is_it = |table: &&ScenarioTable<'_>| {
            let is_closed = table.rate.is_none() && !table.is_of_gateways();
            table.oversubscribed == is_shared && is_closed && table.measured.len() > 1
        };
        of_scenario(id, question, tables.iter().find(is_it)?)
    };
    kinds.into_iter().filter_map(card).collect()
}

fn of_scenario(
    id: &'static str,
    question: &'static str,
    table: &ScenarioTable<'_>,
) -> Option<Card> {
    let mut sound = (table.measured.iter()).filter(|(row, _)| row.reason.is_none());
    let (row, load, (middle, [low, high])) =
        sound.find_map(|(row, load)| Some((row, load, table.figure(load)?)))?;
    let (title, quantity) = (&table.title, table.quantity());
    let (sureness, why) = match table.verdict(row, load).as_str() {
        "best" => (
            Sureness::Sure,
            "its repetitions do not overlap with those of another server",
        ),
        _ => (Sureness::NotSure, "repetitions of several servers overlap"),
    };
    let bars = table.measured.iter().filter_map(|(row, load)| {
        let (median, interval) = table.figure(load)?;
        let faulty = if row.reason.is_some() { ", faulty" } else { "" };
        let name = format!("{}{faulty}", row.subject.id);
        Some(Bar {
            in_full: name.clone(),
            name,
            median,
            interval,
        })
    });
    let said = table.sentences().into_iter().next().unwrap_or_default();
    let answer = Answer {
        id,
        question,
        sentence: format!("{title}: {said}"),
        measured: Some(Measured {
            figure: Figure {
                value: figure(middle),
                interval: format!("{} to {}", figure(low), figure(high)),
                what: format!("{quantity} of {}", row.subject.id),
            },
            bars_show: format!("{title}, {quantity}"),
            bars: bars.collect(),
            sure: Sure {
                sureness,
                why: why.to_owned(),
            },
        }),
        command: "",
    };
    let mut card = Card::of(answer, "answer");
    let ends = Some("lowest and highest repetition");
    let caption = format!("{title}: {quantity}");
    card.draw((caption, ["server", quantity], ends), figure, "");
    Some(card)
}
