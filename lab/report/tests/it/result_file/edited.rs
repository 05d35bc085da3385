//! A result edited by hand: each edit is rejected with its place.

use jeton_lab_model::result::{RunResult, to_bytes};
use serde_json::{Value, json};

use super::{published, refusal, schema};
use crate::sample;

/// An edit: the place, the new value, the reader's error, and whether the schema alone detects it.
const EDITS: &[(&str, &str, &str, bool)] = &[
    (
        "/rows/3/status",
        "\"okay\"",
        "rows[3].status: unknown variant `okay`",
        true,
    ),
    (
        "/rows/3/status",
        "7",
        "rows[3].status: invalid type: integer",
        true,
    ),
    ("/rows/3/threads", "0", "rows[3].threads: is zero", true),
    (
        "/rows/3/threads",
        "-1",
        "rows[3].threads: invalid value",
        true,
    ),
    (
        "/rows/3/token_bytes",
        "\"313\"",
        "rows[3].token_bytes: invalid type: string",
        true,
    ),
    (
        "/rows/3/subject/library",
        "null",
        "rows[3].subject.library: invalid type: null",
        true,
    ),
    (
        "/rows/3/ns_per_op",
        "null",
        "rows[3].ns_per_op: is missing although the status is ok",
        false,
    ),
    (
        "/rows/3/ns_per_op/median",
        "null",
        "ns_per_op.median: invalid type: null",
        true,
    ),
    (
        "/rows/3/ns_per_op/median",
        "1.0",
        "rows[3].ns_per_op: is not the median of the rounds",
        false,
    ),
    (
        "/rows/3/ns_per_op/interval",
        "[1.0, 2.0]",
        "rows[3].ns_per_op: does not contain the median",
        false,
    ),
    (
        "/rows/3/ns_per_op/interval",
        "[1.0]",
        "ns_per_op.interval: invalid length 1",
        true,
    ),
    ("/rows/3/ns_per_op/rounds", "[]", "rows[3].ns_per_op", true),
    (
        "/rows/3/ns_per_op/rounds/2",
        "0",
        "round 2 (counted from 0) is not a positive time",
        true,
    ),
    (
        "/rows/3/ns_per_op/rounds/2",
        "1e-300",
        "rows[3].ns_per_op: round 2 (counted from 0) is below 0.001 ns",
        true,
    ),
    (
        "/rows/3/ns_per_op/rounds/2",
        "1e300",
        "rows[3].ns_per_op: round 2 (counted from 0) is above 1e15 ns",
        true,
    ),
    (
        "/rows/3/ns_per_op/rounds/2",
        "-5.5",
        "round 2 (counted from 0) is not a positive time",
        true,
    ),
    (
        "/rows/3/bytes_per_op",
        "-1",
        "rows[3].bytes_per_op: is negative",
        true,
    ),
    ("/rows/3", "[]", "rows[3]: invalid type: sequence", true),
    ("/rows", "{}", "rows: invalid type: map", true),
    (
        "/verdicts/0/verdict",
        "\"quicker\"",
        "verdicts[0].verdict: unknown variant `quicker`",
        true,
    ),
    (
        "/verdicts/0/ratio",
        "0",
        "verdicts[0].ratio: is not a ratio above zero",
        true,
    ),
    (
        "/verdicts/0/ratio",
        "1e3",
        "verdicts[0].interval: does not contain the ratio",
        false,
    ),
    (
        "/verdicts/0/p_value",
        "1.5",
        "verdicts[0].p_value: is not a probability",
        true,
    ),
    (
        "/verdicts/0/tier",
        "0",
        "verdicts[0].tier: must be at least 1",
        true,
    ),
    (
        "/verdicts/0/subject",
        "\"go/nobody\"",
        "verdicts[0].subject: no row measured it",
        false,
    ),
    (
        "/noise_floor/floor",
        "-0.5",
        "noise_floor.floor: is not a ratio above one",
        true,
    ),
    (
        "/noise_floor/pairs/0/rounds",
        "[[1.0],[]]",
        "noise_floor.pairs[0].rounds: the two lists have different lengths",
        false,
    ),
    (
        "/environment/started",
        "\"yesterday\"",
        "environment.started: is not an RFC 3339 time",
        true,
    ),
    (
        "/environment/rounds_finished",
        "9",
        "environment.rounds_finished: is more than rounds_planned",
        false,
    ),
    (
        "/environment/taint/tainted",
        "true",
        "environment.taint.tainted: contradicts taint.reasons",
        false,
    ),
    (
        "/environment/taint/steal",
        "7",
        "environment.taint.steal: is not between 0 and 1",
        true,
    ),
    (
        "/environment",
        "null",
        "environment: invalid type: null",
        true,
    ),
    ("/seed", "1.5", "seed: invalid type: floating point", true),
    ("/schema", "\"1\"", "schema: invalid type: string", true),
    ("/schema", "2", "the version that wrote it", true),
    ("/schema", "0", "the version that wrote it", true),
];

