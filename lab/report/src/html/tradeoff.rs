//! Token size against the time to verify, with one mark for each kind of token.

use maud::{Markup, html};

use crate::recommendation::{claims_of, is_cache};
use jeton_lab_model::result::Row;

use super::chart::ticks;
use super::comparison::time;
use super::lines::{levels, reach};
use super::marks::{Mark, pixels};
use super::names;
use super::scale::{LogScale, per_cent};
use super::units::{self, Unit};
use crate::table::{Column, Page, Value};

const HEIGHT: f64 = 400.0;
const AXIS: f64 = 34.0;
/// Space at the left for the time labels, in per cent.
const LEFT: f64 = 10.0;
/// The width for which marks and names are placed without overlap. Narrower screens show small marks
/// without names and numbers.
const WIDTH: f64 = 800.0;
/// The smallest distance of two marks, in pixels.
const APART: f64 = 21.0;

/// A kind of token: its fastest library, and the slowest time.
struct Point<'a> {
    token: String,
    kind: &'static str,
    bytes: u64,
    fastest: &'a Row,
    ns: f64,
    slowest_ns: f64,
    libraries: usize,
}

pub(super) fn section(rows: &[Row]) -> Markup {
    let claims = claims_of(rows).unwrap_or_default();
    let points = points(rows, claims);
    html! {
        @if points.is_empty() {
            p { "No row has both a token size and a time to verify." }
        } @else {
            p {
                "Token size and the time to verify or decrypt. Further left is shorter; further down is faster. A mark shows "
                "the fastest library for a kind of token; the line above it reaches to the slowest. Libraries that cache "
                "verified tokens are excluded. Claims set: " (claims) ". Both axes are logarithmic."
            }
            article.comparison {
                (legend(&points))
                figure { (svg(&points)) }
                details { summary { "Table" } (table(&points)) }
            }
        }
    }
}

fn points<'a>(rows: &'a [Row], claims: &str) -> Vec<Point<'a>> {
    let mut points: Vec<Point<'a>> = Vec::new();
    let opened = rows.iter().filter(|row| {
        !row.reference
            && row.threads == 1
            && row.claims.name == claims
            && row.subject.key_handling == "prepared"
            // A cache hit is not a verification.
            && !is_cache(row.subject.driver())
            && matches!(row.operation.as_str(), "verify" | "decrypt")
    });
    let mut seen: Vec<&str> = Vec::new();
    for row in opened {
        let (Some(timing), Some(bytes)) = (time(row), row.token_bytes) else {
            continue;
        };
        // Several suites may contain the same row.
        if seen.contains(&row.subject.id.as_str()) {
            continue;
        }
        seen.push(&row.subject.id);
        let token = names::token(&row.subject);
        match points.iter_mut().find(|point| point.token == token) {
            Some(point) => {
                point.libraries += 1;
                point.slowest_ns = point.slowest_ns.max(timing.median);
                if timing.median < point.ns {
                    (point.ns, point.bytes, point.fastest) = (timing.median, bytes, row);
                }
            }
            None => points.push(Point {
                kind: kind(row),
                token,
                bytes,
                fastest: row,
                ns: timing.median,
                slowest_ns: timing.median,
                libraries: 1,
            }),
        }
    }
    points.sort_by(|a, b| a.bytes.cmp(&b.bytes).then(a.ns.total_cmp(&b.ns)));
    points
}

/// Classifies a token as the recommendation does.
fn kind(row: &Row) -> &'static str {
    let subject = &row.subject;
    match subject.format.as_str() {
        "none" => "unsecured",
        "jwe" => "encrypted",
        format if format.ends_with(".local") => "encrypted",
        _ if subject.alg.as_deref().is_some_and(|a| a.starts_with("HS")) => "mac",
        _ => "signed",
    }
}

fn words(kind: &str) -> &'static str {
    match kind {
        "mac" => "symmetric: one secret signs and verifies",
        "signed" => "asymmetric: third parties can verify",
        "encrypted" => "encrypted",
        _ => "no security",
    }
}

