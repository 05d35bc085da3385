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
    let lines = read(TABLES);
    let of = |table: &str| -> Vec<Fields> {
        let of_table = lines.iter().filter(|line| line.text("table") == table);
        of_table.cloned().collect()
    };
    let mut tables = vec![keys(&of("keys"))];
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
            let lines = of(table).into_iter().map(|line| {
                let claims = claims_of(line.text("row"), operation);
                pair_line(&line, column, operation, claims, 1)
            });
            tables.push(draft(format!("{title}, {what}"), quantity, lines.collect()));
        }
    }
    tables.push(concurrent(&of("concurrent"), threads));
    tables.push(sizes());
    tables.extend(raw());
    tables
}

fn draft(title: String, quantity: Quantity, lines: Vec<Line>) -> Draft {
    Draft {
        source: REPORT_1,
        title,
        quantity,
        columns: vec!["JWT: golang-jwt 4, ES256", "PASETO: go-paseto, v4.public"],
        ratio_to: RatioTo::FirstColumn,
        notes: vec![PAIR],
        lines,
    }
}

fn keys(lines: &[Fields]) -> Draft {
    let lines = lines.iter().map(|line| {
        let name = line.text("row");
        let (operation, jwt, paseto) = match name {
            "Key Generation" => ("generate-key", JWT_MADE, PASETO),
            _ => ("load-key", JWT_LOADED, PASETO_LOADED),
        };
        let key = |subject: &str| work(subject, operation, "standard", 1);
        Line {
            name: name.to_owned(),
            figures: vec![
                figure(line, "jwt_ns", key(jwt)),
                figure(line, "paseto_ns", key(paseto)),
            ],
        }
    });
    let mut draft = draft("keys, time".into(), Quantity::Time, lines.collect());
    draft.notes.extend([
        "golang-jwt generates no keys: the report timed Go's crypto/ecdsa, and so does the lab.",
        "The report says that generating keys is not applicable to PASETO; go-paseto generates them.",
        "JWT keys are PEM; PASETO keys are hexadecimal.",
    ]);
    draft
}

fn concurrent(lines: &[Fields], threads: u32) -> Draft {
    let lines = lines.iter().map(|line| {
        let operation = match line.text("row") {
            "Concurrent Sign" => "sign",
            "Concurrent Parse" => "verify",
            _ => "round-trip",
        };
        pair_line(line, "ns", operation, REPORT_1_CONCURRENCY, threads)
    });
    let lines = lines.collect();
    let mut draft = draft("concurrency, time".into(), Quantity::Time, lines);
    draft.notes.push(
        "Times are divided by the operations of all threads: ten in the report, one per core in this run.",
    );
    draft
}

fn sizes() -> Draft {
    let lines = read(SIZES).into_iter().map(|line| {
        let name = line.text("row").to_owned();
        let claims = match claims_of(&name, "sign") {
            "" => text_of(&name),
            claims => claims,
        };
        pair_line(&line, "bytes", "sign", claims, 1)
    });
    let lines = lines.collect();
    let mut draft = draft("token sizes".into(), Quantity::TokenBytes, lines);
    draft.notes = vec![
        "Its complex struct contains the time of the run, so its length varies; the lab uses a fixed time.",
    ];
    draft
}

/// Its raw run: the sizes that it timed, and its memory benchmark.
fn raw() -> Vec<Draft> {
    let lines = read(RAW);
    let value = |benchmark: &str, name: &str, column: &str| {
        let line = lines.iter().find(|line| {
            let (kind, case) = line.text("benchmark").split_once('/').unwrap_or_default();
            kind == benchmark && case.trim_end_matches("-10") == name
        });
        line.and_then(|line| line.number(column))
    };
    let line = |name: String, benchmark: &str, column: &str, operation: &str, claims: &str| {
        let of = |package: &str, subject: &str| {
            let published = value(&format!("Benchmark{package}{benchmark}"), &name, column);
            Figure {
                text: published.map_or_else(|| "n/a".into(), |p| p.to_string()),
                published,
                work: Work::Timed(work(subject, operation, claims, 1)),
            }
        };
        let figures = vec![of("JWT", JWT), of("Paseto", PASETO)];
        Line { name, figures }
    };
    let mut timed = Vec::new();
    for (verb, operation) in [("Sign", "sign"), ("Parse", "verify")] {
        for size in ["Tiny", "Small", "Medium", "Large", "VeryLarge"] {
            let name = format!("{verb}_{size}");
            timed.push(line(
                name,
                "TokenSizes",
                "ns_per_op",
                operation,
                text_of(size),
            ));
        }
    }
    let memory = |column: &'static str| {
        [
            ("SignMemoryAllocation", "sign"),
            ("ParseMemoryAllocation", "verify"),
            ("RoundTripMemoryAllocation", "round-trip"),
        ]
        .map(|(name, operation)| {
            line(
                name.into(),
                "MemoryAllocation",
                column,
                operation,
                "report1-simple",
            )
        })
        .to_vec()
    };
    [
        ("by size of the payload, time", Quantity::Time, timed),
        (
            "memory, bytes allocated",
            Quantity::AllocatedBytes,
            memory("bytes_per_op"),
        ),
        (
            "memory, allocations",
            Quantity::Allocations,
            memory("allocs_per_op"),
        ),
    ]
    .into_iter()
    .map(|(title, quantity, lines)| {
        let mut draft = draft(title.to_owned(), quantity, lines);
        draft.notes.push(OTHER_RUN);
        draft
    })
    .collect()
}

fn pair_line(line: &Fields, column: &str, operation: &str, claims: &str, threads: u32) -> Line {
    let of = |side: &str, subject: &str| {
        let doing = work(subject, operation, claims, threads);
        figure(line, &format!("{side}_{column}"), doing)
    };
    Line {
        name: line.text("row").to_owned(),
        figures: vec![of("jwt", JWT), of("paseto", PASETO)],
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
