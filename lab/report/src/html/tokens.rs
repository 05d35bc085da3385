//! The sections about kinds of token: sizes, limits of cookies and headers, overhead above the bare primitive, and size
//! with the time to verify.

use maud::html;

use jeton_lab_model::names;
use jeton_lab_model::result::{ClaimsSet, Row};
use jeton_lab_model::units::{self, Unit};
use jeton_lab_stats::interval::{Ratio, estimate};

use super::marks;
use crate::chart::{self, Axis, Chart, Drawing, Point, Rows};
use crate::comparison::time;
use crate::recommendation::budgets::{Budget, USUAL};
use crate::recommendation::{claims_of, is_cache};
use crate::section::{Fold, Section};
use crate::table::{Column, Table, Value};

/// With more claims sets than this, all except the first are folded.
const UNFOLDED_MAX: usize = 3;
/// With more kinds of token than this, only their number is shown.
const NAMED_MAX: usize = 3;

/// The tokens of one claims set, the smallest first.
struct Set<'a> {
    claims: &'a ClaimsSet,
    sizes: Vec<Size>,
}

/// Tokens of one kind and length, and the libraries that made them.
struct Size {
    token: String,
    kind: &'static str,
    bytes: u64,
    makers: Vec<String>,
}

/// Exact sizes of tokens that the subjects made, and the limits that they fit.
pub(super) fn sizes(rows: &[Row]) -> Section {
    let sets = sets(rows);
    let section = Section::new("Token sizes").id("sizes");
    if sets.is_empty() {
        return section.say("No token was made.");
    }
    let parts = sets.iter().enumerate().map(|(number, set)| {
        let is_folded = number > 0 && sets.len() > UNFOLDED_MAX;
        set.section(number)
            .fold(if is_folded { Fold::Closed } else { Fold::Never })
    });
    section
        .say(
            "Exact sizes of tokens that the subjects made in this run. One algorithm has several sizes if libraries write \
             different headers, or encode claims differently.",
        )
        .parts(parts)
        .parts([budgets(&sets)])
}

fn sets(rows: &[Row]) -> Vec<Set<'_>> {
    let mut sets: Vec<Set<'_>> = Vec::new();
    for row in rows.iter().filter(|row| !row.reference) {
        let Some(bytes) = row.token_bytes else {
            continue;
        };
        let known = sets.iter().position(|set| *set.claims == row.claims);
        let index = known.unwrap_or_else(|| {
            sets.push(Set {
                claims: &row.claims,
                sizes: Vec::new(),
            });
            sets.len() - 1
        });
        let token = names::token(&row.subject);
        let maker = format!(
            "{} ({})",
            row.subject.library,
            names::language(&row.subject)
        );
        let sizes = &mut sets[index].sizes;
        match sizes
            .iter_mut()
            .find(|size| size.token == token && size.bytes == bytes)
        {
            Some(size) if size.makers.contains(&maker) => {}
            Some(size) => size.makers.push(maker),
            None => sizes.push(Size {
                token,
                kind: kind(row),
                bytes,
                makers: vec![maker],
            }),
        }
    }
    for set in &mut sets {
        set.sizes
            .sort_by(|a, b| (a.bytes, &a.token).cmp(&(b.bytes, &b.token)));
    }
    sets
}

