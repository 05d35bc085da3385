//! The dot-and-interval chart of one comparison, and the figure that ties it to its table.
//!
//! Places along the axis are per cent of the width and everything else is in pixels, so that a
//! chart is as wide as its column while its text keeps its size.

use maud::{Markup, html};

use super::comparison::{Comparison, Entry, Role, time};
use super::scale::LogScale;
use super::units::Unit;
use super::{names, sentences, summary, table, units};
use crate::stats::verdict::Band;

const ROW: f64 = 42.0;
const REFERENCE_ROW: f64 = 18.0;
const AXIS: f64 = 30.0;
/// Longer labels are cut in the chart, so that they fit 390 px; the table has them in full.
const NAME_CHARS_MAX: usize = 34;
const ASIDE_CHARS_MAX: usize = 24;
const REFERENCE_CHARS_MAX: usize = 15;

/// How to read the charts: the same marks as in them, in words.
pub(super) fn legend() -> Markup {
    let marks = [
        ("baseline", "the baseline"),
        ("faster", "faster than it"),
        ("slower", "slower than it"),
        ("equivalent", "equivalent to it"),
        ("cannot-tell", "cannot tell"),
        ("alone", "not compared"),
    ];
    html! {
        p {
            "A mark is the median of the rounds, the line through it the 95 % interval of that median. "
            "Where that interval is narrower than the mark, the mark hides it. Further left is faster. The axis is logarithmic: equal distances are equal ratios."
        }
        ul.legend {
            @for (kind, words) in marks {
                li { svg width="20" height="16" aria-hidden="true" { (mark(kind, "10", 8.0)) } (words) }
            }
            li {
                svg width="20" height="16" aria-hidden="true" { rect.band x="2" y="1" width="16" height="14" {} }
                "the noise band around the baseline"
            }
            li {
                svg width="20" height="16" aria-hidden="true" { line.reference x1="10" y1="0" x2="10" y2="16" {} }
                "the bare primitive, a floor and never compared"
            }
        }
    }
}

/// A heading, the chart, and right under it the table of the same figures.
pub(super) fn figure(comparison: &Comparison<'_>, floor: Option<f64>) -> Markup {
    let all = || comparison.entries.iter().chain(&comparison.references);
    let unit = Unit::for_times(all().filter_map(|e| time(e.row)).map(|t| t.median));
    let table_id = format!("{}-table", comparison.anchor);
    html! {
        article.comparison {
            h4 #(comparison.anchor) {
                (comparison.title)
                @if comparison.confounded { " " (summary::confounded_tag()) }
            }
            @if let Some(factors) = sentences::factors(comparison) {
                p class=(if comparison.confounded { "callout warn" } else { "note" }) { (factors) }
            }
            figure {
                (svg(comparison, unit, floor, &table_id))
            }
            (table::section(comparison, unit, &table_id))
        }
    }
}

fn svg(comparison: &Comparison<'_>, unit: Unit, floor: Option<f64>, table_id: &str) -> Markup {
    let share = 1.0 + Band::new(floor).believed_beyond();
    let band = comparison
        .baseline()
        .and_then(|baseline| time(baseline.row))
        .filter(|_| share.is_finite())
        .map(|t| (t.median / share, t.median, t.median * share));
    let scale = LogScale::holding(
        comparison
            .entries
            .iter()
            .chain(&comparison.references)
            .filter_map(|entry| time(entry.row))
            .flat_map(|t| [t.median, t.interval[0], t.interval[1]])
            .chain(band.iter().flat_map(|(low, _, high)| [*low, *high])),
    );
    let top = comparison.references.len() as f64 * REFERENCE_ROW + 6.0;
    let bottom = top + comparison.entries.len() as f64 * ROW + 4.0;
    html! {
        svg.chart role="img" width="100%" height=(bottom + AXIS)
            aria-label=(description(comparison, unit)) aria-details=(table_id) {
            @for tick in scale.ticks() {
                @let x = scale.place(tick);
                line.grid x1=(per_cent(x)) x2=(per_cent(x)) y1=(top) y2=(bottom) {}
                text.tick x=(per_cent(x)) y=(bottom + 18.0) text-anchor=(anchor(x)) { (unit.tick(tick)) }
            }
            @if let Some((low, middle, high)) = band {
                @let (left, x, right) = (scale.place(low), scale.place(middle), scale.place(high));
                rect.band x=(per_cent(left)) y=(top) width=(per_cent(right - left)) height=(bottom - top) {}
                line.middle x1=(per_cent(x)) x2=(per_cent(x)) y1=(top) y2=(bottom) {}
            }
            @for (index, entry) in comparison.references.iter().enumerate() {
                (reference(entry, index, scale, unit, bottom))
            }
            @for (index, entry) in comparison.entries.iter().enumerate() {
                (row(entry, top + index as f64 * ROW, scale, unit))
            }
        }
    }
}

