//! The measurements of a run that answers are based on.

use std::collections::BTreeSet;

use jeton_lab_model::Format;
use jeton_lab_model::result::{
    Answer, AttackRow, NoiseFloor, Row, RowId, ServerRow, Status, VerdictKind,
};
use jeton_lab_stats::interval::estimate;
use jeton_lab_stats::verdict::judge;
use jeton_lab_stats::verdicts::band_for;

/// A rule of a conclusion: what these rows of the evidence say.
pub(super) type Judge = fn(&Evidence<'_>, &[RowId]) -> Result<Finding, Open>;

/// The rows of a run, with its noise.
#[derive(Clone, Copy)]
pub(super) struct Evidence<'a> {
    pub(super) rows: &'a [Row],
    /// The attack rows, if the result has them.
    pub(super) attacks: &'a [AttackRow],
    pub(super) servers: &'a [ServerRow],
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
        let [low, high] = self.interval;
        let is_noise = self.kind == VerdictKind::Undecided && (high < 1.0 || low > 1.0);
        let percent = self.noise * 100.0;
        let noise = format!(", where identical subjects can differ by {percent:.0} %");
        let noise = if is_noise { noise } else { String::new() };
        let [low, high] = [low, high].map(difference);
        format!("{}, 95 % interval {low} to {high}{noise}", self.words)
    }

    /// Whether the ratio is within a limit. `None`: the interval has values on both sides.
    pub(super) fn is(&self, limit: Limit) -> Option<bool> {
        let on = |agrees: &dyn Fn(f64) -> bool| {
            let [low, high] = self.interval.map(|end| agrees(printed(end)));
            (low == high).then_some(low)
        };
        match limit {
            Limit::AtLeast(least) => on(&|ratio| ratio >= least),
            Limit::AtMost(most) => on(&|ratio| ratio <= most),
            Limit::Within([least, most]) => {
                match (self.is(Limit::AtLeast(least)), self.is(Limit::AtMost(most))) {
                    (Some(true), Some(true)) => Some(true),
                    (Some(false), _) | (_, Some(false)) => Some(false),
                    _ => None,
                }
            }
            Limit::Faster => match self.kind {
                VerdictKind::Undecided => None,
                kind => Some(kind == VerdictKind::Faster),
            },
        }
    }
}

/// A limit of a ratio.
#[derive(Debug, Clone, Copy)]
pub(super) enum Limit {
    AtLeast(f64),
    AtMost(f64),
    Within([f64; 2]),
    /// Below one, for sure.
    Faster,
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
        self.add_words(format!("{what} {words}").trim_start().to_owned(), agrees);
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

/// No works.
pub(super) const NONE: &[RowId] = &[];

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
        rows: impl Into<Vec<RowId>>,
    ) -> Self {
        Self {
            answer,
            measured: measured.into(),
            why: why.into(),
            rows: rows.into(),
        }
    }

    /// Creates an answer that holds or does not, for these reasons.
    pub(super) fn judged<W: Into<String>>(
        holds: bool,
        measured: impl Into<String>,
        [why, why_not]: [W; 2],
        rows: impl Into<Vec<RowId>>,
    ) -> Self {
        if holds {
            Self::new(Answer::Holds, measured, why, rows)
        } else {
            Self::new(Answer::DoesNotHold, measured, why_not, rows)
        }
    }

    /// Creates the answer to a conclusion without a verdict.
    pub(super) fn open(why: Open) -> Self {
        let more = "more rounds, or a machine with less other work, would decide it";
        match why {
            Open::Missing(what) => {
                let why = "required for an answer";
                Self::new(Answer::NotMeasured, what, why, NONE)
            }
            Open::Undecided { measured, rows } => {
                Self::new(Answer::Undecided, measured, more, rows)
            }
        }
    }

    /// Creates the answer *not measured*, with what is missing.
    pub(super) fn missing(what: impl Into<Open>) -> Self {
        Self::open(what.into())
    }

    /// Creates the answer to a conclusion that no figures can decide, with the facts that bear on it.
    pub(super) fn opinion(facts: impl Into<String>) -> Self {
        let why = "an opinion: no measurement decides it; these facts bear on it";
        Self::new(Answer::Opinion, facts, why, NONE)
    }
}

