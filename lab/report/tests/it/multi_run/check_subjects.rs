//! Which facts about subjects and runs must be the same in all parts of a file. A merge refuses the same.

use jeton_lab_model::result::{Party, RunResult, RuntimeUsed, Status, SupportState};
use jeton_lab_report::multi_run::{Named, check, merge, recomputed};

use crate::{sample, stored};

fn kept() -> RunResult {
    stored::run("full")
}

/// Edits a stored run, computes everything derived again, and returns what the check says.
fn said(edit: impl FnOnce(&mut RunResult)) -> Vec<String> {
    let mut result = kept();
    edit(&mut result);
    let found = check(&recomputed(&result)).into_iter();
    found
        .map(|one| format!("{}: {}", one.about, one.what))
        .collect()
}

/// The check finds it, and a merge refuses the file.
#[track_caller]
fn assert_said(what: &str, edit: impl Fn(&mut RunResult)) {
    let found = said(&edit);
    assert!(
        found.iter().any(|line| line.contains(what)),
        "{what}: {found:?}"
    );
    let mut edited = kept();
    edit(&mut edited);
    let named = |name: &str, result| Named {
        name: name.to_owned(),
        result,
    };
    let merged = merge(
        vec![named("a", kept()), named("b", edited)],
        "jeton-lab merge",
    );
    let refused = merged.unwrap_err().to_string();
    assert!(refused.contains("b contradicts itself"), "{refused}");
}

fn is_of<'a>(driver: &'a str) -> impl Fn(&&mut jeton_lab_model::result::Row) -> bool + 'a {
    move |row| row.subject.driver() == driver
}

/// Managed runtimes have a noise floor of their own.
#[test]
fn check_language_that_the_id_contradicts_is_found() {
    assert_said("the language is \"rust\"; the id says java", |result| {
        for row in result.rows.measured.iter_mut().filter(is_of("java/jjwt")) {
            row.subject.language = "rust".to_owned();
        }
    });
}

#[test]
fn check_two_versions_of_a_driver_are_found() {
    assert_said("version of go/go-jose: rows state", |result| {
        let mut rows = result.rows.measured.iter_mut();
        rows.find(is_of("go/go-jose")).unwrap().subject.version = "7.7".to_owned();
    });
    assert_said("version of go/go-jose: rows state", |result| {
        let mut attacks = sample::attack().rows.attack;
        attacks.truncate(1);
        attacks[0].subject = Party {
            driver: "go/go-jose".to_owned(),
            library: "go-jose".to_owned(),
            version: "0.0.1".to_owned(),
            language: "go".to_owned(),
        };
        result.rows.attack = attacks;
    });
}

#[test]
fn check_impossible_token_sizes_are_found() {
    let of = |row: &&mut jeton_lab_model::result::Row| {
        row.subject.id == "rust/jeton:jwt:HS256:prepared" && row.claims.name == "standard"
    };
    assert_said(
        "the token has 12 bytes; its signature alone needs 65",
        move |result| {
            for row in result.rows.measured.iter_mut().filter(of) {
                row.token_bytes = Some(12);
            }
        },
    );
    assert_said("bytes; in another row it has", move |result| {
        let row = result.rows.measured.iter_mut().filter(of);
        *row.last().unwrap().token_bytes.as_mut().unwrap() += 1;
    });
}

#[test]
fn check_rounds_of_a_row_that_was_not_timed_are_found() {
    assert_said("has rounds although it is failed-preflight", |result| {
        let mut rows = result.rows.measured.iter_mut();
        let row = rows.find(is_of("java/jjwt")).unwrap();
        row.status = Status::FailedPreflight;
        row.reason = Some("accepts alg none".to_owned());
    });
}

/// From six runs on, each counts as one value.
#[test]
fn check_repeated_run_is_found() {
    assert_said("runs[1]: is the same run as runs[0]", |result| {
        let run = jeton_lab_model::result::MergedRun {
            started: result.environment.started.clone(),
            command: "jeton-lab run".to_owned(),
            seed: 1,
            rounds: 2,
        };
        result.runs = vec![run; 6];
    });
}

/// The intervals of a comparison are wider with more verdicts.
#[test]
fn check_repeated_verdict_is_found() {
    let mut result = kept();
    let verdict = result.verdicts[0].clone();
    result.verdicts.extend(vec![verdict; 100]);
    let found = check(&result);
    let repeated = found
        .iter()
        .filter(|one| one.what == "stands several times");
    assert_eq!(repeated.count(), 100);
    // Written again, it stands once.
    assert_eq!(recomputed(&result), recomputed(&kept()));
}

#[test]
fn check_support_that_the_dates_contradict_is_found() {
    let used = |support, ends: &str| RuntimeUsed {
        language: "go".to_owned(),
        name: "Go 1.0".to_owned(),
        found: "PATH".to_owned(),
        support,
        support_ends: Some(ends.to_owned()),
    };
    for (support, ends, is_wrong) in [
        (SupportState::Supported, "2001-01-01", true),
        (SupportState::Supported, "2026-10", true),
        (SupportState::Supported, "2026-11", false),
        (SupportState::Supported, "2026-11-30", false),
        (SupportState::Ended, "2026-11-30", false),
        (SupportState::Ended, "2026-12-01", true),
        (SupportState::Unknown, "2001-01-01", false),
    ] {
        let found = said(|result| result.environment.runtimes_used.push(used(support, ends)));
        assert_eq!(!found.is_empty(), is_wrong, "{ends}: {found:?}");
    }
    assert_said("runtime Go 1.0: is supported until 2001-01-01", |result| {
        let runtimes = &mut result.environment.runtimes_used;
        runtimes.push(used(SupportState::Supported, "2001-01-01"));
    });
}

#[test]
fn check_free_text_in_a_title_is_found() {
    let found = said(|result| {
        for verdict in &mut result.verdicts {
            if verdict.comparison == "HS256, sign" {
                verdict.comparison = "HS256, sign; certified by NIST".to_owned();
            }
        }
    });
    assert!(
        found
            .iter()
            .any(|line| line.contains("\"certified\" is no word of a title")),
        "{found:?}"
    );
}
