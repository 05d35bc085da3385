//! Rows of a plan, as if they had been measured: they show what a run can answer.

use std::collections::BTreeSet;

use super::attacked;

use jeton_lab_model::result::{
    ClaimsSet, NoiseFloor, Row, RowId, Rows, Status, Subject, ThreadsFloor, Timing,
};

/// Enough rounds for an interval.
const ROUNDS: usize = 6;

/// The rows of these works, with the attacks that conclusions need if they are made, and noise that is known for each
/// number of threads.
pub(super) fn run(works: impl Iterator<Item = RowId>, attacks: bool) -> (Rows, NoiseFloor) {
    let rows: Vec<Row> = works.map(|work| measured(&work)).collect();
    let threads: BTreeSet<u32> = rows.iter().map(|row| row.threads).collect();
    let floors = threads.into_iter().map(|threads| ThreadsFloor {
        threads,
        floor: 0.0,
    });
    let noise = NoiseFloor {
        floor: Some(0.0),
        threads: floors.collect(),
        ..NoiseFloor::default()
    };
    let mut rows = Rows::from(rows);
    if attacks {
        rows.attack = attacked::refused();
    }
    (rows, noise)
}

/// A row with figures that all works share.
fn measured(work: &RowId) -> Row {
    Row {
        token_bytes: Some(1),
        ns_per_op: Some(Timing {
            median: 1.0,
            interval: [1.0, 1.0],
            rounds: vec![1.0; ROUNDS],
            outliers: 0,
            unsettled: false,
        }),
        bytes_per_op: Some(1.0),
        allocs_per_op: Some(1.0),
        ..blank(work)
    }
}

/// A row without figures.
pub(super) fn blank(work: &RowId) -> Row {
    Row {
        suite: String::new(),
        operation: work.operation.clone(),
        status: Status::Ok,
        reason: None,
        subject: Subject {
            id: work.subject.clone(),
            library: String::new(),
            version: String::new(),
            language: "go".to_owned(),
            format: "jwt".to_owned(),
            alg: None,
            enc: None,
            key_bits: None,
            runtime: None,
            released: None,
            superseded_by: None,
            key_handling: "prepared".to_owned(),
        },
        reference: false,
        claims: ClaimsSet {
            name: work.claims.clone(),
            bytes: 1,
        },
        token_bytes: None,
        threads: work.threads,
        ns_per_op: None,
        bytes_per_op: None,
        allocs_per_op: None,
        peak_rss_bytes: None,
        loads_wrong_keys: Vec::new(),
    }
}
