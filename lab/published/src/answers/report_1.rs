//! Conclusions of report 1: JWT or PASETO.

use super::evidence::{Evidence, Finding, Open, time};
use super::pair::{Pair, Statement, all, confounded};
use super::{Claim, attacked, claim, of};
use crate::report_1::{JWT, JWT_LOADED, JWT_MADE, PASETO, PASETO_LOADED, threads_of};
use crate::source::REPORT_1;
use crate::work;
use jeton_lab_model::claims::REPORT_1_CONCURRENCY;
use jeton_lab_model::result::{Answer, ClaimAnswered, RowId, Status};

/// The same question with one factor: both Ed25519, in one library.
const ONE_JWT: &str = "rust/jeton:jwt:EdDSA:prepared";
const ONE_PASETO: &str = "rust/jeton:v4.public:prepared";
const ONE_JWT_LOADED: &str = "rust/jeton:jwt:EdDSA:jwk";
const ONE_PASETO_LOADED: &str = "rust/jeton:v4.public:paserk";

/// What bears on whether a format's structure is clearer (RFC 7515, section 4.1).
const STRUCTURE: &str = "the header of a JWT is JSON, for which RFC 7515 registers 11 members; the header of a \
                         PASETO is one of the fixed texts, for example `v4.public.`";
const ATTACKS: &str = "rows of `jeton-lab attack`, merged with this run (`jeton-lab merge`)";

/// A part of a conclusion that the rows do not decide.
const BY_ITSELF: &str =
    "; how they check is not measured: go-paseto's own parser has a rule for it";

/// The report's names of payloads.
const SMALL: [&str; 2] = ["report1-string", "report1-simple"];
const LARGE: [&str; 2] = ["report1-large", "report1-very-large"];

/// Text of four lengths, by which the report advises.
const TEXTS: [&str; 4] = ["text-100", "text-1000", "text-10000", "text-100000"];

/// The works that the conclusions are decided by.
pub(super) fn deciding(threads: u32) -> Vec<RowId> {
    let mut works = Vec::new();
    let mut pair = |subjects: [&str; 2], operation: &str, claims: &str, threads: u32| {
        works.extend(subjects.map(|subject| work(subject, operation, claims, threads)));
    };
    let (original, one) = ([JWT, PASETO], [ONE_JWT, ONE_PASETO]);
    pair([JWT_MADE, PASETO], "generate-key", "standard", 1);
    pair([JWT_LOADED, PASETO_LOADED], "load-key", "standard", 1);
    pair(
        [ONE_JWT_LOADED, ONE_PASETO_LOADED],
        "load-key",
        "standard",
        1,
    );
    for operation in ["sign", "verify"] {
        for claims in SMALL
            .iter()
            .chain(&["report1-complex"])
            .chain(&LARGE)
            .chain(&TEXTS)
        {
            pair(original, operation, claims, 1);
        }
        for claims in [
            "report1-string",
            "report1-complex",
            LARGE[0],
            LARGE[1],
            TEXTS[3],
        ] {
            pair(one, operation, claims, 1);
        }
        pair(one, operation, REPORT_1_CONCURRENCY, threads);
    }
    for claims in SMALL {
        pair(original, "round-trip", claims, 1);
    }
    pair(one, "round-trip", "standard", 1);
    for operation in ["sign", "verify", "round-trip"] {
        pair(original, operation, REPORT_1_CONCURRENCY, threads);
    }
    works
}

pub(super) fn answers(evidence: &Evidence<'_>) -> Vec<ClaimAnswered> {
    let e = evidence;
    let mut claims = keys(e);
    claims.extend(speed(e));
    claims.extend(memory(e));
    claims.extend(concurrency(e));
    claims.extend(sizes(e));
    claims.extend(security(e));
    let overall = overall(e, &claims);
    claims.extend(overall);
    of(REPORT_1, claims)
}

