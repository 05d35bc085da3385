//! jeton in the reader's language, as one question more of the page.

use jeton_lab_model::result::RunResult;
use jeton_lab_report::html::page;

use crate::sample;

fn section(result: &RunResult) -> String {
    let html = page(result);
    super::check(&html);
    let section = super::between(&html, "<section id=\"language\"", "</section>");
    super::without_terms(section)
}

/// Adds jeton in Go, with the times of golang-jwt multiplied.
fn with_go(mut result: RunResult, factor: f64) -> RunResult {
    let is_go = |library: &str, alg: &str| library == "golang-jwt" && alg == "ES256";
    let own: Vec<_> = result
        .rows
        .measured
        .iter()
        .filter(|row| {
            is_go(
                &row.subject.library,
                row.subject.alg.as_deref().unwrap_or(""),
            )
        })
        .filter(|row| row.suite == "libraries")
        .cloned()
        .map(|mut row| {
            row.subject.id = row.subject.id.replace("golang-jwt", "jeton");
            row.subject.library = "jeton".to_owned();
            let timing = row.ns_per_op.as_mut().unwrap();
            timing.median *= factor;
            timing.interval = timing.interval.map(|end| end * factor);
            for round in &mut timing.rounds {
                *round *= factor;
            }
            row
        })
        .collect();
    assert_eq!(own.len(), 2, "sign and verify");
    result.rows.measured.extend(own);
    result
}

#[test]
fn language_absent_languages_are_named() {
    let section = section(&sample::result());
    for words in [
        "How fast is jeton in my language?",
        "faster in Rust",
        "not measured in Go, Java, Node and Python",
        "Rust: jeton 0.1.0",
        "Rust: jsonwebtoken 11.0.0",
    ] {
        assert!(section.contains(words), "{words}: {section}");
    }
}

#[test]
fn language_slower_jeton_is_said() {
    let section = section(&with_go(sample::result(), 3.0));
    for words in ["slower in Go", "where jeton compares worst", "Go: jeton"] {
        assert!(section.contains(words), "{words}: {section}");
    }
    assert!(!section.contains("not measured in Go"), "{section}");
}

#[test]
fn language_without_times_names_the_command() {
    let mut result = sample::result();
    result
        .rows
        .measured
        .retain(|row| row.subject.library != "jeton");
    result.verdicts.clear();
    let section = section(&result);
    assert!(
        section.contains("Not measured: the time of jeton"),
        "{section}"
    );
    assert!(section.contains("jeton-lab run libraries"), "{section}");
}

/// One library in two languages is two lines, which name their language.
#[test]
fn terminal_table_names_the_language_of_namesakes() {
    let mut result = crate::sample::result();
    for row in result
        .rows
        .measured
        .iter_mut()
        .filter(|r| r.subject.library == "golang-jwt")
    {
        row.subject.library = "jeton".to_owned();
    }
    let said = jeton_lab_report::terminal::show(&result, 100);
    assert!(said.contains("jeton (Rust) 0.1.0"), "{said}");
    assert!(said.contains("jeton (Go) 5.3.1"), "{said}");
    assert!(said.contains("cristalhq 3.0.14"), "{said}");
}

/// A reader who cannot use the fastest library gets the others, each with the line that installs it.
#[test]
fn language_ranks_all_libraries_with_install_lines() {
    let html = page(&with_go(sample::result(), 3.0));
    let answers = super::between(&html, "<section id=\"answers\"", "</section>");
    assert!(
        answers.contains("then jsonwebtoken"),
        "the runner-up: {answers}"
    );
    assert!(answers.contains("ES256 against EdDSA"), "{answers}");
    let section = section(&with_go(sample::result(), 3.0));
    for words in [
        "<select id=\"my-language\">",
        "<option value=\"go\">Go</option>",
    ] {
        assert!(answers.contains(words), "{words}: {answers}");
    }
    for words in [
        "data-case=\"public\"",
        "go get github.com/golang-jwt/jwt/v5@v5.3.1",
        "go get github.com/cristalhq/jwt/v3@v3.0.14",
        "1. cristalhq",
        "jeton <small>",
    ] {
        assert!(section.contains(words), "{words}: {section}");
    }
}

/// The lockfile of a driver has the package that a reader installs.
#[test]
fn language_install_lines_name_packages_of_drivers() {
    let drivers = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../drivers");
    let mut known = String::new();
    for driver in jeton_lab_harness::driver::find(&drivers).unwrap() {
        for file in [
            "go.mod",
            "pom.xml",
            "requirements.txt",
            "package.json",
            "Cargo.toml",
        ] {
            let file = drivers.join(&driver.id).join(file);
            known += &std::fs::read_to_string(file).unwrap_or_default();
        }
    }
    let html = page(&super::full_run::result());
    let lines = html.split("<td><code>").skip(1);
    let lines = lines.map(|line| line.split("</code>").next().unwrap());
    let mut seen = 0;
    for line in lines.filter(|line| !line.contains("drivers/") && line.contains(['@', ':', '='])) {
        let package = line.rsplit(' ').next().unwrap();
        let package = package.trim_start_matches('@');
        let package = package.split(['@', '=']).next().unwrap();
        let parts: Vec<&str> = package.split(':').take(2).collect();
        assert!(parts.iter().all(|part| known.contains(part)), "{line}");
        assert!(
            !line.starts_with("go get") || package.contains('/'),
            "{line}"
        );
        seen += 1;
    }
    assert!(seen > 20, "{seen} lines");
}
