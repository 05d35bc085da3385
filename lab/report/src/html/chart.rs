//! Draws charts. Horizontal positions are in per cent of the width; all other lengths are in pixels. A chart is
//! therefore as wide as its column, and its text keeps its size.

use maud::{Markup, html};

use super::marks::{self, pixels};
use super::scale::{LogScale, per_cent};
use crate::chart::{Axis, Chart, Point, Row, SERIES, cut};

/// The heights of a row and of the name of a reference.
const ROW: f64 = 42.0;
const SMALL_ROW: f64 = 23.0;
const REFERENCE_ROW: f64 = 18.0;
const AXIS: f64 = 34.0;
/// The height of a chart of lines, and the space at its left for the labels, in per cent.
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 9.0;
/// Longer labels are shortened to fit 390 px; the table has them in full.
const NAME_CHARS_MAX: usize = 34;
const REFERENCE_CHARS_MAX: usize = 15;
const ASIDE_CHARS_MAX: usize = 40;
/// Longer labels use a smaller font.
const LONG_NAME_CHARS: usize = 24;
/// The width of a character of a tick label, and the space after a label, on a narrow screen in per cent of the chart.
const NARROW_CHAR: f64 = 2.6;
const NARROW_SPACE: f64 = 1.0;
/// Screens of 390 and of 320 pixels have so many for a row with spaces. They omit what follows the name of a longer row,
/// or what follows the value.
const NARROW_ROW: f64 = 335.0;
const NARROWEST_ROW: f64 = 262.0;
/// A narrower interval, in per cent of the width or in pixels of the height, is hidden by its mark.
const HIDDEN_BY_MARK: f64 = 0.6;
const HIDDEN_BELOW: f64 = 8.0;

/// Renders a chart with its legend and caption.
pub(super) fn shown(chart: &Chart) -> Markup {
    html! {
        @if !chart.legend.is_empty() { (marks::legend(&chart.legend)) }
        figure {
            (svg(chart))
            @if !chart.caption.is_empty() { figcaption { (chart.caption) } }
        }
    }
}

/// Renders the drawing alone.
pub(super) fn svg(chart: &Chart) -> Markup {
    let (height, body) = if chart.series.is_empty() {
        rows(chart)
    } else {
        (HEIGHT + AXIS, lines(chart))
    };
    let class = if chart.is_small { "mini" } else { "chart" };
    html! {
        svg class=(class) role="img" height=(height) aria-label=(chart.label) aria-details=(chart.table) { (body) }
    }
}

fn rows(chart: &Chart) -> (f64, Markup) {
    let points = || chart.rows.iter().flat_map(|row| &row.points);
    let figures = points()
        .map(|point| point.value)
        .chain(chart.references.iter().map(|(value, ..)| *value));
    let ends = points()
        .flat_map(|point| point.interval)
        .chain(chart.band.into_iter().flatten());
    let scale = LogScale::around(figures, ends);
    let height = if chart.is_small { SMALL_ROW } else { ROW };
    let named = (chart.references.iter()).filter(|(_, name, _)| !name.is_empty());
    let top = named.count() as f64 * REFERENCE_ROW + if chart.is_small { 0.0 } else { 6.0 };
    let bottom = top + chart.rows.len() as f64 * height + 4.0;
    let has_axis = chart.axis != Axis::Plain && points().next().is_some();
    let body = html! {
        @if has_axis {
            (ticks(&scale.ticks(), |tick| scale.place(tick), [top, bottom], |tick| chart.axis.tick(tick)))
        }
        @if let Some([low, middle, high]) = chart.band {
            @let (left, x, right) = (scale.place(low), scale.place(middle), scale.place(high));
            rect.band x=(per_cent(left)) y=(top) width=(per_cent(right - left)) height=(bottom - top) {}
            (upright("middle", x, [top, bottom]))
        }
        @for (index, one) in chart.references.iter().enumerate() {
            (reference(one, index, scale.place(one.0), bottom))
        }
        svg y=(top) height=(chart.rows.len() as f64 * height) {
            rect class=(if chart.is_small { "tracks-small" } else { "tracks" }) width="100%" height="100%" {}
        }
        @for (index, one) in chart.rows.iter().enumerate() {
            (row(one, top + index as f64 * height, scale, chart.is_small))
        }
    };
    let axis = if has_axis { AXIS - 4.0 } else { 0.0 };
    (bottom + axis, body)
}

/// Renders one row: its name and value, and below them its marks with their intervals.
fn row(row: &Row, y: f64, scale: LogScale, is_small: bool) -> Markup {
    let name = cut(&row.name, NAME_CHARS_MAX);
    let [wide, aside] = row.aside.each_ref().map(|text| cut(text, ASIDE_CHARS_MAX));
    let [effect, direction] = &row.effect;
    let is_long = name.chars().count() > LONG_NAME_CHARS;
    let taken =
        width(&name) * if is_long { 0.93 } else { 1.09 } + width(&row.value) + width(effect);
    // The font of a card is smaller.
    let taken = if is_small { taken * 0.83 } else { taken };
    let (below, text) = if is_small {
        (17.0, "-6")
    } else {
        (30.0, "-14")
    };
    html! {
        svg y=(y + below) {
            text class=(if is_long { "name long" } else { "name" }) y=(text) {
                (name)
                @if !wide.is_empty() { tspan.aside.wide { " " (wide) @if !aside.is_empty() { " ·" } } }
                @if !aside.is_empty() { tspan class=(room("aside", taken + width(&aside))) { " " (aside) } }
            }
            text.value x="100%" y=(text) {
                (row.value)
                @if !effect.is_empty() {
                    tspan class=(room("effect", taken)) { " " (effect) @if !direction.is_empty() { tspan.wide { (direction) } } }
                }
            }
            @for Point { mark, value, interval, words, .. } in &row.points {
                @let [left, right] = interval.map(|end| scale.place(end));
                @if right - left > HIDDEN_BY_MARK { line.(mark) x1=(per_cent(left)) x2=(per_cent(right)) {} }
                (marks::at(mark, scale.place(*value), 0.0, words))
            }
        }
    }
}

