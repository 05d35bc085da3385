//! The HTML report: one file that opens from disk, without a network.
//!
//! The page depends only on the result file. Its content security policy allows one style sheet and one
//! script by their hashes and nothing else, so text from a library cannot run code. The script sorts and
//! filters tables; the page has the same content without it. A table with the figures follows every chart.

mod advice;
mod cards;
mod chart;
mod glossary;
mod language;
mod lines;
mod marks;
mod published;
mod run;
mod scale;
mod section;
mod side_by_side;
mod summary;
mod table;
mod tokens;

use base64_simd::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

pub use side_by_side::side_by_side;

use crate::comparison::{Comparison, comparisons, sets};
use crate::recommendation::answers::limits;
use crate::section::{Fold, Kind, Section};
use crate::{attack, interop, servers, visible};
use jeton_lab_model::result::RunResult;
use jeton_lab_model::units;

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
            (answers(result))
            div.columns {
                (navigation(&sections, &comparisons))
                div.parts {
                    @for one in &sections { (section::shown(one)) }
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

/// What a reader must know about the cards.
const ABOUT: &str = "Each small chart has its own logarithmic scale: in one chart, equal distances are equal ratios. One project \
    makes this lab and the libraries called jeton. Its libraries for Go, Node, Python and Java call one core in Rust.";

/// Renders the limits of the run and its answers; nothing if the run has neither.
fn answers(result: &RunResult) -> Markup {
    let cards = if result.rows.measured.is_empty() {
        cards::of_servers(result)
    } else {
        language::all(result)
    };
    let limits = limits(result);
    // Results of commands without timings have no section with the reasons.
    let has_gaps = is_timed(result);
    if cards.is_empty() && limits.is_empty() && !has_gaps {
        return Markup::default();
    }
    html! {
        section #answers aria-labelledby="answers-heading" {
            h2.spoken #answers-heading { "Answers" }
            (language::control(result))
            @if !limits.is_empty() {
                p.callout.bad.limits {
                    strong { "Not concluded: " }
                    (limits.join("; ")) ". "
                    @if has_gaps { a href="#gaps" { "Reasons" } }
                }
            }
            @if !cards.is_empty() {
                (cards::side_by_side(&cards))
                p.note.about { (ABOUT) }
                (cards::tables(&cards, "Figures of these charts"))
            }
        }
    }
}

fn is_timed(result: &RunResult) -> bool {
    !result.rows.measured.is_empty() || result.rows.is_empty()
}

/// Returns the sections in order. Sections without rows are omitted; the gaps section names them.
fn sections(result: &RunResult, comparisons: &[Comparison<'_>]) -> Vec<Section> {
    let rows = &result.rows.measured;
    let folded = |section: Section| section.fold(Fold::Closed);
    // The findings of a command without timings are open.
    let found = |section: Section| {
        if rows.is_empty() {
            section
        } else {
            folded(section)
        }
    };
    let (mut first, mut timed) = (Vec::new(), Vec::new());
    if is_timed(result) {
        first = vec![
            advice::section(result),
            language::section(result),
            charts(result, comparisons),
            tokens::tradeoff(rows),
            folded(summary::section(result, comparisons)),
            folded(summary::groups(comparisons)),
            folded(tokens::sizes(rows)),
            folded(tokens::overhead(rows)),
        ];
        first.extend(lines::sweep(rows).map(folded));
        first.extend(lines::threads(rows, result.environment.cores).map(folded));
        timed = vec![folded(run::gaps(result)), folded(run::quality(result))];
    } else {
        first.extend(servers::section(result));
    }
    first.extend(published::section(result).map(folded));
    first.extend(interop::section(result).map(found));
    if is_timed(result) {
        first.extend(servers::section(result).map(folded));
    }
    first.extend(attack::section(result).map(found));
    first.extend(timed);
    let last = [
        run::environment(result),
        run::data(result),
        glossary::section(),
    ];
    first.extend(last.map(folded));
    first
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
                        a href={ "#" (section.id) } { (section.title) }
                        @if section.id == "charts" && !comparisons.is_empty() {
                            ol {
                                @for set in sets(comparisons) {
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

fn charts(result: &RunResult, comparisons: &[Comparison<'_>]) -> Section {
    let section = Section::new("Time per operation").id("charts");
    if comparisons.is_empty() {
        let none = html! { "No time was measured. See " a href="#gaps" { "missing and disturbed rows" } " for the reasons." };
        return section.markup(Kind::Plain, none);
    }
    // The charts of the first answer stay open: which library.
    let is_first = |c: &Comparison<'_>| c.operation == "verify" && c.title.starts_with("ES256");
    let opened = comparisons.iter().position(is_first).unwrap_or_default();
    let opened = comparisons[opened].anchor.as_str();
    let noise = &result.noise_floor;
    let parts = sets(comparisons).map(|set| {
        let (first, others): (Vec<_>, Vec<_>) =
            set.comparisons.iter().partition(|one| one.anchor == opened);
        let count = |count: usize, one: &str, many: &str| units::count(count, one, many);
        let rest = count(others.len(), "other comparison", "other comparisons");
        let has_rest = !first.is_empty() && !others.is_empty();
        let others = others.into_iter().map(|one| one.section(noise, false));
        let part = Section::new(set.heading())
            .id(set.anchor())
            .beside(html! { small { (count(set.comparisons.len(), "comparison", "comparisons")) } })
            .fold(Fold::open_if(!first.is_empty()))
            .parts(first.iter().map(|one| one.section(noise, true)));
        if has_rest {
            part.parts([Section::new(rest).fold(Fold::Closed).parts(others)])
        } else {
            part.parts(others)
        }
    });
    section.markup(Kind::Block, legend()).parts(parts)
}

/// Renders the legend of the comparisons.
fn legend() -> Markup {
    let marks = [
        ("baseline", "baseline"),
        ("faster", "faster than the baseline"),
        ("slower", "slower than the baseline"),
        ("equivalent", "equivalent to the baseline"),
        ("undecided", "undecided"),
        ("alone", "not compared"),
    ];
    html! {
        details {
            summary { "How to read the charts" }
            p {
                "A mark shows the median of the rounds; the line through it shows the 95 % interval of the median. "
                "A mark hides an interval that is narrower than the mark. Further left is faster. The axis is logarithmic: equal distances are equal ratios."
            }
        }
        p.note {
            "The time is the median of the rounds. The difference is the geometric mean of the ratios of each round, so it "
            "can differ from the quotient of two times."
            span.narrow { " On this width, a row shows only how much; its mark shows whether that is more or less time." }
        }
        ul.legend {
            @for (kind, words) in marks { li { (marks::icon(kind)) (words) } }
            li {
                svg.icon viewBox="-12 -12 24 24" aria-hidden="true" { rect.band x="-9" y="-8" width="18" height="16" {} }
                "noise band around the baseline"
            }
            li {
                svg.icon viewBox="-12 -12 24 24" aria-hidden="true" { line.reference y1="-9" y2="9" {} }
                "bare primitive, not compared"
            }
        }
    }
}