fn keys(e: &Evidence<'_>) -> Vec<Claim> {
    let key = |subject: &str, operation: &str| work(subject, operation, "standard", 1);
    let loaded = Pair::new(key(JWT_LOADED, "load-key"), key(PASETO_LOADED, "load-key"));
    let one = Pair::new(
        key(ONE_JWT_LOADED, "load-key"),
        key(ONE_PASETO_LOADED, "load-key"),
    );
    vec![
        claim(
            "1.1",
            key_making(
                e,
                &key(JWT_MADE, "generate-key"),
                &key(PASETO, "generate-key"),
            ),
        ),
        claim("1.2", confounded(e, Statement::Faster, &[loaded], &[one])),
    ]
}

fn key_making(e: &Evidence<'_>, jwt: &RowId, paseto: &RowId) -> Result<Finding, Open> {
    let of_jwt = e.time(jwt)?;
    let row = e.rows.iter().find(|row| paseto.names(row));
    let offers_none = |row: &&jeton_lab_model::result::Row| {
        let reason = row.reason.as_deref().unwrap_or_default();
        row.status == Status::Unavailable && reason.starts_with("does not offer it")
    };
    if row.is_some_and(|row| offers_none(&row)) {
        let measured = format!("a P-256 key pair for a JWT: {}", time(of_jwt));
        let why = "go-paseto generates no keys in this run";
        return Ok(Finding::new(
            Answer::Holds,
            measured,
            why,
            vec![jwt.clone()],
        ));
    }
    let of_paseto = e.time(paseto)?;
    let measured = format!(
        "a P-256 key pair for a JWT: {}; a key pair for v4.public: {}",
        time(of_jwt),
        time(of_paseto)
    );
    let why = "go-paseto generates keys too; the difference comes from the curves";
    let rows = vec![jwt.clone(), paseto.clone()];
    Ok(Finding::new(Answer::DoesNotHold, measured, why, rows))
}

fn speed(e: &Evidence<'_>) -> Vec<Claim> {
    let jwt_first = Statement::Faster;
    let smalls = |operation: &str| {
        SMALL
            .map(|claims| paseto_first(operation, claims, 1))
            .to_vec()
    };
    // The report's small payloads are all similar to its string; one of them is enough for one factor.
    let small = |operation: &str| vec![one_paseto_first(operation, "report1-string", 1)];
    let larges = |operation: &str| LARGE.map(|claims| jwt_first_of(operation, claims)).to_vec();
    let large = |operation: &str| {
        LARGE
            .map(|claims| one_jwt_first(operation, claims))
            .to_vec()
    };
    let complex = "report1-complex";
    let trips = ["report1-string", "report1-simple"];
    let trips = trips.map(|claims| paseto_first("round-trip", claims, 1));
    let trip = one_paseto_first("round-trip", "standard", 1);
    vec![
        claim(
            "1.3a",
            confounded(e, Statement::AsFast, &smalls("sign"), &small("sign")),
        ),
        claim(
            "1.3c",
            confounded(
                e,
                Statement::Faster,
                &[paseto_first("sign", complex, 1)],
                &[one_paseto_first("sign", complex, 1)],
            ),
        ),
        claim(
            "1.3d",
            confounded(e, jwt_first, &larges("sign"), &large("sign")),
        ),
        claim(
            "1.4a",
            confounded(e, Statement::Faster, &smalls("verify"), &small("verify")),
        ),
        claim(
            "1.4b",
            confounded(e, jwt_first, &larges("verify"), &large("verify")),
        ),
        claim("1.5", confounded(e, Statement::Faster, &trips, &[trip])),
    ]
}

fn memory(e: &Evidence<'_>) -> Vec<Claim> {
    vec![
        claim("1.3b", lighter(e, "sign", "report1-string")),
        claim("1.6", fewer_allocations(e)),
        claim("1.7", heavier(e)),
    ]
}

