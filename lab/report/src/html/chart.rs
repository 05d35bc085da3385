//! The dot-and-interval chart of one comparison, with its table.
//!
//! Horizontal positions are in per cent of the width; all other lengths are in pixels. A chart is
//! therefore as wide as its column, and its text keeps its size.

use maud::{Markup, html};

use super::comparison::{Comparison, Entry, Role, columns, time};
use super::marks::{self, Mark};
use super::scale::{LogScale, per_cent};
use super::units::Unit;
use super::{names, sentences, summary, units};
use crate::recommendation::is_cache;
use crate::table::Page;
use jeton_lab_model::result::NoiseFloor;
use jeton_lab_stats::verdicts::band_for;

const ROW: f64 = 42.0;
const REFERENCE_ROW: f64 = 18.0;
const AXIS: f64 = 30.0;
/// Longer labels are shortened to fit 390 px; the table has them in full.
const NAME_CHARS_MAX: usize = 34;
const VERSION_CHARS_MAX: usize = 16;
const ALGORITHM_CHARS_MAX: usize = 24;
const REFERENCE_CHARS_MAX: usize = 15;
/// The width of a character of a tick label, and the space after a label, on a narrow screen in per cent of the chart.
const NARROW_CHAR: f64 = 2.2;
const NARROW_SPACE: f64 = 1.0;
/// Longer labels use a smaller font.
const LONG_NAME_CHARS: usize = 24;
/// A narrow screen has so many pixels for a row with spaces. It omits the language of a longer row, or the
/// difference.
const NARROW_ROW: f64 = 335.0;
/// A narrower interval, in per cent of the width, is hidden by its mark on every screen.
const HIDDEN_BY_MARK: f64 = 0.6;

/// Renders the legend of the charts.
pub(super) fn legend() -> Markup {
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
            @for (kind, words) in marks {
                li { (Mark::of_verdict(kind).icon()) (words) }
            }
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

/// Renders a heading, the chart, and the table of the same figures, which is folded.
pub(super) fn figure(comparison: &Comparison<'_>, noise: &NoiseFloor, is_open: bool) -> Markup {
    let unit = comparison.shared().unit;
    html! {
        article.comparison {
            details open[is_open] {
                summary {
                    h4 #(comparison.anchor) {
                        (comparison.title)
                        @if comparison.confounded { " " (summary::confounded_tag()) }
                    }
                }
                @if let Some(factors) = sentences::factors(comparison) {
                    p class=(if comparison.confounded { "callout warn" } else { "note" }) { (factors) }
                }
                figure { (svg(comparison, unit, noise)) }
                details { summary { "Table" } (table(comparison)) }
            }
        }
    }
}

/// Renders the table below the chart: all its figures, and the rows without figures.
fn table(comparison: &Comparison<'_>) -> Markup {
    Page::new(comparison.caption(), "")
        .labelled_by(&comparison.anchor)
        .figures()
        .id(comparison.table_id())
        .table(&columns(comparison.shared()), &comparison.lines())
}

fn svg(comparison: &Comparison<'_>, unit: Unit, noise: &NoiseFloor) -> Markup {
    let band = comparison.baseline().and_then(|baseline| {
        let managed = std::iter::once(baseline.row.subject.is_managed());
        let band = band_for(noise, managed, baseline.row.threads);
        let share = 1.0 + band.believed_beyond();
        let middle = time(baseline.row).filter(|_| band.is_known())?.median;
        Some((middle / share, middle, middle * share))
    });
    // A cache is not compared: its row is the last, and outside the axis.
    let (caches, entries): (Vec<_>, Vec<_>) =
        comparison.entries.iter().partition(|e| is_caching(e));
    let times = entries.iter().copied().chain(&comparison.references);
    let times = times.filter_map(|entry| time(entry.row));
    let ends = times.clone().flat_map(|t| t.interval);
    let band_ends = band.iter().flat_map(|(low, _, high)| [*low, *high]);
    let scale = LogScale::around(times.map(|t| t.median), ends.chain(band_ends));
    let top = comparison.references.len() as f64 * REFERENCE_ROW + 6.0;
    let bottom = top + comparison.entries.len() as f64 * ROW + 4.0;
    html! {
        svg.chart role="img" height=(bottom + AXIS)
            aria-label=(description(comparison, unit)) aria-details=(comparison.table_id()) {
            @if !entries.is_empty() {
                (ticks(&scale.ticks(), |tick| scale.place(tick), [top, bottom], |tick| unit.tick(tick)))
            }
            @if let Some((low, middle, high)) = band {
                @let (left, x, right) = (scale.place(low), scale.place(middle), scale.place(high));
                rect.band x=(per_cent(left)) y=(top) width=(per_cent(right - left)) height=(bottom - top) {}
                (upright("middle", x, [top, bottom]))
            }
            @for (index, entry) in comparison.references.iter().enumerate() {
                (reference(entry, index, scale, unit, bottom))
            }
            @for (index, entry) in entries.iter().chain(&caches).enumerate() {
                (row(entry, top + index as f64 * ROW, scale, unit))
            }
        }
    }
}

