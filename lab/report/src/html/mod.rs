//! The HTML report: one file that opens from disk, without a network.
//!
//! The page depends only on the result file. Its content security policy allows one style sheet and one
//! script by their hashes and nothing else, so text from a library cannot run code. The script sorts and
//! filters tables; the page has the same content without it. A table with the figures follows every chart.

mod advice;
mod answers;
mod attack;
mod budgets;
mod chart;
mod data;
mod environment;
mod folds;
mod gaps;
mod glossary;
mod interop;
mod lines;
mod marks;
mod overhead;
mod panels;
mod published_comparison;
mod scale;
mod servers;
mod side_by_side;
mod sizes;
mod summary;
mod sweep;
mod threads;
mod tradeoff;
mod trust;

use base64_simd::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

pub use side_by_side::side_by_side;

use folds::sets;

use super::comparison::{Comparison, comparisons};
use super::{comparison, sentences, visible};
use jeton_lab_model::result::RunResult;
use jeton_lab_model::{names, units};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("tables.js");

/// Renders the page of one result as UTF-8 HTML that needs no other file.
///
/// Every result renders, also without rows or with failed rows only. The page contains the compressed
/// result as a download if that takes at most half a megabyte.
///
/// # Examples
/// ```
/// # fn demo(result: &jeton_lab_model::result::RunResult) -> std::io::Result<()> {
/// std::fs::write("report.html", jeton_lab_report::html::page(result))?;
/// # Ok(()) }
/// ```
#[must_use]
pub fn page(result: &RunResult) -> String {
    let visible = visible::result(result);
    let result = &*visible;
    let comparisons = comparisons(result);
    let sections = sections(result, &comparisons);
    let body = html! {
        header.page-head {
            p.eyebrow { (program(result)) }
            h1 { (heading(result)) }
            (summary::facts(result))
        }
        main #main {
            (answers::section(result))
            div.columns {
                (navigation(&sections, &comparisons))
                div.parts {
                    @for section in &sections { (section.shown()) }
                }
            }
        }
        footer {
            p {
                "Created by jeton " (result.environment.jeton)
                " from one result file. This page sends no requests."
            }
        }
    };
    document(&title(result), &body)
}

/// Renders a whole document with the style sheet, the script and the policy that allows only these.
fn document(title: &str, body: &Markup) -> String {
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        STANDARD.encode_to_string(Sha256::digest(STYLE)),
        STANDARD.encode_to_string(Sha256::digest(SCRIPT))
    );
    let html = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#main" { "Skip to the report" }
                (marks::definitions())
                (body)
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    glossary::with_terms(&html.into_string())
}

