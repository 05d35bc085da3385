//! The cards at the top of the page: one for each answer, for all languages, for one language, or for servers.

use maud::{Markup, html};

use jeton_lab_model::names;
use jeton_lab_model::result::{RunResult, VerdictKind};
use jeton_lab_model::units::{self, Unit};

use super::{chart, table};
use crate::chart::{Axis, Chart, Point, Row};
use crate::languages::{CASES, Case, Library, languages, ranking, signatures};
use crate::recommendation::answers::{Answer, Bar, Sureness};
use crate::recommendation::cases_of;
use crate::recommendation::recommendation_of;
use crate::servers::{ScenarioTable, scenarios};
use crate::table::{Column, Table, Value};

/// A difference this many noise bands away from one is sure.
const FAR_BANDS: f64 = 3.0;

/// An answer: a sentence, one figure, a chart with its table, and how sure it is.
pub(super) struct Card {
    /// Unique on the page; its table has it.
    id: String,
    /// The case that the card is about, or none.
    case: &'static str,
    pub(super) question: String,
    sentence: String,
    /// The figure, its interval and what it is.
    figure: Option<[String; 3]>,
    chart: Option<Chart>,
    table: Option<Table>,
    /// How sure it is, and why.
    sure: Option<(Sureness, String)>,
    /// The command that measures what is missing.
    command: &'static str,
    /// More sentences.
    lines: Vec<String>,
}

impl Card {
    fn new(id: String, question: &str, sentence: String) -> Self {
        Self {
            id,
            case: "",
            question: question.to_owned(),
            sentence,
            figure: None,
            chart: None,
            table: None,
            sure: None,
            command: "",
            lines: Vec::new(),
        }
    }

    /// Creates the card of an answer. The prefix makes the id of its table unique on the page.
    pub(super) fn of(answer: &Answer, prefix: &str) -> Self {
        let id = format!("{prefix}-{}", answer.id);
        let mut card = Self::new(id, answer.question, answer.sentence.clone());
        card.command = answer.command;
        if let Some(measured) = &answer.measured {
            let figure = &measured.figure;
            card.figure = Some([&figure.value, &figure.interval, &figure.what].map(Clone::clone));
            card.sure = Some((measured.sure.sureness, measured.sure.why.clone()));
            card.draw(&measured.bars_show, &measured.bars);
        }
        card
    }

    /// Draws bars, with a table of their figures.
    fn draw(&mut self, what: &str, bars: &[Bar]) {
        let unit = Unit::for_times(bars.iter().map(|bar| bar.median));
        let said: Vec<String> = bars
            .iter()
            .map(|bar| format!("{} {}", bar.in_full, unit.text(bar.median)))
            .collect();
        let row = |bar: &Bar| Row {
            name: bar.name.clone(),
            value: unit.text(bar.median),
            points: vec![Point::new("dot", bar.median, bar.interval)],
            ..Row::default()
        };
        let label = format!("{what}, on a log axis: {}.", units::list(&said));
        self.chart = Some(Chart {
            is_small: true,
            ..Chart::rows(
                label,
                self.id.clone(),
                Axis::Plain,
                bars.iter().map(row).collect(),
            )
        });
        let columns = [
            Column::text("subject", |bar: &Bar| Value::text(&bar.in_full)),
            Column::interval("median", ["low", "high"], |bar: &Bar| {
                Value::interval(bar.median, bar.interval, |ns| unit.figure(ns))
            }),
        ];
        let caption = format!("{what}, in {}", unit.name);
        // Several languages and runs have the same question.
        let label = format!("{} {what}, table {}", self.question, self.id);
        self.table = Some(
            Table::new(caption, label, &columns, bars)
                .figures()
                .id(&self.id),
        );
    }

