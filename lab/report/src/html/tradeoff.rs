//! Token size against the time to verify, with one mark for each kind of token.

use maud::{Markup, html};

use crate::recommendation::{claims_of, is_cache};
use jeton_lab_model::result::Row;

use super::chart::ticks;
use super::comparison::time;
use super::lines::levels;
use super::marks::{Mark, pixels};
use super::names;
use super::scale::{LogScale, per_cent};
use super::units::{self, Unit};
use crate::table::{Column, Page, Value};

const HEIGHT: f64 = 400.0;
const AXIS: f64 = 34.0;
/// Space at the left for the time labels, in per cent.
const LEFT: f64 = 10.0;
/// The widths for which names are placed without overlap, in pixels: of a column of the page, and of a phone.
const WIDTH: f64 = 800.0;
const NARROW: f64 = 340.0;
/// The kinds of token that readers look for.
const FIRST_NAMED: [&str; 7] = [
    "JWT HS256",
    "JWT EdDSA",
    "JWT ES256",
    "JWT RS256",
    "PASETO v4.public",
    "PASETO v4.local",
    "JWE dir+A256GCM",
];
/// Half the size of a mark, the distance of a name from the centre of its mark, and the width of a character of
/// a name, in pixels.
const MARK: f64 = 5.0;
const ASIDE: f64 = 8.0;
const NAME_CHAR: f64 = 7.4;
/// The width of a character of a name of a JWE, which has more capital letters.
const CAPITALS_CHAR: f64 = 8.2;
/// Half the height of a name.
const NAME_HALF: f64 = 6.5;
/// Marks that are nearer than this, in pixels, have one name.
const TOGETHER: f64 = 8.0;
/// With more characters, the name of several kinds of token names one and counts the others.
const NAME_CHARS_MAX: usize = 34;

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
                "the fastest library for a kind of token; +2 counts more kinds at the same place. The table has all kinds, and the "
                "slowest library of each. Superseded kinds, such as PASETO v1 and v2, are shown and never recommended. "
                "Libraries that cache verified tokens are excluded. Claims set: " (claims) ". Both axes are logarithmic."
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

/// The position of a mark, and the name beside it.
struct Place {
    x: f64,
    y: f64,
    name: Option<Name>,
}

/// The name beside a mark, of all kinds of token at this place.
struct Name {
    text: String,
    side: Side,
    /// The distance from the mark, in pixels.
    aside: f64,
    /// True if a narrow screen has room for it too.
    is_narrow: bool,
}

/// The side of a mark on which its name is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Right,
    Left,
}

fn svg(points: &[Point<'_>]) -> Markup {
    let unit = Unit::for_times(points.iter().map(|p| p.ns));
    let horizontal = LogScale::holding(points.iter().map(|p| p.bytes as f64));
    let up = LogScale::holding(points.iter().map(|p| p.ns));
    let x = |bytes: f64| LEFT + horizontal.place(bytes) * (100.0 - LEFT) / 100.0;
    let y = |ns: f64| 8.0 + (1.0 - up.place(ns) / 100.0) * (HEIGHT - 16.0);
    let levels_of = |tick: &f64| (y(*tick), unit.tick(*tick));
    let labels: Vec<(f64, String)> = up.ticks().iter().map(levels_of).collect();
    let places = places(points, &x, &y, &labels);
    html! {
        svg.chart role="img" height=(HEIGHT + AXIS)
            aria-label=(description(points, unit)) aria-details="tradeoff-table" {
            (levels(&up.ticks(), y, |tick| unit.tick(tick)))
            (ticks(&horizontal.ticks(), x, [0.0, HEIGHT], |tick| format!("{} B", units::whole(tick as u64))))
            @for (point, place) in points.iter().zip(&places) { (self::point(point, place, unit)) }
        }
    }
}

/// Renders a mark, and its name if it fits.
fn point(point: &Point<'_>, place: &Place, unit: Unit) -> Markup {
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
            (Mark::of_kind(point.kind).at(0.0, 0.0))
            @if let Some(name) = &place.name {
                @let room = if name.is_narrow { "" } else { " wide" };
                @match name.side {
                    Side::Right => text class={ "label" (room) } x=(pixels(name.aside)) y="4.5" { (name.text) },
                    Side::Left => text class={ "label end" (room) } x=(pixels(name.aside)) y="4.5" { (name.text) },
                }
            }
        }
    }
}