/// A bare primitive: a vertical line through the whole chart, named at its top.
fn reference(entry: &Entry<'_>, index: usize, scale: LogScale, unit: Unit, bottom: f64) -> Markup {
    let Some(timing) = time(entry.row) else {
        return html! {};
    };
    let x = scale.place(timing.median);
    let y = (index as f64 + 1.0) * REFERENCE_ROW - 4.0;
    // The name stands on the side with more room.
    let (side, shift) = if x < 50.0 {
        ("start", "6")
    } else {
        ("end", "-6")
    };
    html! {
        g {
            line.reference x1=(per_cent(x)) x2=(per_cent(x)) y1=(y - 10.0) y2=(bottom) {}
            text.reference-name x=(per_cent(x)) dx=(shift) y=(y) text-anchor=(side) {
                (cut(&entry.name, REFERENCE_CHARS_MAX))
                tspan.aside { " " (cut(&names::algorithm(&entry.row.subject), ASIDE_CHARS_MAX)) }
                ", " (unit.text(timing.median))
            }
        }
    }
}

fn row(entry: &Entry<'_>, y: f64, scale: LogScale, unit: Unit) -> Markup {
    let Some(timing) = time(entry.row) else {
        return html! {};
    };
    let [low, high] = timing
        .interval
        .map(|end| if end.is_finite() { end } else { timing.median });
    let (kind, effect) = match entry.role {
        Role::Baseline => ("baseline", "baseline".to_owned()),
        Role::Compared(verdict) => (
            sentences::judgement(verdict.verdict).0,
            sentences::short_effect(verdict),
        ),
        Role::Reference | Role::Alone => ("alone", "not compared".to_owned()),
    };
    let subject = &entry.row.subject;
    let aside = format!("{} · {}", subject.version, names::language(subject));
    let x = per_cent(scale.place(timing.median));
    let (left, right) = (per_cent(scale.place(low)), per_cent(scale.place(high)));
    let middle = y + 30.0;
    html! {
        g.row {
            title { (entry.name) ": " (unit.text(timing.median)) ", " (effect) }
            text.name x="0" y=(y + 16.0) {
                (cut(&entry.name, NAME_CHARS_MAX))
                tspan.aside dx="5" { " " (cut(&aside, ASIDE_CHARS_MAX)) }
            }
            text.value x="100%" y=(y + 16.0) text-anchor="end" {
                (unit.text(timing.median)) tspan.effect dx="5" { " " (effect) }
            }
            line.track x1="0" x2="100%" y1=(middle) y2=(middle) {}
            g class=(kind) {
                line.interval x1=(left) x2=(right) y1=(middle) y2=(middle) {}
                line.cap x1=(left) x2=(left) y1=(middle - 4.0) y2=(middle + 4.0) {}
                line.cap x1=(right) x2=(right) y1=(middle - 4.0) y2=(middle + 4.0) {}
            }
            (mark(kind, &x, middle))
        }
    }
}

/// The mark of a verdict: each kind has a shape as well as a colour.
fn mark(kind: &str, x: &str, y: f64) -> Markup {
    let shape = match kind {
        "faster" => "M-7 0 L5 -6.5 L5 6.5 Z",
        "slower" => "M7 0 L-5 -6.5 L-5 6.5 Z",
        "baseline" => "M0 -7.5 L7.5 0 L0 7.5 L-7.5 0 Z",
        "alone" => "M-5 -5 H5 V5 H-5 Z",
        _ => "M-5.5 0 a5.5 5.5 0 1 0 11 0 a5.5 5.5 0 1 0 -11 0 Z",
    };
    // A nested svg is the one way to set a path at a place that is given in per cent.
    html! {
        svg.mark x=(x) y=(y) overflow="visible" { path class={ "shape " (kind) } d=(shape) {} }
    }
}

fn description(comparison: &Comparison<'_>, unit: Unit) -> String {
    let ends = comparison.entries.first().zip(comparison.entries.last());
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

pub(super) fn per_cent(place: f64) -> String {
    format!("{place:.2}%")
}

/// Labels at the ends lean inwards, so that none is cut.
pub(super) fn anchor(place: f64) -> &'static str {
    match place {
        // On a narrow screen half a label is a tenth of the chart.
        p if p < 10.0 => "start",
        p if p > 90.0 => "end",
        _ => "middle",
    }
}

/// The first characters of a label, with an ellipsis if there are more.
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
