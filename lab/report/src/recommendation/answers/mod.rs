//! The three answers at the top of a report: which library, which algorithm, JWT or PASETO.
//!
//! Each answer has one sentence, one figure with its interval, a few bars for a chart, and how sure it is
//! in words. An answer that the run did not measure names the command that measures it. [`limits`] says
//! what the run cannot conclude.

mod algorithms;
mod formats;
mod language;
mod libraries;
mod limits;

pub(crate) use limits::limits;

use jeton_lab_model::recommendation::Requirements;
use jeton_lab_model::result::RunResult;
use jeton_lab_model::units::Unit;

use super::candidate::Cost;
use super::rules::{Attacks, costs};
use super::sure::Sure;

const OWN: &str = "jeton";

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    pub(crate) id: &'static str,
    pub(crate) question: &'static str,
    pub(crate) sentence: String,
    /// What was measured; without it, the run has no answer.
    pub(crate) measured: Option<Measured>,
    /// The command that measures what is missing.
    pub(crate) command: &'static str,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Measured {
    pub(crate) figure: Figure,
    /// What the bars show, for the caption of their table.
    pub(crate) bars_show: String,
    /// The bars of the chart, the most important first.
    pub(crate) bars: Vec<Bar>,
    pub(crate) sure: Sure,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Figure {
    pub(crate) value: String,
    pub(crate) interval: String,
    pub(crate) what: String,
}

impl Figure {
    pub(crate) fn time(cost: &Cost<'_>, unit: Unit, what: String) -> Self {
        let [low, high] = cost.interval;
        Self {
            value: unit.text(cost.median),
            interval: format!("{} to {}", unit.figure(low), unit.text(high)),
            what,
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Bar {
    pub(crate) name: String,
    /// The full name for the table, if `name` is shortened.
    pub(crate) in_full: String,
    pub(crate) median: f64,
    pub(crate) interval: [f64; 2],
    pub(crate) effect: String,
    pub(crate) next: Option<Box<Bar>>,
}

impl Bar {
    pub(crate) fn of(cost: &Cost<'_>, name: String, in_full: String) -> Self {
        Self {
            name,
            in_full,
            median: cost.median,
            interval: cost.interval,
            ..Self::default()
        }
    }
}

pub(crate) fn answers(result: &RunResult) -> Vec<Answer> {
    if result.rows.measured.is_empty() {
        return Vec::new();
    }
    let costs = all_costs(result);
    vec![
        libraries::answer(result, &costs),
        algorithms::answer(result, &costs),
        formats::answer(result),
    ]
}

pub(crate) fn by_language(result: &RunResult) -> Answer {
    language::answer(result, &all_costs(result))
}

fn all_costs(result: &RunResult) -> Vec<Cost<'_>> {
    let attacks = Attacks::of(&result.rows.attack);
    costs(&result.rows.measured, &Requirements::default(), &attacks)
}

impl Answer {
    fn new(id: &'static str, sentence: String, measured: Option<Measured>) -> Self {
        let (question, command) = match id {
            "library" => ("Which library?", "jeton-lab run libraries"),
            "language" => (
                "How fast is jeton in my language?",
                "jeton-lab run libraries",
            ),
            "algorithm" => ("Which algorithm?", "jeton-lab run algorithms"),
            _ => ("JWT or PASETO?", "jeton-lab run formats"),
        };
        Self {
            id,
            question,
            sentence,
            measured,
            command,
        }
    }

    fn missing(id: &'static str, what: &str) -> Self {
        Self::new(id, format!("Not measured: {what}."), None)
    }
}

/// Names a token without its family: `v4.public`.
fn short(token: &str) -> &str {
    token.strip_prefix("PASETO ").unwrap_or(token)
}
