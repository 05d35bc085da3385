//! The sections about kinds of token: sizes, limits of cookies and headers, overhead above the bare primitive, and size
//! with the time to verify.

use itertools::Itertools as _;
use maud::html;

use jeton_lab_model::names;
use jeton_lab_model::result::{ClaimsSet, Row, Timing};
use jeton_lab_model::units::{self, Unit};
use jeton_lab_stats::interval::{Ratio, estimate};

use crate::chart::{self, Axis, Chart, Point, icon};
use crate::comparison::time;
use crate::grouped::{distinct, distinct_by, grouped};
use crate::lines::Timed;
use crate::recommendation::rules::{Budget, USUAL};
use crate::recommendation::{claims_of, is_cache};
use crate::section::{Fold, Section};
use crate::table::{Column, Table, Value, columns};

/// With more claims sets than this, all except the first are folded.
const UNFOLDED_MAX: usize = 3;
/// With more kinds of token than this, only their number is shown.
const NAMED_MAX: usize = 3;

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
pub(crate) fn sizes(rows: &[Row]) -> Section {
    let sets = sets(rows);
    let section = Section::new("Token sizes").id("sizes");
    if sets.is_empty() {
        return section.say("No token was made.");
    }
    let parts = sets.iter().enumerate().map(|(number, set)| {
        let is_folded = number > 0 && sets.len() > UNFOLDED_MAX;
        let fold = if is_folded { Fold::Closed } else { Fold::Never };
        set.section(number).fold(fold)
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
    let rows = rows.iter().filter(|row| !row.reference);
    let made = rows.filter_map(|row| Some((&row.claims, (row, row.token_bytes?))));
    let set = |(claims, rows): (_, Vec<(&Row, u64)>)| {
        let kinds = rows.into_iter();
        let kinds = kinds.map(|(row, bytes)| ((bytes, names::token(&row.subject)), row));
        let kinds = grouped(kinds)
            .into_iter()
            .sorted_by(|(a, _), (b, _)| a.cmp(b));
        let sizes = kinds.map(|((bytes, token), rows)| Size {
            token,
            kind: kind(rows[0]),
            bytes,
            makers: distinct(rows.iter().map(|row| {
                let (library, language) = (&row.subject.library, names::language(&row.subject));
                format!("{library} ({language})")
            })),
        });
        let sizes = sizes.collect();
        Set { claims, sizes }
    };
    grouped(made).into_iter().map(set).collect()
}

impl Set<'_> {
    fn section(&self, number: usize) -> Section {
        let (name, claims) = (&self.claims.name, self.claims.bytes);
        let bytes = units::whole(claims);
        let title = format!("Claims set {name}, {bytes} bytes of JSON");
        let over = |size: &Size| match size.bytes.checked_sub(claims) {
            Some(more) => format!("+{}", units::whole(more)),
            None => format!("-{}", units::whole(claims - size.bytes)),
        };
        let columns = columns![Size:
            text("token") |size| Value::text(&size.token);
            number("bytes") |size| Value::bold(units::whole(size.bytes));
            number("more than the claims") |size| Value::text(over(size));
            text("made by") |size| Value::text(units::list(&size.makers));
        ];
        let table = Table::named(format!("Token sizes. {title}"), &columns, &self.sizes);
        let id = format!("sizes-{number}-table");
        // The charts of all sets look alike, and a page must stay small.
        if number > 0 {
            return Section::new(title).table(table.figures().id(id));
        }
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
        let rows = self.sizes.iter().map(row).collect();
        let label = format!(
            "Dot chart of token sizes on a log axis. {title}. The table below has every figure."
        );
        let chart = Chart {
            legend: legend(self.sizes.iter().map(|size| size.kind)),
            caption: format!(
                "The axis is logarithmic. The dashed line marks the size of the claims as JSON, {bytes} B."
            ),
            ..Chart::rows(label, id, Axis::Bytes, rows).line_at(claims as f64)
        };
        Section::new(title).charted(chart, table)
    }
}

/// Which tokens fit a cookie or a header line, with the limits of browsers and servers.
fn budgets(sets: &[Set<'_>]) -> Section {
    let lengths = |set: &Set<'_>| {
        let ends = [set.sizes.first(), set.sizes.last()];
        let ends = ends.map(|size| units::whole(size.map_or(0, |size| size.bytes)));
        ends.into_iter().dedup().join(" – ")
    };
    let mut columns = columns![&Set<'_>:
        text("claims set") |set| Value::with(&set.claims.name, &format!("{} bytes", units::whole(set.claims.bytes)));
        number("tokens, bytes") |set| Value::text(lengths(set));
    ];
    columns.extend(USUAL.iter().map(|budget| {
        let (carrier, bytes) = (budget.carrier.name(), units::whole(budget.bytes));
        let title = format!("{carrier} of {bytes}");
        Column::text(&title, |set: &&Set<'_>| fits(&set.sizes, budget))
    }));
    let sets: Vec<_> = sets.iter().collect();
    let table = Table::new("Tokens that fit, by claims set", "", &columns, &sets);
    let [first, second] = [0, 1].map(|index| USUAL[index].carrier.around());
    let limits = USUAL.iter();
    let limits = limits.map(|one| format!("{} bytes: {}.", units::whole(one.bytes), one.whose));
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
    let is_longer = |size: &&Size| budget.carrier.with(size.bytes) > budget.bytes;
    let too_long: Vec<&Size> = sizes.iter().filter(is_longer).collect();
    let (class, word) = match too_long.len() {
        0 => ("good", "all fit"),
        all if all == sizes.len() => ("bad", "none fit"),
        _ => ("warn", "not all"),
    };
    let kinds = too_long.iter().map(|size| size.token.as_str());
    let kinds: Vec<&str> = kinds.sorted_unstable().dedup().collect();
    let which = match kinds.len() {
        0..=NAMED_MAX => units::list(kinds),
        many => units::count(many, "kind of token", "kinds of token"),
    };
    let value = Value::text(word).on_page(html! { span.tag.(class) { (word) } });
    match class {
        "warn" => value.and_on_page(html! { " " small { (which) " too long" } }),
        _ => value,
    }
}

fn kind(row: &Row) -> &'static str {
    let subject = &row.subject;
    let alg = subject.alg.as_deref().unwrap_or_default();
    match subject.format.as_str() {
        "none" => "unsecured",
        "jwe" => "encrypted",
        format if format.ends_with(".local") => "encrypted",
        _ if alg.starts_with("HS") => "mac",
        _ => "signed",
    }
}

const KINDS: [(&str, &str); 4] = [
    ("mac", "symmetric: one secret signs and verifies"),
    ("signed", "asymmetric: third parties can verify"),
    ("encrypted", "encrypted"),
    ("unsecured", "no security"),
];

fn legend(occurring: impl Iterator<Item = &'static str> + Clone) -> Vec<(&'static str, String)> {
    let occurs = |(kind, _): &(&str, &str)| occurring.clone().any(|other| other == *kind);
    let own = KINDS.into_iter().filter(occurs);
    own.map(|(kind, words)| (kind, words.to_owned())).collect()
}

/// Returns the rows with a time that are no bare primitives and no hits of a cache, which verify nothing.
fn timed(rows: &[Row]) -> impl Iterator<Item = Timed<'_>> {
    let rows = rows.iter();
    let rows = rows.filter(|row| !row.reference && !is_cache(row.subject.driver()));
    rows.filter_map(|row| Some((row, time(row)?)))
}

