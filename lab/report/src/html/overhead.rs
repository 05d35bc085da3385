//! The overhead section: the time of each library as a multiple of the bare primitive.

use maud::{Markup, html};

use crate::recommendation::is_cache;
use jeton_lab_model::result::Row;
use jeton_lab_stats::interval::{Ratio, estimate};

use super::chart::{cut, name_class, ticks, upright};
use super::comparison::time;
use super::marks::{self, Mark};
use super::names;
use super::scale::LogScale;
use super::units::{self, Unit};
use crate::table::{Column, Page, Value};

const ROW: f64 = 44.0;
const AXIS: f64 = 30.0;
const NAME_CHARS_MAX: usize = 26;

/// All libraries for one kind of token, operation and bare primitive.
struct TokenKind<'a> {
    operation: &'a str,
    token: String,
    bare_primitive: &'a Row,
    /// The smallest ratio first.
    above: Vec<Above<'a>>,
}

struct Above<'a> {
    row: &'a Row,
    name: String,
    ratio: Ratio,
}

pub(super) fn section(rows: &[Row]) -> Markup {
    let kinds = kinds(rows);
    html! {
        @if kinds.is_empty() {
            p { "No bare primitive was measured together with a library." }
        } @else {
            p {
                "The bare primitive is the cryptographic operation alone (AWS-LC) on the same bytes: no JSON, no base64, no checks. "
                "A mark shows a library's time as a multiple of it, computed per round of the same run. 1 means no overhead; below 1, "
                "the library has a faster primitive than AWS-LC. The axis is logarithmic."
            }
            (legend(&kinds))
            @for operation in kinds.chunk_by(|a, b| a.operation == b.operation) {
                @let name = operation[0].operation;
                article.comparison {
                    h3 { (units::capitalised(name)) ": times the bare primitive" }
                    figure { (svg(operation)) }
                    (table(operation))
                }
            }
        }
    }
}

fn kinds(rows: &[Row]) -> Vec<TokenKind<'_>> {
    let mut kinds: Vec<TokenKind<'_>> = Vec::new();
    let bare_primitives = rows
        .iter()
        .filter(|row| row.reference && time(row).is_some());
    for bare_primitive in bare_primitives {
        let same = |row: &&Row| {
            // A library that caches verified tokens does not call the primitive.
            !row.reference
                && !is_cache(row.subject.driver())
                && row.operation == bare_primitive.operation
                && row.threads == bare_primitive.threads
                && row.claims.name == bare_primitive.claims.name
                && row.subject.key_handling == bare_primitive.subject.key_handling
                && names::primitive(&row.subject) == names::primitive(&bare_primitive.subject)
        };
        let mut by_token: Vec<(String, Vec<&Row>)> = Vec::new();
        for row in rows.iter().filter(same).filter(|row| time(row).is_some()) {
            let token = names::token(&row.subject);
            match by_token.iter_mut().find(|(known, _)| *known == token) {
                Some((_, rows)) if rows.iter().any(|r| r.subject.id == row.subject.id) => {}
                Some((_, rows)) => rows.push(row),
                None => by_token.push((token, vec![row])),
            }
        }
        for (token, rows) in by_token {
            let known =
                |g: &TokenKind<'_>| g.operation == bare_primitive.operation && g.token == token;
            let above = above(&rows, bare_primitive);
            if !above.is_empty() && !kinds.iter().any(known) {
                kinds.push(TokenKind {
                    operation: &bare_primitive.operation,
                    token,
                    bare_primitive,
                    above,
                });
            }
        }
    }
    let order: Vec<&str> = kinds.iter().map(|g| g.operation).collect();
    let place = |operation: &str| order.iter().position(|c| *c == operation);
    kinds.sort_by_key(|g| place(g.operation));
    kinds
}

fn above<'a>(rows: &[&'a Row], bare_primitive: &Row) -> Vec<Above<'a>> {
    let subjects: Vec<_> = rows.iter().map(|row| &row.subject).collect();
    let mut above: Vec<Above<'a>> = rows
        .iter()
        .zip(names::distinct(&subjects))
        .filter_map(|(row, name)| {
            let (own, bare) = (time(row)?, time(bare_primitive)?);
            let ratio = estimate(&own.rounds, &bare.rounds, rows.len()).ok()?;
            let usable = ratio.ratio().is_finite() && ratio.ratio() > 0.0;
            usable.then_some(Above { row, name, ratio })
        })
        .collect();
    above.sort_by(|a, b| a.ratio.ratio().total_cmp(&b.ratio.ratio()));
    above
}