    pub(super) fn shown(&self, heading: &Markup) -> Markup {
        html! {
            article.answer data-case=[(!self.case.is_empty()).then_some(self.case)] {
                (heading)
                p.said { (self.sentence) }
                @if let Some([value, interval, what]) = &self.figure {
                    p.number { strong { (value) } " " span.muted { @if !interval.is_empty() { "(" (interval) ") " } (what) } }
                }
                @if let Some(drawn) = &self.chart { (chart::svg(drawn)) }
                @if !self.lines.is_empty() { ul.lines { @for line in &self.lines { li { (line) } } } }
                @match &self.sure {
                    Some((sureness, why)) => p.sure {
                        strong class=(class(*sureness)) { (sureness.words()) } ": " (why) "."
                    },
                    None if self.figure.is_none() && !self.command.is_empty() => {
                        p.muted { "It is measured by " code { (self.command) } "." }
                    }
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
    html! { div.cards3 { @for card in cards { (card.shown(&html! { h3 { (card.question) } })) } } }
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

/// Says how sure a verdict is in this run.
fn sure(result: &RunResult, ratio: f64, verdict: VerdictKind, what: &str) -> (Sureness, String) {
    let environment = &result.environment;
    let trouble = if environment.disturbance.disturbed {
        "disturbed run; "
    } else if !environment.complete {
        "the run ended early; "
    } else if result.noise_floor.floor.is_none() {
        "no noise floor was measured; "
    } else {
        ""
    };
    let band = result
        .noise_floor
        .managed
        .or(result.noise_floor.floor)
        .unwrap_or_default();
    let is_far =
        ratio.max(ratio.recip()) > 1.0 + FAR_BANDS * band || verdict == VerdictKind::Equivalent;
    let sureness = match (verdict, is_far, trouble) {
        (VerdictKind::Undecided, ..) => Sureness::NotSure,
        (_, true, "") => Sureness::Sure,
        (_, false, "") | (_, true, _) => Sureness::FairlySure,
        (_, false, _) => Sureness::NotSure,
    };
    (sureness, format!("{trouble}{what}"))
}

fn times(value: f64) -> String {
    format!("{}\u{a0}×", units::times(value))
}

/// Replaces the chart of the first answer: the fastest library of each language, and the next one by name.
pub(super) fn with_next(card: &mut Card, result: &RunResult, token: &str) {
    let ranked = languages(result)
        .into_iter()
        .map(|language| (language, ranking(result, language, token)));
    let mut ranked: Vec<_> = ranked.filter(|(_, all)| !all.is_empty()).collect();
    ranked.sort_by(|(_, a), (_, b)| a[0].median.total_cmp(&b[0].median));
    let unit = Unit::for_times(ranked.iter().map(|(_, all)| all[0].median));
    let mut bars = Vec::new();
    let row = |(language, all): &(&str, Vec<Library<'_>>)| {
        let (first, next) = (&all[0], all.get(1));
        let language = names::language_of(language);
        for one in all.iter().take(2) {
            let name = format!("{language}: {}", one.name);
            bars.push(Bar {
                in_full: name.clone(),
                name,
                median: one.median,
                interval: one.interval,
            });
        }
        let point = |one: &Library<'_>| Point {
            words: one.name.clone(),
            ..Point::new("dot", one.median, one.interval)
        };
        Row {
            name: format!("{language}: {}", first.name),
            value: unit.text(first.median),
            effect: match next {
                Some(next) => [
                    format!("then {} {}", next.name, times(next.median / first.median)),
                    String::new(),
                ],
                None => ["no other library".to_owned(), String::new()],
            },
            points: all.iter().take(2).map(point).collect(),
            ..Row::default()
        }
    };
    let rows: Vec<Row> = ranked.iter().map(row).collect();
    card.draw(&format!("Time to make and open one {token}, the fastest library of each language and the next one"), &bars);
    if let Some(chart) = &mut card.chart {
        chart.drawing = crate::chart::Drawing::Rows(crate::chart::Rows {
            rows,
            ..Default::default()
        });
    }
}

/// Replaces the figure of the second answer: the signatures that a reader can choose.
pub(super) fn with_signatures(card: &mut Card, result: &RunResult, of: &[&str]) {
    let all = signatures(result, of);
    let Some(first) = all.first() else { return };
    let (library, ratio) = (&first.es256, &first.ratio);
    let [low, high] = ratio.interval();
    let language = names::language(library.subject);
    let ratios = || all.iter().map(|one| one.ratio.ratio());
    let others = match all.len() {
        0 | 1 => String::new(),
        several => {
            let (least, most) = (
                ratios().fold(f64::INFINITY, f64::min),
                ratios().fold(0.0, f64::max),
            );
            format!(
                "; {} to {} in {several} libraries",
                units::times(least),
                times(most)
            )
        }
    };
    card.figure = Some([
        format!("{}\u{a0}×", units::fixed(ratio.ratio(), 2)),
        format!("{} to {}", units::fixed(low, 2), units::fixed(high, 2)),
        format!(
            "ES256 against EdDSA with {} ({language}), to sign and verify{others}",
            library.name
        ),
    ]);
    let word = match first.verdict {
        VerdictKind::Faster => "ES256 is faster",
        VerdictKind::Slower => "EdDSA is faster",
        VerdictKind::Equivalent => "both are as fast",
        VerdictKind::Undecided => "undecided",
    };
    card.sure = Some(sure(
        result,
        ratio.ratio(),
        first.verdict,
        &format!("ES256 against EdDSA: {word} with {}", library.name),
    ));
}

/// The cards of one language: its libraries in each case, the choice of a signature, and the recommended tokens.
pub(super) fn of_language(result: &RunResult, language: &str) -> Vec<Card> {
    let mut cards = Vec::new();
    for case in CASES {
        cards.extend(libraries(result, language, case));
    }
    cards.extend(algorithms(result, language));
    let mut own = result.clone();
    own.rows
        .measured
        .retain(|row| row.subject.language == language);
    own.recommendation = None;
    let advice = recommendation_of(&own);
    for (advised, case) in cases_of(&own, &advice).into_iter().zip(CASES) {
        let (Some(choice), Some(measured)) = (advised.choice, advised.measured) else {
            continue;
        };
        let sentence = format!(
            "{}: {choice}. {}.",
            case.title,
            units::capitalised(&measured)
        );
        let mut card = Card::new(
            format!("{language}-{}-token", case.id),
            "Which token?",
            sentence,
        );
        (card.case, card.lines) = (case.id, advised.trade_offs);
        cards.push(card);
    }
    cards
}

/// Ranks all libraries of a language by the first kind of token of a case that several have.
fn libraries(result: &RunResult, language: &str, case: Case) -> Option<Card> {
    let ranked = case
        .tokens
        .iter()
        .map(|token| (*token, ranking(result, language, token)));
    let ranked: Vec<_> = ranked.filter(|(_, all)| !all.is_empty()).collect();
    let (token, all) = ranked
        .iter()
        .find(|(_, all)| all.len() > 1)
        .or(ranked.first())?;
    let (first, next) = (&all[0], all.get(1));
    let named = names::language_of(language);
    let then = next.map_or_else(
        || "; no other library".to_owned(),
        |next| {
            format!(
                ", then {} ({} the time)",
                next.name,
                times(next.median / first.median)
            )
        },
    );
    let sentence = format!(
        "The fastest in {named}, with {token}: {}{then}.",
        first.name
    );
    let mut card = Card::new(
        format!("{language}-{}-libraries", case.id),
        "Which library?",
        sentence,
    );
    let unit = Unit::for_times(all.iter().map(|one| one.median));
    let [low, high] = first.interval;
    card.case = case.id;
    card.figure = Some([
        unit.text(first.median),
        format!("{} to {}", unit.figure(low), unit.text(high)),
        format!(
            "to make and open one {token} with {} {}",
            first.name, first.subject.version
        ),
    ]);
    let bar = |one: &Library<'_>| Bar {
        name: one.name.clone(),
        in_full: format!("{} {}", one.name, one.subject.version),
        median: one.median,
        interval: one.interval,
    };
    card.draw(
        &format!("Time to make and open one {token} in {named}"),
        &all.iter().map(bar).collect::<Vec<_>>(),
    );
    card.sure = Some(
        match next.and_then(|next| Some((next, next.against_first.as_ref()?))) {
            Some((next, (ratio, verdict))) => {
                let word = match verdict {
                    VerdictKind::Equivalent => format!("{} is as fast", next.name),
                    VerdictKind::Undecided => format!("undecided against {}", next.name),
                    _ => format!("{} takes {} the time", next.name, times(ratio.ratio())),
                };
                sure(result, ratio.ratio(), *verdict, &word)
            }
            None => (
                Sureness::NotSure,
                "no other library was measured".to_owned(),
            ),
        },
    );
    Some(card)
}

/// Compares the algorithms of the fastest library of a language.
fn algorithms(result: &RunResult, language: &str) -> Option<Card> {
    let all = signatures(result, &[language]);
    let first = all.first()?;
    let sentence = format!(
        "The two usual signatures in {}:",
        names::language_of(language)
    );
    let mut card = Card::new(
        format!("{language}-public-signature"),
        "EdDSA or ES256?",
        sentence,
    );
    card.case = "public";
    let bar = |alg: &str, one: &Library<'_>| Bar {
        name: format!("{alg}: {}", one.name),
        in_full: format!("{alg}: {} {}", one.name, one.subject.version),
        median: one.median,
        interval: one.interval,
    };
    let bars = all
        .iter()
        .flat_map(|one| [bar("EdDSA", &one.eddsa), bar("ES256", &one.es256)]);
    card.draw(
        "Time to sign and verify one token",
        &bars.collect::<Vec<_>>(),
    );
    let _ = first;
    with_signatures(&mut card, result, &[language]);
    Some(card)
}

/// The cards of a run of servers: tokens per second, CPU time, latency and memory in its first load.
pub(super) fn of_servers(result: &RunResult) -> Vec<Card> {
    let tables = scenarios(&result.rows.servers);
    let own = |is_shared: bool| {
        let is_it = move |table: &&ScenarioTable<'_>| {
            table.oversubscribed == is_shared && table.rate.is_none() && table.measured.len() > 1
        };
        tables.iter().find(is_it)
    };
    let kinds = [
        ("tokens", "Which server issues most tokens?", own(false)),
        ("cpu", "Which server needs least CPU time?", own(true)),
    ];
    let mut cards = Vec::new();
    for (id, question, table) in kinds {
        let Some(table) = table else { continue };
        let id = format!("answer-{id}");
        let mut said = table.sentences().into_iter();
        let mut card = Card::new(
            id.clone(),
            question,
            format!("{}: {}", table.title, said.next().unwrap_or_default()),
        );
        let Some((row, load)) = table
            .measured
            .iter()
            .find(|(row, load)| row.reason.is_none() && table.figure(load).is_some())
        else {
            continue;
        };
        let (figure, [low, high]) = table.figure(load).unwrap_or_default();
        let text = |value: f64| units::fixed(value, if value < 100.0 { 1 } else { 0 });
        card.figure = Some([
            text(figure),
            format!("{} to {}", text(low), text(high)),
            format!("{} of {}", table.quantity(), row.subject.id),
        ]);
        let verdict = table.verdict(row, load);
        card.sure = Some(match verdict.as_str() {
            "best" => (
                Sureness::Sure,
                "its repetitions do not overlap with those of another server".to_owned(),
            ),
            _ => (
                Sureness::NotSure,
                "repetitions of several servers overlap".to_owned(),
            ),
        });
        card.chart = table.chart(&id);
        let columns = [
            Column::text("server", |(name, _): &(String, (f64, [f64; 2]))| {
                Value::text(name)
            }),
            Column::interval(
                "figure",
                ["low", "high"],
                move |(_, (value, ends)): &(String, (f64, [f64; 2]))| {
                    Value::interval(*value, *ends, text)
                },
            )
            .titled(table.quantity())
            .subtitled("lowest and highest repetition"),
        ];
        let figures = table
            .measured
            .iter()
            .filter_map(|(row, load)| Some((row.subject.id.clone(), table.figure(load)?)));
        let caption = format!("{}: {}", table.title, table.quantity());
        let label = format!("{question} table");
        card.table = Some(
            Table::new(caption, label, &columns, &figures.collect::<Vec<_>>())
                .figures()
                .id(id),
        );
        cards.push(card);
    }
    cards
}
