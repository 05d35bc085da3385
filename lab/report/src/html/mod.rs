//! The HTML report: one file that opens from disk, without a network.
//!
//! The page depends only on the result file. Its content security policy allows one style sheet and one
//! script by their hashes and nothing else, so text from a library cannot run code. The script sorts and
//! filters tables; the page has the same content without it. A table with the figures follows every chart.

mod cards;
mod chart;
mod glossary;
mod language;
mod section;
mod side_by_side;
mod table;

use base64_simd::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

pub use side_by_side::side_by_side;

use crate::chart::icon;
use crate::comparison::{Comparison, comparisons, of_set, set_heading, sets};
use crate::grouped::distinct;
use crate::recommendation::answers::limits;
use crate::section::{Fold, Kind, Section};
use crate::{
    advice, attack, interop, lines, published_comparison, run, servers, summary, tokens, visible,
};
use jeton_lab_model::result::RunResult;
use jeton_lab_model::units;

const UNNAMED: &str = "Lab report";
const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("tables.js");

/// Renders the page of one result as UTF-8 HTML that needs no other file.
///
/// Every result renders, also without rows or with failed rows only. The page contains the compressed
/// result as a download if that takes at most half a megabyte.
#[must_use]
pub fn page(result: &RunResult) -> String {
    let visible = visible::result(result);
    let result = &*visible;
    let comparisons = comparisons(result);
    let sections = sections(result, &comparisons);
    // A page of servers alone has other sections.
    let is_of_servers = result.rows.measured.is_empty() && !result.rows.servers.is_empty();
    let body = html! {
        header.page-head {
            p.eyebrow { "jeton-lab" @if is_of_servers { ", servers" } }
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
    let title = match heading(result).as_str() {
        UNNAMED => UNNAMED.to_owned(),
        suites => format!("{UNNAMED}: {}", suites.to_lowercase()),
    };
    document(&title, &body)
}

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
                (chart::definitions())
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
            @if !cards.is_empty() { (cards::side_by_side(&cards)) }
            @if !limits.is_empty() {
                p.callout.bad.limits {
                    strong { "Not concluded: " }
                    (limits.join("; ")) ". "
                    @if has_gaps { a href="#gaps" { "Reasons" } }
                }
            }
            @if !cards.is_empty() {
                p.note.about { (ABOUT) }
                (cards::tables(&cards, cards::FIGURES))
            }
        }
    }
}

fn is_timed(result: &RunResult) -> bool {
    !result.rows.measured.is_empty() || result.rows.is_empty()
}

fn sections(result: &RunResult, comparisons: &[Comparison<'_>]) -> Vec<Section> {
    let (rows, is_timed) = (&result.rows.measured, is_timed(result));
    let folded = |section: Section| section.fold(Fold::Closed);
    // The findings of a command without timings are open.
    let found = [
        interop::section(result),
        servers::section(result).filter(|_| is_timed),
        attack::section(result),
    ];
    let found = found.into_iter().flatten();
    let found = found.map(|one| if rows.is_empty() { one } else { folded(one) });
    let reports = published_comparison::section(result).map(folded);
    let mut all = Vec::new();
    if is_timed {
        all.extend([
            advice::section(result),
            language::section(result),
            charts(result, comparisons),
            tokens::tradeoff(rows),
        ]);
        let threads = lines::threads(rows, result.environment.cores);
        let summed = [
            summary::section(result, comparisons),
            tokens::sizes(rows),
            tokens::overhead(rows),
        ];
        let swept = lines::sweep(rows).into_iter().chain(threads);
        all.extend(summed.into_iter().chain(swept).map(folded));
    } else {
        all.extend(servers::section(result));
    }
    all.extend(reports.into_iter().chain(found));
    if is_timed {
        let gaps = run::gaps(result).parts([run::not_requested(result)]);
        all.extend([gaps, run::quality(result)].map(folded));
    }
    let last = [
        run::environment(result),
        run::data(result),
        glossary::section(),
    ];
    all.extend(last.map(folded));
    all
}

fn heading(result: &RunResult) -> String {
    let rows = &result.rows;
    let mut suites = distinct(rows.measured.iter().map(|row| row.suite.as_str()));
    let others = [
        ("interop", rows.interop.is_empty()),
        ("servers", rows.servers.is_empty()),
        ("attacks", rows.attack.is_empty()),
    ];
    let others = others.into_iter().filter(|(_, is_empty)| !is_empty);
    suites.extend(others.map(|(suite, _)| suite));
    if suites.is_empty() {
        return UNNAMED.to_owned();
    }
    units::capitalised(&units::list(suites))
}

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
                                    li { a href={ "#group-" (set[0].anchor) } { (set_heading(&set[0])) } }
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
    let parts = sets(comparisons).map(|set| {
        let own = set.iter();
        let own = own.map(|one| one.section(&result.noise_floor, one.anchor == opened));
        let (first, others): (Vec<_>, Vec<_>) = own.partition(|one| one.fold == Fold::Open);
        let part = of_set(set)
            .id(format!("group-{}", set[0].anchor))
            .fold(Fold::open_if(!first.is_empty()));
        if first.is_empty() || others.is_empty() {
            return part.parts(first).parts(others);
        }
        let rest = units::count(others.len(), "other comparison", "other comparisons");
        let rest = Section::new(rest).fold(Fold::Closed).parts(others);
        part.parts(first).parts([rest])
    });
    section.markup(Kind::Block, legend()).parts(parts)
}

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
            p {
                "Members of a group cannot be distinguished from its fastest member; the order inside a group has no meaning. "
                "Groups correct for all pairs of a table, verdicts only for pairs with the baseline. A subject can therefore be "
                "slower than the baseline and still be in its group."
            }
        }
        p.note {
            "The time is the median of the rounds. The difference is the geometric mean of the ratios of each round, so it "
            "can differ from the quotient of two times."
            span.narrow { " On this width, a row shows only how much; its mark shows whether that is more or less time." }
        }
        ul.legend {
            @for (kind, words) in marks { li { (icon(kind)) (words) } }
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