fn legend(kinds: &[TokenKind<'_>]) -> Markup {
    let all = kinds.iter().flat_map(|g| &g.above);
    let languages = marks::languages(all.map(|a| a.row.subject.language.as_str()));
    marks::legend(
        languages
            .into_iter()
            .map(|l| (marks::of_language(l), names::language_of(l))),
    )
}

fn svg(kinds: &[TokenKind<'_>]) -> Markup {
    let all = || kinds.iter().flat_map(|g| &g.above);
    let scale = LogScale::holding(all().map(|a| a.ratio.ratio()).chain([1.0]));
    let bottom = kinds.len() as f64 * ROW + 4.0;
    let name = |tick: f64| format!("{} ×", units::times(tick));
    html! {
        svg.chart role="img" height=(bottom + AXIS)
            aria-label=(description(kinds)) aria-details=(table_id(kinds)) {
            (ticks(&scale.ticks(), |tick| scale.place(tick), [0.0, bottom], name))
            (upright("reference", scale.place(1.0), [0.0, bottom]))
            @for (index, kind) in kinds.iter().enumerate() {
                (row(kind, index as f64 * ROW, scale))
            }
        }
    }
}

fn row(kind: &TokenKind<'_>, y: f64, scale: LogScale) -> Markup {
    let ends = kind.above.first().zip(kind.above.last());
    html! {
        svg y=(y + 31.0) {
            text class=(name_class(&kind.token)) y="-15" { (cut(&kind.token, NAME_CHARS_MAX)) }
            text.value x="100%" y="-15" {
                @if let Some((first, last)) = ends {
                    (units::times(first.ratio.ratio())) " ×"
                    tspan.effect.wide { " " (cut(&first.name, 18)) }
                    @if kind.above.len() > 1 {
                        " to " (units::times(last.ratio.ratio())) " ×"
                        tspan.effect.wide { " " (cut(&last.name, 18)) }
                    }
                }
            }
            (marks::track())
            @for above in kind.above.iter().rev() {
                @let words = format!("{}: {} × the primitive", above.name, units::times(above.ratio.ratio()));
                (Mark::of_series(marks::of_language(&above.row.subject.language))
                    .titled(scale.place(above.ratio.ratio()), 0.0, &words))
            }
        }
    }
}

fn table(kinds: &[TokenKind<'_>]) -> Markup {
    let times = kinds
        .iter()
        .flat_map(|g| g.above.iter().map(|a| a.row).chain([g.bare_primitive]))
        .filter_map(|row| Some(time(row)?.median));
    let unit = Unit::for_times(times);
    let operation = kinds[0].operation;
    let caption = format!(
        "{}: overhead above the bare primitive, times in {}",
        units::capitalised(operation),
        unit.name
    );
    let lines: Vec<Line<'_>> = kinds
        .iter()
        .flat_map(|kind| kind.above.iter().map(move |above| (kind, above)))
        .collect();
    Page::new(caption, format!("{operation} overhead, table"))
        .figures()
        .id(table_id(kinds))
        .table(&columns(unit), &lines)
}

type Line<'a> = (&'a TokenKind<'a>, &'a Above<'a>);

fn columns<'a>(unit: Unit) -> Vec<Column<'a, Line<'a>>> {
    let time = |name: &str, title: &str, ns: fn(f64, f64) -> f64| {
        Column::number(name, move |(kind, above): &Line<'_>| {
            let median = |row: &Row| time(row).map_or(f64::NAN, |t| t.median);
            let ns = ns(median(above.row), median(kind.bare_primitive));
            Value::number(ns, unit.figure(ns))
        })
        .titled(format!("{title}, {}", unit.name))
    };
    vec![
        Column::text("token", |(kind, _): &Line<'_>| Value::text(&kind.token)),
        Column::text("library", |(_, above): &Line<'_>| {
            let language = names::language(&above.row.subject);
            Value::text(&above.name)
                .on_page(html! { (above.name) " " span.muted { "· " (language) } })
        }),
        Column::interval(
            "ratio",
            ["ratio_low", "ratio_high"],
            |(_, above): &Line<'_>| {
                let ratio = &above.ratio;
                Value::interval(ratio.ratio(), ratio.interval(), units::ratio)
            },
        )
        .titled("times the primitive"),
        time("added_ns", "added", |own, bare| own - bare),
        time("time_ns", "time", |own, _| own),
        time("primitive_ns", "primitive", |_, bare| bare),
    ]
}

fn table_id(kinds: &[TokenKind<'_>]) -> String {
    format!("overhead-{}-table", names::anchor(0, kinds[0].operation))
}

fn description(kinds: &[TokenKind<'_>]) -> String {
    format!(
        "Dot chart, {}: time of each library as a multiple of the bare primitive, for {}, on a log axis. The table below has every figure.",
        kinds[0].operation,
        units::count(kinds.len(), "kind of token", "kinds of token")
    )
}
