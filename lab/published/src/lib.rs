//! The four public reports: their figures, the matching work of the lab, and the answers to their
//! conclusions.
//!
//! Everything here is a function of rows. The published figures are in `data/`, with their
//! sources; [`works`] lists what a plan must contain to match every figure.

mod answers;
mod draft;
mod report_1;
mod report_2;
mod report_3;
mod report_4;
pub mod servers;
mod source;

pub use answers::{
    answerable, answerable_by_servers, answers, decidable, deciding_attacks,
    of_servers as answers_of_servers,
};

pub use source::{Source, reports};

use draft::Draft;
use jeton_lab_model::result::{PublishedTable, PublishedWork, RowId, Rows, RunResult};

/// Returns the tables of the reports with a planned row, each unmeasured figure with the reason.
#[must_use]
pub fn tables(rows: &Rows) -> Vec<PublishedTable> {
    drafts(report_1::threads_of(&rows.measured))
        .into_iter()
        .filter(|draft| draft.concerns(rows))
        .map(|draft| draft.beside(rows))
        .collect()
}

/// Returns every work that matches a published figure, in the report's order, with the given threads
/// for concurrent measurements.
#[must_use]
pub fn works(report: u8, threads: u32) -> Vec<RowId> {
    let drafts = drafts(threads);
    let of_report = drafts.iter().filter(|d| d.report() == report);
    let mut works: Vec<RowId> = Vec::new();
    for work in of_report.flat_map(Draft::works) {
        if !works.contains(&work) {
            works.push(work);
        }
    }
    works
}

/// Returns the works that conclusions of the reports are decided by, with the given threads for concurrent
/// measurements.
#[must_use]
pub fn deciding_works(threads: u32) -> Vec<PublishedWork> {
    of_reports(|report| answers::deciding(report, threads))
}

/// Returns these, and the works of all other figures of the reports.
#[must_use]
pub fn all_works(threads: u32) -> Vec<PublishedWork> {
    of_reports(|report| {
        let mut all = works(report, threads);
        let deciding = answers::deciding(report, threads).into_iter();
        let further: Vec<RowId> = deciding.filter(|work| !all.contains(work)).collect();
        all.extend(further);
        all
    })
}

fn of_reports(works: impl Fn(u8) -> Vec<RowId>) -> Vec<PublishedWork> {
    let of_report = |report| {
        let works = works(report).into_iter();
        works.map(move |row| PublishedWork { report, row })
    };
    (1..=4).flat_map(of_report).collect()
}

/// Adds the published figures and the answers to the reports' conclusions to a run's result.
pub fn complete(result: &mut RunResult) {
    result.published = tables(&result.rows);
    result.claims_answered = answers(&result.rows, &result.noise_floor);
}

fn drafts(threads: u32) -> Vec<Draft> {
    let mut drafts = report_1::tables(threads);
    drafts.extend(report_2::tables());
    drafts.extend(report_3::tables());
    drafts.extend(report_4::tables());
    drafts
}

/// A work by subject, operation, claims and threads.
fn work(subject: &str, operation: &str, claims: &str, threads: u32) -> RowId {
    RowId {
        subject: subject.to_owned(),
        operation: operation.to_owned(),
        claims: claims.to_owned(),
        threads,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use jeton_lab_model::result::Quantity;

    #[test]
    fn published_rows_are_all_in_a_table() {
        let drafts = drafts(2);
        let rows = |report: u8| -> usize {
            let of_report = drafts.iter().filter(|d| d.report() == report);
            of_report.map(Draft::height).sum()
        };
        // 18 rows of the README, 13 of them with two columns of memory (including the round trips), ten
        // sizes, ten timed sizes, and the three rows of the memory benchmark with both columns.
        assert_eq!(rows(1), 18 + 2 * 13 + 10 + 10 + 2 * 3);
        // 42 and 8, with times and sizes.
        assert_eq!(rows(2), 2 * (42 + 8));
        assert_eq!(rows(3), 8);
        // 10 signatures, 10 checks twice, 10 sizes.
        assert_eq!(rows(4), 10 + 2 * 10 + 10);
    }

    #[test]
    fn published_sizes_are_integers() {
        let drafts = drafts(2);
        let sizes = drafts
            .iter()
            .filter(|d| d.quantity() == Quantity::TokenBytes);
        let sizes: Vec<f64> = sizes.flat_map(Draft::figures).collect();
        // The length of report 1's complex struct varies with the time of the run.
        assert_eq!(sizes.len(), 2 * 9 + 42 + 8 + 2 * 10);
        assert!(sizes.iter().all(|s| s.fract() == 0.0 && *s > 100.0));
    }

    #[test]
    fn published_unrelated_run_has_no_tables() {
        assert_eq!(tables(&Rows::default()), []);
    }
}