impl<'a> Evidence<'a> {
    /// Returns how many libraries of JWT and of PASETO this run has.
    pub(super) fn libraries(&self) -> [usize; 2] {
        let of = |is_it: fn(Format) -> bool| {
            let subjects = self.rows.iter().map(|row| &row.subject);
            let of_it =
                subjects.filter(|subject| Format::named(&subject.format).is_some_and(is_it));
            let names: BTreeSet<_> = of_it.map(|s| (&s.language, &s.library)).collect();
            names.len()
        };
        [
            of(|format| format == Format::Jwt),
            of(|format| format.is_paseto()),
        ]
    }

    /// Returns the row of a work, measured or not.
    pub(super) fn found(&self, work: &RowId) -> Option<&'a Row> {
        self.rows.iter().find(|row| work.names(row))
    }

    /// Returns the measured row of a work.
    pub(super) fn row(&self, work: &RowId) -> Result<&'a Row, Open> {
        let row = self.found(work);
        let row = row.ok_or_else(|| format!("{} was not planned in this run", name(work)))?;
        let reason = row
            .reason
            .as_ref()
            .map_or_else(String::new, |reason| format!(": {reason}"));
        match row.status {
            Status::Ok => Ok(row),
            status => Err(format!("{}: {}{reason}", name(work), status.name()).into()),
        }
    }

    /// Returns an answer from the preflight: a verifier that accepts a token that it must reject is not timed, and its
    /// row has the reason.
    pub(super) fn preflight(
        &self,
        works: &[RowId],
        measured: String,
        why: &str,
    ) -> Result<Finding, Open> {
        for work in works {
            let failed = self
                .found(work)
                .filter(|row| row.status == Status::FailedPreflight);
            let reason = failed.and_then(|row| row.reason.as_deref());
            if let Some(reason) = reason.filter(|reason| reason.contains("accepts")) {
                let measured = format!("{}: {reason}", work.subject);
                let why = "it failed this preflight check";
                let work = std::slice::from_ref(work);
                return Ok(Finding::new(Answer::DoesNotHold, measured, why, work));
            }
            self.row(work)?;
        }
        Ok(Finding::new(Answer::Holds, measured, why, works))
    }

    /// Answers whether all these ratios are within a limit.
    pub(super) fn ratios(
        &self,
        words: &str,
        limit: Limit,
        whys: [&str; 2],
        ratios: &[(&str, RowId, RowId)],
    ) -> Result<Finding, Open> {
        let mut parts = Parts::default();
        for (what, ours, theirs) in ratios {
            let compared = self.compare(ours, theirs)?;
            parts.add(what, &compared, compared.is(limit));
        }
        let (all, measured) = parts.judged(words)?;
        Ok(Finding::judged(all, measured, whys, parts.rows))
    }

    /// Returns the rounds of a work. Those of a disturbed run are used too: its noise floor and its intervals are as
    /// much wider.
    pub(super) fn rounds(&self, work: &RowId) -> Result<&'a [f64], Open> {
        let timing = self.row(work)?.ns_per_op.as_ref();
        let rounds = timing.map(|timing| timing.rounds.as_slice());
        rounds.ok_or_else(|| format!("{}: no time", name(work)).into())
    }

    /// Returns the median, in nanoseconds.
    pub(super) fn time(&self, work: &RowId) -> Result<f64, Open> {
        self.rounds(work)?;
        let timing = self.row(work)?.ns_per_op.as_ref();
        timing.map(|t| t.median).ok_or_else(|| name(work).into())
    }

    /// Returns the token size.
    pub(super) fn size(&self, work: &RowId) -> Result<u64, Open> {
        let bytes = self.row(work)?.token_bytes;
        bytes.ok_or_else(|| format!("{}: no token", name(work)).into())
    }

    /// Returns bytes and allocations per operation.
    pub(super) fn memory(&self, work: &RowId) -> Result<(f64, f64), Open> {
        let row = self.row(work)?;
        let both = row.bytes_per_op.zip(row.allocs_per_op);
        both.ok_or_else(|| format!("{}: the runtime does not count memory", name(work)).into())
    }

    /// Compares one work with another, round by round.
    pub(super) fn compare(&self, subject: &RowId, baseline: &RowId) -> Result<Compared, Open> {
        let [subject, baseline] = [subject, baseline].map(std::slice::from_ref);
        self.compare_sums(subject, baseline)
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
                let added = sum.iter_mut().zip(rounds);
                added.for_each(|(sum, one)| *sum += one);
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
        let [ours, theirs] = [ours, theirs].map(time);
        format!("{} ({ours} against {theirs})", difference(ratio))
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
