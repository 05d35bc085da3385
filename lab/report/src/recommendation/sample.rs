//! Sample rows for tests of the rules.

use jeton_lab_model::result::{
    AttackOutcome, AttackRow, ClaimsSet, Environment, NoiseFloor, Party, Practice, Row, Rows,
    RunResult, Status, Subject, Timing,
};

/// A measured row whose token has 300 bytes; the algorithm `-` means none.
pub(crate) fn row(
    language: &str,
    library: &str,
    format: &str,
    alg: &str,
    operation: &str,
    ns: f64,
) -> Row {
    let noise = [0.999, 1.001, 1.0, 1.0, 1.001, 0.999, 1.0, 1.0];
    Row {
        suite: "libraries".into(),
        operation: operation.into(),
        status: Status::Ok,
        reason: None,
        subject: Subject {
            id: format!("{language}/{library}:{format}:{alg}:prepared"),
            library: library.into(),
            version: "1".into(),
            language: language.into(),
            format: format.into(),
            alg: (alg != "-").then(|| alg.to_owned()),
            enc: None,
            key_bits: None,
            runtime: None,
            released: None,
            superseded_by: None,
            key_handling: "prepared".into(),
        },
        reference: false,
        claims: ClaimsSet {
            name: "standard".into(),
            bytes: 160,
        },
        token_bytes: Some(300),
        threads: 1,
        ns_per_op: Some(Timing {
            median: ns,
            interval: [ns * 0.999, ns * 1.001],
            rounds: noise.iter().map(|n| n * ns).collect(),
            outliers: 0,
            unsettled: false,
        }),
        bytes_per_op: None,
        allocs_per_op: None,
        peak_rss_bytes: None,
        loads_wrong_keys: Vec::new(),
    }
}

/// This noise floor.
pub(super) fn noise(floor: f64) -> NoiseFloor {
    NoiseFloor {
        floor: Some(floor),
        ..NoiseFloor::default()
    }
}

/// A complete, undisturbed result of these rows, with this noise floor.
pub(crate) fn result(measured: Vec<Row>, floor: f64) -> RunResult {
    let environment = Environment {
        complete: true,
        rounds_planned: 8,
        rounds_finished: 8,
        ..Environment::default()
    };
    let rows = Rows {
        measured,
        ..Rows::default()
    };
    RunResult {
        noise_floor: noise(floor),
        ..RunResult::without_verdicts("jeton-lab run".into(), 1, environment, rows)
    }
}

/// The row without its time.
pub(super) fn fail(row: &mut Row, status: Status) {
    row.status = status;
    row.reason = Some("what it did".into());
    row.ns_per_op = None;
}

/// The outcome of an attack on a driver's library, called as documented; void without an outcome.
pub(super) fn attacked(driver: &str, attack: &str, outcome: Option<AttackOutcome>) -> AttackRow {
    AttackRow {
        status: Status::Ok,
        reason: None,
        attack: attack.into(),
        family: "header".into(),
        subject: Party {
            driver: driver.into(),
            library: "a".into(),
            version: "1".into(),
            language: "go".into(),
        },
        format: "jwt".into(),
        practice: Practice::Documented,
        outcome,
        tried: 1,
        void: 0,
        algs: vec!["HS256".into()],
        found: 0,
        evidence: Vec::new(),
        also: Vec::new(),
    }
}