/// Answers whether PASETO allocates fewer bytes, in the original pair and with one factor.
fn lighter(e: &Evidence<'_>, operation: &str, claims: &str) -> Result<Finding, Open> {
    let of = |subject: &str| work(subject, operation, claims, 1);
    let (jwt, paseto) = (of(JWT), of(PASETO));
    let (one_jwt, one_paseto) = (of(ONE_JWT), of(ONE_PASETO));
    let (a, b) = (e.memory(&jwt)?.0, e.memory(&paseto)?.0);
    let mut measured = format!("the original pair: {b:.0} B/op against {a:.0}");
    let mut rows = vec![jwt, paseto];
    if b >= a {
        let why = "the original pair does not show it in this run";
        return Ok(Finding::new(Answer::DoesNotHold, measured, why, rows));
    }
    let (a, b) = (e.memory(&one_jwt)?.0, e.memory(&one_paseto)?.0);
    measured.push_str(&format!(
        "; one library and one algorithm: {b:.0} B/op against {a:.0}"
    ));
    rows.extend([one_jwt, one_paseto]);
    Ok(if b < a {
        Finding::new(
            Answer::Holds,
            measured,
            "the format as the only factor shows it too",
            rows,
        )
    } else {
        let why = "the pair differs in format, algorithm and library; with the format as the only factor \
                   PASETO does not allocate less, so the format is not its cause";
        Finding::new(Answer::Artefact, measured, why, rows)
    })
}

fn fewer_allocations(e: &Evidence<'_>) -> Result<Finding, Open> {
    let (mut shares, mut rows) = (Vec::new(), Vec::new());
    for operation in ["sign", "verify"] {
        for claims in SMALL.iter().chain(["report1-complex"].iter()).chain(&LARGE) {
            let of = |subject: &str| work(subject, operation, claims, 1);
            let (jwt, paseto) = (of(JWT), of(PASETO));
            let less = 1.0 - e.memory(&paseto)?.1 / e.memory(&jwt)?.1;
            // In whole percent, as it is printed: a reader counts those.
            shares.push((operation, *claims, (less * 100.0).round()));
            rows.extend([jwt, paseto]);
        }
    }
    let percent = |less: f64| match less {
        less if less > 0.0 => format!("{less:.0} % less"),
        less => format!("{:.0} % more", less.abs()),
    };
    let words: Vec<String> = shares
        .iter()
        .map(|(operation, claims, less)| format!("{operation} {claims} {}", percent(*less)))
        .collect();
    let outside = shares
        .iter()
        .filter(|(_, _, less)| !(40.0..=60.0).contains(less));
    let outside = outside.count();
    Ok(if outside == 0 {
        let why = "true at every size, for these two libraries";
        Finding::new(Answer::Holds, words.join(", "), why, rows)
    } else {
        let why = format!(
            "{outside} of {} are outside of 40 to 60 %, as in the report's own tables (76 against 72 \
             for parsing)",
            shares.len()
        );
        Finding::new(Answer::DoesNotHold, words.join(", "), why, rows)
    })
}

fn heavier(e: &Evidence<'_>) -> Result<Finding, Open> {
    let of = |subject: &str, operation: &str| work(subject, operation, LARGE[1], 1);
    let (mut jwt_less, mut words, mut rows) = (true, Vec::new(), Vec::new());
    for operation in ["sign", "verify"] {
        let (jwt, paseto) = (of(JWT, operation), of(PASETO, operation));
        let (a, b) = (e.memory(&jwt)?.0, e.memory(&paseto)?.0);
        jwt_less &= a < b;
        words.push(format!("{operation}: JWT {a:.0} B/op, PASETO {b:.0}"));
        rows.extend([jwt, paseto]);
    }
    let words = words.join("; ");
    Ok(if jwt_less {
        let why = "true for these two libraries; the cause is not shown";
        Finding::new(Answer::Holds, words, why, rows)
    } else {
        let why = "not true, as also in the report's own tables (763,500 against 712,679 bytes)";
        Finding::new(Answer::DoesNotHold, words, why, rows)
    })
}

fn concurrency(e: &Evidence<'_>) -> Vec<Claim> {
    let threads = threads_of(e.rows);
    let pair = |operation: &str| [paseto_first(operation, REPORT_1_CONCURRENCY, threads)];
    let one = |operation: &str| [one_paseto_first(operation, REPORT_1_CONCURRENCY, threads)];
    let trip = one_paseto_first("round-trip", "standard", 1);
    vec![
        claim(
            "1.8a",
            confounded(e, Statement::Faster, &pair("sign"), &one("sign")),
        ),
        claim(
            "1.8b",
            confounded(e, Statement::Faster, &pair("verify"), &one("verify")),
        ),
        claim(
            "1.8c",
            confounded(e, Statement::Faster, &pair("round-trip"), &[trip]),
        ),
    ]
}

