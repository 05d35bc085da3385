//! Report 4, two Go libraries with benchstat: ten signatures, ten checks, ten sizes.

use super::draft::{Draft, Fields, Figure, Line, RatioTo, Work, read};
use super::source::REPORT_4;
use super::work;
use jeton_lab_model::result::{Quantity, RowId};

const BENCHSTAT: &str = include_str!("../data/report4-benchstat.csv");

/// Its claims set: an issuer and a time.
pub(super) const CLAIMS: &str = "report4";

const VERSION: &str = "cristalhq 3.0.1 is no longer available; the measured version is 3.0.14. That one refuses RSA \
                       keys of 1,024 and 4,096 bits for RS384, so a substitute is measured with them: 3.1.0.";

/// The two libraries' drivers.
pub(super) const PASCALDEKLOE: &str = "go/pascaldekloe";
pub(super) const CRISTALHQ: &str = "go/cristalhq";
/// The next version: 3.0.14 refuses RSA keys of other sizes than 3,072 bits for RS384, and 3.0.1 took them.
const CRISTALHQ_SUBSTITUTE: &str = "go/cristalhq-v3.1";

const WEAK: &str = "An RSA key of 1,024 bits is weak. It is measured because the report did, and never \
                    with jeton.";
const SAME_WORK: &str =
    "The published figures compare different work; the measured ones compare the same work.";
const UNEQUAL: &str = "cristalhq's side verifies a token that was parsed outside of the timed part and decodes no \
                       claims; pascaldekloe's side parses, verifies and decodes. Do not compare the two columns.";
const SIZES: &str = "The report's two sides signed different claims; in this run both sign the same claims, so \
                     the difference comes from their headers.";

/// The tables: title, whether of times, the verb of the report, the operations of the lab, and a note.
#[rustfmt::skip]
const TABLES: [(&str, bool, &str, [&str; 2], &str); 4] = [
    ("signing, time", true, "sign", ["sign", "sign"], WEAK),
    ("checking the same work: parsed, verified and decoded by both, time", true, "check", ["verify", "verify"], SAME_WORK),
    ("checking as it was timed: UNEQUAL WORK, time", true, "check", ["verify", "verify-parsed"], UNEQUAL),
    ("token sizes", false, "", ["sign", "sign"], SIZES),
];

pub(super) fn tables() -> Vec<Draft> {
    let all = read(BENCHSTAT);
    let tables = TABLES
        .into_iter()
        .map(|(title, is_time, of_verb, operations, note)| {
            // Times have a unit; sizes have none.
            let of_table = all.iter().filter(|record| {
                record.text("cristalhq_3_0_1").contains("s ±") == is_time
                    && (verb(record) == of_verb || !is_time)
            });
            let lines = of_table.map(|record| {
                let alg = algorithm(record);
                let [theirs, own] = [(PASCALDEKLOE, 0), (CRISTALHQ, 1)]
                    .map(|(of, at)| doing(of, alg, operations[at]));
                let figures = [("pascaldekloe_1_9_0", theirs), ("cristalhq_3_0_1", own)];
                Line {
                    name: format!("{} {alg}", verb(record)),
                    figures: figures
                        .map(|(column, work)| figure(record, column, work))
                        .into(),
                }
            });
            Draft {
                source: REPORT_4,
                title: title.to_owned(),
                quantity: if is_time {
                    Quantity::Time
                } else {
                    Quantity::TokenBytes
                },
                columns: vec!["pascaldekloe 1.9.0", "cristalhq 3.0.1"],
                ratio_to: RatioTo::FirstColumn,
                notes: vec![VERSION, note],
                lines: lines.collect(),
            }
        });
    tables.collect()
}

/// One of its works: `RS384@1024` is an algorithm with its key size.
pub(super) fn doing(driver: &str, alg: &str, operation: &str) -> RowId {
    let driver = if driver == CRISTALHQ && alg.contains('@') {
        CRISTALHQ_SUBSTITUTE
    } else {
        driver
    };
    let subject = format!("{driver}:jwt:{alg}:prepared");
    work(&subject, operation, CLAIMS, 1)
}

/// Maps `ECDSA/sign-ES256-8` to `sign`.
fn verb(line: &Fields) -> &str {
    let (_, case) = line.text("benchmark").split_once('/').unwrap_or_default();
    case.split('-').next().unwrap_or_default()
}

/// Maps `RSA/sign-1024-bit-8` to RS384 with that key size; the usual size is omitted.
fn algorithm(line: &Fields) -> &'static str {
    let benchmark = line.text("benchmark");
    let known = [
        ("1024-bit", "RS384@1024"),
        ("2048-bit", "RS384"),
        ("4096-bit", "RS384@4096"),
        ("ES256", "ES256"),
        ("ES384", "ES384"),
        ("ES512", "ES512"),
        ("EdDSA-8", "EdDSA"),
        ("HS256", "HS256"),
        ("HS384", "HS384"),
        ("HS512", "HS512"),
    ];
    let found = known.iter().find(|(part, _)| benchmark.contains(part));
    found.map_or("", |(_, alg)| alg)
}

fn figure(record: &Fields, column: &str, work: RowId) -> Figure {
    let [text, delta, p, n] = [column, "delta", "p", "n"].map(|column| record.text(column));
    Figure {
        published: value(text),
        text: format!("{text} ({delta}, {p}, {n})"),
        work: Work::Timed(work),
    }
}

/// Parses `28.4µs ± 3%` to nanoseconds, and `166 ± 0%` as it is.
fn value(text: &str) -> Option<f64> {
    let figure = text.split('±').next()?.trim();
    for (unit, nanoseconds) in [("ns", 1.0), ("µs", 1e3), ("ms", 1e6)] {
        if let Some(number) = figure.strip_suffix(unit) {
            return number.parse::<f64>().ok().map(|n| n * nanoseconds);
        }
    }
    figure.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn benchstat_times_have_units() {
        assert_eq!(value("28.4µs ± 3%"), Some(28_400.0));
        assert_eq!(value("4.57ms ± 1%"), Some(4_570_000.0));
        assert_eq!(value("166 ± 0%"), Some(166.0));
        assert_eq!(value("~"), None);
    }
}
