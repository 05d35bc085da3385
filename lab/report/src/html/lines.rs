//! A line chart with two logarithmic axes, for payload sizes and thread counts.

use maud::{Markup, html};

use super::chart::ticks;
use super::marks::{self, Mark, pixels};
use super::scale::{LogScale, per_cent};

const HEIGHT: f64 = 300.0;
const AXIS: f64 = 34.0;
/// Space at the left for the value labels, in per cent.
const LEFT: f64 = 9.0;
/// A shorter interval, in pixels, is hidden by its mark.
const HIDDEN_BY_MARK: f64 = 8.0;

/// The points of one subject, from left to right.
pub(super) struct Series {
    pub(super) name: String,
    /// Horizontal value, vertical value, and the interval of the vertical value.
    pub(super) points: Vec<(f64, f64, [f64; 2])>,
}

/// The contents of a line chart.
pub(super) struct Lines<'a> {
    pub(super) series: &'a [Series],
    /// The ticks of the horizontal axis, each with its label.
    pub(super) ticks: Vec<(f64, String)>,
    /// Formats a value.
    pub(super) text: &'a dyn Fn(f64) -> String,
    /// The text for screen readers.
    pub(super) description: String,
    pub(super) table: &'a str,
}

/// Renders the legend and the chart.
pub(super) fn figure(lines: &Lines<'_>) -> Markup {
    let names = lines.series.iter().map(|s| s.name.as_str());
    html! {
        (marks::legend(names.enumerate()))
        figure { (svg(lines)) }
    }
}

fn svg(lines: &Lines<'_>) -> Markup {
    let all = || lines.series.iter().flat_map(|s| &s.points);
    let horizontal = LogScale::holding(all().map(|p| p.0));
    let up = LogScale::around(all().map(|p| p.1), all().flat_map(|p| p.2));
    let x = |at: f64| LEFT + horizontal.place(at) * (100.0 - LEFT) / 100.0;
    let y = |value: f64| 8.0 + (1.0 - up.place(value) / 100.0) * (HEIGHT - 16.0);
    html! {
        svg.chart role="img" height=(HEIGHT + AXIS)
            aria-label=(lines.description) aria-details=(lines.table) {
            (levels(&up.ticks(), y, lines.text))
            @for (tick, name) in &lines.ticks {
                (ticks(&[*tick], x, [0.0, HEIGHT], |_| name.clone()))
            }
            @for (number, series) in lines.series.iter().enumerate() {
                g.line.(format!("s{}", number % 8)) {
                    @for pair in series.points.windows(2) {
                        line x1=(per_cent(x(pair[0].0))) x2=(per_cent(x(pair[1].0)))
                            y1=(pixels(y(pair[0].1))) y2=(pixels(y(pair[1].1))) {}
                    }
                    @for (at, _, [low, high]) in &series.points { (reach(x(*at), [y(*low), y(*high)])) }
                }
                @for (at, value, _) in &series.points {
                    (Mark::of_series(number).titled(x(*at), y(*value), &format!("{}: {}", series.name, (lines.text)(*value))))
                }
            }
        }
    }
}

/// Renders the grid lines and labels of the vertical axis.
pub(super) fn levels(
    ticks: &[f64],
    y: impl Fn(f64) -> f64,
    name: impl Fn(f64) -> String,
) -> Markup {
    html! {
        @for &tick in ticks {
            @let y = y(tick);
            line.grid x2="100%" y1=(pixels(y)) y2=(pixels(y)) {}
            text.tick.up y=(pixels(y - 5.0)) { (name(tick)) }
        }
    }
}

/// Renders a vertical line between two values, unless a mark hides it.
fn reach(x: f64, [from, to]: [f64; 2]) -> Markup {
    let x = per_cent(x);
    html! {
        @if (from - to).abs() > HIDDEN_BY_MARK {
            line.reach x1=(x) x2=(x) y1=(pixels(from)) y2=(pixels(to)) {}
        }
    }
}
