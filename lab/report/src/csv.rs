//! Results as comma-separated values (RFC 4180), for spreadsheets and data frames.

use csv::WriterBuilder;

use crate::comparison::{self, Role, Shared, entry};
use crate::published_comparison::{Figure, answer_columns, figure_columns, figures};
use crate::servers::{Line, columns};
use crate::table::{Column, Table};
use crate::{attack, interop};
use jeton_lab_model::result::RunResult;

/// A kind of row, with its own columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Timed rows.
    Measured,
    /// Servers under load.
    Servers,
    /// Interoperability.
    Interop,
    /// Attacks.
    Attack,
}

impl Kind {
    /// Every kind, in order of precedence.
    pub const ALL: [Self; 4] = [Self::Measured, Self::Servers, Self::Interop, Self::Attack];

    /// Counts the rows of this kind in a result.
    #[must_use]
    pub fn count(self, result: &RunResult) -> usize {
        let rows = &result.rows;
        match self {
            Self::Measured => rows.measured.len(),
            Self::Servers => rows.servers.len(),
            Self::Interop => rows.interop.len(),
            Self::Attack => rows.attack.len(),
        }
    }

    /// Returns the main kind of a result: the first kind with rows.
    #[must_use]
    pub fn of(result: &RunResult) -> Self {
        let mut all = Self::ALL.into_iter();
        all.find(|kind| kind.count(result) > 0)
            .unwrap_or(Self::Measured)
    }
}

/// Formats the rows of the result's main kind ([`Kind::of`]) as [`rows`] does.
#[must_use]
pub fn text(result: &RunResult) -> String {
    rows(result, Kind::of(result))
}

/// Formats a header line and one line for each row of this kind.
///
/// * Timed rows: subject, operation, median with 95 % interval, memory, and the nanoseconds per operation
///   of each round in columns `round_1` and following.
/// * Interop: one line for each pair, with the outcome of each key encoding.
/// * Servers: one line for each server and load.
/// * Attacks: one line for each attack on each library, without evidence.
///
/// An unmeasured value is an empty field. Text that a spreadsheet would read as a formula (it begins with
/// `=`, `+`, `-` or `@`) gets an apostrophe, because reasons and names come from the libraries.
#[must_use]
pub fn rows(result: &RunResult, kind: Kind) -> String {
    let disturbed = result.environment.disturbance.disturbed;
    match kind {
        Kind::Measured => {
            let rows = &result.rows.measured;
            let timings = rows.iter().filter_map(|row| row.ns_per_op.as_ref());
            let shared = Shared {
                disturbed,
                ..Shared::of(timings)
            };
            let rows: Vec<_> = rows.iter().map(|row| entry(row, Role::Alone)).collect();
            let lines: Vec<_> = rows.iter().collect();
            write(&comparison::columns(shared), &lines)
        }
        Kind::Servers => {
            let rows = &result.rows.servers;
            let lines = rows.iter().map(|row| Line::Measured(row, disturbed));
            let loads = rows.iter().filter_map(|row| row.load.as_ref());
            let repetitions = loads.map(|load| load.repetitions.len()).max().unwrap_or(0);
            write(&columns(repetitions), &lines.collect::<Vec<_>>())
        }
        Kind::Interop => {
            let rows: Vec<_> = result.rows.interop.iter().collect();
            write(&interop::row_columns(), &rows)
        }
        Kind::Attack => {
            let rows: Vec<_> = result.rows.attack.iter().collect();
            write(&attack::row_columns(), &rows)
        }
    }
}

/// Formats one line for each published figure, with the measured one.
///
/// Published and measured figures come from different machines: compare only the ratios within each source.
#[must_use]
pub fn published(result: &RunResult) -> String {
    let figures: Vec<Figure<'_>> = result.published.iter().flat_map(figures).collect();
    write(&figure_columns(), &figures)
}

/// Formats one line for each published conclusion, with its answer.
#[must_use]
pub fn answers(result: &RunResult) -> String {
    let claims: Vec<_> = result.claims_answered.iter().collect();
    write(&answer_columns(), &claims)
}

fn write<R>(columns: &[Column<'_, R>], rows: &[R]) -> String {
    let (head, lines) = Table::new("", "", columns, rows).csv();
    let mut out = WriterBuilder::new().from_writer(Vec::new());
    for line in std::iter::once(head).chain(lines) {
        out.write_record(&line)
            .expect("all lines have the same length, and writing to memory cannot fail");
    }
    let bytes = out.into_inner().expect("writing to memory cannot fail");
    String::from_utf8(bytes).expect("all fields are UTF-8")
}