/// Adds to a class where text of a row of this width is shown: narrow screens have no room for it.
fn room(class: &str, width: f64) -> String {
    match width {
        wide if wide > NARROW_ROW => format!("{class} wide"),
        wide if wide > NARROWEST_ROW => format!("{class} roomy"),
        _ => class.to_owned(),
    }
}

/// Renders a vertical line through the chart, with its name at the top.
fn reference(
    (_, name, aside): &(f64, String, String),
    index: usize,
    x: f64,
    bottom: f64,
) -> Markup {
    if name.is_empty() {
        return upright("reference", x, [0.0, bottom]);
    }
    let y = (index as f64 + 1.0) * REFERENCE_ROW - 4.0;
    // The name goes to the side with more room.
    let (side, shift) = if x < 50.0 {
        ("start", "6")
    } else {
        ("end", "-6")
    };
    html! {
        (upright("reference", x, [y - 10.0, bottom]))
        text.reference-name.(side) x=(per_cent(x)) dx=(shift) y=(y) {
            (cut(name, REFERENCE_CHARS_MAX)) tspan.aside.roomy { " " (cut(aside, ASIDE_CHARS_MAX)) }
        }
    }
}

fn lines(chart: &Chart) -> Markup {
    let axis = chart.axis;
    let all = || chart.series.iter().flat_map(|(_, points)| points);
    let horizontal = LogScale::holding(all().map(|point| point.at));
    let up = LogScale::around(all().map(|p| p.value), all().flat_map(|p| p.interval));
    let x = |at: f64| LEFT + horizontal.place(at) * (100.0 - LEFT) / 100.0;
    let y = |value: f64| 8.0 + (1.0 - up.place(value) / 100.0) * (HEIGHT - 16.0);
    html! {
        @for tick in up.ticks() {
            @let y = y(tick);
            line.grid x2="100%" y1=(pixels(y)) y2=(pixels(y)) {}
            text.tick.up y=(pixels(y - 5.0)) { (axis.tick(tick)) }
        }
        @for (tick, name) in &chart.ticks { (ticks(&[*tick], x, [0.0, HEIGHT], |_| name.clone())) }
        @for (number, (name, points)) in chart.series.iter().enumerate() {
            @let mark = SERIES[number % SERIES.len()];
            g.line.(mark) {
                @for pair in points.windows(2) {
                    line x1=(per_cent(x(pair[0].at))) x2=(per_cent(x(pair[1].at)))
                        y1=(pixels(y(pair[0].value))) y2=(pixels(y(pair[1].value))) {}
                }
                @for point in points {
                    @let ([low, high], x) = (point.interval.map(y), per_cent(x(point.at)));
                    @if low - high > HIDDEN_BELOW { line.reach x1=(x) x2=(x) y1=(pixels(low)) y2=(pixels(high)) {} }
                }
            }
            @for point in points {
                (marks::at(mark, x(point.at), y(point.value), &format!("{name}: {}", axis.tick(point.value))))
            }
        }
    }
}

/// Renders the grid lines and labels of the horizontal axis.
fn ticks(
    ticks: &[f64],
    place: impl Fn(f64) -> f64,
    [top, bottom]: [f64; 2],
    name: impl Fn(f64) -> String,
) -> Markup {
    let labels = ticks.iter().map(|&tick| (place(tick), name(tick)));
    let labels: Vec<_> = labels.collect();
    let narrow = narrow(&labels);
    html! {
        @for ((x, label), is_narrow) in labels.iter().zip(narrow) {
            @let room = if is_narrow { "" } else { "wide " };
            (upright("grid", *x, [top, bottom]))
            text class={ "tick " (room) (anchor(*x)) } x=(per_cent(*x)) y=(bottom + 18.0) { (label) }
        }
    }
}

/// Returns for each label whether a narrow screen has room for it, after those before it.
fn narrow(labels: &[(f64, String)]) -> Vec<bool> {
    let mut taken = f64::NEG_INFINITY;
    let mut fits = |(x, label): &(f64, String)| {
        let width = label.chars().count() as f64 * NARROW_CHAR;
        let from = match anchor(*x) {
            "start" => *x,
            "end" => *x - width,
            _ => *x - width / 2.0,
        };
        let has_room = from >= taken;
        if has_room {
            taken = from + width + NARROW_SPACE;
        }
        has_room
    };
    labels.iter().map(&mut fits).collect()
}

/// Renders a vertical line from the top to the bottom of a chart.
fn upright(class: &str, x: f64, [top, bottom]: [f64; 2]) -> Markup {
    let x = per_cent(x);
    html! { line.(class) x1=(x) x2=(x) y1=[(top != 0.0).then_some(top)] y2=(bottom) {} }
}

/// Returns the class of a label at a position: labels at the ends are aligned inwards.
fn anchor(place: f64) -> &'static str {
    match place {
        // On a narrow screen half a label is a tenth of the chart.
        p if p < 10.0 => "start",
        p if p > 90.0 => "end",
        _ => "mid",
    }
}

/// Estimates the width of a text on a narrow screen, in pixels: capital letters are wider.
fn width(text: &str) -> f64 {
    let char = |char: char| match char {
        'A'..='Z' | '+' => 9.0,
        _ => 7.5,
    };
    text.chars().map(char).sum()
}
