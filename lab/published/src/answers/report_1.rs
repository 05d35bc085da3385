//! Conclusions of report 1: JWT or PASETO.

use super::attacked::{EXPIRY, KEYS, TAMPERING, TRUNCATION, TYPES, algorithm_is_chosen};
use super::evidence::{Evidence, Finding, Judge, Open, time};
use super::pair::{ONE_JWT, Pair, Statement, all};
use super::{Conclusion, Rule};
use crate::report_1::{JWT, JWT_LOADED, JWT_MADE, PASETO, PASETO_LOADED};
use crate::work;
use jeton_lab_model::claims::REPORT_1_CONCURRENCY;
use jeton_lab_model::result::{Answer, RowId, Status};

const ONE_PASETO: &str = "rust/jeton:v4.public:prepared";
const ONE_JWT_LOADED: &str = "rust/jeton:jwt:EdDSA:jwk";
const ONE_PASETO_LOADED: &str = "rust/jeton:v4.public:paserk";

/// What bears on whether a format's structure is clearer (RFC 7515, section 4.1).
const STRUCTURE: &str = "the header of a JWT is JSON, for which RFC 7515 registers 11 members; the header of a \
                         PASETO is one of the fixed texts, for example `v4.public.`";

/// The report's names of payloads.
const STRING: &str = "report1-string";
const COMPLEX: &str = "report1-complex";
const SMALL: [&str; 2] = [STRING, "report1-simple"];
const LARGE: [&str; 2] = ["report1-large", "report1-very-large"];
/// All of them, by which it compares memory.
const SIZES: [&str; 5] = [SMALL[0], SMALL[1], COMPLEX, LARGE[0], LARGE[1]];
const CONCURRENT: &[&str] = &[REPORT_1_CONCURRENCY];

/// The format that a conclusion is about.
#[derive(Clone, Copy)]
enum First {
    Jwt,
    Paseto,
}
use First::{Jwt, Paseto};
use Statement::{AsFast, Equal, Faster};

type PairRow = (&'static str, Statement, First, Names, Names, Names);
type Names = &'static [&'static str];

/// What is said of which format, by operations (added), claims of the report, and claims with one factor. Its small
/// payloads are all similar to its string, which is enough for one factor. No claims of 10 to 100 KB have the format as
/// the only factor: those just below and just above.
#[rustfmt::skip]
const PAIRS: [PairRow; 15] = [
    ("1.2", Faster, Jwt, &["load-key"], &["standard"], &["standard"]),
    ("1.3a", AsFast, Paseto, &["sign"], &SMALL, &[STRING]),
    ("1.3c", Faster, Paseto, &["sign"], &[COMPLEX], &[COMPLEX]),
    ("1.3d", Faster, Jwt, &["sign"], &LARGE, &LARGE),
    ("1.4a", Faster, Paseto, &["verify"], &SMALL, &[STRING]),
    ("1.4b", Faster, Jwt, &["verify"], &LARGE, &LARGE),
    ("1.5", Faster, Paseto, &["round-trip"], &SMALL, &["standard"]),
    ("1.8a", Faster, Paseto, &["sign"], CONCURRENT, CONCURRENT),
    ("1.8b", Faster, Paseto, &["verify"], CONCURRENT, CONCURRENT),
    ("1.8c", Faster, Paseto, &["round-trip"], CONCURRENT, &["standard"]),
    ("1.9a", Faster, Paseto, &["sign", "verify"], &["text-100"], &[STRING]),
    ("1.9b", Faster, Paseto, &["sign", "verify"], &["text-1000"], &[LARGE[0]]),
    ("1.9c", Faster, Jwt, &["sign", "verify"], &["text-10000"], &LARGE),
    ("1.9d", Faster, Jwt, &["sign", "verify"], &["text-100000"], &["text-100000"]),
    ("1.12a", Faster, Jwt, &["sign", "verify"], &[LARGE[1]], &[LARGE[1]]),
];

/// A conclusion, the attacks that both libraries must reject, what the preflight tests of them, and what remains open if
/// it holds.
type Rejected = (
    &'static str,
    &'static [&'static str],
    Option<&'static str>,
    &'static str,
);

const BY_ITSELF: &str =
    "; how they check is not measured: go-paseto's own parser has a rule for it";

#[rustfmt::skip]
const REJECTED: [Rejected; 6] = [
    ("1.10a", &KEYS, Some("a token signed with another key"), ""),
    ("1.10b", &TAMPERING, Some("a token with one changed bit in its header, its claims or its signature"), ""),
    ("1.10c", &TRUNCATION, None, ""),
    ("1.10d", &EXPIRY, Some("an expired token"), BY_ITSELF),
    ("1.10e", &TYPES, None, ""),
    EXPIRED,
];
const EXPIRED: Rejected = ("1.11d", &EXPIRY, Some("an expired token"), "");