impl Set<'_> {
    fn section(&self, number: usize) -> Section {
        let claims = self.claims.bytes;
        let title = format!(
            "Claims set {}, {} bytes of JSON",
            self.claims.name,
            units::whole(claims)
        );
        let id = format!("sizes-{number}-table");
        let over = move |size: &Size| match size.bytes.checked_sub(claims) {
            Some(more) => format!("+{}", units::whole(more)),
            None => format!("-{}", units::whole(claims - size.bytes)),
        };
        let columns = [
            Column::text("token", |size: &Size| Value::text(&size.token)),
            Column::number("bytes", |size: &Size| {
                Value::count(size.bytes).on_page(html! { b { (units::whole(size.bytes)) } })
            }),
            Column::number("over", move |size: &Size| Value::text(over(size)))
                .titled("more than the claims"),
            Column::text("makers", |size: &Size| {
                Value::text(units::list(&size.makers))
            })
            .titled("made by"),
        ];
        let table = Table::new(
            format!("Token sizes. {title}"),
            format!("Token sizes, {title}, table"),
            &columns,
            &self.sizes,
        );
        let row = |size: &Size| {
            let makers = match size.makers.as_slice() {
                [one] => one.clone(),
                several => units::count(several.len(), "library", "libraries"),
            };
            let bytes = size.bytes as f64;
            chart::Row {
                name: size.token.clone(),
                aside: [makers, String::new()],
                value: format!("{} B", units::whole(size.bytes)),
                points: vec![Point::new(size.kind, bytes, [bytes, bytes])],
                ..chart::Row::default()
            }
        };
        let rows = Rows {
            rows: self.sizes.iter().map(row).collect(),
            references: vec![(claims as f64, String::new(), String::new())],
            ..Rows::default()
        };
        let label = format!(
            "Dot chart of token sizes on a log axis. {title}. The table below has every figure."
        );
        let chart = Chart {
            legend: legend(self.sizes.iter().map(|size| size.kind)),
            caption: format!(
                "The axis is logarithmic. The dashed line marks the size of the claims as JSON, {} B.",
                units::whole(claims)
            ),
            ..Chart::new(label, id.clone(), Axis::Bytes, Drawing::Rows(rows))
        };
        let section = Section::new(title).table(table.figures().id(id));
        // The charts of all sets look alike, and a page must stay small.
        match number {
            0 => section.chart(chart),
            _ => section,
        }
    }
}

/// Which tokens fit a cookie or a header line, with the limits of browsers and servers.
fn budgets(sets: &[Set<'_>]) -> Section {
    let claims = Column::text("claims set", |set: &&Set<'_>| {
        let (name, bytes) = (&set.claims.name, units::whole(set.claims.bytes));
        Value::text(format!("{name} {bytes} bytes"))
            .on_page(html! { (name) " " small { (bytes) " bytes" } })
    });
    let lengths = Column::number("bytes", |set: &&Set<'_>| {
        let ends = set.sizes.first().zip(set.sizes.last());
        ends.map_or_else(Value::none, |(shortest, longest)| {
            let [low, high] = [shortest, longest].map(|size| units::whole(size.bytes));
            Value::number(
                longest.bytes,
                if low == high {
                    low
                } else {
                    format!("{low} – {high}")
                },
            )
        })
    });
    let limit = |budget: &'static Budget| {
        let title = format!(
            "{} of {}",
            budget.carrier.name(),
            units::whole(budget.bytes)
        );
        Column::text(&title, move |set: &&Set<'_>| fits(&set.sizes, budget))
    };
    let columns = [claims, lengths.titled("tokens, bytes")].into_iter();
    let columns: Vec<_> = columns.chain(USUAL.iter().map(limit)).collect();
    let table = Table::new(
        "Tokens that fit, by claims set",
        "",
        &columns,
        &sets.iter().collect::<Vec<_>>(),
    );
    let [first, second] = [0, 1].map(|index| USUAL[index].carrier.around());
    let limits = USUAL
        .iter()
        .map(|budget| format!("{} bytes: {}.", units::whole(budget.bytes), budget.whose));
    Section::new("Cookie and header limits")
        .id("budgets")
        .say(format!(
            "Bytes around a token count too: `{first}`, and `{second}`. Set your own limit: `jeton-lab report results.json \
             --need header-budget=4096`."
        ))
        .items(limits)
        .table(table.labelled_by("budgets").figures())
}

/// Reports which sizes fit the budget. A kind of token with several sizes counts with its longest.
fn fits(sizes: &[Size], budget: &Budget) -> Value {
    let does = |size: &&Size| budget.carrier.with(size.bytes) <= budget.bytes;
    let too_long: Vec<&Size> = sizes.iter().filter(|size| !does(size)).collect();
    let all =
        |class: &str, word: &str| Value::text(word).on_page(html! { span.tag.(class) { (word) } });
    match too_long.len() {
        0 => return all("good", "all fit"),
        none if none == sizes.len() => return all("bad", "none fit"),
        _ => {}
    }
    let mut kinds: Vec<&str> = too_long.iter().map(|size| size.token.as_str()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let which = match kinds.len() {
        few if few <= NAMED_MAX => units::list(&kinds),
        many => units::count(many, "kind of token", "kinds of token"),
    };
    Value::text(format!("not all: {which} too long"))
        .on_page(html! { span.tag.warn { "not all" } " " small { (which) " too long" } })
}

/// Classifies a token as the recommendation does.
fn kind(row: &Row) -> &'static str {
    let subject = &row.subject;
    match subject.format.as_str() {
        "none" => "unsecured",
        "jwe" => "encrypted",
        format if format.ends_with(".local") => "encrypted",
        _ if subject
            .alg
            .as_deref()
            .is_some_and(|alg| alg.starts_with("HS")) =>
        {
            "mac"
        }
        _ => "signed",
    }
}

