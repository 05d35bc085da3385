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

pub(super) fn tables() -> Vec<Draft> {
    let (jwe, jws) = (read(JWE), read(JWS));
    let draft = |title: &str, quantity, columns: &[&'static str], base, lines| Draft {
        source: REPORT_2,
        title: title.to_owned(),
        quantity,
        columns: columns.to_vec(),
        ratio_to: RatioTo::Row(base),
        notes: Vec::new(),
        lines,
    };
    let times = [
        ("encrypt", "encrypt_ms_per_1000"),
        ("decrypt", "decrypt_ms_per_1000"),
    ];
    let size = [("encrypt", "token_bytes")];
    let mut tables = vec![
        draft(
            "JWE, time",
            Quantity::Time,
            &["encrypt", "decrypt"],
            "dir with A128GCM",
            lines(&jwe, &times, jwe_name, jwe_subject),
        ),
        draft(
            "JWE, token size",
            Quantity::TokenBytes,
            &["bytes"],
            "dir with A128GCM",
            lines(&jwe, &size, jwe_name, jwe_subject),
        ),
    ];
    let times = [
        ("sign", "sign_ms_per_1000"),
        ("verify", "verify_ms_per_1000"),
    ];
    let size = [("sign", "token_bytes")];
    tables.extend([
        draft(
            "JWS, time",
            Quantity::Time,
            &["sign", "verify"],
            "HS256",
            lines(&jws, &times, jws_name, jws_subject),
        ),
        draft(
            "JWS, token size",
            Quantity::TokenBytes,
            &["bytes"],
            "HS256",
            lines(&jws, &size, jws_name, jws_subject),
        ),
    ]);
    for table in &mut tables {
        table.notes.push(match table.quantity {
            Quantity::Time => ONE_RUN,
            _ => SPACES,
        });
        if table.title.starts_with("JWS") {
            table.notes.push(
                "NONE is JSON and base64 without any security. The lab creates it; jeton does not \
                 create such tokens.",
            );
        } else {
            table.notes.push(
                "RSA keys have 3,072 bits in this table, and 2,048 in the table of signatures.",
            );
        }
    }
    tables
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

fn jwe_name(line: &Fields) -> String {
    format!("{} with {}", line.text("alg"), line.text("enc"))
}

fn jwe_subject(line: &Fields) -> String {
    jwe(line.text("alg"), line.text("enc"))
}

fn jws_name(line: &Fields) -> String {
    line.text("alg").to_owned()
}

fn jws_subject(line: &Fields) -> String {
    jws(line.text("alg"))
}

fn lines(
    lines: &[Fields],
    columns: &[(&str, &str)],
    name: fn(&Fields) -> String,
    subject: fn(&Fields) -> String,
) -> Vec<Line> {
    let line = |line: &Fields| Line {
        name: name(line),
        figures: columns
            .iter()
            .map(|(operation, column)| figure(line, column, doing(&subject(line), operation)))
            .collect(),
    };
    lines.iter().map(line).collect()
}

fn figure(line: &Fields, column: &str, work: RowId) -> Figure {
    let text = line.text(column);
    let published = line.number(column);
    let is_time = column.ends_with("ms_per_1000");
    Figure {
        // Milliseconds for a thousand operations are microseconds for one.
        published: published.map(|p| if is_time { p * 1e3 } else { p }),
        text: if is_time {
            format!("{text} ms/1,000")
        } else {
            text.to_owned()
        },
        work: Work::Timed(work),
    }
}
