//! Planned rounds, and rounds skipped by the time limit.

use jeton_lab_report::html::page;
use jeton_lab_report::markdown;

use crate::sample;

#[test]
fn page_reports_rounds_skipped_by_the_budget() {
    let mut result = sample::result();
    let whole = [page(&result), markdown::text(&result)];
    result.environment.rounds_planned = result.environment.rounds_finished + 3;
    let cut = [page(&result), markdown::text(&result)];
    for (whole, cut) in whole.iter().zip(&cut) {
        assert!(cut.contains("time limit"));
        assert!(!cut.contains("ended early"), "the run was not interrupted");
        assert!(!whole.contains("time limit"));
    }
    super::check(&cut[0]);
}
