//! Interoperability with drivers that misbehave.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::time::Duration;

use crate::fake::Fakes;
use jeton_lab_conformance::interop::{self, Choice, Event, Options};
use jeton_lab_harness::Stop;
use jeton_lab_harness::driver::find;
use jeton_lab_model::result::{Interop, InteropRow, Reader, RunResult, Status, read, to_bytes};
use jeton_lab_report::{csv, html, markdown, terminal};

fn options(fakes: &Fakes) -> Options {
    Options {
        rounds: 1,
        budget: None,
        seed: 7,
        command: "jeton-lab interop".into(),
        cache: fakes.cache(),
    }
}

fn exchanged(fakes: &Fakes) -> RunResult {
    exchanged_in(fakes, 1)
}

fn exchanged_in(fakes: &Fakes, rounds: u32) -> RunResult {
    let drivers = find(&fakes.folder()).unwrap();
    let plan = interop::plan(&drivers, &Choice::default()).unwrap();
    let options = Options {
        rounds,
        ..options(fakes)
    };
    interop::run(&plan, &drivers, &options, &Stop::default(), &mut |_| {})
}

#[track_caller]
fn row<'a>(result: &'a RunResult, issuer: &str, verifier: &str) -> &'a InteropRow {
    let mut rows = result.rows.interop.iter();
    rows.find(|r| r.issuer.library == issuer && r.verifier.library == verifier)
        .unwrap()
}

#[track_caller]
fn outcome(result: &RunResult, issuer: &str, verifier: &str) -> Interop {
    row(result, issuer, verifier).outcome.unwrap()
}

#[test]
fn interop_correct_drivers_verify_each_other() {
    let result = exchanged(&Fakes::new().with("correct", "").with("other", ""));
    assert_eq!(result.rows.interop.len(), 4, "every ordered pair");
    assert!(result.environment.complete);
    for row in &result.rows.interop {
        assert_eq!(row.outcome, Some(Interop::Verified), "{row:?}");
        assert_eq!((row.status, &row.explanation), (Status::Ok, &None));
        let [key] = row.keys.as_slice() else {
            panic!("a secret has one encoding")
        };
        assert_eq!(
            (key.encoding.as_str(), key.read_by),
            ("jwk", Some(Reader::Driver))
        );
    }
    let said = terminal::show(&result, 100);
    let sentence = "4 of 4 pairs verified. 2 drivers, 1 kind of token.";
    assert!(said.contains(sentence), "{said}");
}

#[test]
fn interop_driver_that_dies_once_is_asked_again() {
    let (fakes, death) =
        Fakes::new()
            .with("correct", "")
            .with_file("mortal", "dies-once", "FAKE_DEATH");
    let result = exchanged(&fakes);
    assert!(death.exists(), "it has not died");
    for row in &result.rows.interop {
        assert_eq!(row.outcome, Some(Interop::Verified), "{row:?}");
    }
}

#[test]
fn interop_accepting_a_changed_token_voids_the_verifier() {
    let result = exchanged(
        &Fakes::new()
            .with("correct", "")
            .with("gullible", "accepts-tampered"),
    );
    assert_eq!(outcome(&result, "gullible", "correct"), Interop::Verified);
    for issuer in ["correct", "gullible"] {
        let row = row(&result, issuer, "gullible");
        assert_eq!(row.outcome, Some(Interop::Void));
        let said = row.reason.as_deref().unwrap();
        assert!(said.starts_with("accepts a token whose"), "{said}");
        assert!(row.is_unexplained());
    }
}

#[test]
fn interop_changed_claim_is_reported() {
    let result = exchanged(
        &Fakes::new()
            .with("correct", "")
            .with("liar", "changes-a-claim"),
    );
    let row = row(&result, "correct", "liar");
    assert_eq!(row.outcome, Some(Interop::WrongClaims));
    assert_eq!(
        row.reason.as_deref(),
        Some("returns a different `name` than was signed")
    );
    assert_eq!(outcome(&result, "liar", "correct"), Interop::Verified);
}

#[test]
fn interop_wrong_token_is_rejected_with_each_reason() {
    let result = exchanged(
        &Fakes::new()
            .with("correct", "")
            .with("wrong", "signs-wrongly"),
    );
    let row = row(&result, "wrong", "correct");
    assert_eq!(row.outcome, Some(Interop::Refused));
    assert_eq!(row.reason.as_deref(), Some("signature is wrong"));
    assert_eq!(
        row.explanation.as_deref(),
        Some("unexplained: signature is wrong")
    );
    assert_eq!(outcome(&result, "correct", "wrong"), Interop::Verified);
    let text = markdown::text(&result);
    let group = "issued by fake/wrong, verified by fake/correct and fake/wrong (jwt HS256)";
    assert_eq!(
        text.matches(group).count(),
        1,
        "both verifiers say the same"
    );
    assert_eq!(text.matches("issued by").count(), 1, "{text}");
}

