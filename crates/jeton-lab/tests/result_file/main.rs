//! The result file: what is written fits its published schema, and what is wrong is refused with
//! its place.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "../fake/mod.rs"]
mod fake;
mod packed;
#[path = "../report_page/sample.rs"]
#[allow(dead_code)]
mod sample;
mod schema;

use std::fs;

use jeton_lab::across::{Named, merge};
use jeton_lab::recommendation::{Needs, Noisy, recommend};
use jeton_lab::result::{
    Answer, ClaimAnswered, PublishedFigure, PublishedRow, PublishedTable, Quantity,
    RESULT_BYTES_MAX, RowId, RunResult, read, to_bytes,
};
use serde_json::{Value, json};

fn published() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/result.schema.json");
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// Fits the schema, and is read as it was written.
#[track_caller]
fn assert_published(result: &RunResult) {
    let bytes = to_bytes(result);
    let value: Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(schema::violations(&published(), &value), [""; 0]);
    assert_eq!(refusal(&bytes), None);
}

/// What the reader says of these bytes; `None` if it takes them.
fn refusal(bytes: &[u8]) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("results.json");
    fs::write(&path, bytes).unwrap();
    let said = read(&path).err()?.to_string();
    Some(said.replace(path.to_str().unwrap(), "results.json"))
}

#[test]
fn every_kind_of_row_fits_the_schema() {
    assert_published(&sample::result());
    assert_published(&sample::empty());
    assert_published(&advised());
    assert_published(&sample::interop());
    assert_published(&sample::attack());
    assert_published(&sample::servers());
}

#[test]
fn what_stands_beside_the_rows_fits_the_schema() {
    let (mut result, work) = with_published();
    assert_published(&result);
    // A figure that no row has, and a conclusion that rests on nothing.
    result.published[0].rows[0].figures[0].measured = Some(1.0);
    let said = refusal(&to_bytes(&result)).unwrap();
    let place = "published[0].rows[0].figures[0].measured: no row measured that";
    assert!(said.contains(place), "{said}");
    result.published.clear();
    result.claims_answered[0].rows = vec![RowId {
        contract: "dance".to_owned(),
        ..work
    }];
    let said = refusal(&to_bytes(&result)).unwrap();
    let place = "claims_answered[0].rows: names a row that is not there";
    assert!(said.contains(place), "{said}");
}

/// The sample with one published table and one answered conclusion about one of its rows.
fn with_published() -> (RunResult, RowId) {
    let mut result = sample::result();
    let row = result
        .rows
        .measured
        .iter()
        .find(|r| r.ns_per_op.is_some())
        .unwrap();
    let work = RowId::of(row);
    let figure = PublishedFigure {
        published: Some(28_400.0),
        text: "28.4µs ± 3%".to_owned(),
        measured: row.ns_per_op.as_ref().map(|t| t.median),
        work: Some(work.clone()),
        missing: None,
        published_ratio: Some(1.1),
        measured_ratio: None,
    };
    let absent = PublishedFigure {
        measured: None,
        work: None,
        missing: Some("not planned in this run".to_owned()),
        ..figure.clone()
    };
    result.published = vec![PublishedTable {
        report: 4,
        title: "Report 4: signing, time".to_owned(),
        source: "somebody (MIT)".to_owned(),
        machine: "a laptop of 2017".to_owned(),
        quantity: Quantity::Time,
        columns: vec!["one".to_owned(), "two".to_owned()],
        ratio_to: "the first column".to_owned(),
        notes: vec!["a note".to_owned()],
        rows: vec![PublishedRow {
            name: "sign HS256".to_owned(),
            figures: vec![figure, absent],
        }],
    }];
    result.claims_answered = vec![ClaimAnswered {
        id: "4.1".to_owned(),
        report: 4,
        claim: "one signs faster than two".to_owned(),
        machine: "a laptop of 2017".to_owned(),
        answer: Answer::DoesNotHold,
        measured: "1.2 µs against 1.1 µs".to_owned(),
        why: "it is slower".to_owned(),
        rows: vec![work.clone()],
    }];
    (result, work)
}

