//! Markdown, benchstat text and CSV of the sample as golden files. `benchstat` itself must read the
//! text and agree.
//!
//! `JETON_WRITE=1` writes intended changes; read them before committing.

#![allow(clippy::unwrap_used, clippy::panic)]

use crate::sample;
use std::fs;
use std::path::Path;
use std::process::Command;

use jeton_lab_model::result::RunResult;
use jeton_lab_report::{benchstat, csv, html, markdown, terminal};
use jeton_lab_stats::mann_whitney::p_value;

/// Returns a few rows of every kind, with names that a careless export would corrupt.
fn few() -> RunResult {
    let mut result = sample::result();
    result.rows.measured.retain(|row| {
        let alg = row.subject.alg.as_deref();
        row.operation == "sign"
            && (alg == Some("HS256") && row.suite == "libraries"
                || alg == Some("EdDSA") && row.subject.library == "pascaldekloe"
                || row.subject.language == "java")
    });
    let rows = result.rows.measured.clone();
    result.verdicts.retain(|v| {
        let there = |id: &str| {
            rows.iter()
                .any(|r| r.subject.id == id && r.suite == v.suite)
        };
        v.operation == "sign" && there(&v.subject) && there(&v.baseline)
    });
    let mut odd = rows[0].clone();
    odd.subject.id = "go/a b:jwe:RSA-OAEP-256+A256GCM:prepared".into();
    odd.subject.library = "=a | \"b\", <c>".into();
    odd.subject.format = "jwe".into();
    odd.subject.alg = Some("RSA-OAEP-256".into());
    odd.subject.enc = Some("A256GCM".into());
    odd.operation = "verify-signature".into();
    odd.claims.name = "my claims/1".into();
    odd.threads = 4;
    odd.allocs_per_op = None;
    result.rows.measured.push(odd);
    result
}

#[track_caller]
fn assert_golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(name);
    if std::env::var_os("JETON_WRITE").is_some() {
        fs::write(&path, text).unwrap();
    }
    let golden = fs::read_to_string(&path).unwrap();
    assert!(text == golden, "{name} differs; it is now:\n{text}");
}

#[test]
fn markdown_matches_golden_file() {
    assert_golden("report.md", &markdown::text(&few()));
}

#[test]
fn benchstat_text_matches_golden_file() {
    assert_golden("results.txt", &benchstat::text(&few()));
}

#[test]
fn csv_matches_golden_file() {
    assert_golden("results.csv", &csv::text(&few()));
}

#[test]
fn csv_of_servers_has_a_line_for_each_load() {
    assert_golden("servers.csv", &csv::text(&sample::servers()));
}

/// Every format has the same figures; CSV has all digits, and the terminal the fewest.
#[test]
fn figures_of_a_row_are_in_every_format() {
    let mut result = sample::result();
    let rows = &mut result.rows.measured;
    let row = rows
        .iter_mut()
        .find(|row| row.subject.library == "cristalhq")
        .unwrap();
    row.allocs_per_op = Some(4321.26);
    row.ns_per_op.as_mut().unwrap().median = 7_654_321.5;
    let id = row.subject.id.clone();
    result
        .verdicts
        .iter_mut()
        .find(|verdict| verdict.subject == id)
        .unwrap()
        .ratio = 98.765;
    for (text, figures) in [
        (html::page(&result), ["4,321.3", "7,654.322", "98.77"]),
        (markdown::text(&result), ["4,321.3", "7,654.322", "98.77"]),
        (terminal::show(&result, 200), ["4321", "7654", "98.8"]),
        (csv::text(&result), ["4321.26", "7654321.5", ""]),
    ] {
        for figure in figures {
            assert!(text.contains(figure), "{figure}: {text}");
        }
    }
}

#[test]
fn wrong_keys_that_a_library_loads_are_in_every_format() {
    let mut result = sample::result();
    let what = "loads a point off the curve";
    for loads in [vec![], vec![what.to_owned()]] {
        result.rows.measured[0].loads_wrong_keys = loads.clone();
        for text in [
            html::page(&result),
            markdown::text(&result),
            terminal::show(&result, 200),
            csv::text(&result),
        ] {
            assert_eq!(text.contains(what), !loads.is_empty(), "{text}");
        }
    }
}

#[test]
fn exports_of_empty_result_work() {
    let empty = sample::empty();
    assert_eq!(csv::text(&empty).lines().count(), 1);
    assert!(!benchstat::text(&empty).contains("Benchmark"));
    assert!(markdown::text(&empty).contains("### The noise floor"));
}

#[test]
fn benchstat_text_has_a_line_for_each_round() {
    let result = few();
    let text = benchstat::text(&result);
    let timings = result
        .rows
        .measured
        .iter()
        .filter_map(|r| r.ns_per_op.as_ref());
    let rounds: usize = timings.map(|t| t.rounds.len()).sum();
    let lines: Vec<&str> = text
        .lines()
        .filter(|l| l.starts_with("Benchmark"))
        .collect();
    assert_eq!(lines.len(), rounds);
    for line in lines {
        let fields: Vec<&str> = line.split(' ').collect();
        assert!(fields[0].as_bytes()[9].is_ascii_uppercase(), "{line}");
        assert_eq!((fields[1], fields[3]), ("1", "ns/op"), "{line}");
        assert!(fields[2].parse::<f64>().unwrap() > 0.0);
    }
}

/// Compares medians and p of two libraries with benchstat's own. Its modules are pinned in
/// `tests/benchstat`. Where they are unavailable, the test says so and passes.
#[test]
fn benchstat_reads_the_text_and_agrees() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("results.txt");
    let result = sample::result();
    fs::write(&file, benchstat::text(&result)).unwrap();
    let filter = ".name:Sign /format:jwt /alg:HS256 /lib:(golang-jwt OR cristalhq)";
    let output = Command::new("go")
        .args(["tool", "benchstat", "-format", "csv", "-filter", filter])
        .args(["-col", "/lib", "-row", ".name", "-ignore", "/lang"])
        .arg(&file)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/benchstat"))
        .output();
    let output = match output {
        Ok(output) if output.status.success() => output,
        other => {
            let strict = std::env::var_os("JETON_BENCHSTAT").is_some();
            assert!(!strict, "{other:?}");
            return eprintln!("benchstat is unavailable: {other:?}");
        }
    };
    let said = String::from_utf8(output.stdout).unwrap();
    let line = said.lines().find(|l| l.starts_with("Sign")).unwrap();
    let fields: Vec<&str> = line.split(',').collect();
    let timing = |library: &str| {
        let mut rows = result.rows.measured.iter();
        let row = rows.find(|r| {
            (
                r.subject.library.as_str(),
                r.operation.as_str(),
                r.suite.as_str(),
            ) == (library, "sign", "libraries")
                && r.subject.alg.as_deref() == Some("HS256")
        });
        row.unwrap().ns_per_op.clone().unwrap()
    };
    // The columns have the order of the file: golang-jwt before cristalhq.
    let (first, second) = (timing("golang-jwt"), timing("cristalhq"));
    for (field, median) in [(fields[1], first.median), (fields[3], second.median)] {
        let seconds: f64 = field.parse().unwrap();
        assert!((seconds * 1e9 / median - 1.0).abs() < 1e-3, "{said}");
    }
    let p = p_value(&first.rounds, &second.rounds);
    assert!(fields[6].starts_with(&format!("p={p:.3}")), "{p}: {said}");
    for unit in ["sec/op", "B/op", "allocs/op"] {
        assert!(said.contains(unit), "{said}");
    }
}
