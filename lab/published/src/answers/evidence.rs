//! The measurements of a run that answers are based on.

use std::collections::BTreeSet;

use jeton_lab_model::Format;
use jeton_lab_model::result::{Answer, AttackRow, NoiseFloor, Row, RowId, Status, VerdictKind};
use jeton_lab_stats::interval::estimate;
use jeton_lab_stats::verdict::judge;
use jeton_lab_stats::verdicts::band_for;

/// The rows of a run, with its noise.
#[derive(Clone, Copy)]
pub(super) struct Evidence<'a> {
    pub(super) rows: &'a [Row],
    /// The attack rows, if the result has them.
    pub(super) attacks: &'a [AttackRow],
    pub(super) noise: &'a NoiseFloor,
}

/// Why a conclusion has no verdict.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Open {
    /// What is missing: a row, a tool, another command.
    Missing(String),
    /// It was measured, and the interval leaves it open.
    Undecided {
        /// The figures, with the interval.
        measured: String,
        rows: Vec<RowId>,
    },
}

impl From<String> for Open {
    fn from(what: String) -> Self {
        Self::Missing(what)
    }
}

impl From<&str> for Open {
    fn from(what: &str) -> Self {
        Self::Missing(what.to_owned())
    }
}

/// The comparison of two works.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Compared {
    pub(super) ratio: f64,
    /// The ends of the 95 % interval of the ratio.
    interval: [f64; 2],
    /// How far identical subjects can differ in this run, as a ratio minus one.
    noise: f64,
    pub(super) kind: VerdictKind,
    /// The difference with both times, as text: `12 % faster (8.80 µs against 10.0 µs)`.
    pub(super) words: String,
    pub(super) rows: Vec<RowId>,
}

impl Compared {
    /// The difference with its interval.
    pub(super) fn with_interval(&self) -> String {
        let [low, high] = self.interval.map(difference);
        let noise = if self.kind == VerdictKind::Undecided && self.interval_excludes_one() {
            format!(
                ", where identical subjects can differ by {:.0} %",
                self.noise * 100.0
            )
        } else {
            String::new()
        };
        format!("{}, 95 % interval {low} to {high}{noise}", self.words)
    }

    fn interval_excludes_one(&self) -> bool {
        let [low, high] = self.interval;
        high < 1.0 || low > 1.0
    }

    /// Says that the interval leaves a conclusion open.
    pub(super) fn undecided(&self) -> Open {
        Open::Undecided {
            measured: self.with_interval(),
            rows: self.rows.clone(),
        }
    }

    /// Whether the ratio is at least this. `None`: the interval has values on both sides.
    pub(super) fn is_at_least(&self, limit: f64) -> Option<bool> {
        let [low, high] = self.interval.map(|end| printed(end) >= limit);
        (low == high).then_some(low)
    }

    /// Whether the ratio is at most this. `None`: the interval has values on both sides.
    pub(super) fn is_at_most(&self, limit: f64) -> Option<bool> {
        let [low, high] = self.interval.map(|end| printed(end) <= limit);
        (low == high).then_some(low)
    }

    /// Whether the ratio is in this range. `None`: the interval has values inside and outside.
    pub(super) fn is_within(&self, [least, most]: [f64; 2]) -> Option<bool> {
        match (self.is_at_least(least), self.is_at_most(most)) {
            (Some(true), Some(true)) => Some(true),
            (Some(false), _) | (_, Some(false)) => Some(false),
            _ => None,
        }
    }
}

/// Several parts of one conclusion. A part that is wrong decides, also if others are open.
#[derive(Default)]
pub(super) struct Parts {
    pub(super) is_wrong: bool,
    is_open: bool,
    words: Vec<String>,
    pub(super) rows: Vec<RowId>,
}

impl Parts {
    /// Adds a part: what was measured, and whether it agrees.
    pub(super) fn add(&mut self, what: &str, compared: &Compared, agrees: Option<bool>) {
        let words = match agrees {
            Some(_) => compared.words.clone(),
            None => compared.with_interval(),
        };
        let words = match what {
            "" => words,
            what => format!("{what} {words}"),
        };
        self.add_words(words, agrees);
        self.rows.extend(compared.rows.iter().cloned());
    }

    /// The same without rows.
    pub(super) fn add_words(&mut self, words: String, agrees: Option<bool>) {
        self.is_wrong |= agrees == Some(false);
        self.is_open |= agrees.is_none();
        self.words.push(words);
    }

