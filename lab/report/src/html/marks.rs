//! The marks of all charts. Each has a shape and a colour, is defined once in the page, and is reused.

use maud::{Markup, html};

use super::scale::per_cent;

/// A mark of a chart.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    /// The id in the page, and the class for its colour.
    id: &'static str,
    shape: &'static str,
}

const fn mark(id: &'static str, shape: &'static str) -> Mark {
    Mark { id, shape }
}

const ROUND: &str = "M-5.5 0a5.5 5.5 0 1 0 11 0a5.5 5.5 0 1 0-11 0Z";

/// Marks of verdicts, by class.
const VERDICTS: [Mark; 6] = [
    mark("baseline", "M0-7.5 7.5 0 0 7.5-7.5 0Z"),
    mark("faster", "M-7 0 5-6.5V6.5Z"),
    mark("slower", "M7 0-5-6.5V6.5Z"),
    mark("equivalent", ROUND),
    mark("undecided", ROUND),
    mark("alone", "M-5-5H5V5H-5Z"),
];

/// Marks of series; the first five are for the languages.
const SERIES: [Mark; 8] = [
    mark("s0", "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0Z"),
    mark("s1", "M-4.5-4.5H4.5V4.5H-4.5Z"),
    mark("s2", "M0-6.2 6.2 0 0 6.2-6.2 0Z"),
    mark("s3", "M-5.5 4.5 0-5.5 5.5 4.5Z"),
    mark("s4", "M-5.5-4.5 0 5.5 5.5-4.5Z"),
    mark("s5", "M-5.5-2H-2V-5.5H2V-2H5.5V2H2V5.5H-2V2H-5.5Z"),
    mark("s6", "M-5 0-2.5-4.6H2.5L5 0 2.5 4.6H-2.5Z"),
    mark("s7", "M-2.5-6H2.5V6H-2.5Z"),
];

/// Marks of kinds of token.
const KINDS: [Mark; 4] = [
    mark("mac", "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0Z"),
    mark("signed", "M-4.5-4.5H4.5V4.5H-4.5Z"),
    mark("encrypted", "M0-6.2 6.2 0 0 6.2-6.2 0Z"),
    mark("unsecured", "M-5.5 4.5 0-5.5 5.5 4.5Z"),
];

/// The mark of small charts: it hides less of an interval.
const DOT: Mark = mark("dot", "M-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0-7.2 0Z");

/// The languages in the order of their marks.
const LANGUAGES: [&str; 5] = ["rust", "go", "node", "java", "python"];

/// Defines every mark, and the dotted line of a row, for [`Mark::at`] and [`track`].
pub(super) fn definitions() -> Markup {
    html! {
        svg.spoken aria-hidden="true" {
            @for mark in VERDICTS.iter().chain(&SERIES).chain(&KINDS).chain([&DOT]) {
                path #{ "m-" (mark.id) } class={ "shape " (mark.id) } d=(mark.shape) {}
            }
            line #track x2="100%" {}
        }
    }
}

impl Mark {
    /// Returns the mark of a verdict's class.
    pub(super) fn of_verdict(class: &str) -> Self {
        named(&VERDICTS, class)
    }

    /// Returns the mark of small charts.
    pub(super) fn dot() -> Self {
        DOT
    }

    /// Returns the mark of a kind of token.
    pub(super) fn of_kind(kind: &str) -> Self {
        named(&KINDS, kind)
    }

    /// Returns the mark of a series; marks repeat after eight.
    pub(super) fn of_series(number: usize) -> Self {
        SERIES[number % SERIES.len()]
    }

    /// Renders the mark at `x` per cent and `y` pixels.
    pub(super) fn at(self, x: f64, y: f64) -> Markup {
        html! {
            use href={ "#m-" (self.id) } x=(per_cent(x)) y=[(y != 0.0).then_some(pixels(y))] {}
        }
    }

    /// Renders the mark with a tooltip.
    pub(super) fn titled(self, x: f64, y: f64, words: &str) -> Markup {
        html! {
            use href={ "#m-" (self.id) } x=(per_cent(x)) y=[(y != 0.0).then_some(pixels(y))] { title { (words) } }
        }
    }

    /// Renders the mark for a legend or a table.
    pub(super) fn icon(self) -> Markup {
        html! {
            svg.icon viewBox="-12 -12 24 24" aria-hidden="true" { use href={ "#m-" (self.id) } {} }
        }
    }
}

/// Finds a mark by id; the last mark is the fallback.
fn named<const N: usize>(among: &[Mark; N], id: &str) -> Mark {
    let found = among.iter().find(|mark| mark.id == id);
    *found.unwrap_or(&among[N - 1])
}

/// Renders the dotted line of a row.
pub(super) fn track() -> Markup {
    html! { use href="#track" {} }
}

/// Formats a length in pixels with one decimal at most.
pub(super) fn pixels(length: f64) -> String {
    let text = format!("{length:.1}");
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

/// Returns the number of a language's mark, which is the same in every chart.
pub(super) fn of_language(language: &str) -> usize {
    let known = LANGUAGES.iter().position(|l| *l == language);
    known.unwrap_or(LANGUAGES.len())
}

/// Returns the distinct languages in the order of their marks.
pub(super) fn languages<'a>(among: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut found: Vec<&str> = Vec::new();
    for language in among {
        if !found.contains(&language) {
            found.push(language);
        }
    }
    found.sort_by_key(|language| (of_language(language), *language));
    found
}

/// Renders a legend of series.
pub(super) fn legend<'a>(entries: impl Iterator<Item = (usize, &'a str)>) -> Markup {
    html! {
        ul.legend {
            @for (number, name) in entries {
                li { (Mark::of_series(number).icon()) (name) }
            }
        }
    }
}
