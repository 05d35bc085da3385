//! The answers at the top of the page, and what the run cannot conclude.

use jeton_lab_model::result::{NOT_OFFERED, Row, RunResult, Status};
use jeton_lab_report::html::page;

use crate::recommendation::{both, result, row};
use crate::sample;

fn section(result: &RunResult, id: &str) -> String {
    let html = page(result);
    let section = super::between(&html, &format!("<section id=\"{id}\""), "</section>");
    super::without_terms(section)
}

fn library(language: &str, library: &str, times: [f64; 3]) -> Vec<Row> {
    let rows = ["HS256", "EdDSA", "ES256"].into_iter().zip(times);
    rows.flat_map(|(alg, ns)| both([language, library, "jwt", alg], [ns; 2], 300))
        .collect()
}

/// jeton, twice, and a library in which ES256 is faster than EdDSA, on two runtimes.
fn algorithms() -> Vec<Row> {
    let other = || library("node", "other", [500.0, 3_000.0, 2_000.0]);
    let mut newer = other();
    for row in &mut newer {
        row.subject.id = row.subject.id.replacen(':', "@Node 26:", 1);
    }
    let own = |language| library(language, "jeton", [100.0, 1_000.0, 1_500.0]);
    [own("rust"), own("go"), other(), newer].concat()
}

#[test]
fn algorithm_answer_names_the_libraries_that_disagree_once() {
    let mut of_run = result(&algorithms(), 0.02);
    let said = section(&of_run, "answers");
    let sentence = "One party issues and verifies: HS256. Third parties verify and must not sign: EdDSA; ES256 is faster in 1 of 2 libraries.";
    assert!(said.contains(sentence), "{said}");
    let what = "ES256 against EdDSA with jeton (Rust), to sign and verify; 0.67 to 1.5\u{a0}× in 2 libraries";
    assert!(said.contains(what), "{said}");
    of_run.environment.disturbance.disturbed = true;
    let said = section(&of_run, "answers");
    let sentence = "Fastest with jeton (Rust): HS256 (shared secret) and EdDSA (key pair).";
    assert!(
        said.contains(sentence),
        "a disturbed run gives no advice: {said}"
    );
    let said = section(&result(&algorithms(), 1.1), "answers");
    assert!(said.contains("not sign: EdDSA or ES256."), "{said}");
}

/// How sure the answer about libraries is.
#[test]
fn library_answer_names_leads_ties_and_lone_libraries() {
    let two = |ns| vec![("go", "a", 100.0), ("go", "b", ns)];
    let three = ["go", "node", "java"].map(|language| (language, "a", 100.0));
    let [go, node, java] = [
        ("go", "b", 150.0),
        ("node", "b", 130.0),
        ("java", "b", 200.0),
    ];
    let leads = [&three[..], &[go, node, java]].concat();
    let near = [&three[..2], &[go, ("node", "b", 110.0)]].concat();
    let lone = vec![("go", "a", 100.0), ("node", "b", 200.0)];
    for (libraries, floor, sure, words) in [
        (two(200.0), 1.1, "Not sure", "undecided: b (Go)"),
        (
            two(200.0),
            0.01,
            "Sure",
            "the next library takes 2\u{a0}× (Go) the time",
        ),
        (two(100.5), 0.01, "Sure", "as fast: b (Go)"),
        (
            two(110.0),
            0.05,
            "Fairly sure",
            "the next library takes 1.1\u{a0}× (Go) the time",
        ),
        (
            leads,
            0.01,
            "Sure",
            "the next library takes 1.3\u{a0}× (Node), 1.5\u{a0}× (Go) and 2\u{a0}× (Java) the time;",
        ),
        // A language that is near the noise comes first.
        (
            near,
            0.05,
            "Fairly sure",
            "the next library takes 1.1\u{a0}× (Node) the time. Sure: 1.5\u{a0}× (Go);",
        ),
        (
            lone,
            0.01,
            "Not sure",
            "no other library in Go and Node; not measured: Java, Python and Rust",
        ),
    ] {
        let rows = libraries.iter();
        let rows = rows.flat_map(|(language, library, ns)| {
            both([language, library, "jwt", "ES256"], [*ns; 2], 300)
        });
        let said = section(&result(&rows.collect::<Vec<_>>(), floor), "answers");
        let expected = format!(">{sure}</strong>: {words}");
        assert!(said.contains(&expected), "{expected}: {said}");
    }
}

