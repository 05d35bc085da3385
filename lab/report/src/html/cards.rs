//! The cards at the top of the page: one for each answer, for all languages, for one language, or for servers.

use maud::{Markup, html};

use jeton_lab_model::names;
use jeton_lab_model::result::{RunResult, Subject, VerdictKind};
use jeton_lab_model::units::{self, Unit};

use super::{chart, table};
use crate::chart::{Axis, Chart, Point, Row};
use crate::install::{install, limits};
use crate::recommendation::answers::{Answer, Bar, Figure, Measured, answers};
use crate::recommendation::library::{Against, Library, ranking, verbs};
use crate::recommendation::sure::{Sure, Sureness, of_choice};
use crate::recommendation::{Asked, CASES, cases_of, recommendation_of};
use crate::servers::{Loaded, ScenarioTable, figure, name, scenarios};
use crate::table::{Column, Table, Value, columns};

/// The words behind which the tables of several cards are folded.
pub(super) const FIGURES: &str = "Figures of these charts";

/// An answer with its chart and table.
pub(super) struct Card {
    /// Unique on the page; its table has it.
    id: String,
    /// The case that the card is about, or none.
    case: &'static str,
    pub(super) answer: Answer,
    drawn: Option<(Chart, Table)>,
    /// More sentences.
    lines: Vec<String>,
}

impl Card {
    /// Creates the card of an answer. The prefix makes the id of its table unique on the page.
    pub(super) fn of(answer: Answer, prefix: &str) -> Self {
        let mut card = Self {
            id: format!("{prefix}-{}", answer.id),
            case: "",
            drawn: None,
            lines: Vec::new(),
            answer,
        };
        let measured = card.answer.measured.as_ref();
        card.drawn = measured.map(|measured| card.draw(measured));
        card
    }

    /// Creates a card of one case.
    fn of_case(case: &'static str, prefix: &str, answer: Answer) -> Self {
        Self {
            case,
            ..Self::of(answer, prefix)
        }
    }

    /// Draws the bars, with a table of their figures.
    fn draw(&self, measured: &Measured) -> (Chart, Table) {
        let what = &measured.bars_show;
        let bars: Vec<&Bar> = measured.bars.iter().flat_map(Bar::all).collect();
        let unit = Unit::for_times(bars.iter().map(|bar| bar.median));
        let said = bars.iter();
        let said =
            units::list(said.map(|bar| format!("{} {}", bar.in_full, unit.text(bar.median))));
        let rows = measured.bars.iter().map(|bar| Row {
            name: bar.name.clone(),
            value: unit.text(bar.median),
            effect: [bar.effect.clone(), String::new()],
            points: bar.all().map(|one| one.point(bar.next.is_some())).collect(),
            ..Row::default()
        });
        let label = format!("{what}, on a log axis: {said}.");
        let chart = Chart {
            is_small: true,
            ..Chart::rows(label, self.id.clone(), Axis::Plain, rows.collect())
        };
        let columns = columns![&Bar:
            text("subject") |bar| Value::text(&bar.in_full);
            range("median") |bar| Value::interval(bar.median, bar.interval, |ns| unit.figure(ns));
        ];
        let caption = format!("{what}, in {}", unit.name);
        (chart, self.table(caption, what, &columns, &bars))
    }

    /// Several languages and runs have the same question.
    fn table<R>(
        &self,
        caption: String,
        what: &str,
        columns: &[Column<'_, R>],
        rows: &[R],
    ) -> Table {
        let label = format!("{} {what}, table {}", self.answer.question, self.id);
        let table = Table::new(caption, label, columns, rows);
        table.figures().id(&self.id)
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
                @match measured {
                    Some(Measured { sure, .. }) => p.sure {
                        strong class=(class(sure.sureness)) { (sure.sureness.words()) } ": " (sure.why) "."
                    },
                    None if !command.is_empty() => p.muted { "It is measured by " code { (command) } "." },
                    None => "",
                }
                @if let Some((drawn, _)) = &self.drawn { (chart::svg(drawn)) }
                @if !self.lines.is_empty() { ul.lines { @for line in &self.lines { li { (line) } } } }
            }
        }
    }
}

