//! Which A/A pairs are of a run: the first measurement of a pair is that of a row.

use jeton_lab_model::result::{AaPair, Row};

/// The rounds of both measurements of a pair.
pub(super) type PairRounds = [Vec<f64>; 2];

/// Returns why the rounds of a pair are not of this run. `earlier` are the rounds of the pairs before it.
pub(super) fn objection(
    pair: &AaPair,
    rounds: &PairRounds,
    rows: &[Row],
    earlier: &[&PairRounds],
) -> Option<&'static str> {
    let is_measured = |row: &Row| {
        let timing = row.ns_per_op.as_ref();
        row.subject.id == pair.subject
            && row.operation == pair.operation
            && row.threads == pair.threads
            && timing.is_some_and(|timing| timing.rounds == rounds[0])
    };
    if rounds[0].is_empty() {
        return Some("has no rounds that it follows from");
    }
    if !rows.iter().any(is_measured) {
        return Some(
            "no row of this subject and operation has the rounds of its first measurement",
        );
    }
    // Two measurements never take the same times in every round.
    let mut before = earlier.iter().flat_map(|pair| pair.iter());
    let is_copy = rounds[0] == rounds[1] || before.any(|other| rounds.contains(other));
    is_copy.then_some("has the same rounds as another measurement of the A/A pairs")
}
