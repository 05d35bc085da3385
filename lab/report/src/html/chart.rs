//! Draws charts. Horizontal positions are in per cent of the width; all other lengths are in pixels. A chart is
//! therefore as wide as its column, and its text keeps its size.
//!
//! Each mark has a shape and a colour, is defined once in the page, and is reused.

use maud::{Markup, html};

use crate::chart::{Axis, Chart, Point, Row, SERIES, cut, icon};

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

pub(super) fn shown(chart: &Chart) -> Markup {
    html! {
        @if !chart.legend.is_empty() { (legend(&chart.legend)) }
        figure {
            (svg(chart))
            @if !chart.caption.is_empty() { figcaption { (chart.caption) } }
        }
    }
}

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
                (mark_at(mark, scale.place(*value), 0.0, words))
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
                (mark_at(mark, x(point.at), y(point.value), &format!("{name}: {}", axis.tick(point.value))))
            }
        }
    }
}

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
fn mark_at(id: &str, x: f64, y: f64, words: &str) -> Markup {
    html! {
        use href={ "#m-" (id) } x=(per_cent(x)) y=[(y != 0.0).then_some(pixels(y))] {
            @if !words.is_empty() { title { (words) } }
        }
    }
}

fn legend(entries: &[(&str, String)]) -> Markup {
    html! { ul.legend { @for (id, words) in entries { li { (icon(id)) (words) } } } }
}

fn pixels(length: f64) -> String {
    let text = format!("{length:.1}");
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

/// Space at both ends in per cent of the width, so that no mark is cut.
const MARGIN: f64 = 2.0;

/// The largest range of an axis in nanoseconds: from a femtosecond to 30,000 years. Values outside are
/// drawn at its ends, so that a broken figure cannot cause endless ticks.
const REACH: std::ops::RangeInclusive<f64> = 1e-6..=1e21;

#[derive(Debug, Clone, Copy)]
struct LogScale {
    low: f64,
    high: f64,
}

impl LogScale {
    /// Creates an axis for these values; values that are not positive numbers are ignored.
    ///
    /// It spans at least a factor of 1.5, so that noise never fills the full width.
    fn holding(values: impl Iterator<Item = f64>) -> Self {
        let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
        for value in values.filter(|v| v.is_finite() && *v > 0.0) {
            let value = value.clamp(*REACH.start(), *REACH.end());
            low = low.min(value);
            high = high.max(value);
        }
        if low > high {
            (low, high) = (1.0, 10.0);
        }
        let widen = (1.5 / (high / low)).sqrt().max(1.0) * 1.06;
        Self {
            low: low / widen,
            high: high * widen,
        }
    }

    /// Creates an axis for these figures, and for the ends of their intervals as far as they are near: an interval of a
    /// noisy run may have a huge end, which is drawn at the end of the axis.
    fn around(figures: impl Iterator<Item = f64> + Clone, ends: impl Iterator<Item = f64>) -> Self {
        /// Figures of one chart usually differ less.
        const NEAR: f64 = 100.0;
        let Self { low, high } = Self::holding(figures.clone());
        let near = ends.map(|end| end.clamp(low / NEAR, high * NEAR));
        Self::holding(figures.chain(near))
    }

    /// Returns the position of a value in per cent of the width, clamped to the chart.
    fn place(self, value: f64) -> f64 {
        let share = (value / self.low).ln() / (self.high / self.low).ln();
        // NaN maps to the left edge; it is not drawn.
        let share = if share.is_nan() {
            0.0
        } else {
            share.clamp(0.0, 1.0)
        };
        MARGIN + share * (100.0 - 2.0 * MARGIN)
    }

    /// Returns three to seven round values inside the axis.
    fn ticks(self) -> Vec<f64> {
        const STEPS: [&[f64]; 4] = [
            &[1.0],
            &[1.0, 3.0],
            &[1.0, 2.0, 5.0],
            &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0],
        ];
        for steps in STEPS {
            let ticks = self.decades(steps);
            if ticks.len() >= 3 {
                let every = ticks.len().div_ceil(7);
                return ticks.into_iter().step_by(every).collect();
            }
        }
        self.even()
    }

    fn decades(self, steps: &[f64]) -> Vec<f64> {
        let first = self.low.log10().floor() as i32;
        let last = self.high.log10().ceil() as i32;
        (first..=last)
            .flat_map(|decade| steps.iter().map(move |step| step * 10f64.powi(decade)))
            .filter(|tick| (self.low..=self.high).contains(tick))
            .collect()
    }

    /// Returns even steps, for an axis shorter than a decade.
    fn even(self) -> Vec<f64> {
        let rough = (self.high - self.low) / 4.0;
        let decade = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 2.5, 5.0, 10.0]
            .into_iter()
            .map(|nice| nice * decade)
            .find(|step| *step >= rough)
            .unwrap_or(rough);
        let first = (self.low / step).ceil();
        (0..8)
            .map(|n| (first + f64::from(n)) * step)
            .filter(|tick| *tick <= self.high)
            .collect()
    }
}

fn per_cent(place: f64) -> String {
    let text = format!("{place:.2}");
    format!("{}%", text.trim_end_matches('0').trim_end_matches('.'))
}
