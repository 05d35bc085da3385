//! The measurements of a run that answers are based on.

use jeton_lab_model::result::{
    Answer, AttackRow, Disturbance, NoiseFloor, Row, RowId, Status, VerdictKind,
};
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
    pub(super) disturbance: &'a Disturbance,
}

/// A description of what is missing for an answer.
pub(super) type Missing = String;

/// The comparison of two works.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Compared {
    pub(super) ratio: f64,
    pub(super) kind: VerdictKind,
    /// The difference with both times, as text: `12 % faster (8.80 µs against 10.0 µs)`.
    pub(super) words: String,
    pub(super) rows: Vec<RowId>,
}

impl Compared {
    /// Describes what is missing for a verdict.
    pub(super) fn undecided(&self) -> Missing {
        format!("more rounds: {} is undecided in this run", self.words)
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

    /// Creates the answer *not measured*, with what is missing.
    pub(super) fn missing(what: Missing) -> Self {
        Self::new(
            Answer::NotMeasured,
            what,
            "required for an answer",
            Vec::new(),
        )
    }

    /// Creates the answer to a conclusion that no figures can answer.
    pub(super) fn no_question(why: &str) -> Self {
        Self::new(Answer::NotMeasured, "nothing", why, Vec::new())
    }
}

impl From<Result<Finding, Missing>> for Finding {
    fn from(found: Result<Finding, Missing>) -> Self {
        found.unwrap_or_else(Finding::missing)
    }
}

impl<'a> Evidence<'a> {
    /// Returns the measured row of a work.
    pub(super) fn row(&self, work: &RowId) -> Result<&'a Row, Missing> {
        let Some(row) = self.rows.iter().find(|row| work.names(row)) else {
            return Err(format!("{} was not planned in this run", name(work)));
        };
        match (row.status, &row.reason) {
            (Status::Ok, _) => Ok(row),
            (status, Some(reason)) => Err(format!("{}: {}: {reason}", name(work), status.name())),
            (status, None) => Err(format!("{}: {}", name(work), status.name())),
        }
    }

    /// Returns the rounds of a work; an error for a disturbed run.
    pub(super) fn rounds(&self, work: &RowId) -> Result<&'a [f64], Missing> {
        if self.disturbance.disturbed {
            let why = self.disturbance.reasons.join("; ");
            return Err(format!(
                "an undisturbed run (this run was disturbed: {why})"
            ));
        }
        let row = self.row(work)?;
        let timing = row.ns_per_op.as_ref();
        timing
            .map(|timing| timing.rounds.as_slice())
            .ok_or_else(|| format!("{}: no time", name(work)))
    }

    /// Returns the median, in nanoseconds.
    pub(super) fn time(&self, work: &RowId) -> Result<f64, Missing> {
        self.rounds(work)?;
        let timing = self.row(work)?.ns_per_op.as_ref();
        timing.map(|t| t.median).ok_or_else(|| name(work))
    }

    /// Returns the token size.
    pub(super) fn size(&self, work: &RowId) -> Result<u64, Missing> {
        let row = self.row(work)?;
        row.token_bytes
            .ok_or_else(|| format!("{}: no token", name(work)))
    }

    /// Returns bytes and allocations per operation.
    pub(super) fn memory(&self, work: &RowId) -> Result<(f64, f64), Missing> {
        let row = self.row(work)?;
        let both = row.bytes_per_op.zip(row.allocs_per_op);
        both.ok_or_else(|| format!("{}: the runtime does not count memory", name(work)))
    }

    /// Compares one work with another, round by round.
    pub(super) fn compare(&self, subject: &RowId, baseline: &RowId) -> Result<Compared, Missing> {
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
    ) -> Result<Compared, Missing> {
        let (ours, theirs) = (self.sum(subject)?, self.sum(baseline)?);
        let ratio = estimate(&ours, &theirs, 1)
            .map_err(|why| format!("enough rounds of {}: {why}", name(&subject[0])))?;
        let works = || subject.iter().chain(baseline);
        let managed = works().map(|work| self.row(work).is_ok_and(|r| r.subject.is_managed()));
        let threads = works().map(|work| work.threads).max().unwrap_or(1);
        let band = band_for(self.noise, managed, threads);
        if !band.is_known() {
            return Err(format!("A/A pairs with {threads} threads"));
        }
        let median = |works: &[RowId]| -> Result<f64, Missing> {
            works.iter().map(|work| self.time(work)).sum()
        };
        let medians = [median(subject)?, median(baseline)?];
        Ok(Compared {
            ratio: ratio.ratio(),
            kind: judge(&ratio, band),
            words: compared(ratio.ratio(), medians),
            rows: works().cloned().collect(),
        })
    }

    fn sum(&self, works: &[RowId]) -> Result<Vec<f64>, Missing> {
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
    match apart <= MEDIANS_AGREE {
        true => format!(
            "{} ({} against {})",
            difference(ratio),
            time(ours),
            time(theirs)
        ),
        false => format!("{} by the mean of the rounds", difference(ratio)),
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