/// Conclusions at the end of the report, which follow from earlier ones.
const TOGETHER: [(&str, &[&str]); 8] = [
    ("1.12d", &["1.3b", "1.6"]),
    ("1.12e", &["1.8a", "1.8b", "1.8c"]),
    ("1.12f", &["1.3a", "1.4a", "1.5"]),
    ("1.12g", &["1.11a", "1.11c"]),
    ("1.13b", &["1.3b", "1.6"]),
    ("1.13c", &["1.11a"]),
    ("1.13d", &["1.3d", "1.4b"]),
    ("1.13e", &["1.8a", "1.8b", "1.8c"]),
];

pub(super) fn conclusions(threads: u32) -> Vec<Conclusion> {
    let pairs = PAIRS
        .into_iter()
        .map(|(id, said, first, operations, claims, one)| {
            let pairs = |subjects: [&str; 2], claims: &[&str]| {
                let [first, second] = match first {
                    Jwt => subjects,
                    Paseto => [subjects[1], subjects[0]],
                };
                let pair = |claims: &&str| {
                    let threads = if *claims == REPORT_1_CONCURRENCY {
                        threads
                    } else {
                        1
                    };
                    let of = |subject| {
                        operations
                            .iter()
                            .map(|op| work(subject, op, claims, threads))
                            .collect()
                    };
                    Pair {
                        first: of(first),
                        second: of(second),
                    }
                };
                claims.iter().map(pair).collect()
            };
            let (original, alone) = match operations {
                ["load-key"] => (
                    [JWT_LOADED, PASETO_LOADED],
                    [ONE_JWT_LOADED, ONE_PASETO_LOADED],
                ),
                _ => ([JWT, PASETO], [ONE_JWT, ONE_PASETO]),
            };
            (
                id,
                Rule::Pairs(said, pairs(original, claims), pairs(alone, one)),
            )
        });
    let rejected = REJECTED.into_iter();
    let rejected =
        rejected.map(|(id, attacks, what, more)| (id, Rule::Rejected(attacks, what, more)));
    let together = TOGETHER
        .into_iter()
        .map(|(id, ids)| (id, Rule::Together(ids)));
    let of = |subjects: &[&str], operations: &[&str], claims: &[&str]| {
        let mut works = Vec::new();
        for operation in operations {
            for claims in claims {
                works.extend(
                    subjects
                        .iter()
                        .map(|subject| work(subject, operation, claims, 1)),
                );
            }
        }
        works
    };
    let (both, timed) = ([JWT, PASETO], ["sign", "verify"]);
    let equal = [SMALL, LARGE].concat();
    let one = [JWT, PASETO, ONE_JWT, ONE_PASETO];
    let figures: [(&str, Vec<RowId>, Judge); 11] = [
        (
            "1.1",
            of(&[JWT_MADE, PASETO], &["generate-key"], &["standard"]),
            key_making,
        ),
        ("1.3b", of(&one, &["sign"], &[STRING]), lighter),
        ("1.6", of(&both, &timed, &SIZES), fewer_allocations),
        ("1.7", of(&both, &timed, &LARGE[1..]), heavier),
        ("1.11a", Vec::new(), |e, _| algorithm_is_chosen(e)),
        ("1.11b", Vec::new(), |_, _| Ok(Finding::opinion(STRUCTURE))),
        ("1.11c", of(&one[2..], &["verify"], &[STRING]), primitives),
        ("1.12b", Vec::new(), automatic_expiry),
        ("1.12c", Vec::new(), libraries),
        ("1.13a", of(&both, &timed, &equal), equal_speed),
        ("1.13f", Vec::new(), libraries),
    ];
    let figures = figures
        .into_iter()
        .map(|(id, works, answer)| (id, Rule::Figures(works, answer)));
    pairs
        .chain(rejected)
        .chain(together)
        .chain(figures)
        .collect()
}

fn key_making(e: &Evidence<'_>, works: &[RowId]) -> Result<Finding, Open> {
    let (jwt, paseto) = (&works[0], &works[1]);
    let of_jwt = time(e.time(jwt)?);
    let offers_none = e.found(paseto).is_some_and(|row| {
        let reason = row.reason.as_deref().unwrap_or_default();
        row.status == Status::Unavailable && reason.starts_with("does not offer it")
    });
    let measured = format!("a P-256 key pair for a JWT: {of_jwt}");
    if offers_none {
        let why = "go-paseto generates no keys in this run";
        return Ok(Finding::new(Answer::Holds, measured, why, &works[..1]));
    }
    let of_paseto = time(e.time(paseto)?);
    let measured = format!("{measured}; a key pair for v4.public: {of_paseto}");
    let why = "go-paseto generates keys too; the difference comes from the curves";
    Ok(Finding::new(Answer::DoesNotHold, measured, why, works))
}