/// The sample with a recommendation in it.
fn advised() -> RunResult {
    let mut result = sample::result();
    let needs = Needs::parse(&["verify-by-third-parties,languages=rust+go,header-budget=4096"]);
    result.recommendation = Some(recommend(&result, &needs.unwrap(), Noisy::Refused));
    assert!(!result.recommendation.as_ref().unwrap().choices.is_empty());
    assert!(!result.recommendation.as_ref().unwrap().out.is_empty());
    result
}

#[test]
fn a_recommendation_that_its_rows_contradict_is_refused() {
    for (place, edit, said) in [
        (
            "/recommendation/needs/0",
            "\"fast\"",
            "recommendation.needs: there is no need `fast`",
        ),
        (
            "/recommendation/because",
            "[]",
            "recommendation.because: says nothing",
        ),
        (
            "/recommendation/choices/0/picks",
            "[]",
            "recommendation.choices[0].picks: there is none",
        ),
        (
            "/recommendation/choices/0/picks/0/subject",
            "\"go/nobody\"",
            "no row measured that",
        ),
        (
            "/recommendation/choices/0/picks/0/open_ns",
            "1.0",
            "no row measured that",
        ),
        (
            "/environment/taint",
            r#"{"tainted":true,"reasons":["x"],"steal":null,"load":null,"unwatched":[]}"#,
            "a disturbed run advises nothing",
        ),
    ] {
        let mut edited: Value = serde_json::from_slice(&to_bytes(&advised())).unwrap();
        *edited.pointer_mut(place).unwrap() = serde_json::from_str(edit).unwrap();
        let refused = refusal(&serde_json::to_vec(&edited).unwrap());
        let refused = refused.unwrap_or_else(|| panic!("{place} = {edit} was taken"));
        assert!(refused.contains(said), "{place} = {edit}: {refused}");
    }
}

#[test]
fn what_a_run_writes_fits_the_schema() {
    let fakes = fake::Fakes::new()
        .with("honest", "")
        .with("other", "accepts-expired")
        .with("third", "");
    let result = fakes.run();
    assert!(result.rows.measured.iter().any(|r| r.ns_per_op.is_some()));
    assert!(result.rows.measured.iter().any(|r| r.ns_per_op.is_none()));
    assert_published(&result);

    let mut again = fakes.run();
    again.seed += 1;
    // Both began within one second: what tells runs apart is the seed, then.
    let results = [result, again].map(|result| Named {
        name: "one".into(),
        result,
    });
    let merged = merge(results.into(), "jeton lab merge a b").unwrap();
    assert_eq!(merged.runs.len(), 2);
    assert_published(&merged);
}

#[test]
fn a_round_trip_loses_no_digit() {
    for written in [sample::result(), sample::interop(), sample::servers()] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.json");
        fs::write(&path, to_bytes(&written)).unwrap();
        assert_eq!(read(&path).unwrap(), written);
    }
}

/// An edit by hand: where, what is there then, what the reader says, and whether the schema alone
/// shows it.
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
        "rows[3].ns_per_op: is missing, and the status is ok",
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
        "rows[3].ns_per_op: the median is not that of the rounds",
        false,
    ),
    (
        "/rows/3/ns_per_op/interval",
        "[1.0, 2.0]",
        "rows[3].ns_per_op: the interval does not hold the median",
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
        "round 2, counted from 0, is not a time above zero",
        true,
    ),
    (
        "/rows/3/ns_per_op/rounds/2",
        "-5.5",
        "round 2, counted from 0, is not a time above zero",
        true,
    ),
    (
        "/rows/3/bytes_per_op",
        "-1",
        "rows[3].bytes_per_op: is below zero",
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
        "verdicts[0].ratio: is no ratio above zero",
        true,
    ),
    (
        "/verdicts/0/ratio",
        "1e3",
        "verdicts[0].interval: does not hold the ratio",
        false,
    ),
    (
        "/verdicts/0/p_value",
        "1.5",
        "verdicts[0].p_value: is no probability",
        true,
    ),
    (
        "/verdicts/0/tier",
        "0",
        "verdicts[0].tier: tiers begin with 1",
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
        "noise_floor.floor: is no ratio above one",
        true,
    ),
    (
        "/noise_floor/pairs/0/rounds",
        "[[1.0],[]]",
        "noise_floor.pairs[0].rounds: the two have not the same number",
        false,
    ),
    (
        "/environment/started",
        "\"yesterday\"",
        "environment.started: is no RFC 3339 time",
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
        "environment.taint.steal: is no share",
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
    ("/schema", "2", "a newer jeton wrote it", true),
    ("/schema", "0", "an older jeton wrote it", true),
];