fn legend(points: &[Point<'_>]) -> Markup {
    let kinds = ["mac", "signed", "encrypted", "unsecured"];
    html! {
        ul.legend {
            @for kind in kinds.into_iter().filter(|kind| points.iter().any(|p| p.kind == *kind)) {
                li { (Mark::of_kind(kind).icon()) (words(kind)) }
            }
        }
    }
}

/// The position of a mark, its horizontal shift, and whether its name fits.
struct Place {
    x: f64,
    y: f64,
    aside: f64,
    named: bool,
}

fn svg(points: &[Point<'_>]) -> Markup {
    let unit = Unit::for_times(points.iter().map(|p| p.ns));
    let horizontal = LogScale::holding(points.iter().map(|p| p.bytes as f64));
    let up = LogScale::holding(points.iter().flat_map(|p| [p.ns, p.slowest_ns]));
    let x = |bytes: f64| LEFT + horizontal.place(bytes) * (100.0 - LEFT) / 100.0;
    let y = |ns: f64| 8.0 + (1.0 - up.place(ns) / 100.0) * (HEIGHT - 16.0);
    let places = places(points, &x, &y);
    html! {
        svg.chart role="img" height=(HEIGHT + AXIS)
            aria-label=(description(points, unit)) aria-details="tradeoff-table" {
            (levels(&up.ticks(), y, |tick| unit.tick(tick)))
            (ticks(&horizontal.ticks(), x, [0.0, HEIGHT], |tick| format!("{} B", units::whole(tick as u64))))
            @for (point, place) in points.iter().zip(&places) {
                g.(point.kind) { (reach(place.x, [y(point.ns), y(point.slowest_ns)])) }
            }
            @for (index, (point, place)) in points.iter().zip(&places).enumerate() {
                (self::point(point, place, index + 1, unit))
            }
        }
    }
}

/// Renders a mark with its number, and its name if it fits.
fn point(point: &Point<'_>, place: &Place, number: usize, unit: Unit) -> Markup {
    let words = format!(
        "{}: {} B, {} with {}",
        point.token,
        units::whole(point.bytes),
        unit.text(point.ns),
        point.fastest.subject.library
    );
    html! {
        svg.(point.kind) x=(per_cent(place.x)) y=(pixels(place.y)) {
            title { (words) }
            @if place.aside != 0.0 { line.reach x2=(place.aside) {} }
            g transform=[(place.aside != 0.0).then(|| format!("translate({})", pixels(place.aside)))] {
                (Mark::of_kind(point.kind).at(0.0, 0.0))
                text.number-in y="3.8" { (number) }
                @if place.named { text.label x="14" y="4.5" { (point.token) } }
            }
        }
    }
}

/// Shifts overlapping marks, and omits overlapping names.
fn places(points: &[Point<'_>], x: &impl Fn(f64) -> f64, y: &impl Fn(f64) -> f64) -> Vec<Place> {
    // Occupied areas: left, right, top, bottom, in pixels of the assumed width.
    let mut taken: Vec<[f64; 4]> = Vec::new();
    let free = |taken: &[[f64; 4]], [left, right, top, bottom]: [f64; 4]| {
        left >= 0.0
            && right <= WIDTH
            && !(taken.iter()).any(|t| left < t[1] && t[0] < right && top < t[3] && t[2] < bottom)
    };
    let around = |at: f64, y: f64| [at - APART / 2.0, at + APART / 2.0, y - 10.5, y + 10.5];
    let mut places: Vec<Place> = Vec::new();
    for point in points {
        let (x, y) = (x(point.bytes as f64), y(point.ns));
        let pixel = x / 100.0 * WIDTH;
        let asides = (0..20).flat_map(|n| [f64::from(n) * APART, -f64::from(n) * APART]);
        let aside = asides
            .into_iter()
            .find(|aside| free(&taken, around(pixel + aside, y)))
            .unwrap_or(0.0);
        taken.push(around(pixel + aside, y));
        places.push(Place {
            x,
            y,
            aside,
            named: false,
        });
    }
    // Marks are placed before names.
    for (point, place) in points.iter().zip(&mut places) {
        let left = place.x / 100.0 * WIDTH + place.aside + 13.0;
        let width = point.token.chars().count() as f64 * 7.4 + 6.0;
        let name = [left, left + width, place.y - 9.0, place.y + 9.0];
        place.named = free(&taken, name);
        if place.named {
            taken.push(name);
        }
    }
    places
}

fn table(points: &[Point<'_>]) -> Markup {
    let unit = Unit::for_times(points.iter().map(|p| p.ns));
    let caption = format!(
        "Size and time to verify or decrypt, in {}, the shortest token first",
        unit.name
    );
    Page::new(caption, "Size and time to verify, table")
        .figures()
        .id("tradeoff-table")
        .table(
            &columns(unit),
            &points.iter().enumerate().collect::<Vec<_>>(),
        )
}

type Line<'a> = (usize, &'a Point<'a>);

fn columns<'a>(unit: Unit) -> Vec<Column<'a, Line<'a>>> {
    vec![
        Column::number("number", |(index, _): &Line<'_>| {
            Value::count(*index as u64 + 1)
        })
        .titled("no."),
        Column::text("token", |(_, point): &Line<'_>| Value::text(&point.token)).header(),
        Column::text("kind", |(_, point): &Line<'_>| {
            let words = words(point.kind);
            Value::text(words).on_page(html! { (Mark::of_kind(point.kind).icon()) " " (words) })
        }),
        Column::number("bytes", |(_, point): &Line<'_>| Value::count(point.bytes)),
        Column::number("fastest", move |(_, point): &Line<'_>| {
            let shown = unit.figure(point.ns);
            Value::text(&shown).on_page(html! { b { (shown) } })
        })
        .titled(format!("fastest, {}", unit.name)),
        Column::text("with", |(_, point): &Line<'_>| {
            let subject = &point.fastest.subject;
            Value::text(&subject.library).on_page(html! {
                (subject.library) " " span.muted { "· " (names::language(subject)) }
            })
        }),
        Column::number("slowest", move |(_, point): &Line<'_>| {
            Value::text(unit.figure(point.slowest_ns))
        })
        .titled(format!("slowest, {}", unit.name)),
        Column::number("libraries", |(_, point): &Line<'_>| {
            Value::count(point.libraries as u64)
        }),
    ]
}

fn description(points: &[Point<'_>], unit: Unit) -> String {
    let shortest = points.first();
    let fastest = points.iter().min_by(|a, b| a.ns.total_cmp(&b.ns));
    let ends = shortest.zip(fastest).map(|(shortest, fastest)| {
        format!(
            ": the shortest is {} with {} bytes, the fastest to verify or decrypt is {} at {}",
            shortest.token,
            units::whole(shortest.bytes),
            fastest.token,
            unit.text(fastest.ns)
        )
    });
    format!(
        "Scatter chart of token size against the time to verify, {}{}. The table below has every figure.",
        units::count(points.len(), "kind of token", "kinds of token"),
        ends.unwrap_or_default()
    )
}