/// Answers whether PASETO allocates fewer bytes, in the original pair and with one factor.
fn lighter(e: &Evidence<'_>, works: &[RowId]) -> Result<Finding, Open> {
    let (original, alone) = works.split_at(2);
    let bytes = |works: &[RowId]| Ok::<_, Open>((e.memory(&works[0])?.0, e.memory(&works[1])?.0));
    let (jwt, paseto) = bytes(original)?;
    let measured = format!("the original pair: {paseto:.0} B/op against {jwt:.0}");
    if paseto >= jwt {
        let why = "the original pair does not show it in this run";
        return Ok(Finding::new(Answer::DoesNotHold, measured, why, original));
    }
    let (jwt, paseto) = bytes(alone)?;
    let measured =
        format!("{measured}; one library and one algorithm: {paseto:.0} B/op against {jwt:.0}");
    let (answer, why) = if paseto < jwt {
        (Answer::Holds, "the format as the only factor shows it too")
    } else {
        let why = "the pair differs in format, algorithm and library; with the format as the only factor \
                   PASETO does not allocate less, so the format is not its cause";
        (Answer::Artefact, why)
    };
    Ok(Finding::new(answer, measured, why, works))
}

fn fewer_allocations(e: &Evidence<'_>, works: &[RowId]) -> Result<Finding, Open> {
    let (mut outside, mut words) = (0, Vec::new());
    for pair in works.chunks(2) {
        let less = 1.0 - e.memory(&pair[1])?.1 / e.memory(&pair[0])?.1;
        // In whole percent, as it is printed: a reader counts those.
        let less = (less * 100.0).round();
        outside += usize::from(!(40.0..=60.0).contains(&less));
        let more = if less > 0.0 { "less" } else { "more" };
        let RowId {
            operation, claims, ..
        } = &pair[0];
        words.push(format!("{operation} {claims} {:.0} % {more}", less.abs()));
    }
    let whys = [
        "true at every size, for these two libraries".to_owned(),
        format!(
            "{outside} of {} are outside of 40 to 60 %, as in the report's own tables (76 against 72 \
             for parsing)",
            words.len()
        ),
    ];
    Ok(Finding::judged(outside == 0, words.join(", "), whys, works))
}

fn heavier(e: &Evidence<'_>, works: &[RowId]) -> Result<Finding, Open> {
    let (mut jwt_less, mut words) = (true, Vec::new());
    for pair in works.chunks(2) {
        let (jwt, paseto) = (e.memory(&pair[0])?.0, e.memory(&pair[1])?.0);
        jwt_less &= jwt < paseto;
        words.push(format!(
            "{}: JWT {jwt:.0} B/op, PASETO {paseto:.0}",
            pair[0].operation
        ));
    }
    let whys = [
        "true for these two libraries; the cause is not shown",
        "not true, as also in the report's own tables (763,500 against 712,679 bytes)",
    ];
    Ok(Finding::judged(jwt_less, words.join("; "), whys, works))
}

fn primitives(e: &Evidence<'_>, works: &[RowId]) -> Result<Finding, Open> {
    works.iter().try_for_each(|work| e.row(work).map(|_| ()))?;
    let measured = "one library signs and verifies both with Ed25519";
    let why = "the primitive belongs to the algorithm, not to the format: JWT supports Ed25519 too, \
               and the report compared ES256";
    Ok(Finding::new(Answer::Artefact, measured, why, works))
}

/// What bears on the choice by availability.
fn libraries(e: &Evidence<'_>, _: &[RowId]) -> Result<Finding, Open> {
    let [jwt, paseto] = e.libraries();
    Ok(Finding::opinion(format!(
        "this run has {jwt} libraries of JWT and {paseto} of PASETO; JWT has a choice of algorithms (RFC 7518, RFC \
         8037), each purpose of a PASETO version has one"
    )))
}

/// Answers whether automatic expiry distinguishes JWT. If both libraries reject expired tokens, it does
/// not.
fn automatic_expiry(e: &Evidence<'_>, _: &[RowId]) -> Result<Finding, Open> {
    let (id, attacks, what, more) = EXPIRED;
    let same = Rule::Rejected(attacks, what, more).answer(e, &[]);
    Ok(match same.answer {
        Answer::Holds => Finding::new(
            Answer::DoesNotHold,
            format!("underlying conclusion: {id} holds"),
            "both libraries reject expired tokens, so expiry is no reason to choose one",
            same.rows,
        ),
        Answer::DoesNotHold => Finding::missing(format!(
            "two libraries that reject expired tokens ({})",
            same.measured
        )),
        _ => super::together(&[(id, same)], &[id]),
    })
}

/// Answers whether both formats are equally fast, from the report's small and large claims.
fn equal_speed(e: &Evidence<'_>, works: &[RowId]) -> Result<Finding, Open> {
    let (mut agrees, mut words, mut rows) = (true, Vec::new(), Vec::new());
    for of_operation in works.chunks(works.len() / 2) {
        let pairs = of_operation.chunks(2).map(|pair| Pair {
            first: vec![pair[1].clone()],
            second: vec![pair[0].clone()],
        });
        let seen = all(e, Equal, &pairs.collect::<Vec<_>>())?;
        agrees &= seen.agrees;
        words.push(format!("{} {}", of_operation[0].operation, seen.words));
        rows.extend(seen.rows);
    }
    let measured = format!(
        "the original pair, PASETO against JWT: {}",
        words.join("; ")
    );
    let whys = [
        "equivalent with small and large claims",
        "equal means equivalent, with small and large claims",
    ];
    Ok(Finding::judged(agrees, measured, whys, rows))
}