/// The same, of a result of `lab interop`.
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
        "rows[0].outcome: is not the worst of the keys'",
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
        "rows[1]: is the same exchange as rows[0]",
        false,
    ),
];

/// The same, of a result of `lab servers`.
const EDITS_OF_SERVERS: &[(&str, &str, &str, bool)] = &[
    (
        "/rows/0/statuses",
        "{\"OK\": 1}",
        "rows[0].latencies: has not as many calls as ended OK",
        false,
    ),
    (
        "/rows/1/status",
        "\"ok\"",
        "rows[1].reason: contradicts the status",
        false,
    ),
    (
        "/rows/1/subject/id",
        "\"go/fixed\"",
        "rows[1]: is the same server and scenario as rows[0]",
        false,
    ),
];

#[test]
fn an_edit_by_hand_is_refused_with_its_place() {
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
        let refused = refused.unwrap_or_else(|| panic!("{place} = {edit} was taken"));
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
fn a_member_taken_out_is_named() {
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
fn a_member_that_nobody_published_is_seen_by_the_schema() {
    let mut edited: Value = serde_json::from_slice(&to_bytes(&sample::result())).unwrap();
    edited["rows"][3]["winner"] = json!(true);
    let violations = schema::violations(&published(), &edited);
    assert_eq!(violations, ["/rows/3/winner: nothing may be here"]);
}

#[test]
fn what_is_no_whole_json_is_refused_with_its_line() {
    let whole = String::from_utf8(to_bytes(&sample::result())).unwrap();
    for (content, said) in [
        (String::new(), "results.json is cut short"),
        (" \n".into(), "results.json is cut short"),
        (
            whole[..whole.len() / 2].to_owned(),
            "results.json is cut short",
        ),
        (
            whole[..whole.len() - 3].to_owned(),
            "results.json is cut short",
        ),
        (format!("{whole}{{}}"), "trailing characters at line"),
        (
            whole.replacen("\"token_bytes\": 313", "\"token_bytes\": NaN", 1),
            "expected value at line",
        ),
        (
            whole.replacen("\"elapsed_s\": 83.4", "\"elapsed_s\": 1e999", 1),
            "number out of range at line",
        ),
        (
            whole.replacen("\"seed\"", "\"seed\": 5, \"seed\"", 1),
            "duplicate field `seed`",
        ),
        ("[1]".into(), "it is no JSON object"),
        ("hello".into(), "it is no JSON object"),
        ("{}".into(), "it has no `schema`"),
        ("[".repeat(10_000), "it is no JSON object"),
        (
            format!(
                "{{\"schema\":1,\"published\":{}{}}}",
                "[".repeat(10_000),
                "]".repeat(10_000)
            ),
            "published[0][0]: invalid type: sequence",
        ),
    ] {
        let refused = refusal(content.as_bytes()).unwrap();
        assert!(refused.contains(said), "{said}: {refused}");
    }
    let not_text = refusal(b"{\"schema\":1,\"command\":\"\xff\"}").unwrap();
    assert!(not_text.contains("invalid unicode"), "{not_text}");
}

#[test]
fn the_same_row_twice_is_refused() {
    let mut result = sample::result();
    let again = result.rows.measured[3].clone();
    result.rows.measured.push(again);
    let refused = refusal(&to_bytes(&result)).unwrap();
    assert!(
        refused.contains("is the same subject and work as rows[3]"),
        "{refused}"
    );
}

#[test]
fn a_file_without_end_is_not_read_to_its_end() {
    let said = read("/dev/zero".as_ref()).unwrap_err().to_string();
    assert!(said.contains("more than 64 MB"), "{said}");
    assert_eq!(RESULT_BYTES_MAX, 64_000_000);
    assert!(
        read("/absent/results.json".as_ref())
            .unwrap_err()
            .to_string()
            .starts_with("cannot read")
    );
}
