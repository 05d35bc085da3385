//! JWT or PASETO: the comparison in which only the format differs.

use std::collections::BTreeSet;

use jeton_lab_model::names;
use jeton_lab_model::result::{Row, RunResult, Subject, Verdict, VerdictKind};
use jeton_lab_model::units;

use super::super::claims_of;
use super::sure::of_verdict;
use super::{Answer, Bar, Figure, Measured};

/// The operations to answer by; the first one measured counts.
const OPERATIONS: [(&str, &str); 3] = [
    ("round-trip", "to sign and verify"),
    ("verify", "to verify"),
    ("sign", "to sign"),
];

pub(super) fn answer(result: &RunResult) -> Answer {
    let question = "JWT or PASETO?";
    let command = "jeton-lab run formats";
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
    let subject = paseto.map(|row| &row.subject);
    let library = subject.map_or_else(String::new, |subject| {
        format!(", {} ({})", subject.library, names::language(subject))
    });
    let bytes = units::whole(jwt.map_or(0, |row| row.claims.bytes));
    let measured = Measured {
        figure: Figure {
            value: format!("{}\u{a0}×", units::ratio(verdict.ratio)),
            interval: format!("{} to {}", units::ratio(low), units::ratio(high)),
            what: format!("the time of a JWT, {words} {bytes}-byte claims{library}"),
        },
        bars_show: "Time per operation with the same algorithm in the same library".to_owned(),
        bars,
        sure: of_verdict(result, verdict, subject.is_some_and(Subject::is_managed)),
    };
    Answer {
        id: "format",
        question,
        sentence: format!(
            "{}{}{}",
            sentence(&name, verdict.verdict, jwt.zip(paseto)),
            elsewhere(result, verdict),
            encrypted(result, verdict)
        ),
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

/// Says with how many other claims sets the format makes another difference.
fn elsewhere(result: &RunResult, verdict: &Verdict) -> String {
    let of_pair = result.verdicts.iter().filter(|other| {
        other.baseline == verdict.baseline
            && other.subject == verdict.subject
            && other.threads == verdict.threads
            && other.claims != verdict.claims
            && !other.confounded
    });
    let of_pair: Vec<&Verdict> = of_pair.collect();
    let all: BTreeSet<&str> = of_pair.iter().map(|other| other.claims.as_str()).collect();
    let has = |claims: &str, kind: VerdictKind| {
        let mut verdicts = of_pair.iter().filter(|other| other.claims == claims);
        verdicts.any(|other| other.verdict == kind)
    };
    // A set with which one operation is faster and another slower is neither.
    let with = |kind: VerdictKind, opposite: VerdictKind| {
        let claims = all
            .iter()
            .filter(|claims| has(claims, kind) && !has(claims, opposite));
        claims.count()
    };
    let words = [
        (VerdictKind::Faster, VerdictKind::Slower, "faster"),
        (VerdictKind::Slower, VerdictKind::Faster, "slower"),
    ];
    let other = words
        .into_iter()
        .filter(|(kind, ..)| *kind != verdict.verdict);
    let said = other.filter_map(|(kind, opposite, word)| match with(kind, opposite) {
        0 => None,
        sets => Some(format!(
            " With {sets} of {}, it signs or verifies {word}.",
            units::count(all.len(), "other claims set", "other claims sets")
        )),
    });
    said.collect()
}

/// Compares encrypted tokens of the same library, whose ciphers differ too.
fn encrypted(result: &RunResult, verdict: &Verdict) -> String {
    let driver = |id: &str| id.split(':').next().unwrap_or_default().to_owned();
    let pair = |operation: &str| {
        result.verdicts.iter().find(|other| {
            other.operation == operation
                && other.claims == verdict.claims
                && other.threads == verdict.threads
                && other.factors == ["format", "algorithm"]
                && other.baseline.contains(":jwe:")
                && other.subject.contains(".local:")
                && [&other.baseline, &other.subject].map(|id| driver(id))
                    == [driver(&verdict.subject), driver(&verdict.subject)]
                && other.ratio.is_finite()
        })
    };
    let Some(first) = pair("encrypt") else {
        return String::new();
    };
    let of = |id: &str| row(result, "encrypt", first, id).map(|row| names::token(&row.subject));
    let Some((jwe, paseto)) = of(&first.baseline).zip(of(&first.subject)) else {
        return String::new();
    };
    let said = ["encrypt", "decrypt"].into_iter().filter_map(|operation| {
        let pair = pair(operation)?;
        let time = match pair.verdict {
            VerdictKind::Equivalent => "as fast".to_owned(),
            VerdictKind::Undecided => "undecided".to_owned(),
            _ => format!("{}\u{a0}×", units::times(pair.ratio)),
        };
        Some(format!("{time} to {operation}"))
    });
    let paseto = paseto.strip_prefix("PASETO ").unwrap_or(&paseto);
    let said: Vec<String> = said.collect();
    format!(
        " Encrypted, time of {paseto} against {jwe}: {}.",
        said.join(", ")
    )
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
    let jwt = "a JWT with the same algorithm and library";
    let sizes = rows.and_then(|(jwt, paseto)| Some((jwt.token_bytes?, paseto.token_bytes?)));
    let time = match (verdict, sizes) {
        (VerdictKind::Equivalent, Some((own, other))) if own == other => {
            return format!("Signed: {name} is as fast and as large as {jwt}.");
        }
        (VerdictKind::Equivalent, _) => format!("{name} is as fast as {jwt}"),
        (VerdictKind::Faster, _) => format!("{name} is faster than {jwt}"),
        (VerdictKind::Slower, _) => format!("{name} is slower than {jwt}"),
        (VerdictKind::Undecided, _) => {
            format!("it is undecided whether {name} is slower than {jwt}")
        }
    };
    let size = sizes.map_or_else(String::new, |(jwt, paseto)| {
        if jwt == paseto {
            " It has the same size.".to_owned()
        } else {
            format!(
                " It has {} instead of {} bytes.",
                units::whole(paseto),
                units::whole(jwt)
            )
        }
    });
    format!("Signed: {time}.{size}")
}
