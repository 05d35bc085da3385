//! Report 2, a Java library: 42 encryptions and eight signatures, each with its size.

use super::draft::{Draft, Fields, Figure, Line, RatioTo, Work, read};
use super::source::REPORT_2;
use super::work;
use jeton_lab_model::result::{Quantity, RowId};

const JWE: &str = include_str!("../data/report2-jwe.csv");
const JWS: &str = include_str!("../data/report2-jws.csv");

/// Its claims set: ten strings, 375 bytes.
pub(super) const CLAIMS: &str = "report2";

const ONE_RUN: &str = "The first row of each block is an outlier: the report had no warm-up.";
const SPACES: &str = "The report's headers contain spaces. With --header-style report, jeton writes the \
                      same headers, and every size is equal to the byte.";
const BITS: &str = "RSA keys have 3,072 bits in this table, and 2,048 in the table of signatures.";
const UNSECURED: &str = "NONE is JSON and base64 without any security. The lab creates it; jeton does not \
                         create such tokens.";

pub(super) fn tables() -> Vec<Draft> {
    let kinds = [
        ("JWE", JWE, "dir with A128GCM", ["encrypt", "decrypt"], BITS),
        ("JWS", JWS, "HS256", ["sign", "verify"], UNSECURED),
    ];
    let tables = kinds
        .into_iter()
        .flat_map(|(kind, file, base, operations, note)| {
            let records = read(file);
            let draft = |what, quantity, columns: &[&'static str], own| Draft {
                source: REPORT_2,
                title: format!("{kind}, {what}"),
                quantity,
                columns: columns.to_vec(),
                ratio_to: RatioTo::Row(base),
                notes: vec![own, note],
                lines: records
                    .iter()
                    .map(|record| line(record, columns.len(), operations))
                    .collect(),
            };
            [
                draft("time", Quantity::Time, &operations, ONE_RUN),
                draft("token size", Quantity::TokenBytes, &["bytes"], SPACES),
            ]
        });
    tables.collect()
}

/// A line with the time of both operations, or with the size.
fn line(record: &Fields, columns: usize, operations: [&str; 2]) -> Line {
    let (alg, enc) = (record.text("alg"), record.text("enc"));
    let (name, subject) = match enc {
        "" => (alg.to_owned(), jws(alg)),
        enc => (format!("{alg} with {enc}"), jwe(alg, enc)),
    };
    let figures = operations[..columns].iter().map(|operation| {
        let time = format!("{operation}_ms_per_1000");
        let (column, unit, ns) = match columns {
            1 => ("token_bytes", "", 1.0),
            // Milliseconds for a thousand operations are microseconds for one.
            _ => (time.as_str(), " ms/1,000", 1e3),
        };
        Figure {
            published: record.number(column).map(|published| published * ns),
            text: format!("{}{unit}", record.text(column)),
            work: Work::Timed(doing(&subject, operation)),
        }
    });
    let figures = figures.collect();
    Line { name, figures }
}

/// The subject of a row of its encryptions.
pub(super) fn jwe(alg: &str, enc: &str) -> String {
    let bits = if alg.starts_with("RSA") { "@3072" } else { "" };
    format!("rust/jeton:jwe:{alg}+{enc}{bits}:prepared")
}

/// The subject of a row of its signatures.
pub(super) fn jws(alg: &str) -> String {
    match alg {
        "NONE" => "rust/reference:none:prepared".to_owned(),
        alg => format!("rust/jeton:jwt:{alg}:prepared"),
    }
}

/// One of its works, by subject id and operation.
pub(super) fn doing(subject: &str, operation: &str) -> RowId {
    work(subject, operation, CLAIMS, 1)
}
