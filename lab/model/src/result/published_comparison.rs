//! Published figures and conclusions of the four reports, with the measurements and answers of this run.
//!
//! Both follow from the rows alone (`jeton-lab-published`).

use serde::{Deserialize, Serialize};

use super::{Row, Status};
use crate::name_table::named;

/// One table of a report as published, with the measured figures of the same work.
///
/// The figures come from two machines. Compare only the ratios within each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PublishedTable {
    /// The report's number, 1 to 4.
    pub report: u8,
    /// The table's title, unique in a result.
    pub title: String,
    /// The publisher and the licence.
    pub source: String,
    /// The machine and time of the published measurement, shown with every published figure.
    pub machine: String,
    /// The quantity of all figures.
    pub quantity: Quantity,
    /// The names of the columns; each row has one figure per column.
    pub columns: Vec<String>,
    /// The reference of the ratios, for example "to the first column".
    pub ratio_to: String,
    /// Notes that affect how to read the figures, one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The rows, in the order of the report.
    pub rows: Vec<PublishedRow>,
}

/// A row of a published table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PublishedRow {
    /// The row's name in the report.
    pub name: String,
    /// One figure for each column.
    pub figures: Vec<PublishedFigure>,
}

/// A published figure and the measured one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PublishedFigure {
    /// The published value in the unit of the table's quantity; `None` if the report has none.
    pub published: Option<f64>,
    /// The printed text, with its spread if there is one.
    pub text: String,
    /// The measured value of the same work.
    pub measured: Option<f64>,
    /// The id of the measured row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<RowId>,
    /// The reason if nothing was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    /// The ratio of the published value to the table's published reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published_ratio: Option<f64>,
    /// The ratio of the measured value to the measured reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured_ratio: Option<f64>,
}

/// The quantity of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// Nanoseconds per operation.
    Time,
    /// Bytes of a token.
    TokenBytes,
    /// Bytes allocated per operation.
    AllocatedBytes,
    /// Allocations per operation.
    Allocations,
    /// Requests per second that a server answered.
    RequestsPerSecond,
}

impl Quantity {
    /// Returns the unit, for a column heading.
    #[must_use]
    pub fn unit(self) -> &'static str {
        match self {
            Self::Time => "ns",
            Self::TokenBytes => "bytes",
            Self::AllocatedBytes => "B/op",
            Self::Allocations => "allocs/op",
            Self::RequestsPerSecond => "requests/s",
        }
    }

    /// Returns this quantity of a measured row.
    #[must_use]
    #[allow(
        clippy::cast_precision_loss,
        reason = "a token is far below 2^53 bytes"
    )]
    pub fn of(self, row: &Row) -> Option<f64> {
        if !matches!(row.status, Status::Ok | Status::Disturbed) {
            return None;
        }
        match self {
            Self::Time => row.ns_per_op.as_ref().map(|t| t.median),
            Self::TokenBytes => row.token_bytes.map(|bytes| bytes as f64),
            Self::AllocatedBytes => row.bytes_per_op,
            Self::Allocations => row.allocs_per_op,
            // Rows of libraries have no request rate.
            Self::RequestsPerSecond => None,
        }
    }
}

/// The id of a row: it distinguishes the row from all others of the result, except for the suite.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RowId {
    /// The subject's id.
    pub subject: String,
    /// The operation.
    #[serde(rename = "contract")]
    pub operation: String,
    /// The name of the claims set.
    pub claims: String,
    /// The number of threads.
    pub threads: u32,
}

impl RowId {
    /// Returns the id of a row.
    #[must_use]
    pub fn of(row: &Row) -> Self {
        Self {
            subject: row.subject.id.clone(),
            operation: row.operation.clone(),
            claims: row.claims.name.clone(),
            threads: row.threads,
        }
    }

    /// Reports whether this is the id of that row.
    #[must_use]
    pub fn names(&self, row: &Row) -> bool {
        self.subject == row.subject.id
            && self.operation == row.operation
            && self.claims == row.claims.name
            && self.threads == row.threads
    }
}

/// A work of a published report, which a plan repeats to have a row for each published figure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishedWork {
    /// The report's number, 1 to 4.
    pub report: u8,
    /// The row of the same work.
    pub row: RowId,
}

/// A published conclusion, and the answer of this run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClaimAnswered {
    /// The number of the report and of the conclusion: `1.3b`.
    pub id: String,
    /// The report's number, 1 to 4.
    pub report: u8,
    /// The conclusion, paraphrased.
    pub claim: String,
    /// The machine of the published measurement.
    pub machine: String,
    /// The answer.
    pub answer: Answer,
    /// The measured values, or what is missing.
    pub measured: String,
    /// The reason for the answer.
    pub why: String,
    /// The rows that the answer is based on.
    pub rows: Vec<RowId>,
}

named! {
    /// The answer to a published conclusion, in the order of counting.
    Answer {
        /// The measurements of this run agree with it.
        Holds = "holds",
        /// The measurements of this run contradict it.
        DoesNotHold = "does-not-hold",
        /// The difference exists, but has another cause than the published one.
        Artefact = "artefact",
        /// Measured, and the interval leaves it open.
        Undecided = "undecided",
        /// This run measured nothing that answers it.
        NotMeasured = "not-measured",
        /// No measurement decides it; the facts that bear on it are given instead.
        Opinion = "opinion",
    }
}

impl Answer {
    /// Reports whether a measurement has decided it.
    #[must_use]
    pub fn is_verdict(self) -> bool {
        matches!(self, Self::Holds | Self::DoesNotHold | Self::Artefact)
    }

    /// Reports whether it was measured, decided or not.
    #[must_use]
    pub fn is_measured(self) -> bool {
        self.is_verdict() || self == Self::Undecided
    }

    /// Returns the answer of several conclusions, for people.
    #[must_use]
    pub fn plural(self) -> &'static str {
        match self {
            Self::Holds => "hold",
            Self::DoesNotHold => "do not hold",
            Self::Artefact => "artefacts",
            Self::Opinion => "opinions",
            one => one.label(),
        }
    }

    /// Returns the answer for people.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::DoesNotHold => "does not hold",
            Self::NotMeasured => "not measured",
            one => one.name(),
        }
    }
}