/// The areas of a chart that are occupied: left, right, top and bottom in pixels.
struct Room {
    width: f64,
    taken: Vec<[f64; 4]>,
}

impl Room {
    fn take(&mut self, area: [f64; 4]) {
        self.taken.push(area);
    }

    /// Reports whether a name has room; it may touch the marks that it names.
    fn is_free(&self, [left, right, top, bottom]: [f64; 4], own: &[usize]) -> bool {
        let overlaps = |(index, t): (usize, &[f64; 4])| {
            !own.contains(&index) && left < t[1] && t[0] < right && top < t[3] && t[2] < bottom
        };
        left >= 0.0 && right <= self.width && !self.taken.iter().enumerate().any(overlaps)
    }

    /// Returns the area of a name beside the marks that it names.
    fn name(&self, places: &[Place], own: &[usize], text: &str, side: Side) -> [f64; 4] {
        let char = if text.contains('+') {
            CAPITALS_CHAR
        } else {
            NAME_CHAR
        };
        let width = text.chars().count() as f64 * char;
        let [first, last] = ends(places, own).map(|x| x / 100.0 * self.width);
        let left = match side {
            Side::Right => last + ASIDE,
            Side::Left => first - ASIDE - width,
        };
        let y = places[own[0]].y;
        [left, left + width, y - NAME_HALF, y + NAME_HALF]
    }
}

/// Returns the position of the first and of the last mark of several, in per cent.
fn ends(places: &[Place], own: &[usize]) -> [f64; 2] {
    let at = || own.iter().map(|index| places[*index].x);
    [at().fold(f64::INFINITY, f64::min), at().fold(0.0, f64::max)]
}

/// Places the marks, and the names that fit: first those of the first answers, then those of the kinds that most
/// libraries have.
fn places(
    points: &[Point<'_>],
    x: &impl Fn(f64) -> f64,
    y: &impl Fn(f64) -> f64,
    labels: &[(f64, String)],
) -> Vec<Place> {
    let place = |point: &Point<'_>| Place {
        x: x(point.bytes as f64),
        y: y(point.ns),
        name: None,
    };
    let mut places: Vec<Place> = points.iter().map(place).collect();
    let rooms = [WIDTH, NARROW].map(|width| {
        let mark = |place: &Place| {
            let at = place.x / 100.0 * width;
            [at - MARK, at + MARK, place.y - MARK, place.y + MARK]
        };
        let label = |(y, text): &(f64, String)| {
            let width = text.chars().count() as f64 * NAME_CHAR;
            [0.0, width, y - 17.0, *y]
        };
        let labels = labels.iter().map(label);
        Room {
            width,
            taken: places.iter().map(mark).chain(labels).collect(),
        }
    });
    let [mut wide, mut narrow] = rooms;
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by_key(|&index| {
        let point = &points[index];
        let is_answer = FIRST_NAMED.contains(&point.token.as_str());
        (!is_answer, usize::MAX - point.libraries)
    });
    let mut named = vec![false; points.len()];
    for &index in &order {
        if named[index] {
            continue;
        }
        let place = &places[index];
        let near = |other: &&usize| {
            let at = &places[**other];
            !named[**other]
                && (at.x - place.x).abs() / 100.0 * WIDTH < TOGETHER
                && (at.y - place.y).abs() < TOGETHER
        };
        let own: Vec<usize> = order.iter().filter(near).copied().collect();
        let area = |room: &Room, text: &str, side: Side| {
            let area = room.name(&places, &own, text, side);
            room.is_free(area, &own).then_some(area)
        };
        // The name of all kinds at this place, or a shorter one.
        let found = names(points, &own).into_iter().find_map(|text| {
            let mut sides = [Side::Right, Side::Left].into_iter();
            let (side, area) = sides.find_map(|side| Some((side, area(&wide, &text, side)?)))?;
            Some((text, side, area))
        });
        for &other in &own {
            named[other] = true;
        }
        let Some((text, side, area_wide)) = found else {
            continue;
        };
        let area_narrow = area(&narrow, &text, side);
        wide.take(area_wide);
        if let Some(area) = area_narrow {
            narrow.take(area);
        }
        let [first, last] = ends(&places, &own).map(|x| (x - place.x) / 100.0 * WIDTH);
        let aside = match side {
            Side::Right => last + ASIDE,
            Side::Left => first - ASIDE,
        };
        places[index].name = Some(Name {
            text,
            side,
            aside,
            is_narrow: area_narrow.is_some(),
        });
    }
    places
}

