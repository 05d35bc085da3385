//! The page of a run of servers: findings, a chart, six columns, and the rest folded.

use std::path::Path;

use jeton_lab_model::result::read;
use jeton_lab_report::html::page;

use crate::sample;

#[test]
fn servers_page_begins_with_the_findings() {
    let html = page(&sample::servers());
    let section = super::between(&html, "<section id=\"servers\"", "</section>");
    for words in [
        "<strong>go/published (original)</strong>: signs HS256 with an empty key.",
        "<strong>java/absent (not measured)</strong>: needs <code>java</code>, which is not on PATH.",
    ] {
        assert!(section.contains(words), "{words}: {section}");
    }
    let [findings, table] = ["<ul class=\"findings\">", "<table id=\"servers-0\">"]
        .map(|part| section.find(part).unwrap());
    assert!(findings < table);
}

/// A reader asks first which server; faults of the published servers come after.
#[test]
fn servers_page_of_kept_run_names_the_best_server_first() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/runs");
    let html = page(&read(&docs.join("2026-11-28-servers/results.json")).unwrap());
    let findings = super::between(&html, "<ul class=\"findings\">", "</ul>");
    let findings: Vec<&str> = findings.split("<li>").skip(1).collect();
    assert!(
        findings[0].starts_with("<strong>rust/jeton</strong>: alone the best in 6 of 8 loads"),
        "{findings:#?}"
    );
    let last = findings.last().unwrap();
    assert!(
        last.contains("algorithm <code>none</code>"),
        "{findings:#?}"
    );
}

#[test]
fn servers_page_has_six_columns_and_folds_the_rest() {
    let html = page(&sample::servers());
    let table = super::between(&html, "<table id=\"servers-0\">", "</table>");
    let head = super::between(table, "<thead>", "</thead>");
    assert_eq!(
        head.matches("<th ").count(),
        7,
        "the server and six columns"
    );
    assert!(table.contains("faulty"), "{table}");
    let folded = super::between(
        &html,
        "All figures, with those of the public report",
        "</table>",
    );
    assert!(folded.contains("p99.99") && folded.contains("Repetitions"));
}
