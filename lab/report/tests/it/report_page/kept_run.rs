//! A recorded result (`docs/runs`) as HTML and Markdown. Rows that two suites requested are in the
//! file once and belong to both.

use std::collections::BTreeSet;
use std::fs;

use jeton_lab_model::result::{Row, RunResult, read, to_packed_bytes};
use jeton_lab_report::html::page;
use jeton_lab_report::markdown;
use jeton_lab_report::multi_run::recomputed;

use super::between;
use crate::stored::{self, FILE};

fn kept() -> RunResult {
    stored::run("full")
}

/// The size of a page that a mail takes and a phone opens.
const PAGE_BYTES_MAX: usize = 1_600_000;

#[test]
fn page_of_the_full_run_answers_three_questions() {
    let advice =
        "One party issues and verifies: HS256. Third parties verify and must not sign: EdDSA";
    let disturbed = "Fastest with jeton (Rust): HS256 (shared secret) and EdDSA (key pair).";
    for (is_disturbed, algorithm) in [(false, advice), (true, disturbed)] {
        let mut result = kept();
        let disturbance = &mut result.environment.disturbance;
        disturbance.disturbed = is_disturbed;
        disturbance.reasons = if is_disturbed {
            vec!["work waited for a free core 12 % of the time (limit 10 %)".to_owned()]
        } else {
            Vec::new()
        };
        result.recommendation = None;
        let html = page(&result);
        super::check(&html);
        assert!(html.len() < PAGE_BYTES_MAX, "{} bytes", html.len());
        let html = super::without_terms(&html);
        let answers = between(&html, "<section id=\"answers\"", "</section>");
        assert_eq!(
            answers.matches("<svg class=\"mini\" role=\"img\"").count(),
            3
        );
        assert_eq!(answers.matches("<p class=\"sure\">").count(), 3);
        for words in [
            "Which library?",
            "The fastest of each language, with ES256:",
            "Which algorithm?",
            algorithm,
            "JWT or PASETO?",
            "Signed: PASETO v4.public is as fast and as large as a JWT",
            "Encrypted, time of v4.local against JWE dir+A256GCM: ",
            "to sign and verify 160-byte claims, jeton (Rust)",
            "Not concluded: </strong>",
            "3 rows of cristalhq (Go)",
            "Each small chart has its own logarithmic scale",
            "One project makes this lab and the libraries called jeton.",
        ] {
            assert!(answers.contains(words), "disturbed {is_disturbed}: {words}");
        }
    }
}

/// jeton is the first or the second of each language, so the answer about libraries, the answer about jeton and the
/// ranking of each language judge the same two libraries.
#[test]
fn page_of_the_full_run_judges_a_pair_once() {
    let html = page(&kept());
    let html = super::without_terms(&html);
    let answers = between(&html, "<section id=\"answers\"", "</section>");
    let libraries = between(answers, "<p class=\"sure\">", "</p>");
    let section = between(&html, "<section id=\"language\"", "</section>");
    let said = between(section, "of each language, with ES256: ", ".");
    for name in ["Rust", "Go", "Java", "Node", "Python"] {
        let is_said = |what: &str| {
            let said = said.split("; ").filter_map(|part| part.strip_prefix(what));
            said.into_iter().any(|languages| languages.contains(name))
        };
        for (what, verdict) in [("as fast", "equivalent"), ("undecided", "undecided")] {
            let of_kind = libraries.split_once(&format!("{what}: "));
            let of_kind = of_kind.and_then(|(_, rest)| rest.split(['.', ':']).next());
            let is_listed = of_kind.is_some_and(|listed| listed.contains(&format!("({name})")));
            assert_eq!(
                is_listed,
                is_said(what),
                "{what} in {name}: {libraries} {said}"
            );
            let caption = format!("{name}, JWT ES256: all measured libraries");
            let ranked = between(section, &caption, "</table>");
            let second = ranked.split("<tr").nth(3).unwrap();
            assert_eq!(
                second.contains(verdict),
                is_said(what),
                "{what} in {name}: {second}"
            );
        }
    }
}

/// With `JETON_WRITE=1` it writes the runs again, with everything that is derived from their rounds.
#[test]
fn stored_runs_are_listed_and_have_complete_pages() {
    let (docs, names) = stored::runs();
    let listed = fs::read_to_string(docs.join("README.md")).unwrap();
    assert!(!names.is_empty());
    for name in names {
        let row = format!("| [{name}]({name}/{FILE}) | ");
        assert_eq!(
            listed.matches(&row).count(),
            1,
            "README.md does not list {name}"
        );
        let file = docs.join(&name).join(FILE);
        let result = read(&file).unwrap();
        if std::env::var_os("JETON_WRITE").is_some() {
            fs::write(&file, to_packed_bytes(&recomputed(&result))).unwrap();
        }
        let html = page(&result);
        if name.ends_with("-full") {
            super::check(&html);
        }
        let subjects = (result.rows.measured.iter()).map(|row| &row.subject.library);
        for named in subjects.chain(result.rows.servers.iter().map(|row| &row.subject.id)) {
            assert!(html.contains(named.as_str()), "{name}: {named}");
        }
    }
}