/// Returns the sections in order. Sections without rows are omitted; the gaps section names them.
fn sections(result: &RunResult, comparisons: &[Comparison<'_>]) -> Vec<Section> {
    let rows = &result.rows.measured;
    let interop_rows = &result.rows.interop;
    // Results of commands without timings have no timing sections.
    let has_times = !rows.is_empty();
    let timed = has_times || result.rows.is_empty();
    let shown = |s: &Section| {
        timed
            || [
                "attacks",
                "interop",
                "servers",
                "reports",
                "environment",
                "data",
                "glossary",
            ]
            .contains(&s.id)
    };
    let all = [
        always("recommendation", "Recommendation", advice::section(result)),
        always(
            "language",
            "jeton in my language",
            answers::language(result),
        ),
        always("charts", "Time per operation", charts(result, comparisons)),
        always(
            "tradeoff",
            "Size and time to verify",
            tradeoff::section(rows),
        ),
        folded("summary", "Verdicts", summary::section(result, comparisons)),
        folded("groups", "Groups", summary::groups(comparisons)),
        folded("sizes", "Token sizes", sizes::section(rows)),
        folded(
            "overhead",
            "Overhead above the bare primitive",
            overhead::section(rows),
        ),
        Section::new("sweep", "Payload sweep", sweep::section(rows)).map(Section::folded),
        Section::new(
            "threads",
            "Concurrency",
            threads::section(rows, result.environment.cores),
        )
        .map(Section::folded),
        Section::new(
            "reports",
            "The four public reports",
            published_comparison::section(result),
        )
        .map(Section::folded),
        Section::new(
            "interop",
            "Interoperability",
            (!interop_rows.is_empty()).then(|| interop::section(interop_rows)),
        )
        .map(|section| section.folded_if(has_times)),
        Section::new(
            "servers",
            "Servers",
            (!result.rows.servers.is_empty()).then(|| servers::section(&result.rows.servers)),
        )
        .map(|section| section.folded_if(has_times)),
        Section::new(
            "attacks",
            "Attacks",
            (!result.rows.attack.is_empty()).then(|| attack::section(result)),
        )
        .map(|section| section.folded_if(has_times)),
        folded("gaps", "Missing and disturbed", gaps::section(result)),
        folded("trust", "Measurement quality", trust::section(result)),
        folded("environment", "Environment", environment::section(result)),
        folded("data", "Raw data and reproduction", data::section(result)),
        folded("glossary", "Glossary", glossary::section()),
    ];
    let mut all: Vec<Section> = all.into_iter().flatten().filter(shown).collect();
    if !has_times {
        // The findings come first.
        all.sort_by_key(|section| section.id != "servers");
    }
    all
}

struct Section {
    id: &'static str,
    heading: &'static str,
    body: Markup,
    /// True if the page opens with the heading only.
    is_folded: bool,
}

impl Section {
    /// Creates a section if it has a body.
    fn new(id: &'static str, heading: &'static str, body: Option<Markup>) -> Option<Self> {
        let body = body?;
        Some(Self {
            id,
            heading,
            body,
            is_folded: false,
        })
    }

    fn folded(self) -> Self {
        self.folded_if(true)
    }

    fn folded_if(mut self, is_folded: bool) -> Self {
        self.is_folded = is_folded;
        self
    }

    fn shown(&self) -> Markup {
        let heading = html! { h2 #{ (self.id) "-heading" } { (self.heading) } };
        html! {
            section #(self.id) aria-labelledby={ (self.id) "-heading" } {
                @if self.is_folded {
                    details.part { summary { (heading) } (self.body) }
                } @else {
                    (heading) (self.body)
                }
            }
        }
    }
}

/// Creates a section that every page has.
fn always(id: &'static str, heading: &'static str, body: Markup) -> Option<Section> {
    Section::new(id, heading, Some(body))
}

/// Creates a section that every page has, folded.
fn folded(id: &'static str, heading: &'static str, body: Markup) -> Option<Section> {
    always(id, heading, body).map(Section::folded)
}

fn title(result: &RunResult) -> String {
    match heading(result).as_str() {
        "Lab report" => "Lab report".to_owned(),
        suites => format!("Lab report: {}", suites.to_lowercase()),
    }
}

/// Names the program above the title: a page of servers alone has other sections.
fn program(result: &RunResult) -> &'static str {
    let rows = &result.rows;
    if rows.measured.is_empty() && !rows.servers.is_empty() {
        "jeton-lab, servers"
    } else {
        "jeton-lab"
    }
}

/// Names what the run measured.
fn heading(result: &RunResult) -> String {
    let mut suites: Vec<&str> = Vec::new();
    for row in &result.rows.measured {
        if !suites.contains(&row.suite.as_str()) {
            suites.push(&row.suite);
        }
    }
    if !result.rows.interop.is_empty() {
        suites.push("interop");
    }
    if !result.rows.servers.is_empty() {
        suites.push("servers");
    }
    if !result.rows.attack.is_empty() {
        suites.push("attacks");
    }
    if suites.is_empty() {
        return "Lab report".to_owned();
    }
    units::capitalised(&units::list(&suites))
}

/// Renders the table of contents; it lists comparisons by suite and operation.
fn navigation(sections: &[Section], comparisons: &[Comparison<'_>]) -> Markup {
    html! {
        nav.contents aria-label="Contents" {
            ol {
                @for section in sections {
                    li {
                        a href={ "#" (section.id) } { (section.heading) }
                        @if section.id == "charts" && !comparisons.is_empty() {
                            ol {
                                @for set in sets(comparisons, 0) {
                                    li { a href={ "#" (set.anchor()) } { (set.heading()) } }
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
    // The charts of the first answer stay open: which library.
    let is_first = |c: &Comparison<'_>| c.operation == "verify" && c.title.starts_with("ES256");
    let opened = comparisons.iter().position(is_first).unwrap_or_default();
    html! {
        @if comparisons.is_empty() {
            p { "No time was measured. See " a href="#gaps" { "missing and disturbed rows" } " for the reasons." }
        } @else {
            (chart::legend())
            @for set in sets(comparisons, opened) {
                (set.shown(Some(&set.anchor()), &html! {
                    @let is_shown = |c: &&Comparison<'_>| c.anchor == comparisons[opened].anchor;
                    @let others = set.comparisons.iter().filter(|c| !is_shown(c));
                    @if let Some(shown) = set.comparisons.iter().find(is_shown) {
                        (chart::figure(shown, &result.noise_floor, true))
                        @if others.clone().count() > 0 {
                            details.rest {
                                summary { (units::count(others.clone().count(), "other comparison", "other comparisons")) }
                                @for comparison in others { (chart::figure(comparison, &result.noise_floor, false)) }
                            }
                        }
                    } @else {
                        @for comparison in others { (chart::figure(comparison, &result.noise_floor, false)) }
                    }
                }))
            }
        }
    }
}