fn sizes(e: &Evidence<'_>) -> Vec<Claim> {
    let both = |subject: &str, claims: &str| {
        ["sign", "verify"]
            .map(|operation| work(subject, operation, claims, 1))
            .to_vec()
    };
    let better = |paseto: bool, claims: &str, one: &[&str]| {
        let pair = |jwt: &str, other: &str, claims: &str| {
            let (jwt, other) = (both(jwt, claims), both(other, claims));
            let (first, second) = if paseto { (other, jwt) } else { (jwt, other) };
            Pair { first, second }
        };
        let published = [pair(JWT, PASETO, claims)];
        let one_factor: Vec<Pair> = one
            .iter()
            .map(|claims| pair(ONE_JWT, ONE_PASETO, claims))
            .collect();
        with_sizes(
            e,
            (claims, one),
            confounded(e, Statement::Faster, &published, &one_factor),
        )
    };
    vec![
        claim("1.9a", better(true, TEXTS[0], &["report1-string"])),
        claim("1.9b", better(true, TEXTS[1], &["report1-large"])),
        // No claims of this size have the format as the only factor: those just below and just above it.
        claim(
            "1.9c",
            better(false, TEXTS[2], &["report1-large", "report1-very-large"]),
        ),
        claim("1.9d", better(false, TEXTS[3], &[TEXTS[3]])),
    ]
}

/// Adds the sizes of the tokens to an answer: those of the original pair, and those of the pairs with one
/// factor, if they took part and their claims are others.
fn with_sizes(
    e: &Evidence<'_>,
    (claims, one): (&str, &[&str]),
    found: Result<Finding, Open>,
) -> Finding {
    let mut found = Finding::from(found);
    if found.answer == Answer::NotMeasured {
        return found;
    }
    let sizes = |jwt: &str, paseto: &str, claims: &str| {
        let size = |subject: &str| e.size(&work(subject, "sign", claims, 1)).ok();
        size(jwt).zip(size(paseto))
    };
    let Some((jwt, paseto)) = sizes(JWT, PASETO, claims) else {
        return found;
    };
    let text =
        format!("; each signed and parsed once; the original tokens have {jwt} and {paseto} bytes");
    found.measured.push_str(&text);
    let took_part = |subject: &str| found.rows.iter().any(|row| row.subject == subject);
    if took_part(ONE_JWT) && one != [claims] {
        let own = one.iter().filter_map(|one| sizes(ONE_JWT, ONE_PASETO, one));
        let own: Vec<String> = own
            .map(|(jwt, paseto)| format!("{jwt} and {paseto}"))
            .collect();
        if !own.is_empty() {
            let text = format!(", those with one factor {}", own.join(", "));
            found.measured.push_str(&text);
        }
    }
    found
}

fn security(e: &Evidence<'_>) -> Vec<Claim> {
    let refused =
        |attacks: &[&str], before_timing: Option<&str>| refuses(e, attacks, before_timing);
    let expiry = |refused: &dyn Fn(&[&str], Option<&str>) -> Finding| {
        let mut found = refused(&attacked::EXPIRY, Some("an expired token"));
        if found.answer == Answer::Holds {
            found.why.push_str(BY_ITSELF);
        }
        found
    };
    let primitives = || -> Result<Finding, Open> {
        let rows = [ONE_JWT, ONE_PASETO].map(|subject| work(subject, "verify", SMALL[0], 1));
        for row in &rows {
            e.row(row)?;
        }
        let measured = "one library signs and verifies both with Ed25519";
        let why = "the primitive belongs to the algorithm, not to the format: JWT supports Ed25519 too, \
                   and the report compared ES256";
        Ok(Finding::new(Answer::Artefact, measured, why, rows.to_vec()))
    };
    vec![
        claim(
            "1.10a",
            refused(&attacked::KEYS, Some("a token signed with another key")),
        ),
        claim(
            "1.10b",
            refused(
                &attacked::TAMPERING,
                Some("a token with one changed bit in its header, its claims or its signature"),
            ),
        ),
        claim("1.10c", refused(&attacked::TRUNCATION, None)),
        claim("1.10d", expiry(&refused)),
        claim("1.10e", refused(&attacked::TYPES, None)),
        claim(
            "1.11a",
            if e.attacks.is_empty() {
                Finding::missing(ATTACKS.to_owned())
            } else {
                attacked::algorithm_is_chosen(e).into()
            },
        ),
        claim("1.11b", Finding::opinion(STRUCTURE)),
        claim("1.11c", primitives()),
        claim(
            "1.11d",
            refused(&attacked::EXPIRY, Some("an expired token")),
        ),
    ]
}