/// The libraries for one kind of token and operation, the smallest ratio to the bare primitive first.
struct Overhead<'a> {
    operation: &'a str,
    token: String,
    primitive: &'a Timing,
    above: Vec<(Timed<'a>, String, Ratio)>,
}

pub(crate) fn overhead(rows: &[Row]) -> Section {
    let kinds = overheads(rows);
    let section = Section::new("Overhead above the bare primitive").id("overhead");
    if kinds.is_empty() {
        return section.say("No bare primitive was measured together with a library.");
    }
    let operations = grouped(kinds.iter().enumerate().map(|one| (one.1.operation, one)));
    let parts = operations.into_iter().map(|(operation, own)| {
        // All tables of an operation have one unit.
        let unit = Unit::for_times(own.iter().flat_map(|(_, kind)| kind.times()));
        let operation = units::capitalised(operation);
        let parts = own.into_iter();
        Section::new(format!("{operation}: times the bare primitive"))
            .parts(parts.map(|(number, kind)| kind.section(number, unit)))
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
    let primitives = rows.iter().filter(|row| row.reference);
    for (primitive, bare) in primitives.filter_map(|row| Some((row, time(row)?))) {
        let same = |(row, _): &Timed<'_>| {
            row.operation == primitive.operation
                && row.threads == primitive.threads
                && row.claims.name == primitive.claims.name
                && row.subject.key_handling == primitive.subject.key_handling
                && names::primitive(&row.subject) == names::primitive(&primitive.subject)
        };
        let same = timed(rows).filter(same);
        for (token, rows) in grouped(same.map(|one| (names::token(&one.0.subject), one))) {
            let rows = distinct_by(rows, |(row, _)| row.subject.id.clone());
            let (operation, above) = (primitive.operation.as_str(), above(&rows, bare));
            let is_known = |kind: &Overhead<'_>| kind.operation == operation && kind.token == token;
            if !above.is_empty() && !found.iter().any(is_known) {
                found.push(Overhead {
                    operation,
                    token,
                    primitive: bare,
                    above,
                });
            }
        }
    }
    found
}

fn above<'a>(rows: &[Timed<'a>], bare: &Timing) -> Vec<(Timed<'a>, String, Ratio)> {
    let subjects: Vec<_> = rows.iter().map(|(row, _)| &row.subject).collect();
    let named = rows.iter().zip(names::distinct(&subjects));
    let measured = named.filter_map(|(one, name)| {
        let ratio = estimate(&one.1.rounds, &bare.rounds, rows.len()).ok()?;
        let is_usable = ratio.ratio().is_finite() && ratio.ratio() > 0.0;
        is_usable.then_some((*one, name, ratio))
    });
    let mut above: Vec<_> = measured.collect();
    above.sort_by(|(.., a), (.., b)| a.ratio().total_cmp(&b.ratio()));
    above
}

