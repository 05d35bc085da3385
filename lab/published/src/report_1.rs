//! Report 1, JWT and PASETO in Go: the tables of its README, and further figures of its raw run.

use super::draft::{Draft, Fields, Figure, Line, RatioTo, Work, read};
use super::source::REPORT_1;
use super::work;
use jeton_lab_model::claims::REPORT_1_CONCURRENCY;
use jeton_lab_model::result::{Quantity, Row, RowId};

const TABLES: &str = include_str!("../data/report1-tables.csv");
const RAW: &str = include_str!("../data/report1-raw.csv");
const SIZES: &str = include_str!("../data/report1-sizes.csv");

/// The subjects of its pair.
pub(super) const JWT: &str = "go/golang-jwt-v4:jwt:ES256:prepared";
pub(super) const PASETO: &str = "go/go-paseto:v4.public:prepared";
/// The subjects that generate and load their keys.
pub(super) const JWT_MADE: &str = "go/crypto:bare:ES256:prepared";
pub(super) const JWT_LOADED: &str = "go/golang-jwt-v4:jwt:ES256:pem";
pub(super) const PASETO_LOADED: &str = "go/go-paseto:v4.public:hex";

const PAIR: &str = "Format, algorithm and library differ together: the pair is confounded, so a \
                    difference has no single cause.";
const OTHER_RUN: &str =
    "These figures come from its raw output, which is another run than that of its README.";

/// Returns the threads of its concurrent measurements; two if there are none.
pub(super) fn threads_of(rows: &[Row]) -> u32 {
    let concurrent = rows
        .iter()
        .filter(|r| r.claims.name == REPORT_1_CONCURRENCY);
    concurrent.map(|r| r.threads).max().unwrap_or(1).max(2)
}

pub(super) fn tables(threads: u32) -> Vec<Draft> {
    let records = read(TABLES);
    let of = |table: &'static str| {
        records
            .iter()
            .filter(move |record| record.text("table") == table)
    };
    let mut tables = vec![keys(of("keys"))];
    for (table, title, operation) in [
        ("sign", "signing", "sign"),
        ("parse", "parsing", "verify"),
        ("round-trip", "signing and parsing", "round-trip"),
    ] {
        for (quantity, column, what) in [
            (Quantity::Time, "ns", "time"),
            (Quantity::AllocatedBytes, "bytes", "bytes allocated"),
            (Quantity::Allocations, "allocs", "allocations"),
        ] {
            let lines = of(table).map(|record| {
                let claims = claims_of(record.text("row"), operation);
                pair_line(record, column, operation, claims, 1)
            });
            tables.push(draft(&format!("{title}, {what}"), quantity, lines, &[PAIR]));
        }
    }
    let concurrent = of("concurrent").map(|record| {
        let operation = match record.text("row") {
            "Concurrent Sign" => "sign",
            "Concurrent Parse" => "verify",
            _ => "round-trip",
        };
        pair_line(record, "ns", operation, REPORT_1_CONCURRENCY, threads)
    });
    tables.push(draft(
        "concurrency, time",
        Quantity::Time,
        concurrent,
        &[PAIR, ALL_THREADS],
    ));
    let records = read(SIZES);
    let sizes = records.iter().map(|record| {
        let claims = match claims_of(record.text("row"), "sign") {
            "" => text_of(record.text("row")),
            claims => claims,
        };
        pair_line(record, "bytes", "sign", claims, 1)
    });
    tables.push(draft(
        "token sizes",
        Quantity::TokenBytes,
        sizes,
        &[FIXED_TIME],
    ));
    tables.extend(raw());
    tables
}

const ALL_THREADS: &str = "Times are divided by the operations of all threads: ten in the report, one per core in this run.";
const FIXED_TIME: &str = "Its complex struct contains the time of the run, so its length varies; the lab uses a fixed time.";