/// Answers from attacks that both must reject; without attack rows, from the preflight.
fn refuses(e: &Evidence<'_>, attacks: &[&str], before_timing: Option<&str>) -> Finding {
    if !e.attacks.is_empty() {
        return attacked::both_refuse(e, attacks).into();
    }
    match before_timing {
        Some(what) => refused_before_timing(e, what).into(),
        None => Finding::missing(ATTACKS.to_owned()),
    }
}

/// Answers from the preflight: a verifier that accepts such a token is not timed, and its row has the reason.
fn refused_before_timing(e: &Evidence<'_>, what: &str) -> Result<Finding, Open> {
    let rows = [JWT, PASETO].map(|subject| work(subject, "verify", SMALL[0], 1));
    for work in &rows {
        let row = e.rows.iter().find(|row| work.names(row));
        let reason = row
            .and_then(|row| row.reason.as_deref())
            .unwrap_or_default();
        if row.is_some_and(|r| r.status == Status::FailedPreflight) && reason.contains("accepts") {
            let why = "it failed this preflight check";
            let measured = format!("{}: {reason}", work.subject);
            return Ok(Finding::new(
                Answer::DoesNotHold,
                measured,
                why,
                vec![work.clone()],
            ));
        }
        e.row(work)?;
    }
    let measured = format!("golang-jwt and go-paseto both rejected {what}");
    let why = "a library that accepts it in the preflight is not timed, and both were timed";
    Ok(Finding::new(Answer::Holds, measured, why, rows.to_vec()))
}

/// Conclusions at the end of the report, which follow from earlier ones.
fn overall(e: &Evidence<'_>, before: &[Claim]) -> Vec<Claim> {
    let from = |ids: &[&str]| together(before, ids);
    vec![
        claim("1.12a", very_large(e)),
        claim("1.12b", automatic_expiry(before)),
        claim("1.12c", Finding::opinion(libraries(e))),
        claim("1.12d", from(&["1.3b", "1.6"])),
        claim("1.12e", from(&["1.8a", "1.8b", "1.8c"])),
        claim("1.12f", from(&["1.3a", "1.4a", "1.5"])),
        claim("1.12g", from(&["1.11a", "1.11c"])),
        claim("1.13a", equal_speed(e)),
        claim("1.13b", from(&["1.3b", "1.6"])),
        claim("1.13c", from(&["1.11a"])),
        claim("1.13d", from(&["1.3d", "1.4b"])),
        claim("1.13e", from(&["1.8a", "1.8b", "1.8c"])),
        claim("1.13f", Finding::opinion(libraries(e))),
    ]
}

/// What bears on the choice by availability.
fn libraries(e: &Evidence<'_>) -> String {
    let [jwt, paseto] = e.libraries();
    format!(
        "this run has {jwt} libraries of JWT and {paseto} of PASETO; JWT has a choice of algorithms (RFC 7518, RFC \
         8037), each purpose of a PASETO version has one"
    )
}

/// Answers whether JWT is faster at signing and parsing very large claims together.
fn very_large(e: &Evidence<'_>) -> Finding {
    let pair = |jwt: &str, paseto: &str| {
        let both = |subject: &str| {
            ["sign", "verify"].map(|operation| work(subject, operation, LARGE[1], 1))
        };
        [Pair {
            first: both(jwt).to_vec(),
            second: both(paseto).to_vec(),
        }]
    };
    let (published, one) = (pair(JWT, PASETO), pair(ONE_JWT, ONE_PASETO));
    let found = confounded(e, Statement::Faster, &published, &one);
    with_sizes(e, (LARGE[1], &[LARGE[1]]), found)
}