const KINDS: [(&str, &str); 4] = [
    ("mac", "symmetric: one secret signs and verifies"),
    ("signed", "asymmetric: third parties can verify"),
    ("encrypted", "encrypted"),
    ("unsecured", "no security"),
];

/// Returns the legend of the kinds that occur.
fn legend(occurring: impl Iterator<Item = &'static str> + Clone) -> Vec<(&'static str, String)> {
    let occurs = |(kind, _): &(&str, &str)| occurring.clone().any(|other| other == *kind);
    let entries = KINDS.into_iter().filter(occurs);
    entries
        .map(|(kind, words)| (kind, words.to_owned()))
        .collect()
}

/// The libraries for one kind of token and operation, the smallest ratio to the bare primitive first.
struct Overhead<'a> {
    operation: &'a str,
    token: String,
    primitive: &'a Row,
    above: Vec<(&'a Row, String, Ratio)>,
}

/// The time of each library as a multiple of the bare primitive.
pub(super) fn overhead(rows: &[Row]) -> Section {
    let kinds = overheads(rows);
    let section = Section::new("Overhead above the bare primitive").id("overhead");
    if kinds.is_empty() {
        return section.say("No bare primitive was measured together with a library.");
    }
    let mut operations: Vec<&str> = Vec::new();
    for kind in &kinds {
        if !operations.contains(&kind.operation) {
            operations.push(kind.operation);
        }
    }
    let parts = operations.into_iter().map(|operation| {
        let own = kinds.iter().enumerate();
        let own = own.filter(|(_, kind)| kind.operation == operation);
        // All tables of an operation have one unit.
        let unit = Unit::for_times(own.clone().flat_map(|(_, kind)| kind.times()));
        let parts = own.map(|(number, kind)| kind.section(number, unit));
        Section::new(format!(
            "{}: times the bare primitive",
            units::capitalised(operation)
        ))
        .parts(parts)
    });
    section
        .say(
            "The bare primitive is the cryptographic operation alone (AWS-LC) on the same bytes: no JSON, no base64, no \
             checks. A mark shows a library's time as a multiple of it, computed per round of the same run. 1 means no \
             overhead; below 1, the library has a faster primitive than AWS-LC. The axis is logarithmic.",
        )
        .parts(parts)
}

fn overheads(rows: &[Row]) -> Vec<Overhead<'_>> {
    let mut found: Vec<Overhead<'_>> = Vec::new();
    let primitives = rows
        .iter()
        .filter(|row| row.reference && time(row).is_some());
    for primitive in primitives {
        let same = |row: &&Row| {
            // A library that caches verified tokens does not call the primitive.
            !row.reference
                && !is_cache(row.subject.driver())
                && row.operation == primitive.operation
                && row.threads == primitive.threads
                && row.claims.name == primitive.claims.name
                && row.subject.key_handling == primitive.subject.key_handling
                && names::primitive(&row.subject) == names::primitive(&primitive.subject)
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
            let operation = primitive.operation.as_str();
            let above = above(&rows, primitive);
            let is_known = found
                .iter()
                .any(|kind| kind.operation == operation && kind.token == token);
            if !above.is_empty() && !is_known {
                found.push(Overhead {
                    operation,
                    token,
                    primitive,
                    above,
                });
            }
        }
    }
    found
}

fn above<'a>(rows: &[&'a Row], primitive: &Row) -> Vec<(&'a Row, String, Ratio)> {
    let subjects: Vec<_> = rows.iter().map(|row| &row.subject).collect();
    let named = rows.iter().zip(names::distinct(&subjects));
    let measured = named.filter_map(|(row, name)| {
        let (own, bare) = (time(row)?, time(primitive)?);
        let ratio = estimate(&own.rounds, &bare.rounds, rows.len()).ok()?;
        let is_usable = ratio.ratio().is_finite() && ratio.ratio() > 0.0;
        is_usable.then_some((*row, name, ratio))
    });
    let mut above: Vec<_> = measured.collect();
    above.sort_by(|(.., a), (.., b)| a.ratio().total_cmp(&b.ratio()));
    above
}