fn es256(language: &str, library: &str, ns: f64) -> [Row; 2] {
    both([language, library, "jwt", "ES256"], [ns; 2], 300)
}

#[test]
fn language_answer_failed_jeton_is_not_unmeasured() {
    let mut failed = es256("go", "jeton", 100.0);
    for row in &mut failed {
        sample::fail(row, Status::FailedPreflight, "what it did");
    }
    let rows = [
        failed,
        es256("go", "other", 200.0),
        es256("node", "jeton", 100.0),
        es256("rust", "jeton", 100.0),
        es256("rust", "other", 200.0),
    ];
    let said = section(&result(&rows.concat(), 0.02), "language");
    let sentence = "with ES256: faster in Rust; without another library in Node; failed in Go; not measured in Java and Python.";
    assert!(said.contains(sentence), "{said}");
}

#[test]
fn language_answer_names_keys_at_which_jeton_is_slower() {
    let keys = [
        ("load-key", "jwk", 200.0),
        ("load-key", "pem", 50.0),
        ("generate-key", "prepared", 50.0),
    ];
    let keys = keys.into_iter().flat_map(|(operation, form, ns)| {
        [("jeton", 100.0), ("other", ns)].map(|(library, ns)| {
            let mut row = row(["go", library, "jwt", "ES256"], operation, ns);
            row.subject.key_handling = form.to_owned();
            row
        })
    });
    let rows = [es256("go", "jeton", 100.0), es256("go", "other", 200.0)].concat();
    let said = section(
        &result(&rows.into_iter().chain(keys).collect::<Vec<_>>(), 0.02),
        "language",
    );
    let slower = ". Slower to load a PEM key in Go; to generate a key in Go.";
    assert!(said.contains(slower), "{said}");
}

#[test]
fn language_answer_compares_on_one_runtime() {
    let on = |library: &str, runtime: &str, ns: f64| {
        es256("java", library, ns).map(|mut row| {
            row.subject.runtime = Some(runtime.to_owned());
            row.subject.id = row.subject.id.replacen(':', &format!("@{runtime}:"), 1);
            row
        })
    };
    let rows = [
        on("jeton", "JDK 17", 100.0),
        on("other", "JDK 17", 400.0),
        on("other", "JDK 25", 50.0),
    ];
    let said = section(&result(&rows.concat(), 0.02), "language");
    assert!(said.contains("faster in Java"), "{said}");
}

#[test]
fn limits_of_an_undisturbed_run_name_its_noise() {
    let rows = [row(["go", "a", "jwt", "ES256"], "sign", 100.0)];
    let said = |result: &RunResult| section(result, "answers");
    assert!(!said(&result(&rows, 0.02)).contains("Not concluded"));
    let noisy = said(&result(&rows, 1.1));
    assert!(
        noisy.contains("differences below 110.0\u{a0}% (noise)"),
        "{noisy}"
    );
    // The band, not the floor.
    let mut cut = result(&rows, 0.008);
    cut.environment.rounds_planned = 12;
    let why = "noise; 8 of 12 rounds in the time limit";
    let is_said = |result: &RunResult, differences: &str| {
        let (said, expected) = (
            said(result),
            format!("differences below {differences} ({why})"),
        );
        assert!(said.contains(&expected), "{expected}: {said}");
    };
    is_said(&cut, "2.0\u{a0}%");
    cut.noise_floor.managed = Some(0.039);
    is_said(&cut, "2.0\u{a0}%, or 3.9\u{a0}% with a managed runtime");
}

#[test]
fn limits_rows_without_a_time_have_their_reason() {
    let with = |library: &str, status: Status, reason: &str| {
        let mut row = row(["go", library, "jwt", "ES256"], "sign", 100.0);
        sample::fail(&mut row, status, reason);
        row
    };
    let rows = [
        with("a", Status::Unavailable, NOT_OFFERED),
        with("b", Status::Unavailable, "build failed"),
        with("c", Status::Disturbed, "the core was shared"),
        with("d", Status::TimedOut, "no answer"),
        with("e", Status::Crashed, "exited"),
    ];
    let said = section(&result(&rows, 0.02), "answers");
    let reasons = "1 row of d (Go) and 1 row of e (Go), which failed; 1 row of c (Go), disturbed; 1 row of b (Go), whose driver was not built or started; 1 row of a (Go), not offered by the library";
    assert!(said.contains(reasons), "{said}");
}