/// Names the kinds of token at one place, the longest name first: a shorter one counts some of them.
fn names(points: &[Point<'_>], together: &[usize]) -> Vec<String> {
    let tokens = together.iter().map(|index| points[*index].token.as_str());
    let tokens: Vec<&str> = tokens.collect();
    let shown = |count: usize| match tokens.len() - count {
        0 => tokens.join(", "),
        rest => format!("{} +{rest}", tokens[..count].join(", ")),
    };
    let fits = |name: &String| name.chars().count() <= NAME_CHARS_MAX;
    let shortest = std::iter::once(shown(1));
    let mut names: Vec<String> = (2..=tokens.len().min(NAME_CHARS_MAX))
        .rev()
        .map(shown)
        .filter(fits)
        .collect();
    names.extend(shortest);
    names
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
        .table(&columns(unit), &points.iter().collect::<Vec<_>>())
}

type Line<'a> = &'a Point<'a>;

fn columns<'a>(unit: Unit) -> Vec<Column<'a, Line<'a>>> {
    vec![
        Column::text("token", |point: &Line<'_>| Value::text(&point.token)).header(),
        Column::text("kind", |point: &Line<'_>| {
            let words = words(point.kind);
            Value::text(words).on_page(html! { (Mark::of_kind(point.kind).icon()) " " (words) })
        }),
        Column::number("bytes", |point: &Line<'_>| Value::count(point.bytes)),
        Column::number("fastest", move |point: &Line<'_>| {
            let shown = unit.figure(point.ns);
            Value::text(&shown).on_page(html! { b { (shown) } })
        })
        .titled(format!("fastest, {}", unit.name)),
        Column::text("with", |point: &Line<'_>| {
            let subject = &point.fastest.subject;
            Value::text(&subject.library).on_page(html! {
                (subject.library) " " span.muted { "· " (names::language(subject)) }
            })
        }),
        Column::number("slowest", move |point: &Line<'_>| {
            Value::text(unit.figure(point.slowest_ns))
        })
        .titled(format!("slowest, {}", unit.name)),
        Column::number("libraries", |point: &Line<'_>| {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recommendation::sample::row;

    /// A file can have thousands of kinds of token at one place.
    #[test]
    fn names_of_many_kinds_at_one_place_are_few() {
        let fastest = row("go", "a", "jwt", "ES256", "verify", 100.0);
        let kind = |number: usize| Point {
            token: format!("JWT {number}"),
            kind: "signed",
            bytes: 300,
            fastest: &fastest,
            ns: 100.0,
            slowest_ns: 100.0,
            libraries: 1,
        };
        let points: Vec<Point<'_>> = (0..1_000).map(kind).collect();
        let together: Vec<usize> = (0..1_000).collect();
        let found = names(&points, &together);
        assert_eq!(found[0], "JWT 0, JWT 1, JWT 2, JWT 3 +996");
        assert_eq!(found.last().expect("one"), "JWT 0 +999");
        assert!(found.len() <= NAME_CHARS_MAX);
        let places = places(&points, &|_| 50.0, &|_| 50.0, &[]);
        assert_eq!(
            places.iter().filter(|place| place.name.is_some()).count(),
            1
        );
    }
}