    /// Whether all parts agree, with the figures behind `before`.
    ///
    /// # Errors
    /// If no part is wrong, and one is open.
    pub(super) fn judged(&self, before: &str) -> Result<(bool, String), Open> {
        let measured = format!("{before}{}", self.words.join(", "));
        if self.is_open && !self.is_wrong {
            return Err(Open::Undecided {
                measured,
                rows: self.rows.clone(),
            });
        }
        Ok((!self.is_wrong, measured))
    }
}

/// Medians whose ratio differs more than this from the mean ratio of the rounds are not printed beside
/// it: the figures of one sentence must agree.
const MEDIANS_AGREE: f64 = 0.02;

/// An answer without the number and text of its conclusion.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Finding {
    pub(super) answer: Answer,
    pub(super) measured: String,
    pub(super) why: String,
    pub(super) rows: Vec<RowId>,
}

impl Finding {
    pub(super) fn new(
        answer: Answer,
        measured: impl Into<String>,
        why: impl Into<String>,
        rows: Vec<RowId>,
    ) -> Self {
        Self {
            answer,
            measured: measured.into(),
            why: why.into(),
            rows,
        }
    }

    /// Creates the answer to a conclusion without a verdict.
    pub(super) fn open(why: Open) -> Self {
        match why {
            Open::Missing(what) => Self::new(
                Answer::NotMeasured,
                what,
                "required for an answer",
                Vec::new(),
            ),
            Open::Undecided { measured, rows } => Self::new(
                Answer::Undecided,
                measured,
                "more rounds, or a machine with less other work, would decide it",
                rows,
            ),
        }
    }

    /// Creates the answer *not measured*, with what is missing.
    pub(super) fn missing(what: impl Into<Open>) -> Self {
        Self::open(what.into())
    }

    /// Creates the answer to a conclusion that no figures can decide, with the facts that bear on it.
    pub(super) fn opinion(facts: impl Into<String>) -> Self {
        let why = "an opinion: no measurement decides it; these facts bear on it";
        Self::new(Answer::Opinion, facts, why, Vec::new())
    }
}

impl From<Result<Finding, Open>> for Finding {
    fn from(found: Result<Finding, Open>) -> Self {
        found.unwrap_or_else(Finding::open)
    }
}

impl<'a> Evidence<'a> {
    /// Returns how many libraries of JWT and of PASETO this run has.
    pub(super) fn libraries(&self) -> [usize; 2] {
        let of = |is_paseto: bool| {
            let rows = self.rows.iter().filter(|row| {
                let format = Format::named(&row.subject.format);
                format.is_some_and(|format| {
                    if is_paseto {
                        format.is_paseto()
                    } else {
                        format == Format::Jwt
                    }
                })
            });
            let names: BTreeSet<_> = rows
                .map(|row| (&row.subject.language, &row.subject.library))
                .collect();
            names.len()
        };
        [of(false), of(true)]
    }