impl<'a> Overhead<'a> {
    fn times(&self) -> impl Iterator<Item = f64> {
        let rows = self.above.iter().map(|(row, ..)| *row);
        let rows = rows.chain([self.primitive]);
        rows.filter_map(|row| Some(time(row)?.median))
    }

    fn section(&self, number: usize, unit: Unit) -> Section {
        let id = format!("overhead-{number}-table");
        let rows = self.above.iter().map(|(row, name, ratio)| chart::Row {
            name: name.clone(),
            aside: [String::new(), names::language(&row.subject).to_owned()],
            value: format!("{} ×", units::times(ratio.ratio())),
            points: vec![Point::new("dot", ratio.ratio(), ratio.interval())],
            ..chart::Row::default()
        });
        let rows = Rows {
            rows: rows.collect(),
            references: vec![(1.0, String::new(), String::new())],
            ..Rows::default()
        };
        let (operation, token) = (self.operation, &self.token);
        let label = format!(
            "Dot chart, {operation}, {token}: time of {} as a multiple of the bare primitive, on a log axis. The table below has every figure.",
            units::count(self.above.len(), "library", "libraries")
        );
        let chart = Chart::new(label, id.clone(), Axis::Factor, Drawing::Rows(rows));
        Section::new(token.clone())
            .fold(Fold::Closed)
            .chart(chart)
            .table(self.table(unit).id(id).folded("Table"))
    }

    fn table(&self, unit: Unit) -> Table {
        let median = |row: &Row| time(row).map_or(f64::NAN, |timing| timing.median);
        let bare = median(self.primitive);
        type Line<'a> = (&'a Row, String, Ratio);
        let time = |title: &str, ns: fn(f64, f64) -> f64| {
            Column::number(title, move |(row, ..): &Line<'_>| {
                let ns = ns(median(row), bare);
                Value::number(ns, unit.figure(ns))
            })
            .titled(format!("{title}, {}", unit.name))
        };
        let columns = [
            Column::text("library", |(row, name, _): &Line<'_>| {
                let language = names::language(&row.subject);
                Value::text(name).on_page(html! { (name) " " span.muted { "· " (language) } })
            }),
            Column::interval(
                "ratio",
                ["ratio_low", "ratio_high"],
                |(.., ratio): &Line<'_>| {
                    Value::interval(ratio.ratio(), ratio.interval(), units::ratio)
                },
            )
            .titled("times the primitive"),
            time("added", |own, bare| own - bare),
            time("time", |own, _| own),
            time("primitive", |_, bare| bare),
        ];
        let (operation, token) = (units::capitalised(self.operation), &self.token);
        let caption = format!(
            "{operation}, {token}: overhead above the bare primitive, times in {}",
            unit.name
        );
        Table::new(
            caption,
            format!("{operation}, {token}, overhead, table"),
            &columns,
            &self.above,
        )
        .figures()
    }
}

/// A kind of token: its fastest library, and the slowest time.
struct Tradeoff<'a> {
    token: String,
    bytes: u64,
    fastest: &'a Row,
    ns: f64,
    slowest_ns: f64,
    libraries: usize,
}

/// The kinds of token that readers look for.
const USUAL_TOKENS: [&str; 8] = [
    "JWT HS256",
    "JWT EdDSA",
    "JWT ES256",
    "JWT RS256",
    "PASETO v4.public",
    "PASETO v4.local",
    "JWE dir+A256GCM",
    "JWT ML-DSA-44",
];

/// Token size with the time to verify, the shortest token first.
pub(super) fn tradeoff(rows: &[Row]) -> Section {
    let claims = claims_of(rows).unwrap_or_default();
    let points = tradeoffs(rows, claims);
    let section = Section::new("Size and time to verify").id("tradeoff");
    if points.is_empty() {
        return section.say("No row has both a token size and a time to verify.");
    }
    let is_usual = |point: &&Tradeoff<'_>| USUAL_TOKENS.contains(&point.token.as_str());
    let (usual, others): (Vec<_>, Vec<_>) = points.iter().partition(is_usual);
    let kinds = [
        ("Usual kinds of token", usual, Fold::Never),
        ("Other kinds of token", others, Fold::Closed),
    ];
    let kinds = kinds
        .into_iter()
        .filter(|(_, points, _)| !points.is_empty());
    let parts = kinds.enumerate().map(|(number, (title, points, fold))| {
        tradeoff_part(title, &points, &format!("tradeoff-{number}-table")).fold(fold)
    });
    section
        .say(format!(
            "The time to verify or decrypt, of the fastest library for each kind of token; further left is faster. The \
             shortest token is the first. The tables have the slowest library of each too. Superseded kinds, such as PASETO \
             v1 and v2, are shown and never recommended. Libraries that cache verified tokens are excluded. Claims set: \
             {claims}. The axis is logarithmic."
        ))
        .parts(parts)
}

