//! The page of a run of servers: findings, a chart, six columns, and the rest folded.

use jeton_lab_report::html::page;

use crate::sample;

#[test]
fn servers_page_begins_with_the_findings() {
    let html = page(&sample::servers());
    let section = super::between(&html, "<section id=\"servers\"", "</section>");
    for words in [
        "<strong>go/published (original)</strong>: signs HS256 with an empty key.",
        "<strong>java/absent (not measured)</strong>: needs `java`, which is not on PATH.",
    ] {
        assert!(section.contains(words), "{words}: {section}");
    }
    let [findings, table] = ["<ul class=\"findings\">", "<table id=\"servers-0\">"]
        .map(|part| section.find(part).unwrap());
    assert!(findings < table);
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