impl Overhead<'_> {
    fn times(&self) -> impl Iterator<Item = f64> {
        let own = self.above.iter().map(|((_, timing), ..)| timing.median);
        own.chain([self.primitive.median])
    }

    fn section(&self, number: usize, unit: Unit) -> Section {
        let (operation, token) = (self.operation, &self.token);
        let rows = self.above.iter().map(|((row, _), name, ratio)| chart::Row {
            name: name.clone(),
            aside: [String::new(), names::language(&row.subject).to_owned()],
            value: format!("{} ×", units::times(ratio.ratio())),
            points: vec![Point::new("dot", ratio.ratio(), ratio.interval())],
            ..chart::Row::default()
        });
        let label = format!(
            "Dot chart, {operation}, {token}: time of {} as a multiple of the bare primitive, on a log axis. The table below has every figure.",
            units::count(self.above.len(), "library", "libraries")
        );
        let id = format!("overhead-{number}-table");
        let chart = Chart::rows(label, id, Axis::Factor, rows.collect()).line_at(1.0);
        let (bare, name) = (self.primitive.median, unit.name);
        let columns = columns![(Timed<'_>, String, Ratio):
            text("library") |((row, _), name, _)| Value::library(name, &row.subject);
            range("times the primitive") |(.., ratio)| Value::interval(ratio.ratio(), ratio.interval(), units::ratio);
            number(format!("added, {name}")) |((_, own), ..)| Value::text(unit.figure(own.median - bare));
            number(format!("time, {name}")) |((_, own), ..)| Value::text(unit.figure(own.median));
            number(format!("primitive, {name}")) |_| Value::text(unit.figure(bare));
        ];
        let operation = units::capitalised(operation);
        let caption =
            format!("{operation}, {token}: overhead above the bare primitive, times in {name}");
        let table = Table::named(caption, &columns, &self.above).folded("Table");
        Section::new(token).fold(Fold::Closed).charted(chart, table)
    }
}

/// A kind of token: its fastest library, and the slowest time.
struct Tradeoff<'a> {
    token: String,
    bytes: u64,
    fastest: Timed<'a>,
    slowest_ns: f64,
    libraries: usize,
}

