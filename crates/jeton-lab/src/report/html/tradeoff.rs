//! Size against the cost of verifying: every kind of token as one mark.

use maud::{Markup, html};

use crate::recommendation::claims_of;
use crate::result::Row;

use super::chart::per_cent;
use super::comparison::time;
use super::scale::LogScale;
use super::units::{self, Unit};
use super::{marks, names};

const HEIGHT: f64 = 400.0;
const AXIS: f64 = 34.0;
/// Room at the left for the names of the times, per cent.
const LEFT: f64 = 10.0;
/// The width that marks and names are kept apart for; on a narrower screen the names are left out.
const WIDTH: f64 = 800.0;
/// How far apart two marks are, pixels.
const APART: f64 = 21.0;

/// A kind of token: its fastest library, and how far the others reach.
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
            p { "No token was both measured and opened, so there is nothing to weigh." }
        } @else {
            p {
                "What a token costs on the wire, and what it costs to open: further left is shorter, further down is "
                "faster. A mark is the fastest library measured for its kind of token; the line above it reaches to the "
                "slowest. Claims set " (claims) ". Both axes are logarithmic."
            }
            article.comparison {
                (legend(&points))
                figure { (svg(&points)) }
                (table(&points))
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
            && matches!(row.contract.as_str(), "verify" | "decrypt")
    });
    let mut seen: Vec<&str> = Vec::new();
    for row in opened {
        let (Some(timing), Some(bytes)) = (time(row), row.token_bytes) else {
            continue;
        };
        // Several suites may have asked for the same row.
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

/// What a token is good for, as the recommendation knows it.
fn kind(row: &Row) -> &'static str {
    let subject = &row.subject;
    match subject.format.as_str() {
        "none" => "alone",
        "jwe" => "encrypted",
        format if format.ends_with(".local") => "encrypted",
        _ if subject.alg.as_deref().is_some_and(|a| a.starts_with("HS")) => "mac",
        _ => "signed",
    }
}

fn words(kind: &str) -> &'static str {
    match kind {
        "mac" => "one secret signs and verifies",
        "signed" => "others can verify",
        "encrypted" => "encrypted",
        _ => "no security",
    }
}