/// The same for a result of `lab interop`.
const EDITS_OF_INTEROP: &[(&str, &str, &str, bool)] = &[
    (
        "/rows/1/outcome",
        "\"accepted\"",
        "rows[1].outcome: unknown variant `accepted`",
        true,
    ),
    (
        "/rows/1/outcome",
        "\"verified\"",
        "rows[1].explanation: contradicts the outcome",
        false,
    ),
    (
        "/rows/0/outcome",
        "\"not-offered\"",
        "rows[0].outcome: is not the worst outcome of the keys",
        false,
    ),
    (
        "/rows/0/outcome",
        "null",
        "rows[0].status: contradicts the outcome",
        false,
    ),
    (
        "/rows/0/status",
        "\"timed-out\"",
        "rows[0].status: contradicts the outcome",
        false,
    ),
    (
        "/rows/0/minter/driver",
        "7",
        "rows[0].minter.driver: invalid type: integer",
        true,
    ),
    (
        "/rows/0/keys/0/read_by",
        "\"nobody\"",
        "rows[0].keys[0].read_by: unknown variant `nobody`",
        true,
    ),
    (
        "/rows/0/suite",
        "\"libraries\"",
        "rows[0]: missing field `contract`",
        true,
    ),
    (
        "/rows/0/verifier/driver",
        "\"go/fake-y\"",
        "rows[1]: is the same pair as rows[0]",
        false,
    ),
];

/// The same for a result of `lab servers`.
const EDITS_OF_SERVERS: &[(&str, &str, &str, bool)] = &[
    (
        "/rows/0/statuses",
        "{\"OK\": 1}",
        "rows[0].latencies: does not have as many calls as ended with OK",
        false,
    ),
    (
        "/rows/1/status",
        "\"ok\"",
        "rows[1].reason: contradicts the status",
        false,
    ),
    (
        "/rows/0/call",
        "\"revoke\"",
        "unknown variant `revoke`",
        true,
    ),
    (
        "/rows/1/subject/id",
        "\"go/fixed\"",
        "rows[1]: is the same server and scenario as rows[0]",
        false,
    ),
];

#[test]
fn edited_member_is_rejected_with_its_place() {
    refuse_each(&sample::servers(), EDITS_OF_SERVERS);
    refuse_each(&sample::result(), EDITS);
    refuse_each(&sample::interop(), EDITS_OF_INTEROP);
}

#[track_caller]
fn refuse_each(result: &RunResult, edits: &[(&str, &str, &str, bool)]) {
    let whole: Value = serde_json::from_slice(&to_bytes(result)).unwrap();
    let published = published();
    for (place, edit, said, shown_by_schema) in edits {
        let mut edited = whole.clone();
        *edited.pointer_mut(place).unwrap() = serde_json::from_str(edit).unwrap();
        let refused = refusal(&serde_json::to_vec_pretty(&edited).unwrap());
        let refused = refused.unwrap_or_else(|| panic!("{place} = {edit} was accepted"));
        assert!(refused.contains(said), "{place} = {edit}: {refused}");
        assert!(!refused.contains('\n'), "one line: {refused}");
        let violations = schema::violations(&published, &edited);
        assert_eq!(
            !violations.is_empty(),
            *shown_by_schema,
            "{place} = {edit}: {violations:?}"
        );
    }
}

#[test]
fn removed_member_is_named() {
    let whole: Value = serde_json::from_slice(&to_bytes(&sample::result())).unwrap();
    for (within, member) in [
        ("", "rows"),
        ("/environment", "taint"),
        ("/rows/3", "status"),
    ] {
        let mut edited = whole.clone();
        let object = edited.pointer_mut(within).unwrap().as_object_mut().unwrap();
        object.remove(member).unwrap();
        let refused = refusal(&serde_json::to_vec(&edited).unwrap()).unwrap();
        let said = format!("missing field `{member}`");
        assert!(refused.contains(&said), "{refused}");
        assert!(!schema::violations(&published(), &edited).is_empty());
    }
}

#[test]
fn schema_detects_unknown_member() {
    let mut edited: Value = serde_json::from_slice(&to_bytes(&sample::result())).unwrap();
    edited["rows"][3]["winner"] = json!(true);
    let violations = schema::violations(&published(), &edited);
    assert_eq!(violations, ["/rows/3/winner: unexpected member"]);
}

/// Names make columns of tables, whose width has a limit.
#[test]
fn long_name_is_rejected_with_its_place() {
    let whole: Value = serde_json::from_slice(&to_bytes(&sample::result())).unwrap();
    for place in [
        "/environment/cpu",
        "/environment/kernel",
        "/noise_floor/pairs/0/subject",
        "/rows/3/subject/version",
        "/rows/3/subject/library",
        "/rows/3/subject/runtime",
        "/rows/3/subject/id",
        "/rows/3/claims/name",
        "/verdicts/0/comparison",
    ] {
        let mut edited = whole.clone();
        let (within, member) = place.rsplit_once('/').unwrap();
        edited.pointer_mut(within).unwrap()[member] = json!("x".repeat(501));
        let refused = refusal(&serde_json::to_vec(&edited).unwrap()).unwrap_or_default();
        let said = format!("{member}: has 501 characters; the limit is 500");
        assert!(refused.contains(&said), "{place}: {refused}");
        assert!(refused.len() < 200, "{place}: the name is not repeated");
    }
}
