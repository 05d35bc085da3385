//! JWT or PASETO: the comparison in which only the format differs.

use jeton_lab_model::names;
use jeton_lab_model::result::{Row, RunResult, Verdict, VerdictKind};
use jeton_lab_model::units;

use super::super::claims_of;
use super::sure::of_verdict;
use super::{Answer, Bar, Figure, Measured};

/// The operations to answer by; the first one measured counts.
const OPERATIONS: [(&str, &str); 3] = [
    ("round-trip", "to sign and verify one token"),
    ("verify", "to verify one token"),
    ("sign", "to sign one token"),
];

pub(super) fn answer(result: &RunResult) -> Answer {
    let question = "JWT or PASETO?";
    let command = "jeton lab run formats";
    let found = OPERATIONS
        .iter()
        .find_map(|(operation, words)| Some((find(result, operation)?, *words)));
    let Some((verdict, words)) = found else {
        let what = "a JWT and a PASETO with the same algorithm in the same library";
        return Answer::missing("format", question, what, command);
    };
    let [low, high] = verdict.interval;
    let bars = bars(result, verdict);
    let paseto = row(result, "sign", verdict, &verdict.subject)
        .or_else(|| row(result, &verdict.operation, verdict, &verdict.subject));
    let jwt = row(result, "sign", verdict, &verdict.baseline)
        .or_else(|| row(result, &verdict.operation, verdict, &verdict.baseline));
    let name = paseto.map_or_else(|| verdict.subject.clone(), |row| names::token(&row.subject));
    let measured = Measured {
        figure: Figure {
            value: format!("{}\u{a0}×", units::ratio(verdict.ratio)),
            interval: format!("{} to {}", units::ratio(low), units::ratio(high)),
            what: format!("the time of a JWT, {words}"),
        },
        bars_show: "Time per operation with the same algorithm in the same library".to_owned(),
        bars,
        sure: of_verdict(result, verdict),
    };
    Answer {
        id: "format",
        question,
        sentence: sentence(&name, verdict.verdict, jwt.zip(paseto)),
        measured: Some(measured),
        command,
    }
}

/// Finds the verdict of an operation in which only the format differs, from JWT to PASETO.
fn find<'a>(result: &'a RunResult, operation: &str) -> Option<&'a Verdict> {
    let claims = claims_of(&result.rows.measured)?;
    result.verdicts.iter().find(|verdict| {
        verdict.operation == operation
            && verdict.claims == claims
            && verdict.threads == 1
            && !verdict.confounded
            && verdict.factors == ["format"]
            && verdict.baseline.contains(":jwt:")
            && verdict.interval.iter().all(|end| end.is_finite())
    })
}

fn row<'a>(result: &'a RunResult, operation: &str, verdict: &Verdict, id: &str) -> Option<&'a Row> {
    result.rows.measured.iter().find(|row| {
        row.operation == operation
            && row.subject.id == id
            && row.claims.name == verdict.claims
            && row.threads == verdict.threads
            && row.ns_per_op.is_some()
    })
}

/// Returns sign and verify of both formats.
fn bars(result: &RunResult, verdict: &Verdict) -> Vec<Bar> {
    let mut bars = Vec::new();
    for operation in ["sign", "verify"] {
        for id in [&verdict.baseline, &verdict.subject] {
            let Some(row) = row(result, operation, verdict, id) else {
                continue;
            };
            let Some(timing) = &row.ns_per_op else {
                continue;
            };
            let token = names::token(&row.subject);
            let short = token.strip_prefix("PASETO ").unwrap_or(&token);
            bars.push(Bar {
                name: format!("{operation} {short}"),
                in_full: format!("{operation}, {token}"),
                median: timing.median,
                interval: timing.interval,
            });
        }
    }
    bars
}

fn sentence(name: &str, verdict: VerdictKind, rows: Option<(&Row, &Row)>) -> String {
    let time = match verdict {
        VerdictKind::Equivalent => format!(
            "Time does not decide: {name} is as fast as a JWT with the same algorithm and library"
        ),
        VerdictKind::Faster => {
            format!("{name} is faster than a JWT with the same algorithm and library")
        }
        VerdictKind::Slower => {
            format!("{name} is slower than a JWT with the same algorithm and library")
        }
        VerdictKind::Undecided => format!(
            "It is undecided whether {name} is slower than a JWT with the same algorithm and library"
        ),
    };
    let sizes = rows.and_then(|(jwt, paseto)| Some((jwt.token_bytes?, paseto.token_bytes?)));
    match sizes {
        Some((jwt, paseto)) if jwt == paseto => {
            format!("{time}, and the token has the same size.")
        }
        Some((jwt, paseto)) => format!(
            "{time}. The token has {} instead of {} bytes.",
            units::whole(paseto),
            units::whole(jwt)
        ),
        None => format!("{time}."),
    }
}