fn legend(points: &[Point<'_>]) -> Markup {
    let kinds = ["mac", "signed", "encrypted", "alone"];
    html! {
        ul.legend {
            @for kind in kinds.into_iter().filter(|kind| points.iter().any(|p| p.kind == *kind)) {
                li { svg width="20" height="18" aria-hidden="true" { (mark(kind, "10", 9.0, None)) } (words(kind)) }
            }
        }
    }
}

/// Where a mark stands: its place, how far it is moved aside so that it can be read, and whether
/// there is room for its name.
struct Place {
    x: f64,
    y: f64,
    aside: f64,
    named: bool,
}

fn svg(points: &[Point<'_>]) -> Markup {
    let unit = Unit::for_times(points.iter().map(|p| p.ns));
    let across = LogScale::holding(points.iter().map(|p| p.bytes as f64));
    let up = LogScale::holding(points.iter().flat_map(|p| [p.ns, p.slowest_ns]));
    let x = |bytes: f64| LEFT + across.place(bytes) * (100.0 - LEFT) / 100.0;
    let y = |ns: f64| 8.0 + (1.0 - up.place(ns) / 100.0) * (HEIGHT - 16.0);
    let places = places(points, &x, &y);
    html! {
        svg.chart role="img" width="100%" height=(HEIGHT + AXIS)
            aria-label=(description(points, unit)) aria-details="tradeoff-table" {
            @for tick in up.ticks() {
                line.grid x1="0" x2="100%" y1=(y(tick)) y2=(y(tick)) {}
                text.tick.up x="0" y=(y(tick) - 5.0) { (unit.tick(tick)) }
            }
            @for tick in across.ticks() {
                @let at = x(tick);
                line.grid x1=(per_cent(at)) x2=(per_cent(at)) y1="0" y2=(HEIGHT) {}
                text.tick x=(per_cent(at)) y=(HEIGHT + 18.0) text-anchor="middle" { (units::whole(tick as u64)) " B" }
            }
            @for (point, place) in points.iter().zip(&places) {
                line class={ "reach " (point.kind) } x1=(per_cent(place.x)) x2=(per_cent(place.x)) y1=(y(point.ns)) y2=(y(point.slowest_ns)) {}
            }
            @for (index, (point, place)) in points.iter().zip(&places).enumerate() {
                svg x=(per_cent(place.x)) y=(place.y) overflow="visible" {
                    title { (point.token) ": " (units::whole(point.bytes)) " B, " (unit.text(point.ns)) " with " (point.fastest.subject.library) }
                    @if place.aside != 0.0 { line class={ "reach " (point.kind) } x1="0" x2=(place.aside) y1="0" y2="0" {} }
                    g transform={ "translate(" (place.aside) " 0)" } {
                        (mark(point.kind, "0", 0.0, Some(index + 1)))
                        @if place.named { text.label.wide x="14" y="4.5" { (point.token) } }
                    }
                }
            }
        }
    }
}

/// Moves marks that would cover each other aside, and leaves out names that would.
fn places(points: &[Point<'_>], x: &impl Fn(f64) -> f64, y: &impl Fn(f64) -> f64) -> Vec<Place> {
    // What is taken already: left, right, top, bottom, in pixels of the assumed width.
    let mut taken: Vec<[f64; 4]> = Vec::new();
    let free = |taken: &[[f64; 4]], [left, right, top, bottom]: [f64; 4]| {
        right <= WIDTH
            && !(taken.iter()).any(|t| left < t[1] && t[0] < right && top < t[3] && t[2] < bottom)
    };
    let around = |at: f64, y: f64| [at - APART / 2.0, at + APART / 2.0, y - 10.5, y + 10.5];
    let mut places: Vec<Place> = Vec::new();
    for point in points {
        let (x, y) = (x(point.bytes as f64), y(point.ns));
        let pixel = x / 100.0 * WIDTH;
        let asides = (0..9).flat_map(|n| [f64::from(n) * APART, -f64::from(n) * APART]);
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
    // All marks first: a name gives way to a mark.
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

/// A mark whose shape repeats its colour; its number is the line of the table.
fn mark(kind: &str, x: &str, y: f64, number: Option<usize>) -> Markup {
    let shape = match kind {
        "mac" => "M-9.5 0 a9.5 9.5 0 1 0 19 0 a9.5 9.5 0 1 0 -19 0 Z",
        "signed" => "M-8.5 -8.5 H8.5 V8.5 H-8.5 Z",
        "encrypted" => "M0 -11.5 L11.5 0 L0 11.5 L-11.5 0 Z",
        _ => "M-9 8 L0 -9 L9 8 Z",
    };
    html! {
        svg.mark x=(x) y=(y) overflow="visible" {
            path class={ "shape " (kind) } d=(shape) {}
            @if let Some(number) = number { text.number-in x="0" y="3.8" text-anchor="middle" { (number) } }
        }
    }
}

fn table(points: &[Point<'_>]) -> Markup {
    let unit = Unit::for_times(points.iter().map(|p| p.ns));
    html! {
        div.scroll tabindex="0" role="region" aria-label="Size against the cost of verifying, table" {
            table #tradeoff-table {
                caption { "Size and time to verify or decrypt, in " (unit.name) ", the shortest token first" }
                thead { tr {
                    th.number scope="col" { "No." }
                    th scope="col" { "Token" }
                    th scope="col" { "Kind" }
                    th.number scope="col" { "Bytes" }
                    th.number scope="col" { "Fastest, " (unit.name) }
                    th scope="col" { "With" }
                    th.number scope="col" { "Slowest, " (unit.name) }
                    th.number scope="col" { "Libraries" }
                } }
                tbody {
                    @for (index, point) in points.iter().enumerate() {
                        tr {
                            td.number { (index + 1) }
                            th scope="row" { (point.token) }
                            td { (marks::small(point.kind)) " " (words(point.kind)) }
                            td.number { (units::whole(point.bytes)) }
                            td.number { strong { (unit.figure(point.ns)) } }
                            td { (point.fastest.subject.library) " " span.muted { "· " (names::language(&point.fastest.subject)) } }
                            td.number { (unit.figure(point.slowest_ns)) }
                            td.number { (point.libraries) }
                        }
                    }
                }
            }
        }
    }
}

fn description(points: &[Point<'_>], unit: Unit) -> String {
    let shortest = points.first();
    let fastest = points.iter().min_by(|a, b| a.ns.total_cmp(&b.ns));
    let ends = shortest.zip(fastest).map(|(shortest, fastest)| {
        format!(
            ": the shortest is {} with {} bytes, the fastest to open is {} at {}",
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
