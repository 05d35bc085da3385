//! Compares the differences in `docs/reference/transport.md` with the code.

use std::collections::BTreeSet;

use super::intended::{INTENDED, REASONS, Reason};

const PAGE: &str = include_str!("../../../../docs/reference/transport.md");

/// Fails unless the page has this row.
fn assert_on_page(row: &str) {
    assert!(
        PAGE.contains(row),
        "missing in docs/reference/transport.md:\n{row}"
    );
}

#[test]
fn page_lists_every_intended_difference() {
    for Reason {
        request,
        ours,
        tonic,
        why,
    } in REASONS
    {
        assert_on_page(&format!("| {request} | {ours} | {tonic} | {why} |"));
    }
    let table = PAGE.split("## Compared with plain tonic").nth(1).unwrap();
    let table = table.split("\n## ").next().unwrap();
    let rows = table.lines().filter(|line| line.starts_with("| ")).count();
    assert_eq!(rows, 1 + REASONS.len(), "the page has other rows");
}

#[test]
fn every_reason_has_a_call_and_every_call_one_reason() {
    let used = |reason: &Reason| INTENDED.iter().any(|one| one.reason == *reason);
    assert!(REASONS.iter().all(used));
    assert!(INTENDED.iter().all(|one| REASONS.contains(&one.reason)));
    let calls: Vec<_> = INTENDED.iter().flat_map(|one| one.calls).collect();
    assert_eq!(calls.len(), calls.iter().collect::<BTreeSet<_>>().len());
}