    /// Returns the measured row of a work.
    pub(super) fn row(&self, work: &RowId) -> Result<&'a Row, Open> {
        let Some(row) = self.rows.iter().find(|row| work.names(row)) else {
            return Err(format!("{} was not planned in this run", name(work)).into());
        };
        match (row.status, &row.reason) {
            (Status::Ok, _) => Ok(row),
            (status, Some(reason)) => {
                Err(format!("{}: {}: {reason}", name(work), status.name()).into())
            }
            (status, None) => Err(format!("{}: {}", name(work), status.name()).into()),
        }
    }

    /// Returns the rounds of a work. Those of a disturbed run are used too: its noise floor and its intervals are as
    /// much wider.
    pub(super) fn rounds(&self, work: &RowId) -> Result<&'a [f64], Open> {
        let row = self.row(work)?;
        let timing = row.ns_per_op.as_ref();
        timing
            .map(|timing| timing.rounds.as_slice())
            .ok_or_else(|| format!("{}: no time", name(work)).into())
    }

    /// Returns the median, in nanoseconds.
    pub(super) fn time(&self, work: &RowId) -> Result<f64, Open> {
        self.rounds(work)?;
        let timing = self.row(work)?.ns_per_op.as_ref();
        timing.map(|t| t.median).ok_or_else(|| name(work).into())
    }

    /// Returns the token size.
    pub(super) fn size(&self, work: &RowId) -> Result<u64, Open> {
        let row = self.row(work)?;
        row.token_bytes
            .ok_or_else(|| format!("{}: no token", name(work)).into())
    }

    /// Returns bytes and allocations per operation.
    pub(super) fn memory(&self, work: &RowId) -> Result<(f64, f64), Open> {
        let row = self.row(work)?;
        let both = row.bytes_per_op.zip(row.allocs_per_op);
        both.ok_or_else(|| format!("{}: the runtime does not count memory", name(work)).into())
    }

    /// Compares one work with another, round by round.
    pub(super) fn compare(&self, subject: &RowId, baseline: &RowId) -> Result<Compared, Open> {
        self.compare_sums(
            std::slice::from_ref(subject),
            std::slice::from_ref(baseline),
        )
    }

    /// Compares sequences of works, with their times added.
    pub(super) fn compare_sums(
        &self,
        subject: &[RowId],
        baseline: &[RowId],
    ) -> Result<Compared, Open> {
        let (ours, theirs) = (self.sum(subject)?, self.sum(baseline)?);
        let ratio = estimate(&ours, &theirs, 1)
            .map_err(|why| format!("enough rounds of {}: {why}", name(&subject[0])))?;
        let works = || subject.iter().chain(baseline);
        let managed = works().map(|work| self.row(work).is_ok_and(|r| r.subject.is_managed()));
        let threads = works().map(|work| work.threads).max().unwrap_or(1);
        let band = band_for(self.noise, managed, threads);
        if !band.is_known() {
            return Err(format!("A/A pairs with {threads} threads").into());
        }
        let median = |works: &[RowId]| -> Result<f64, Open> {
            works.iter().map(|work| self.time(work)).sum()
        };
        let medians = [median(subject)?, median(baseline)?];
        Ok(Compared {
            ratio: ratio.ratio(),
            interval: ratio.interval(),
            noise: band.believed_beyond(),
            kind: judge(&ratio, band),
            words: compared(ratio.ratio(), medians),
            rows: works().cloned().collect(),
        })
    }

    fn sum(&self, works: &[RowId]) -> Result<Vec<f64>, Open> {
        let mut sum: Vec<f64> = Vec::new();
        for work in works {
            let rounds = self.rounds(work)?;
            if sum.is_empty() {
                sum = rounds.to_vec();
            } else {
                sum.iter_mut()
                    .zip(rounds)
                    .for_each(|(sum, one)| *sum += one);
            }
        }
        Ok(sum)
    }
}

/// Describes a work: `go/cristalhq:jwt:HS256:prepared, verify`.
pub(super) fn name(work: &RowId) -> String {
    let mut name = format!("{}, {}", work.subject, work.operation);
    if work.claims != "standard" {
        name.push_str(&format!(", {} claims", work.claims));
    }
    if work.threads > 1 {
        name.push_str(&format!(", {} threads", work.threads));
    }
    name
}

/// Formats a time with three digits.
pub(super) fn time(ns: f64) -> String {
    let (value, unit) = match ns {
        ns if ns < 1e3 => (ns, "ns"),
        ns if ns < 1e6 => (ns / 1e3, "µs"),
        ns => (ns / 1e6, "ms"),
    };
    let decimals = match value {
        v if v < 10.0 => 2,
        v if v < 100.0 => 1,
        _ => 0,
    };
    format!("{value:.decimals$} {unit}")
}

/// Formats a ratio with the medians, if they agree with it.
fn compared(ratio: f64, [ours, theirs]: [f64; 2]) -> String {
    let apart = (ours / theirs / ratio).ln().abs();
    if apart <= MEDIANS_AGREE {
        format!(
            "{} ({} against {})",
            difference(ratio),
            time(ours),
            time(theirs)
        )
    } else {
        format!("{} by the mean of the rounds", difference(ratio))
    }
}

/// Returns a ratio as [`difference`] prints it. A limit is compared with this figure, so that a reader
/// who checks the printed one comes to the same answer.
pub(super) fn printed(ratio: f64) -> f64 {
    match ratio {
        r if r >= 2.0 => (r * 10.0).round() / 10.0,
        r if r > 0.5 => (r * 100.0).round() / 100.0,
        r => 10.0 / (10.0 / r).round(),
    }
}

/// Formats a ratio: `12 % faster`, `3.4 × slower`.
pub(super) fn difference(ratio: f64) -> String {
    match ratio {
        r if r >= 2.0 => format!("{r:.1} × slower"),
        r if r >= 1.0 => format!("{:.0} % slower", (r - 1.0) * 100.0),
        r if r > 0.5 => format!("{:.0} % faster", (1.0 - r) * 100.0),
        r => format!("{:.1} × faster", 1.0 / r),
    }
}
