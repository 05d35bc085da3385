//! JWT or PASETO: the comparison in which only the format differs.

use jeton_lab_model::names;
use jeton_lab_model::result::{Row, RunResult, Subject, Verdict, VerdictKind};
use jeton_lab_model::units;

use super::super::candidate::{claims_of, named};
use super::super::sure::of_verdict;
use super::{Answer, Bar, Figure, Measured, short};
use crate::grouped::grouped;

const OPERATIONS: [(&str, &str); 3] = [
    ("round-trip", "to sign and verify"),
    ("verify", "to verify"),
    ("sign", "to sign"),
];

pub(super) fn answer(result: &RunResult) -> Answer {
    let mut found = OPERATIONS.into_iter();
    let found = found.find_map(|(operation, words)| Some((find(result, operation)?, words)));
    let Some((verdict, words)) = found else {
        let what = "a JWT and a PASETO with the same algorithm in the same library";
        return Answer::missing("format", what);
    };
    let [low, high] = verdict.interval.map(units::ratio);
    let of = |id: &str| {
        let signed = row(result, "sign", verdict, id);
        signed.or_else(|| row(result, &verdict.operation, verdict, id))
    };
    let [jwt, paseto] = [&verdict.baseline, &verdict.subject].map(|id| of(id));
    let subject = paseto.map(|row| &row.subject);
    let name = subject.map_or_else(|| verdict.subject.clone(), names::token);
    let library = subject.map_or_else(String::new, |subject| format!(", {}", named(subject)));
    let bytes = units::whole(jwt.map_or(0, |row| row.claims.bytes));
    let measured = Measured {
        figure: Figure {
            value: format!("{}\u{a0}×", units::ratio(verdict.ratio)),
            interval: format!("{low} to {high}"),
            what: format!("the time of a JWT, {words} {bytes}-byte claims{library}"),
        },
        bars_show: "Time per operation with the same algorithm in the same library".to_owned(),
        bars: bars(result, verdict),
        sure: of_verdict(result, verdict, subject.is_some_and(Subject::is_managed)),
    };
    let signed = sentence(&name, verdict.verdict, jwt.zip(paseto));
    let more = [elsewhere(result, verdict), encrypted(result, verdict)].concat();
    Answer::new("format", signed + &more, Some(measured))
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
    let pair = |one: &Verdict| (one.baseline.clone(), one.subject.clone(), one.threads);
    let others = result.verdicts.iter().filter(|other| {
        pair(other) == pair(verdict) && other.claims != verdict.claims && !other.confounded
    });
    let by_claims = grouped(others.map(|other| (&other.claims, other.verdict)));
    let words = [
        (VerdictKind::Faster, VerdictKind::Slower, "faster"),
        (VerdictKind::Slower, VerdictKind::Faster, "slower"),
    ];
    let other = words
        .into_iter()
        .filter(|(kind, ..)| *kind != verdict.verdict);
    let said = other.filter_map(|(kind, opposite, word)| {
        // A set with which one operation is faster and another slower is neither.
        let is_it = |kinds: &[VerdictKind]| kinds.contains(&kind) && !kinds.contains(&opposite);
        let sets = by_claims.iter().filter(|(_, kinds)| is_it(kinds)).count();
        let all = units::count(by_claims.len(), "other claims set", "other claims sets");
        (sets > 0).then(|| format!(" With {sets} of {all}, it signs or verifies {word}."))
    });
    said.collect()
}

/// Compares encrypted tokens of the same library, whose ciphers differ too.
fn encrypted(result: &RunResult, verdict: &Verdict) -> String {
    let driver = |id: &'_ str| id.split(':').next().unwrap_or_default().to_owned();
    let own = driver(&verdict.subject);
    let pair = |operation: &str| {
        result.verdicts.iter().find(|other| {
            other.operation == operation
                && other.claims == verdict.claims
                && other.threads == verdict.threads
                && other.factors == ["format", "algorithm"]
                && other.baseline.contains(":jwe:")
                && other.subject.contains(".local:")
                && driver(&other.baseline) == own
                && driver(&other.subject) == own
                && other.ratio.is_finite()
        })
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
    let tokens = pair("encrypt").and_then(|first| {
        let of = |id: &str| row(result, "encrypt", first, id).map(|row| names::token(&row.subject));
        of(&first.baseline).zip(of(&first.subject))
    });
    tokens.map_or_else(String::new, |(jwe, paseto)| {
        let (paseto, said) = (short(&paseto), said.collect::<Vec<_>>().join(", "));
        format!(" Encrypted, time of {paseto} against {jwe}: {said}.")
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

fn bars(result: &RunResult, verdict: &Verdict) -> Vec<Bar> {
    let both = ["sign", "verify"].into_iter().flat_map(|operation| {
        [&verdict.baseline, &verdict.subject]
            .map(|id| (operation, row(result, operation, verdict, id)))
    });
    let bars = both.filter_map(|(operation, row)| {
        let timing = row?.ns_per_op.as_ref()?;
        let token = names::token(&row?.subject);
        Some(Bar {
            name: format!("{operation} {}", short(&token)),
            in_full: format!("{operation}, {token}"),
            median: timing.median,
            interval: timing.interval,
            ..Bar::default()
        })
    });
    bars.collect()
}

fn sentence(name: &str, verdict: VerdictKind, rows: Option<(&Row, &Row)>) -> String {
    let jwt = "a JWT with the same algorithm and library";
    let sizes = rows.and_then(|(jwt, paseto)| Some((jwt.token_bytes?, paseto.token_bytes?)));
    let size = match sizes {
        None => String::new(),
        Some((jwt, paseto)) if jwt == paseto => " It has the same size.".to_owned(),
        Some((jwt, paseto)) => {
            let [jwt, paseto] = [jwt, paseto].map(units::whole);
            format!(" It has {paseto} instead of {jwt} bytes.")
        }
    };
    let time = match verdict {
        VerdictKind::Equivalent if sizes.is_some_and(|(jwt, paseto)| jwt == paseto) => {
            return format!("Signed: {name} is as fast and as large as {jwt}.");
        }
        VerdictKind::Equivalent => "is as fast as",
        VerdictKind::Faster => "is faster than",
        VerdictKind::Slower => "is slower than",
        VerdictKind::Undecided => {
            return format!("Signed: it is undecided whether {name} is slower than {jwt}.{size}");
        }
    };
    format!("Signed: {name} {time} {jwt}.{size}")
}
