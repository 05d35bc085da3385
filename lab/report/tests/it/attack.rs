//! The catalogue of attacks, and attacks on drivers that misbehave.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use crate::fake::Fakes;
use jeton_lab_conformance::attack::{self, Attack, Changed, Extent, Family, Options, listing};
use jeton_lab_harness::Stop;
use jeton_lab_harness::driver::find;
use jeton_lab_model::result::{AttackOutcome, AttackRow, RunResult, Status};
use jeton_lab_report::{html, junit, sarif};

#[test]
fn attacks_defeat_distinct_checks() {
    let all = Attack::all();
    assert!(all.len() >= 60, "{}", all.len());
    let ids: BTreeSet<&str> = all.iter().map(|a| a.id).collect();
    assert_eq!(ids.len(), all.len(), "duplicate id");
    let mut checks = BTreeSet::new();
    for attack in &all {
        assert!(
            checks.insert(attack.defeats),
            "{}: {}",
            attack.id,
            attack.defeats
        );
        assert!(!attack.formats.is_empty() && !attack.reference.is_empty());
    }
}

/// `JETON_WRITE=1 cargo test -p jeton-lab-report --test it attack` writes the table.
#[test]
fn attacks_page_matches_the_catalogue() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/attacks.md");
    let written = std::fs::read_to_string(&path).unwrap();
    let mark = "<!-- written by the code from here on -->\n\n";
    let (head, table) = written.split_once(mark).unwrap();
    if std::env::var_os("JETON_WRITE").is_some() {
        std::fs::write(&path, format!("{head}{mark}{}", listing())).unwrap();
    } else {
        assert!(table == listing(), "run it again with JETON_WRITE=1");
    }
}

#[test]
fn readme_counts_the_attacks_on_libraries() {
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md"));
    let all = Attack::all().into_iter();
    let count = all.filter(|attack| attack.family != Family::Grant).count();
    assert!(
        readme.unwrap().contains(&format!("{count} attack tests")),
        "{count}"
    );
}

fn options(fakes: &Fakes, attacks: &[&str]) -> Options {
    Options {
        attacks: attacks.iter().map(|a| (*a).to_owned()).collect(),
        subjects: Vec::new(),
        extent: Extent::Everything,
        rounds: 1,
        budget: None,
        seed: 7,
        command: "jeton-lab attack".into(),
        cache: fakes.cache(),
        built_only: false,
        workers: 2,
    }
}

fn attacked(fakes: &Fakes, attacks: &[&str]) -> RunResult {
    let drivers = find(&fakes.folder()).unwrap();
    let options = options(fakes, attacks);
    attack::run(&drivers, &options, &Stop::default(), &mut |_| {})
}

fn row<'a>(result: &'a RunResult, library: &str, attack: &str) -> &'a AttackRow {
    let mut rows = result.rows.attack.iter();
    rows.find(|r| r.subject.library == library && r.attack == attack)
        .unwrap()
}

