//! Text of libraries and of files from anyone, which no format may obey.
#![allow(clippy::unwrap_used)]

use std::borrow::Cow;

use jeton_lab_model::result::RunResult;
use jeton_lab_report::{csv, html, junit, markdown, visible};

use crate::sample;

fn with_library(library: &str) -> RunResult {
    let mut result = sample::result();
    for row in &mut result.rows.measured {
        row.subject.library = library.to_owned();
    }
    result
}

#[test]
fn text_control_characters_are_replaced() {
    let obeyed = "a\u{1b}[2Jb\u{9b}\u{7}\u{202e}c";
    let shown = "a[U+001B][2Jb[U+009B][U+0007][U+202E]c";
    assert_eq!(visible::text(obeyed), shown);
    assert_eq!(visible::text("two\nlines"), "two lines");
    assert!(matches!(visible::text("± 1 µs, ünï"), Cow::Borrowed(_)));
}

#[test]
fn result_texts_are_replaced_in_values_and_names() {
    let mut result = with_library("a\u{9b}\n");
    result.command = "\\u001b \\n \" \u{8}".to_owned();
    let versions = &mut result.environment.runtimes;
    versions.insert("go\u{1b}".to_owned(), "1\u{c}".to_owned());
    let shown = visible::result(&result);
    assert_eq!(shown.rows.measured[0].subject.library, "a[U+009B] ");
    assert_eq!(shown.command, "\\u001b \\n \" [U+0008]");
    assert_eq!(shown.environment.runtimes["go[U+001B]"], "1[U+000C]");
    assert_eq!(shown.verdicts, result.verdicts);
    let plain = sample::result();
    assert!(matches!(visible::result(&plain), Cow::Borrowed(_)));
}

#[test]
fn markdown_library_text_is_escaped() {
    let text = markdown::text(&with_library("a|b <img src=x> [l](u)\nnext"));
    let cell = "a\\|b &lt;img src=x&gt; \\[l\\](u) next";
    assert!(text.contains(cell), "{text}");
    let text = markdown::text(&with_library("a\u{1b}[2Jb"));
    assert!(text.contains("a\\[U+001B\\]\\[2Jb"), "{text}");
}

#[test]
fn markdown_command_ends_no_code() {
    let mut result = sample::empty();
    result.command = "run `x` \u{1b}[2J".to_owned();
    let text = markdown::text(&result);
    assert!(text.contains("`run 'x' [U+001B][2J`"), "{text}");
}

#[test]
fn csv_formula_is_escaped() {
    let text = csv::text(&with_library("=HYPERLINK(\"x\")"));
    assert!(text.contains("'=HYPERLINK"), "{text}");
}

#[test]
fn junit_library_text_is_valid_xml() {
    let mut result = sample::attack();
    result.rows.attack[0].subject.driver = "\"><&\u{0}\u{1b}".to_owned();
    let text = junit::text(&result);
    assert!(
        text.contains("\"&quot;&gt;&lt;&amp;\u{fffd}\u{fffd}:"),
        "{text}"
    );
}

/// Links of terms stand in running text only, each once, and the glossary has the terms of the page.
#[test]
fn page_terms_are_linked_once_and_not_in_foreign_text() {
    let mut result = with_library("baseline");
    let row = &mut result.rows.measured[0];
    sample::fail(
        row,
        jeton_lab_model::result::Status::Crashed,
        "verdict of a subject",
    );
    let page = html::page(&result);
    let links: Vec<&str> = page.split("<a class=\"term\" href=\"#").skip(1).collect();
    assert!(links.len() > 5, "{} links", links.len());
    for link in &links {
        let id = link.split('"').next().unwrap();
        assert_eq!(page.matches(&format!("href=\"#{id}\"")).count(), 1, "{id}");
        assert_eq!(
            page.matches(&format!("<dt id=\"{id}\">")).count(),
            1,
            "{id}"
        );
    }
    assert!(page.contains("verdict of a subject"), "no link in a reason");
    let empty = html::page(&sample::empty());
    assert!(
        !empty.contains("id=\"term-fast-jwt-cached\""),
        "an unused term"
    );
}