/// Returns the rows that the verdicts of a comparison refer to, each once.
fn members<'a>(result: &'a RunResult, comparison: &str) -> Vec<&'a Row> {
    let verdicts = || {
        let all = result.verdicts.iter();
        all.filter(|v| v.comparison == comparison)
    };
    let is_member = |row: &&Row| {
        verdicts().any(|v| v.is_about(row, &v.baseline) || v.is_about(row, &v.subject))
    };
    let rows: Vec<&Row> = result.rows.measured.iter().filter(is_member).collect();
    let ids: BTreeSet<&str> = verdicts()
        .flat_map(|v| [v.baseline.as_str(), v.subject.as_str()])
        .collect();
    assert_eq!(rows.len(), ids.len(), "{comparison}");
    rows
}

fn titles(result: &RunResult) -> BTreeSet<&str> {
    let all = result.verdicts.iter();
    all.map(|v| v.comparison.as_str()).collect()
}

/// Checks that every member has a line with its library and version, and that no line is left over.
fn has_lines(lines: Vec<&str>, result: &RunResult, title: &str) {
    let mut lines = lines;
    let mut rows = members(result, title);
    // A name can be the start of another: the longest takes its line first.
    rows.sort_by_key(|row| std::cmp::Reverse(row.subject.library.len()));
    for row in rows {
        let subject = &row.subject;
        let own = |line: &&str| {
            let plain = line.replace('\\', "");
            plain.contains(&subject.library) && plain.contains(&subject.version)
        };
        let place = lines.iter().position(own);
        let place = place.unwrap_or_else(|| panic!("{title} has no line of {}", subject.id));
        lines.swap_remove(place);
    }
    assert!(lines.is_empty(), "{title} has {lines:?} besides");
}

#[test]
fn page_comparison_has_all_rows_of_its_verdicts() {
    let result = kept();
    let html = page(&result);
    super::check(&html);
    let charts = between(&html, "<section id=\"charts\"", "</section>");
    for title in titles(&result) {
        let own = charts
            .split("<article class=\"comparison\">")
            .find(|article| {
                let heading = article
                    .split_once("</h4>")
                    .map_or("", |(heading, _)| heading);
                heading.trim_end().ends_with(&format!(">{title}"))
                    || heading.contains(&format!(">{title} <span"))
            });
        let own = own.unwrap_or_else(|| panic!("no {title}"));
        let body = between(own, "<tbody>", "</tbody>");
        let lines = body.split("<tr").skip(1);
        let compared = lines.filter(|line| {
            !line.starts_with(" class=\"reference\"") && !line.starts_with(" class=\"missing\"")
        });
        let compared = compared.filter(|line| !line.contains("not compared"));
        has_lines(compared.collect(), &result, title);
    }
}

#[test]
fn markdown_table_has_all_rows_of_its_verdicts() {
    let result = kept();
    let text = markdown::text(&result);
    for title in titles(&result) {
        let table = text.split("\n### ").find(|part| {
            let heading = part.lines().next().unwrap_or_default();
            heading.replace('\\', "") == title
        });
        let table = table.unwrap_or_else(|| panic!("no {title}"));
        let lines = table.lines().filter(|line| line.starts_with("| "));
        let compared = lines.skip(1).filter(|line| {
            ["baseline", "faster", "slower", "equivalent", "undecided"]
                .iter()
                .any(|word| line.contains(&format!("| {word} |")))
        });
        has_lines(compared.collect(), &result, title);
    }
}

#[test]
fn cached_library_is_not_in_tradeoff_and_overhead() {
    let result = kept();
    let cached = "fast-jwt-cached";
    let mut rows = result.rows.measured.iter();
    assert!(rows.any(|row| row.subject.library == cached && row.ns_per_op.is_some()));
    let html = page(&result);
    for section in ["tradeoff", "overhead"] {
        let start = format!("<section id=\"{section}\"");
        assert!(
            !between(&html, &start, "</section>").contains(cached),
            "{section}"
        );
    }
    // It is measured and shown with the other rows.
    assert!(between(&html, "<section id=\"charts\"", "</section>").contains(cached));
}