/// Renders the grid lines and labels of the horizontal axis.
pub(super) fn ticks(
    ticks: &[f64],
    place: impl Fn(f64) -> f64,
    [top, bottom]: [f64; 2],
    name: impl Fn(f64) -> String,
) -> Markup {
    let labels: Vec<(f64, String)> = ticks
        .iter()
        .map(|&tick| (place(tick), name(tick)))
        .collect();
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
pub(super) fn upright(class: &str, x: f64, [top, bottom]: [f64; 2]) -> Markup {
    let x = per_cent(x);
    html! { line.(class) x1=(x) x2=(x) y1=[(top != 0.0).then_some(top)] y2=(bottom) {} }
}

/// Renders a bare primitive: a vertical line through the chart, with its name at the top.
fn reference(entry: &Entry<'_>, index: usize, scale: LogScale, unit: Unit, bottom: f64) -> Markup {
    let Some(timing) = time(entry.row) else {
        return html! {};
    };
    let x = scale.place(timing.median);
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
            (cut(&entry.name, REFERENCE_CHARS_MAX))
            tspan.aside { " " (cut(&names::algorithm(&entry.row.subject), ALGORITHM_CHARS_MAX)) }
            ", " (unit.text(timing.median))
        }
    }
}

/// Renders one subject: its name and value, and below them its mark and interval.
fn row(entry: &Entry<'_>, y: f64, scale: LogScale, unit: Unit) -> Markup {
    let Some(timing) = time(entry.row) else {
        return html! {};
    };
    let [low, high] = timing
        .interval
        .map(|end| if end.is_finite() { end } else { timing.median });
    let (kind, effect) = match entry.role {
        Role::Baseline(_) => ("baseline", "baseline".to_owned()),
        Role::Compared(verdict) => (verdict.verdict.label(), sentences::short_effect(verdict)),
        Role::Reference | Role::Alone if is_caching(entry) => {
            ("alone", "a cache, not compared".to_owned())
        }
        Role::Reference | Role::Alone => ("alone", "not compared".to_owned()),
    };
    let (effect, direction) = split(&effect);
    let subject = &entry.row.subject;
    let language = names::language(subject);
    // A name can have the language in brackets already.
    let is_named = entry.name.ends_with(&format!("({language})"));
    let version = cut(&subject.version, VERSION_CHARS_MAX);
    let value = unit.text(timing.median);
    let name = cut(&entry.name, NAME_CHARS_MAX);
    let row = name_width(&name) + width(&value) + width(effect);
    let is_long = row + width(language) > NARROW_ROW;
    let effect_class = if row > NARROW_ROW {
        "effect wide"
    } else {
        "effect"
    };
    let [left, right] = [low, high].map(|end| scale.place(end));
    html! {
        svg y=(y + 30.0) {
            text class=(name_class(&entry.name)) y="-14" {
                (name)
                tspan.aside {
                    tspan.wide { " " (version) @if !is_named { " ·" } }
                    @if !is_named { tspan class=[is_long.then_some("wide")] { " " (language) } }
                }
            }
            text.value x="100%" y="-14" {
                (value) tspan.(effect_class) { " " (effect) @if !direction.is_empty() { tspan.wide { (direction) } } }
            }
            (marks::track())
            @if !is_caching(entry) {
                @if right - left > HIDDEN_BY_MARK {
                    line.(kind) x1=(per_cent(left)) x2=(per_cent(right)) {}
                }
                (Mark::of_verdict(kind).at(scale.place(timing.median), 0.0))
            }
        }
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

/// Estimates the width of a name, which is bold, and smaller if it is long.
fn name_width(name: &str) -> f64 {
    let bold = 1.09;
    match name_class(name) {
        "name" => width(name) * bold,
        _ => width(name) * bold * 0.85,
    }
}

fn is_caching(entry: &Entry<'_>) -> bool {
    matches!(entry.role, Role::Alone) && is_cache(entry.row.subject.driver())
}

/// Splits the direction from an effect: a narrow screen has no room for it, and the mark shows it too.
fn split(effect: &str) -> (&str, &str) {
    let directions = [
        " faster",
        " slower",
        " less time",
        " more time",
        ", not compared",
    ];
    let found = directions
        .iter()
        .find_map(|direction| effect.strip_suffix(direction));
    found.map_or((effect, ""), |start| effect.split_at(start.len()))
}

fn description(comparison: &Comparison<'_>, unit: Unit) -> String {
    let mut compared = comparison.entries.iter().filter(|entry| !is_caching(entry));
    let first = compared.next();
    let ends = first.map(|first| (first, compared.next_back().unwrap_or(first)));
    let range = ends.and_then(|(first, last)| {
        let (fast, slow) = (time(first.row)?.median, time(last.row)?.median);
        Some(format!(
            ", from {} at {} to {} at {}",
            first.name,
            unit.text(fast),
            last.name,
            unit.text(slow)
        ))
    });
    format!(
        "Dot-and-interval chart, {}: time per operation of {} on a log axis{}. The table below has every figure.",
        comparison.title,
        units::count(comparison.entries.len(), "subject", "subjects"),
        range.unwrap_or_default()
    )
}

/// Returns the class of a label at a position: labels at the ends are aligned inwards.
pub(super) fn anchor(place: f64) -> &'static str {
    match place {
        // On a narrow screen half a label is a tenth of the chart.
        p if p < 10.0 => "start",
        p if p > 90.0 => "end",
        _ => "mid",
    }
}

/// Returns the class of a row's name: a long name uses a smaller font.
pub(super) fn name_class(label: &str) -> &'static str {
    if label.chars().count() > LONG_NAME_CHARS {
        "name long"
    } else {
        "name"
    }
}

