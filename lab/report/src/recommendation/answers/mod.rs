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

use super::attacks::Attacks;
use super::candidate::Cost;
use super::rules::costs;
use super::sure::Sure;

/// The libraries of this project, which have one core.
const OWN: &str = "jeton";

/// The answer to one question.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    /// A short name, unique among the answers.
    pub(crate) id: &'static str,
    pub(crate) question: &'static str,
    pub(crate) sentence: String,
    /// What was measured; without it, the run has no answer.
    pub(crate) measured: Option<Measured>,
    /// The command that measures what is missing.
    pub(crate) command: &'static str,
}

/// The measured part of an answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Measured {
    pub(crate) figure: Figure,
    /// What the bars show, for the caption of their table.
    pub(crate) bars_show: String,
    /// The bars of the chart, the most important first.
    pub(crate) bars: Vec<Bar>,
    pub(crate) sure: Sure,
}

/// One number with its interval, as text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Figure {
    pub(crate) value: String,
    pub(crate) interval: String,
    /// What the number is.
    pub(crate) what: String,
}

impl Figure {
    /// Creates the figure of a time.
    pub(crate) fn time(cost: &Cost<'_>, unit: Unit, what: String) -> Self {
        let [low, high] = cost.interval;
        Self {
            value: unit.text(cost.median),
            interval: format!("{} to {}", unit.figure(low), unit.text(high)),
            what,
        }
    }
}

/// One line of an answer's chart.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Bar {
    pub(crate) name: String,
    /// The full name for the table, if `name` is shortened.
    pub(crate) in_full: String,
    /// Nanoseconds.
    pub(crate) median: f64,
    pub(crate) interval: [f64; 2],
    /// What follows the figure.
    pub(crate) effect: String,
    /// Another mark on the line.
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

/// Returns the three answers; empty if the run measured no times.
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

/// Returns the answer to one question more: jeton in the reader's language.
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

    /// Creates an answer that the run cannot give.
    fn missing(id: &'static str, what: &str) -> Self {
        Self::new(id, format!("Not measured: {what}."), None)
    }
}

/// Names a token without its family: `v4.public`.
fn short(token: &str) -> &str {
    token.strip_prefix("PASETO ").unwrap_or(token)
}
