//! Marks that several charts share: languages and series, each with a shape as well as a colour.

use maud::{Markup, html};

/// Shapes of about eleven pixels around their own middle.
const SHAPES: [&str; 8] = [
    "M-5 0 a5 5 0 1 0 10 0 a5 5 0 1 0 -10 0 Z",
    "M-4.5 -4.5 H4.5 V4.5 H-4.5 Z",
    "M0 -6.2 L6.2 0 L0 6.2 L-6.2 0 Z",
    "M-5.5 4.5 L0 -5.5 L5.5 4.5 Z",
    "M-5.5 -4.5 L0 5.5 L5.5 -4.5 Z",
    "M-5.5 -2 H-2 V-5.5 H2 V-2 H5.5 V2 H2 V5.5 H-2 V2 H-5.5 Z",
    "M-5 0 L-2.5 -4.6 H2.5 L5 0 L2.5 4.6 H-2.5 Z",
    "M-2.5 -6 H2.5 V6 H-2.5 Z",
];

/// The languages, in the order of their marks.
const LANGUAGES: [&str; 5] = ["rust", "go", "node", "java", "python"];

/// The mark of the series with this number; the ninth looks like the first.
pub(super) fn series(number: usize) -> Markup {
    let shape = SHAPES[number % SHAPES.len()];
    html! { path class={ "shape s" (number % SHAPES.len()) } d=(shape) {} }
}

/// The number of a language's mark: its own, wherever it stands.
pub(super) fn of_language(language: &str) -> usize {
    let known = LANGUAGES.iter().position(|l| *l == language);
    known.unwrap_or(LANGUAGES.len())
}

/// The languages that are among these, in the order of their marks.
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

/// Series and their names, as a list above a chart.
pub(super) fn legend<'a>(entries: impl Iterator<Item = (usize, &'a str)>) -> Markup {
    html! {
        ul.legend {
            @for (number, name) in entries {
                li { (icon(&series(number))) (name) }
            }
        }
    }
}

/// The mark of a kind of token, in a table.
pub(super) fn small(kind: &str) -> Markup {
    let shape = match kind {
        "mac" => SHAPES[0],
        "signed" => SHAPES[1],
        "encrypted" => SHAPES[2],
        _ => SHAPES[3],
    };
    icon(&html! { path class={ "shape " (kind) } d=(shape) {} })
}

fn icon(mark: &Markup) -> Markup {
    html! {
        svg.icon width="16" height="16" viewBox="-8 -8 16 16" aria-hidden="true" { (mark) }
    }
}
