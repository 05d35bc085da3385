//! The result file: what the lab writes matches the published schema, and invalid files are
//! rejected with the place of the error.

#![allow(clippy::unwrap_used, clippy::panic)]

mod edited;
mod packed;
mod schema;

use crate::sample;
use std::fs;

use jeton_lab_load::import;
use jeton_lab_model::recommendation::Requirements;
use jeton_lab_model::result::{
    Answer, ClaimAnswered, PublishedFigure, PublishedRow, PublishedTable, Quantity,
    RESULT_BYTES_MAX, RowId, RunResult, read, to_bytes,
};
use jeton_lab_model::servers::Call;
use jeton_lab_report::multi_run::{Named, merge};
use jeton_lab_report::recommendation::recommend;
use serde_json::{Value, json};

fn published() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/result.schema.json");
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// Checks that it matches the schema and is read back unchanged.
#[track_caller]
fn assert_published(result: &RunResult) {
    let bytes = to_bytes(result);
    let value: Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(schema::violations(&published(), &value), [""; 0]);
    assert_eq!(refusal(&bytes), None);
}

/// Returns the reader's error for these bytes; `None` if they are accepted.
fn refusal(bytes: &[u8]) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("results.json");
    fs::write(&path, bytes).unwrap();
    let said = read(&path).err()?.to_string();
    Some(said.replace(path.to_str().unwrap(), "results.json"))
}

#[test]
fn rows_of_every_kind_match_the_schema() {
    assert_published(&sample::result());
    assert_published(&sample::empty());
    assert_published(&advised());
    assert_published(&sample::interop());
    assert_published(&sample::attack());
    assert_published(&sample::servers());
}

#[test]
fn server_calls_match_the_schema() {
    let whole = sample::servers();
    for call in Call::ALL {
        let mut result = whole.clone();
        result.rows.servers.truncate(1);
        result.rows.servers[0].call = call;
        assert_published(&result);
    }
}

#[test]
fn imported_ghz_report_matches_the_schema() {
    let report = json!({
        "date": "2026-11-22T10:00:10+01:00", "count": 1, "total": 2_000_000_000u64,
        "statusCodeDistribution": {"OK": 1},
        "options": {"call": "jwt.services.JwtService.GenerateJwt", "concurrency": 10,
            "connections": 5, "data": {"algorithm": "ES256"}},
        "details": [{"latency": 1_000_000, "status": "OK", "error": ""}]});
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ghz.json");
    fs::write(&path, report.to_string()).unwrap();
    let reports = [import::Report::read(&path).unwrap()];
    let server = import::Server {
        name: "go/mine".to_owned(),
        cores: 3,
    };
    assert_published(&import::result(&reports, &server, "jeton-lab import").unwrap());
}

#[test]
fn published_and_answers_match_the_schema() {
    let (mut result, work) = with_published();
    assert_published(&result);
    // A figure of no row, and a conclusion without rows.
    result.published[0].rows[0].figures[0].measured = Some(1.0);
    let said = refusal(&to_bytes(&result)).unwrap();
    let place = "published[0].rows[0].figures[0].measured: no row measured that";
    assert!(said.contains(place), "{said}");
    result.published.clear();
    result.claims_answered[0].rows = vec![RowId {
        operation: "dance".to_owned(),
        ..work
    }];
    let said = refusal(&to_bytes(&result)).unwrap();
    let place = "claims_answered[0].rows: names a row that does not exist";
    assert!(said.contains(place), "{said}");
}

/// Returns the sample with one published table and one answered claim about one of its rows.
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

/// Returns the sample with a recommendation.
fn advised() -> RunResult {
    let mut result = sample::result();
    let requirements =
        Requirements::parse(&["verify-by-third-parties,languages=rust+go,header-budget=4096"]);
    result.recommendation = Some(recommend(&result, &requirements.unwrap(), false));
    assert!(!result.recommendation.as_ref().unwrap().choices.is_empty());
    assert!(!result.recommendation.as_ref().unwrap().out.is_empty());
    result
}

#[test]
fn recommendation_contradicting_its_rows_is_rejected() {
    for (place, edit, said) in [
        (
            "/recommendation/needs/0",
            "\"fast\"",
            "recommendation.needs: unknown requirement `fast`",
        ),
        (
            "/recommendation/because",
            "[]",
            "recommendation.because: is empty",
        ),
        (
            "/recommendation/choices/0/picks",
            "[]",
            "recommendation.choices[0].picks: is empty",
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
            "a disturbed run has no recommendation",
        ),
    ] {
        let mut edited: Value = serde_json::from_slice(&to_bytes(&advised())).unwrap();
        *edited.pointer_mut(place).unwrap() = serde_json::from_str(edit).unwrap();
        let refused = refusal(&serde_json::to_vec(&edited).unwrap());
        let refused = refused.unwrap_or_else(|| panic!("{place} = {edit} was accepted"));
        assert!(refused.contains(said), "{place} = {edit}: {refused}");
    }
}

#[test]
fn run_output_matches_the_schema() {
    let fakes = crate::fake::Fakes::new()
        .with("correct", "")
        .with("other", "accepts-expired")
        .with("third", "");
    let mut result = fakes.run();
    jeton_lab_published::complete(&mut result);
    assert!(result.rows.measured.iter().any(|r| r.ns_per_op.is_some()));
    assert!(result.rows.measured.iter().any(|r| r.ns_per_op.is_none()));
    assert_published(&result);

    let mut again = fakes.run();
    again.seed += 1;
    // Both began within one second, so only the seed distinguishes the runs.
    let results = [result, again].map(|result| Named {
        name: "one".into(),
        result,
    });
    let merged = merge(results.into(), "jeton-lab merge a b").unwrap();
    assert_eq!(merged.runs.len(), 2);
    assert_published(&merged);
}

#[test]
fn result_file_round_trip_keeps_every_digit() {
    for written in [sample::result(), sample::interop(), sample::servers()] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.json");
        fs::write(&path, to_bytes(&written)).unwrap();
        assert_eq!(read(&path).unwrap(), written);
    }
}

#[test]
fn incomplete_json_is_rejected_with_its_line() {
    let whole = String::from_utf8(to_bytes(&sample::result())).unwrap();
    for (content, said) in [
        (String::new(), "results.json is incomplete"),
        (" \n".into(), "results.json is incomplete"),
        (
            whole[..whole.len() / 2].to_owned(),
            "results.json is incomplete",
        ),
        (
            whole[..whole.len() - 3].to_owned(),
            "results.json is incomplete",
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
        ("[1]".into(), "not a JSON object"),
        ("hello".into(), "not a JSON object"),
        ("{}".into(), "member `schema` is missing"),
        ("[".repeat(10_000), "not a JSON object"),
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
fn duplicate_row_is_rejected() {
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
fn endless_file_is_rejected() {
    let said = read("/dev/zero".as_ref()).unwrap_err().to_string();
    assert!(said.contains("larger than 64 MB"), "{said}");
    assert_eq!(RESULT_BYTES_MAX, 64_000_000);
    assert!(
        read("/absent/results.json".as_ref())
            .unwrap_err()
            .to_string()
            .starts_with("cannot read")
    );
}