impl Bar {
    /// Returns the bar, and the other mark on its line.
    fn all(&self) -> impl Iterator<Item = &Bar> {
        [self].into_iter().chain(self.next.as_deref())
    }

    fn point(&self, is_named: bool) -> Point {
        Point {
            words: if is_named {
                self.name.clone()
            } else {
                String::new()
            },
            ..Point::new("dot", self.median, self.interval)
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
    let tables = || cards.iter().filter_map(|card| card.drawn.as_ref());
    html! {
        @if tables().next().is_some() {
            details { summary { (summary) } @for (_, one) in tables() { (table::shown(one)) } }
        }
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
        let ((choice, measured), title) = (advised.choice?, case.title);
        let answer = Answer {
            id: "token",
            question: "Which token?",
            sentence: format!("{title}: {choice}. {}.", units::capitalised(&measured)),
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
fn libraries(result: &RunResult, language: &str, case: Asked) -> Option<Card> {
    let ranked = case.tokens.iter();
    let ranked = ranked.map(|token| (*token, ranking(result, language, token)));
    let ranked: Vec<_> = ranked.filter(|(_, all)| !all.is_empty()).collect();
    let several = ranked.iter().find(|(_, all)| all.len() > 1);
    let (token, all) = several.or(ranked.first())?;
    let (first, next) = (&all[0], all.get(1));
    let (named, name) = (names::language_of(language), &first.name);
    let times = |value: f64| format!("{}\u{a0}×", units::times(value));
    let against = next.and_then(|next| Some((&next.name, next.against_first.as_ref()?)));
    let said = match against {
        None => format!("{name}; no other library was measured"),
        Some((next, Against { ratio, verdict, .. })) => {
            let [low, high] = ratio.interval().map(units::ratio);
            let times = format!(
                "{}\u{a0}× the time, {low} to {high}",
                units::ratio(ratio.ratio())
            );
            match verdict {
                VerdictKind::Equivalent => format!("{name} or {next}, as fast ({times})"),
                VerdictKind::Undecided => format!("{name} or {next}, undecided ({times})"),
                _ => format!("{name}; {next} takes {times}"),
            }
        }
    };
    let sure = match against {
        None => Sure {
            sureness: Sureness::NotSure,
            why: "no other library was measured".to_owned(),
        },
        Some((next, against)) => {
            let word = match against.verdict {
                VerdictKind::Equivalent => format!("{next} is as fast"),
                VerdictKind::Undecided => format!("undecided against {next}"),
                _ => format!("{next} is slower"),
            };
            of_choice(result, against.clear(), &(word + &others(&all[2..])))
        }
    };
    let unit = Unit::for_times(all.iter().map(|one| one.cost.median));
    let version = &first.cost.subject.version;
    let [make, open] = verbs(token);
    let runtime = first.cost.subject.runtime.as_ref();
    let on = runtime.map_or_else(String::new, |runtime| format!(" on {runtime}"));
    let what = format!("to {make} and {open} one {token} with {name} {version}{on}");
    let bar = |one: &Library<'_>| {
        let in_full = format!("{} {}", one.name, one.cost.subject.version);
        let effect = match &one.against_first {
            _ if one.has_findings => "an attack succeeds".to_owned(),
            Some(against) => times(against.ratio.ratio()),
            None => String::new(),
        };
        Bar {
            effect,
            ..Bar::of(&one.cost, one.name.clone(), in_full)
        }
    };
    let answer = Answer {
        id: "libraries",
        question: "Which library?",
        sentence: format!("Fastest in {named}, with {token}: {said}."),
        measured: Some(Measured {
            figure: Figure::time(&first.cost, unit, what),
            bars_show: format!("Time to {make} and {open} one {token} in {named}"),
            bars: all.iter().map(bar).collect(),
            sure,
        }),
        command: "",
    };
    let prefix = format!("{language}-{}", case.id);
    Some(Card {
        lines: about(result, token, all),
        ..Card::of_case(case.id, &prefix, answer)
    })
}

/// Says how many libraries after the second are slower than the first.
fn others(all: &[Library<'_>]) -> String {
    let slower = all
        .iter()
        .filter(|one| one.verdict() == VerdictKind::Slower);
    match (slower.count(), all.len()) {
        (_, 0) => String::new(),
        (1, 1) => "; the other one is slower".to_owned(),
        (slower, all) if slower == all => format!("; all {all} others are slower"),
        (slower, all) => format!("; {slower} of {all} others are slower"),
    }
}

/// How to install the first library, and the next if it is not slower; what they ask of their user; what this run does not say.
fn about(result: &RunResult, token: &str, all: &[Library<'_>]) -> Vec<String> {
    let is_first =
        |(index, one): &(usize, &Library<'_>)| *index == 0 || one.verdict() != VerdictKind::Slower;
    let leading = all.iter().take(2).enumerate().filter(is_first);
    let leading: Vec<&Subject> = leading.map(|(_, one)| one.cost.subject).collect();
    let one = |subject: &&Subject| {
        let limits = limits(subject).map_or_else(String::new, |limits| format!(" {limits}"));
        format!("{}: {}.{limits}", subject.library, install(subject))
    };
    let mut attacks = result.rows.attack.iter();
    let not_measured = if attacks.any(|row| row.subject.driver == leading[0].driver()) {
        "load on several threads"
    } else {
        "attacks on these libraries, and load on several threads"
    };
    let rest = match token {
        "JWT ES256" => {
            "ES256, because most libraries have it; other tokens are in the tables below. "
        }
        _ => "",
    };
    let rest = format!("{rest}Not measured: {not_measured}.");
    leading.iter().map(one).chain([rest]).collect()
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
    let (title, compared, quantity) = (&table.title, table.compared, table.compared.quantity());
    let mut sound = (table.measured.iter()).filter(|(row, _)| row.reason.is_none());
    let (row, load, (middle, [low, high])) =
        sound.find_map(|(row, load)| Some((row, load, compared.figure(load)?)))?;
    let (sureness, why) = match table.verdict(row, load).as_str() {
        "best" => (
            Sureness::Sure,
            "its repetitions do not overlap with those of another server",
        ),
        _ => (Sureness::NotSure, "repetitions of several servers overlap"),
    };
    let what = format!("{title}, {quantity}");
    let said = table.sentences().into_iter().next().unwrap_or_default();
    let answer = Answer {
        id,
        question,
        sentence: format!("{title}: {said}"),
        measured: None,
        command: "",
    };
    let mut card = Card::of(answer, "answer");
    let columns = columns![Loaded<'_>:
        text("server") |(row, _)| Value::text(name(row));
        range(quantity) |(_, load)| compared.figure(load).map_or_else(Value::none, |(middle, ends)| Value::interval(middle, ends, figure)),
            .subtitled("lowest and highest repetition");
    ];
    let mut rows = table.measured.clone();
    rows.retain(|(_, load)| compared.figure(load).is_some());
    let shown = card.table(format!("{title}: {quantity}"), &what, &columns, &rows);
    card.drawn = table.chart(&card.id).map(|chart| (chart, shown));
    card.answer.measured = Some(Measured {
        figure: Figure {
            value: figure(middle),
            interval: format!("{} to {}", figure(low), figure(high)),
            what: format!("{quantity} of {}", row.subject.id),
        },
        bars_show: what,
        bars: Vec::new(),
        sure: Sure {
            sureness,
            why: why.to_owned(),
        },
    });
    Some(card)
}
