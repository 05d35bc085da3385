//! The marks of all charts. Each has a shape and a colour, is defined once in the page, and is reused.

use maud::{Markup, html};

use super::scale::per_cent;
use crate::chart::icon;

const ROUND: &str = "M-5.5 0a5.5 5.5 0 1 0 11 0a5.5 5.5 0 1 0-11 0Z";
const DISC: &str = "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0Z";
const SQUARE: &str = "M-4.5-4.5H4.5V4.5H-4.5Z";
const DIAMOND: &str = "M0-6.2 6.2 0 0 6.2-6.2 0Z";
const UP: &str = "M-5.5 4.5 0-5.5 5.5 4.5Z";

/// The marks: an id, which is also the class of the colour, and a shape. First those of verdicts, then those of
/// small charts, of kinds of token and of series.
const MARKS: [(&str, &str); 19] = [
    ("baseline", "M0-7.5 7.5 0 0 7.5-7.5 0Z"),
    ("faster", "M-7 0 5-6.5V6.5Z"),
    ("slower", "M7 0-5-6.5V6.5Z"),
    ("equivalent", ROUND),
    ("undecided", ROUND),
    ("alone", "M-5-5H5V5H-5Z"),
    ("dot", "M-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0-7.2 0Z"),
    ("mac", DISC),
    ("signed", SQUARE),
    ("encrypted", DIAMOND),
    ("unsecured", UP),
    ("s0", DISC),
    ("s1", SQUARE),
    ("s2", DIAMOND),
    ("s3", UP),
    ("s4", "M-5.5-4.5 0 5.5 5.5-4.5Z"),
    ("s5", "M-5.5-2H-2V-5.5H2V-2H5.5V2H2V5.5H-2V2H-5.5Z"),
    ("s6", "M-5 0-2.5-4.6H2.5L5 0 2.5 4.6H-2.5Z"),
    ("s7", "M-2.5-6H2.5V6H-2.5Z"),
];

/// Defines every mark, and the dotted lines of rows.
pub(super) fn definitions() -> Markup {
    html! {
        svg.spoken aria-hidden="true" {
            @for (id, shape) in MARKS { path #{ "m-" (id) } class={ "shape " (id) } d=(shape) {} }
            // A chart fills its rows with dotted lines.
            pattern #tracks width="5" height="42" patternUnits="userSpaceOnUse" { line x2="1" y1="30" y2="30" {} }
            pattern #tracks-small width="5" height="23" patternUnits="userSpaceOnUse" { line x2="1" y1="17" y2="17" {} }
        }
    }
}

/// Renders a mark at `x` per cent and `y` pixels, with a tooltip if there are words.
pub(super) fn at(id: &str, x: f64, y: f64, words: &str) -> Markup {
    html! {
        use href={ "#m-" (id) } x=(per_cent(x)) y=[(y != 0.0).then_some(pixels(y))] {
            @if !words.is_empty() { title { (words) } }
        }
    }
}

/// Renders a legend.
pub(super) fn legend(entries: &[(&str, String)]) -> Markup {
    html! { ul.legend { @for (id, words) in entries { li { (icon(id)) (words) } } } }
}

/// Formats a length in pixels with one decimal at most.
pub(super) fn pixels(length: f64) -> String {
    let text = format!("{length:.1}");
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}