/// Shortens a label, with an ellipsis.
pub(super) fn cut(label: &str, chars_max: usize) -> String {
    if label.chars().count() <= chars_max {
        return label.to_owned();
    }
    label
        .chars()
        .take(chars_max.saturating_sub(1))
        .chain(['…'])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::narrow;

    fn shown(labels: &[(f64, &str)]) -> Vec<bool> {
        let labels: Vec<_> = labels
            .iter()
            .map(|(x, label)| (*x, (*label).to_owned()))
            .collect();
        narrow(&labels)
    }

    #[test]
    fn labels_without_room_on_a_narrow_screen_are_left_out() {
        let apart = [(0.0, "1 µs"), (50.0, "10 µs"), (100.0, "100 µs")];
        assert_eq!(shown(&apart), [true; 3]);
        let close = [
            (20.0, "1,000 µs"),
            (34.0, "1,200 µs"),
            (46.0, "1,400 µs"),
            (57.0, "1,600 µs"),
        ];
        assert_eq!(shown(&close), [true, false, true, false]);
        // At the edges, a label is beside its line.
        assert_eq!(
            shown(&[(5.0, "1,000 µs"), (20.0, "1,200 µs")]),
            [true, false]
        );
        assert_eq!(
            shown(&[(80.0, "1,000 µs"), (95.0, "1,200 µs")]),
            [true, false]
        );
    }
}
