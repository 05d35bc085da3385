//! What stands beside the rows: the figures that the four reports published, and their conclusions
//! with the answers of this run.
//!
//! Both are functions of the rows and of nothing else ([`crate::published`]).

use serde::{Deserialize, Serialize};

use super::{Row, Status};

/// One table of a report as it was published, and what this run measured of the same work.
///
/// Two machines stand beside each other here. Their figures are not compared: what can be compared
/// is the ratio inside each of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PublishedTable {
    /// The report's number, 1 to 4.
    pub report: u8,
    /// What the table is of, unique in a result.
    pub title: String,
    /// Who published it, and under which licence.
    pub source: String,
    /// What it was measured on, and when or how often: shown wherever a published figure is.
    pub machine: String,
    /// What all its figures are.
    pub quantity: Quantity,
    /// Names of the columns: one figure of each row belongs to each.
    pub columns: Vec<String>,
    /// To what each source's own ratio is, as words: "to the first column".
    pub ratio_to: String,
    /// What must be known before the figures are read, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Its rows, in the order of the report.
    pub rows: Vec<PublishedRow>,
}

/// A row of a published table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PublishedRow {
    /// Its name in the report.
    pub name: String,
    /// One figure for each column.
    pub figures: Vec<PublishedFigure>,
}

/// One published figure, and the measured one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PublishedFigure {
    /// The figure in the unit of its table's quantity; none where the report has none.
    pub published: Option<f64>,
    /// What the report printed, with its spread if it has one.
    pub text: String,
    /// The same quantity of the row that did this work here.
    pub measured: Option<f64>,
    /// That row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<RowId>,
    /// Why nothing was measured, if nothing was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    /// The published figure over the one that the table's ratios are to, both of the report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published_ratio: Option<f64>,
    /// The measured figure over the measured one of the same work, both of this run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured_ratio: Option<f64>,
}

/// What a figure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// Nanoseconds for each operation.
    Time,
    /// Bytes of a token.
    TokenBytes,
    /// Bytes allocated by each operation.
    AllocatedBytes,
    /// Allocations of each operation.
    Allocations,
    /// Requests that a server answered, each second.
    RequestsPerSecond,
}

impl Quantity {
    /// Its unit, for the head of a column.
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

    /// This quantity of a measured row.
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
            // No row of a library serves requests.
            Self::RequestsPerSecond => None,
        }
    }
}

/// Which row: what tells it from the others of its result, but for the suite that asked for it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RowId {
    /// The subject's id.
    pub subject: String,
    /// The contract.
    #[serde(rename = "contract")]
    pub operation: String,
    /// The name of the claims set.
    pub claims: String,
    /// Threads.
    pub threads: u32,
}

impl RowId {
    /// The id of a row.
    #[must_use]
    pub fn of(row: &Row) -> Self {
        Self {
            subject: row.subject.id.clone(),
            operation: row.operation.clone(),
            claims: row.claims.name.clone(),
            threads: row.threads,
        }
    }

    /// Whether it is the id of that row.
    #[must_use]
    pub fn names(&self, row: &Row) -> bool {
        self.subject == row.subject.id
            && self.operation == row.operation
            && self.claims == row.claims.name
            && self.threads == row.threads
    }
}

/// A conclusion that a report drew, and what this run says of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClaimAnswered {
    /// The report's number and the conclusion's in it: `1.3b`.
    pub id: String,
    /// The report's number, 1 to 4.
    pub report: u8,
    /// What was concluded, in our words.
    pub claim: String,
    /// What it was concluded from.
    pub machine: String,
    /// The answer.
    pub answer: Answer,
    /// What was measured, with its figures; or what is missing.
    pub measured: String,
    /// Why the answer is that.
    pub why: String,
    /// The rows that it rests on.
    pub rows: Vec<RowId>,
}

/// What became of a published conclusion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// What was measured here agrees with it.
    Holds,
    /// What was measured here contradicts it.
    DoesNotHold,
    /// The published difference is there, and its cause is another than the one that was named.
    Artefact,
    /// This run measured nothing that could answer it.
    NotMeasured,
}

impl Answer {
    /// The answer as people read it.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::DoesNotHold => "does not hold",
            Self::Artefact => "artefact",
            Self::NotMeasured => "not measured",
        }
    }
}