#[test]
fn interop_more_rounds_find_faults_of_rare_keys() {
    let fakes = Fakes::new()
        .with("correct", "")
        .with("wrong", "signs-wrongly-with-its-third-key");
    let few = exchanged_in(&fakes, 2);
    assert_eq!(outcome(&few, "wrong", "correct"), Interop::Verified);
    let more = exchanged_in(&fakes, 4);
    assert_eq!(more.rows.interop.len(), 4, "a row for each pair, as before");
    let row = row(&more, "wrong", "correct");
    assert_eq!((row.outcome, row.keys.len()), (Some(Interop::Refused), 1));
    assert_eq!(
        row.reason.as_deref(),
        Some("in 1 of 4 rounds: signature is wrong")
    );
    assert_eq!(outcome(&more, "correct", "wrong"), Interop::Verified);
}

#[test]
fn interop_failing_drivers_do_not_affect_others() {
    let fakes = Fakes::new()
        .with("correct", "")
        .with("empty", "makes-no-token")
        .with("mortal", "dies-in-verify")
        .with("stillborn", "dies-in-hello");
    let result = exchanged(&fakes);
    assert_eq!(outcome(&result, "correct", "correct"), Interop::Verified);
    assert_eq!(outcome(&result, "correct", "empty"), Interop::Verified);
    assert_eq!(outcome(&result, "mortal", "correct"), Interop::Verified);
    for verifier in ["correct", "empty", "mortal"] {
        assert_eq!(outcome(&result, "empty", verifier), Interop::IssueFailed);
    }
    let dead = row(&result, "correct", "mortal");
    assert_eq!(
        (dead.outcome, dead.status),
        (Some(Interop::Crashed), Status::Crashed)
    );
    assert!(
        dead.reason.as_deref().unwrap().contains("out of luck"),
        "{dead:?}"
    );
    let absent: Vec<&InteropRow> = result
        .rows
        .interop
        .iter()
        .filter(|r| {
            [&r.issuer, &r.verifier]
                .iter()
                .any(|p| p.library == "stillborn")
        })
        .collect();
    assert_eq!(absent.len(), 1, "one row is enough");
    assert_eq!(
        (absent[0].status, absent[0].outcome),
        (Status::Unavailable, None)
    );
    let said = markdown::text(&result);
    assert!(said.contains("; 1 driver is unavailable."), "{said}");
}

#[test]
fn interop_library_that_reads_keys_gets_only_their_text() {
    let fakes = Fakes::new()
        .with("correct", "")
        .with("reader", "reads-text");
    let manifest = fakes.folder().join("fake/reader/driver.toml");
    let text = std::fs::read_to_string(&manifest).unwrap();
    std::fs::write(&manifest, text + "key_text = [\"jwk\"]\n").unwrap();
    let result = exchanged(&fakes);
    let key = &row(&result, "correct", "reader").keys[0];
    assert_eq!(
        (key.read_by, key.outcome),
        (Some(Reader::Library), Interop::Verified)
    );
    assert_eq!(outcome(&result, "reader", "correct"), Interop::Verified);
    let page = html::page(&result);
    for (driver, read) in [
        ("reader", "2 read by the library"),
        ("correct", "2 read by the driver"),
    ] {
        let row = format!("<th scope=\"row\">fake/{driver}</th><td>{read}</td>");
        assert!(page.contains(&row), "{row}");
    }
}

#[test]
fn interop_stopped_run_keeps_finished_exchanges() {
    let fakes = Fakes::new().with("correct", "");
    let drivers = find(&fakes.folder()).unwrap();
    let plan = interop::plan(&drivers, &Choice::default()).unwrap();
    let mut options = options(&fakes);
    options.budget = Some(Duration::ZERO);
    let mut late = false;
    let result = interop::run(&plan, &drivers, &options, &Stop::default(), &mut |event| {
        late |= matches!(event, Event::OutOfTime { done: 0, of: 1 });
    });
    assert!(late && !result.environment.complete && result.rows.is_empty());
    let stop = Stop::default();
    options.budget = None;
    let result = interop::run(&plan, &drivers, &options, &stop, &mut |event| {
        if matches!(event, Event::Exchange { .. }) {
            stop.request();
        }
    });
    assert!(!result.environment.complete && result.rows.is_empty());
}

#[test]
fn interop_reports_show_what_failed() {
    let fakes = Fakes::new()
        .with("correct", "")
        .with("liar", "changes-a-claim");
    let result = exchanged(&fakes);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("results.json");
    std::fs::write(&path, to_bytes(&result)).unwrap();
    assert_eq!(read(&path).unwrap(), result, "the file is a result");
    let page = html::page(&result);
    assert!(
        page.contains("<details><summary>"),
        "a cell opens its explanation"
    );
    assert!(page.contains("returns a different `name` than was signed"));
    assert!(!page.contains("Time per operation"), "nothing was timed");
    let markdown = markdown::text(&result);
    assert!(
        markdown.contains("| 1 fake/correct 1.0.0 | ✓ | wrong-claims |"),
        "{markdown}"
    );
    let csv = csv::text(&result);
    assert_eq!(csv.lines().count(), 5);
    assert!(
        csv.contains(",wrong-claims,returns a different `name`"),
        "{csv}"
    );
    assert_eq!(page.matches("<table class=\"interop\"").count(), 1);
}