fn tradeoffs<'a>(rows: &'a [Row], claims: &str) -> Vec<Tradeoff<'a>> {
    let mut points: Vec<Tradeoff<'a>> = Vec::new();
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
        let (token, ns) = (names::token(&row.subject), timing.median);
        match points.iter_mut().find(|point| point.token == token) {
            Some(point) => {
                point.libraries += 1;
                point.slowest_ns = point.slowest_ns.max(ns);
                if ns < point.ns {
                    (point.ns, point.bytes, point.fastest) = (ns, bytes, row);
                }
            }
            None => points.push(Tradeoff {
                token,
                bytes,
                fastest: row,
                ns,
                slowest_ns: ns,
                libraries: 1,
            }),
        }
    }
    points.sort_by(|a, b| a.bytes.cmp(&b.bytes).then(a.ns.total_cmp(&b.ns)));
    points
}

fn tradeoff_part(title: &str, points: &[&Tradeoff<'_>], id: &str) -> Section {
    let unit = Unit::for_times(points.iter().map(|point| point.ns));
    let row = |point: &&Tradeoff<'_>| {
        let interval = time(point.fastest).map_or([point.ns; 2], |timing| timing.interval);
        let subject = &point.fastest.subject;
        chart::Row {
            name: point.token.clone(),
            aside: [
                format!("{} · {}", subject.library, names::language(subject)),
                String::new(),
            ],
            value: unit.text(point.ns),
            effect: [format!("{} B", units::whole(point.bytes)), String::new()],
            points: vec![Point::new(kind(point.fastest), point.ns, interval)],
        }
    };
    let label = format!(
        "Dot chart, {title}: the time to verify of {} on a log axis, the shortest token first. The table below has every figure.",
        units::count(points.len(), "kind of token", "kinds of token")
    );
    let chart = Chart {
        legend: legend(points.iter().map(|point| kind(point.fastest))),
        ..Chart::rows(
            label,
            id.to_owned(),
            Axis::Time(unit),
            points.iter().map(row).collect(),
        )
    };
    type Line<'a> = &'a Tradeoff<'a>;
    let columns = [
        Column::text("token", |point: &Line<'_>| Value::text(&point.token)).header(),
        Column::text("kind", |point: &Line<'_>| {
            let kind = kind(point.fastest);
            let words = KINDS
                .iter()
                .find(|(known, _)| *known == kind)
                .map_or("", |(_, words)| words);
            Value::text(words).on_page(html! { (marks::icon(kind)) " " (words) })
        }),
        Column::number("bytes", |point: &Line<'_>| Value::count(point.bytes)),
        Column::number("fastest", |point: &Line<'_>| {
            let shown = unit.figure(point.ns);
            Value::text(&shown).on_page(html! { b { (shown) } })
        })
        .titled(format!("fastest, {}", unit.name)),
        Column::text("with", |point: &Line<'_>| {
            let subject = &point.fastest.subject;
            let language = names::language(subject);
            Value::text(&subject.library)
                .on_page(html! { (subject.library) " " span.muted { "· " (language) } })
        }),
        Column::number("slowest", |point: &Line<'_>| {
            Value::text(unit.figure(point.slowest_ns))
        })
        .titled(format!("slowest, {}", unit.name)),
        Column::number("libraries", |point: &Line<'_>| {
            Value::count(point.libraries as u64)
        }),
    ];
    let caption = format!(
        "Size and time to verify or decrypt, in {}, the shortest token first",
        unit.name
    );
    let table = Table::new(
        caption,
        format!("{title}, size and time to verify, table"),
        &columns,
        points,
    );
    Section::new(title)
        .chart(chart)
        .table(table.figures().id(id).folded("Table"))
}