fn draft(
    title: &str,
    quantity: Quantity,
    lines: impl Iterator<Item = Line>,
    notes: &[&'static str],
) -> Draft {
    Draft {
        source: REPORT_1,
        title: title.to_owned(),
        quantity,
        columns: vec!["JWT: golang-jwt 4, ES256", "PASETO: go-paseto, v4.public"],
        ratio_to: RatioTo::FirstColumn,
        notes: notes.to_vec(),
        lines: lines.collect(),
    }
}

fn keys<'r>(records: impl Iterator<Item = &'r Fields>) -> Draft {
    let lines = records.map(|record| {
        let name = record.text("row");
        let (operation, subjects) = match name {
            "Key Generation" => ("generate-key", [JWT_MADE, PASETO]),
            _ => ("load-key", [JWT_LOADED, PASETO_LOADED]),
        };
        let [jwt, paseto] = subjects.map(|subject| work(subject, operation, "standard", 1));
        Line {
            name: name.to_owned(),
            figures: vec![
                figure(record, "jwt_ns", jwt),
                figure(record, "paseto_ns", paseto),
            ],
        }
    });
    let notes = [
        PAIR,
        "golang-jwt generates no keys: the report timed Go's crypto/ecdsa, and so does the lab.",
        "The report says that generating keys is not applicable to PASETO; go-paseto generates them.",
        "JWT keys are PEM; PASETO keys are hexadecimal.",
    ];
    draft("keys, time", Quantity::Time, lines, &notes)
}

/// Its raw run: the sizes that it timed, and its memory benchmark.
fn raw() -> [Draft; 3] {
    let records = read(RAW);
    let value = |benchmark: &str, name: &str, column: &str| {
        let record = records.iter().find(|record| {
            let (kind, case) = record.text("benchmark").split_once('/').unwrap_or_default();
            kind == benchmark && case.trim_end_matches("-10") == name
        });
        record.and_then(|record| record.number(column))
    };
    let line = |name: String, benchmark: &str, column: &str, operation: &str, claims: &str| {
        let figures = [("JWT", JWT), ("Paseto", PASETO)].map(|(package, subject)| {
            let published = value(&format!("Benchmark{package}{benchmark}"), &name, column);
            Figure {
                text: published.map_or_else(|| "n/a".into(), |p| p.to_string()),
                published,
                work: Work::Timed(work(subject, operation, claims, 1)),
            }
        });
        let figures = figures.into();
        Line { name, figures }
    };
    let timed = [("Sign", "sign"), ("Parse", "verify")]
        .into_iter()
        .flat_map(|(verb, operation)| {
            let sizes = ["Tiny", "Small", "Medium", "Large", "VeryLarge"].into_iter();
            sizes.map(move |size| (format!("{verb}_{size}"), operation, text_of(size)))
        });
    let timed = timed
        .map(|(name, operation, claims)| line(name, "TokenSizes", "ns_per_op", operation, claims));
    let memory = |title, quantity, column| {
        let operations = [
            ("Sign", "sign"),
            ("Parse", "verify"),
            ("RoundTrip", "round-trip"),
        ];
        let lines = operations.into_iter().map(|(verb, operation)| {
            let name = format!("{verb}MemoryAllocation");
            line(
                name,
                "MemoryAllocation",
                column,
                operation,
                "report1-simple",
            )
        });
        draft(title, quantity, lines, &[PAIR, OTHER_RUN])
    };
    [
        draft(
            "by size of the payload, time",
            Quantity::Time,
            timed,
            &[PAIR, OTHER_RUN],
        ),
        memory(
            "memory, bytes allocated",
            Quantity::AllocatedBytes,
            "bytes_per_op",
        ),
        memory(
            "memory, allocations",
            Quantity::Allocations,
            "allocs_per_op",
        ),
    ]
}

fn pair_line(record: &Fields, column: &str, operation: &str, claims: &str, threads: u32) -> Line {
    let figures = [("jwt", JWT), ("paseto", PASETO)].map(|(side, subject)| {
        let doing = work(subject, operation, claims, threads);
        figure(record, &format!("{side}_{column}"), doing)
    });
    Line {
        name: record.text("row").to_owned(),
        figures: figures.into(),
    }
}

fn figure(line: &Fields, column: &str, work: RowId) -> Figure {
    Figure {
        published: line.number(column),
        text: line.text(column).trim_end_matches('*').to_owned(),
        work: Work::Timed(work),
    }
}

/// Returns the claims set of a payload's name. One name stands for two payloads.
fn claims_of(name: &str, operation: &str) -> &'static str {
    match (name, operation) {
        ("String", _) => "report1-string",
        ("Simple Struct", _) => "report1-simple",
        ("Complex Struct", "round-trip") => "report1-complex-round-trip",
        ("Complex Struct", _) => "report1-complex",
        ("Large Data", _) => "report1-large",
        ("Very Large Data", _) => "report1-very-large",
        _ => "",
    }
}

fn text_of(size: &str) -> &'static str {
    match size {
        "Tiny" => "text-1",
        "Small" => "text-100",
        "Medium" => "text-1000",
        "Large" => "text-10000",
        _ => "text-100000",
    }
}