#[test]
fn attack_accepted_token_is_reported_with_evidence() {
    let fakes = Fakes::new()
        .with("correct", "")
        .with("lax", "accepts-tampered");
    let result = attacked(&fakes, &["other-key", "alg-none", "ecdsa-zero"]);
    let valid = row(&result, "correct", "other-key");
    assert_eq!(valid.outcome, Some(AttackOutcome::Refused), "{valid:?}");
    let lax = row(&result, "lax", "other-key");
    assert_eq!(lax.outcome, Some(AttackOutcome::Accepted), "{lax:?}");
    let evidence = &lax.evidence[0];
    assert_eq!(evidence.token.as_ref().unwrap().matches('.').count(), 2);
    assert_eq!(evidence.key.as_ref().unwrap()["kty"], "oct");
    // It signs only with HMAC.
    let curve = row(&result, "correct", "ecdsa-zero");
    assert_eq!(curve.outcome, Some(AttackOutcome::NotApplicable));

    let page = html::page(&result);
    assert!(page.contains("id=\"attack-other-key-fake-lax-jwt-documented\""));
    let tests = junit::text(&result);
    assert!(tests.contains("<failure type=\"accepted\""), "{tests}");
    let found: serde_json::Value = serde_json::from_str(&sarif::text(&result)).unwrap();
    let rules: Vec<&serde_json::Value> = found["runs"][0]["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| &r["ruleId"])
        .collect();
    assert!(
        rules.contains(&&serde_json::json!("other-key")),
        "{rules:?}"
    );
}

#[test]
fn cache_that_two_verifiers_share_is_found() {
    let fakes = Fakes::new()
        .with("own", "has-caches")
        .with("shared", "shares-cache")
        .with("none", "");
    let result = attacked(&fakes, &["cache-other-audience"]);
    let row = |library| row(&result, library, "cache-other-audience");
    assert_eq!(row("own").outcome, Some(AttackOutcome::Refused));
    assert_eq!(row("none").outcome, Some(AttackOutcome::NotOffered));
    let shared = row("shared");
    assert_eq!(shared.outcome, Some(AttackOutcome::Accepted));
    let verifiers = &shared.evidence[0].key.as_ref().unwrap()["cached"];
    assert_eq!(verifiers[1]["policy"]["audience"], "other");
}

#[test]
fn withheld_finding_is_shown_with_its_date() {
    let fakes = Fakes::new().with("lax", "accepts-tampered");
    let mut result = attacked(&fakes, &["other-key"]);
    let row = &mut result.rows.attack[0];
    row.outcome = Some(AttackOutcome::Withheld);
    row.reason = Some("withheld until 2027-02-28".into());
    (row.tried, row.found) = (0, 0);
    row.evidence.clear();
    let page = html::page(&result);
    assert!(page.contains("withheld until 2027-02-28"));
    assert!(!page.contains("Every token that must be rejected was rejected"));
    let tests = junit::text(&result);
    let skipped = "<skipped message=\"withheld until 2027-02-28\"/>";
    assert!(tests.contains(skipped), "{tests}");
}

/// A driver that dies once can be a machine that stalls: the trial runs again.
#[test]
fn attack_on_driver_that_dies_once_is_repeated() {
    let (fakes, death) = Fakes::new().with_file("mortal", "dies-once", "FAKE_DEATH");
    let result = attacked(&fakes, &["other-key"]);
    assert!(death.exists(), "it has not died");
    let row = row(&result, "mortal", "other-key");
    assert_eq!((row.outcome, row.void), (Some(AttackOutcome::Refused), 0));
}

#[test]
fn attack_rounds_keep_one_of_each_finding() {
    let fakes = Fakes::new().with("lax", "accepts-tampered");
    let drivers = find(&fakes.folder()).unwrap();
    let in_rounds = |rounds| {
        let options = Options {
            rounds,
            ..options(&fakes, &["other-key"])
        };
        let result = attack::run(&drivers, &options, &Stop::default(), &mut |_| {});
        row(&result, "lax", "other-key").clone()
    };
    let (one, three) = (in_rounds(1), in_rounds(3));
    assert!(one.tried > 0);
    assert_eq!(
        (three.tried, three.found, three.evidence.len()),
        (3 * one.tried, 3 * one.found, one.evidence.len())
    );
}

#[test]
fn attack_budget_exhausted_is_reported_in_rows() {
    let fakes = Fakes::new().with("correct", "");
    let drivers = find(&fakes.folder()).unwrap();
    let options = Options {
        budget: Some(Duration::ZERO),
        ..options(&fakes, &["other-key"])
    };
    let result = attack::run(&drivers, &options, &Stop::default(), &mut |_| {});
    assert!(!result.environment.complete);
    let row = row(&result, "correct", "other-key");
    assert_eq!((row.status, row.outcome), (Status::Unavailable, None));
    assert_eq!(
        row.reason.as_deref(),
        Some("the time limit was reached first")
    );
}

#[test]
fn attack_unavailable_driver_is_reported_in_rows() {
    let fakes = Fakes::new()
        .with("dead", "dies-in-hello")
        .with("correct", "");
    let result = attacked(&fakes, &["other-key"]);
    let dead = row(&result, "dead", "other-key");
    assert_eq!((dead.status, dead.outcome), (Status::Unavailable, None));
    assert!(dead.reason.is_some());
    assert_eq!(row(&result, "correct", "other-key").status, Status::Ok);
}

#[test]
fn fuzz_findings_are_added_to_corpus_and_replayed() {
    let fakes = Fakes::new()
        .with("correct", "")
        .with("lax", "accepts-tampered");
    let drivers = find(&fakes.folder()).unwrap();
    let options = options(&fakes, &[]);
    let stop = Stop::default();
    // A busy machine tries less in the same time.
    let mut tries = [3, 12, 48].into_iter().map(|seconds| {
        let time = Duration::from_secs(seconds);
        attack::fuzz(&drivers, &options, time, &stop, &mut |_| {}).unwrap()
    });
    let fuzzed = tries.find(|fuzzed| {
        let mut changed = fuzzed.cases.iter().map(|case| case.changed);
        changed.any(|changed| changed == Changed::Token)
    });
    let fuzzed = fuzzed.expect("they disagree about a changed token");
    assert!(fuzzed.disagreements > 0, "{fuzzed:?}");
    let case = fuzzed
        .cases
        .iter()
        .find(|c| c.changed == Changed::Token)
        .unwrap();
    assert_eq!(case.accepted, ["fake/lax 1.0.0"]);
    assert_eq!(case.refused, ["fake/correct 1.0.0"]);
    assert_eq!(case.changes.len(), 1, "it is minimised: {case:?}");

    let corpus = fakes.folder().join("cases.jsonl");
    let added = attack::add_to_corpus(&corpus, &fuzzed.cases).unwrap();
    assert_eq!(added, fuzzed.cases.len());
    let cases = attack::read_corpus(&corpus).unwrap();
    let again = attack::replay(&cases, &drivers, &options, &stop, &mut |_| {}).unwrap();
    assert_eq!(
        (again.cases, again.otherwise.len()),
        (added, 0),
        "{again:?}"
    );

    // The lax driver is fixed, with the same version.
    let fixed = Fakes::new().with("correct", "").with("lax", "");
    let drivers = find(&fixed.folder()).unwrap();
    let options = self::options(&fixed, &[]);
    let again = attack::replay(&cases, &drivers, &options, &stop, &mut |_| {}).unwrap();
    let told = again.otherwise.first().unwrap();
    assert!(
        told.ends_with("fake/lax 1.0.0 accepted it before and now rejects it"),
        "{told}"
    );
}