/// Answers whether automatic expiry distinguishes JWT. If both libraries reject expired tokens, it does
/// not.
fn automatic_expiry(before: &[Claim]) -> Finding {
    let same = before.iter().find(|claim| claim.id == "1.11d");
    match same.map(|claim| (claim.found.answer, &claim.found)) {
        Some((Answer::Holds, found)) => Finding::new(
            Answer::DoesNotHold,
            "underlying conclusion: 1.11d holds",
            "both libraries reject expired tokens, so expiry is no reason to choose one",
            found.rows.clone(),
        ),
        Some((Answer::DoesNotHold, found)) => Finding::missing(format!(
            "two libraries that reject expired tokens ({})",
            found.measured
        )),
        _ => together(before, &["1.11d"]),
    }
}

/// Answers whether both formats are equally fast, from the report's small and large claims.
fn equal_speed(e: &Evidence<'_>) -> Result<Finding, Open> {
    let (mut agrees, mut words, mut rows) = (true, Vec::new(), Vec::new());
    for operation in ["sign", "verify"] {
        let pairs = SMALL.iter().chain(&LARGE);
        let pairs: Vec<Pair> = pairs
            .map(|claims| paseto_first(operation, claims, 1))
            .collect();
        let seen = all(e, Statement::Equal, &pairs)?;
        agrees &= seen.agrees;
        words.push(format!("{operation} {}", seen.words));
        rows.extend(seen.rows);
    }
    let measured = format!(
        "the original pair, PASETO against JWT: {}",
        words.join("; ")
    );
    let (answer, why) = if agrees {
        (Answer::Holds, "equivalent with small and large claims")
    } else {
        (
            Answer::DoesNotHold,
            "equal means equivalent, with small and large claims",
        )
    };
    Ok(Finding::new(answer, measured, why, rows))
}

/// Answers a conclusion that follows from several others: all must hold.
fn together(before: &[Claim], ids: &[&str]) -> Finding {
    let parts: Vec<&Claim> = ids
        .iter()
        .filter_map(|id| before.iter().find(|claim| claim.id == *id))
        .collect();
    let answers: Vec<Answer> = parts.iter().map(|part| part.found.answer).collect();
    // One part that does not hold decides, also if others are open.
    let worst = [
        Answer::DoesNotHold,
        Answer::NotMeasured,
        Answer::Undecided,
        Answer::Artefact,
    ];
    let answer = worst
        .into_iter()
        .find(|worst| answers.contains(worst))
        .unwrap_or(Answer::Holds);
    let words: Vec<String> = parts
        .iter()
        .map(|part| format!("{} {}", part.id, part.found.answer.label()))
        .collect();
    let mut rows: Vec<RowId> = parts.iter().flat_map(|p| p.found.rows.clone()).collect();
    rows.sort();
    rows.dedup();
    let why = match answer {
        Answer::Holds => "all underlying conclusions hold",
        Answer::DoesNotHold => "an underlying conclusion does not hold",
        Answer::Artefact => "an underlying difference has another cause than the format",
        Answer::Undecided => "an underlying conclusion is undecided",
        Answer::NotMeasured | Answer::Opinion => "an underlying conclusion was not measured",
    };
    Finding::new(
        answer,
        format!("underlying conclusions: {}", words.join(", ")),
        why,
        rows,
    )
}

fn paseto_first(operation: &str, claims: &str, threads: u32) -> Pair {
    let of = |subject: &str| work(subject, operation, claims, threads);
    Pair::new(of(PASETO), of(JWT))
}

fn one_paseto_first(operation: &str, claims: &str, threads: u32) -> Pair {
    let of = |subject: &str| work(subject, operation, claims, threads);
    Pair::new(of(ONE_PASETO), of(ONE_JWT))
}

fn jwt_first_of(operation: &str, claims: &str) -> Pair {
    let of = |subject: &str| work(subject, operation, claims, 1);
    Pair::new(of(JWT), of(PASETO))
}

fn one_jwt_first(operation: &str, claims: &str) -> Pair {
    let of = |subject: &str| work(subject, operation, claims, 1);
    Pair::new(of(ONE_JWT), of(ONE_PASETO))
}
