//! The report page: one HTML file that opens from disk, without scripts and without the network.
//!
//! The page is a pure function of the result file. Its content security policy allows the one
//! style sheet by its hash and nothing else, so that text from a library (a reason, a name) can
//! at worst be ugly. Every chart has the table of its figures right below it.

mod chart;
mod data;
mod environment;
mod gaps;
mod scale;
mod sizes;
mod summary;
mod table;
mod trust;

use base64_simd::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use super::comparison::{Comparison, comparisons};
use super::{comparison, names, sentences, units};
use crate::result::RunResult;

const STYLE: &str = include_str!("style.css");

/// The whole page for one result: UTF-8 HTML that needs no other file.
///
/// Any result renders, also one without rows or with failed rows only. The page holds the
/// result itself, as a download, as long as it fits a link (1.5 MB).
///
/// # Examples
/// ```
/// # fn demo(result: &jeton_lab::result::RunResult) -> std::io::Result<()> {
/// std::fs::write("report.html", jeton_lab::report::html::page(result))?;
/// # Ok(()) }
/// ```
#[must_use]
pub fn page(result: &RunResult) -> String {
    let comparisons = comparisons(result);
    let sections = [
        Section::new(
            "summary",
            "Asked and answered",
            summary::section(result, &comparisons),
        ),
        Section::new("trust", "How far to trust it", trust::section(result)),
        Section::new(
            "no-recommendation",
            "No recommendation",
            summary::no_recommendation(result),
        ),
        Section::new("tiers", "Tiers", summary::tiers(&comparisons)),
        Section::new("charts", "Time per operation", charts(result, &comparisons)),
        Section::new("sizes", "Token sizes", sizes::section(&result.rows)),
        Section::new(
            "gaps",
            "Missing and disturbed rows",
            gaps::section(&result.rows),
        ),
        Section::new("environment", "Environment", environment::section(result)),
        Section::new("data", "Data and repeat", data::section(result)),
    ];
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        STANDARD.encode_to_string(Sha256::digest(STYLE))
    );
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                title { (title(result)) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#main" { "Skip to the report" }
                header.page-head {
                    p.eyebrow { "jeton lab" }
                    h1 { (title(result)) }
                    (summary::asked(result))
                }
                div.columns {
                    (navigation(&sections, &comparisons))
                    main #main {
                        @for section in &sections {
                            section #(section.id) aria-labelledby={ (section.id) "-heading" } {
                                h2 #{ (section.id) "-heading" } { (section.heading) }
                                (section.body)
                            }
                        }
                    }
                }
                footer {
                    p {
                        "Made by jeton " (result.environment.jeton)
                        " from one result file. No scripts, no requests."
                    }
                }
            }
        }
    }
    .into_string()
}

struct Section {
    id: &'static str,
    heading: &'static str,
    body: Markup,
}

impl Section {
    fn new(id: &'static str, heading: &'static str, body: Markup) -> Self {
        Self { id, heading, body }
    }
}

fn title(result: &RunResult) -> String {
    let mut suites: Vec<&str> = Vec::new();
    for row in &result.rows {
        if !suites.contains(&row.suite.as_str()) {
            suites.push(&row.suite);
        }
    }
    if suites.is_empty() {
        return "Lab report".to_owned();
    }
    format!("Lab report: {}", units::list(&suites))
}

/// The table of contents; comparisons are listed by suite and contract, not one by one.
fn navigation(sections: &[Section], comparisons: &[Comparison<'_>]) -> Markup {
    html! {
        nav.contents aria-label="Contents" {
            ol {
                @for section in sections {
                    li {
                        a href={ "#" (section.id) } { (section.heading) }
                        @if section.id == "charts" && !comparisons.is_empty() {
                            ol {
                                @for group in groups(comparisons) {
                                    li { a href={ "#" (group_anchor(group)) } { (group_heading(group)) } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn charts(result: &RunResult, comparisons: &[Comparison<'_>]) -> Markup {
    html! {
        @if comparisons.is_empty() {
            p { "No time was measured, so there is nothing to draw. " a href="#gaps" { "Missing and disturbed rows" } " says why." }
        } @else {
            (chart::legend())
            @for group in groups(comparisons) {
                h3 #(group_anchor(group)) { (group_heading(group)) }
                @for comparison in group {
                    (chart::figure(comparison, result.noise_floor.floor))
                }
            }
        }
    }
}

/// Comparisons arrive ordered by suite and contract: neighbours with the same pair are a group.
fn groups<'c, 'a>(comparisons: &'c [Comparison<'a>]) -> impl Iterator<Item = &'c [Comparison<'a>]> {
    comparisons.chunk_by(|a, b| a.suite == b.suite && a.contract == b.contract)
}

fn group_heading(group: &[Comparison<'_>]) -> String {
    group.first().map_or_else(String::new, |first| {
        format!("{}: {}", units::capitalised(first.suite), first.contract)
    })
}

fn group_anchor(group: &[Comparison<'_>]) -> String {
    group
        .first()
        .map_or_else(String::new, |first| format!("group-{}", first.anchor))
}