/// The kinds of token that readers look for.
#[rustfmt::skip]
const USUAL_TOKENS: [&str; 8] = [
    "JWT HS256", "JWT EdDSA", "JWT ES256", "JWT RS256",
    "PASETO v4.public", "PASETO v4.local", "JWE dir+A256GCM", "JWT ML-DSA-44",
];

/// Token size with the time to verify, the shortest token first.
pub(crate) fn tradeoff(rows: &[Row]) -> Section {
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
    let kinds = kinds.into_iter().filter(|(_, all, _)| !all.is_empty());
    let parts = kinds.enumerate().map(|(number, (title, points, fold))| {
        tradeoff_part(title, &points, format!("tradeoff-{number}-table")).fold(fold)
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
    let opened = timed(rows).filter(|(row, _)| {
        row.threads == 1
            && row.claims.name == claims
            && row.subject.key_handling == "prepared"
            && matches!(row.operation.as_str(), "verify" | "decrypt")
            && row.token_bytes.is_some()
    });
    // Several suites may contain the same row.
    let opened = distinct_by(opened, |(row, _)| &row.subject.id).into_iter();
    let kinds = grouped(opened.map(|one| (names::token(&one.0.subject), one)));
    let points = kinds.into_iter().filter_map(|(token, mut own)| {
        own.sort_by(|(_, a), (_, b)| a.median.total_cmp(&b.median));
        let (fastest, slowest) = (*own.first()?, own.last()?);
        Some(Tradeoff {
            token,
            bytes: fastest.0.token_bytes?,
            fastest,
            slowest_ns: slowest.1.median,
            libraries: own.len(),
        })
    });
    let order = |a: &Tradeoff<'_>, b: &Tradeoff<'_>| {
        let order = a.bytes.cmp(&b.bytes);
        order.then(a.ns().total_cmp(&b.ns()))
    };
    points.sorted_by(order).collect()
}

impl Tradeoff<'_> {
    fn ns(&self) -> f64 {
        self.fastest.1.median
    }
}

fn tradeoff_part(title: &str, points: &[&Tradeoff<'_>], id: String) -> Section {
    let unit = Unit::for_times(points.iter().map(|point| point.ns()));
    let row = |point: &&Tradeoff<'_>| {
        let (row, timing) = point.fastest;
        let (library, language) = (&row.subject.library, names::language(&row.subject));
        chart::Row {
            name: point.token.clone(),
            aside: [format!("{library} · {language}"), String::new()],
            value: unit.text(timing.median),
            effect: [format!("{} B", units::whole(point.bytes)), String::new()],
            points: vec![Point::new(kind(row), timing.median, timing.interval)],
        }
    };
    let label = format!(
        "Dot chart, {title}: the time to verify of {} on a log axis, the shortest token first. The table below has every figure.",
        units::count(points.len(), "kind of token", "kinds of token")
    );
    let rows = points.iter().map(row).collect();
    let chart = Chart {
        legend: legend(points.iter().map(|point| kind(point.fastest.0))),
        ..Chart::rows(label, id, Axis::Time(unit), rows)
    };
    let kind = |point: &Tradeoff<'_>| {
        let kind = kind(point.fastest.0);
        let words = KINDS.iter().find(|(known, _)| *known == kind);
        let words = words.map_or("", |(_, words)| words);
        Value::text(words).on_page(html! { (icon(kind)) " " (words) })
    };
    let columns = columns![&Tradeoff<'_>:
        text("token") |point| Value::text(&point.token), .header();
        text("kind") |point| kind(point);
        number("bytes") |point| Value::count(point.bytes);
        number(format!("fastest, {}", unit.name)) |point| Value::bold(unit.figure(point.ns()));
        text("with") |point| Value::library(&point.fastest.0.subject.library, &point.fastest.0.subject);
        number(format!("slowest, {}", unit.name)) |point| Value::text(unit.figure(point.slowest_ns));
        number("libraries") |point| Value::count(point.libraries as u64);
    ];
    let caption = format!(
        "{title}: size and time to verify or decrypt, in {}, the shortest token first",
        unit.name
    );
    let table = Table::named(caption, &columns, points).folded("Table");
    Section::new(title).charted(chart, table)
}
