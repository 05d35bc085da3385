//! Facts about subjects and runs that several parts of a file state: they must be the same everywhere.

use std::collections::{BTreeSet, HashMap, HashSet};

use jeton::key::Alg;
use jeton_lab_model::Format;
use jeton_lab_model::result::{
    Environment, RSA_BITS, Row, RunResult, RuntimeUsed, Status, Subject, SupportState, Verdict,
};

use super::Contradiction;
use crate::multi_run::runs::{Work, other_version, parties};

/// The shortest header of a JWS, `{"alg":"HS256"}` in base64url, and two dots.
const JWS_BYTES_MIN: u64 = 22;

pub(in crate::multi_run) fn of_result(result: &RunResult) -> Vec<Contradiction> {
    let versions = other_version(&result.rows, &result.rows).map(|difference| {
        let both = format!("rows state {} and {}", difference.before, difference.after);
        Contradiction::new(difference.what, both)
    });
    let used = result.environment.runtimes_used.iter();
    let mut found = languages(result);
    found.extend(versions);
    found.extend(token_sizes(&result.rows.measured));
    found.extend(result.rows.measured.iter().filter_map(not_timed));
    found.extend(repeated_runs(result));
    found.extend(verdicts(&result.verdicts));
    found.extend(used.filter_map(|used| support(used, &result.environment)));
    found
}

/// The first part of a driver's id is its language.
fn languages(result: &RunResult) -> Vec<Contradiction> {
    let measured = result.rows.measured.iter().map(|row| &row.subject);
    let measured = measured.map(|subject| (subject.driver(), subject.language.as_str()));
    let parties =
        parties(&result.rows).map(|party| (party.driver.as_str(), party.language.as_str()));
    // A live endpoint has its address instead.
    let drivers = measured
        .chain(parties)
        .filter(|(driver, _)| !driver.contains("://"));
    let wrong = drivers.filter_map(|(driver, language)| {
        let (own, _) = driver.split_once('/')?;
        (own != language).then_some((driver, language, own))
    });
    let wrong: BTreeSet<(&str, &str, &str)> = wrong.collect();
    let wrong = wrong.into_iter().map(|(driver, language, own)| {
        let what = format!("the language is \"{language}\"; the id says {own}");
        Contradiction::new(driver, what)
    });
    wrong.collect()
}

/// A subject has one token of each claims set, with room for its signature.
fn token_sizes(rows: &[Row]) -> Vec<Contradiction> {
    let mut sizes: HashMap<(&str, &str), u64> = HashMap::new();
    let mut found = Vec::new();
    for (row, bytes) in rows.iter().filter_map(|row| Some((row, row.token_bytes?))) {
        let mut wrong =
            |what: String| found.push(Contradiction::new(Work::of(row).to_string(), what));
        let of_work = sizes.entry((&row.subject.id, &row.claims.name));
        let first = *of_work.or_insert(bytes);
        if first != bytes {
            wrong(format!(
                "the token has {bytes} bytes; in another row it has {first}"
            ));
        }
        if let Some(least) = least_bytes(&row.subject).filter(|least| bytes < *least) {
            wrong(format!(
                "the token has {bytes} bytes; its signature alone needs {least}"
            ));
        }
    }
    found
}

/// Returns the length of the shortest token with the signature of a subject, if that is fixed.
fn least_bytes(subject: &Subject) -> Option<u64> {
    let rsa = u64::from(subject.key_bits.unwrap_or(RSA_BITS)) / 8;
    let base64 = |bytes: u64| (bytes * 4).div_ceil(3);
    match Format::named(&subject.format)? {
        Format::Jwt => {
            let signature = match subject.alg.as_deref()?.parse().ok()? {
                Alg::Mac(alg) => alg.key_bytes() as u64,
                Alg::Sig(alg) => alg.signature_bytes().map_or(rsa, |bytes| bytes as u64),
                _ => return None,
            };
            Some(JWS_BYTES_MIN + base64(signature))
        }
        Format::V2Public | Format::V4Public => Some(base64(64)),
        Format::V3Public => Some(base64(96)),
        Format::V1Public => Some(base64(256)),
        _ => None,
    }
}

/// A subject that failed before timing has no rounds.
fn not_timed(row: &Row) -> Option<Contradiction> {
    let is_before = matches!(row.status, Status::Unavailable | Status::FailedPreflight);
    (is_before && row.ns_per_op.is_some()).then(|| {
        let what = format!("has rounds although it is {}", row.status.name());
        Contradiction::new(Work::of(row).to_string(), what)
    })
}

/// Each run is merged once.
fn repeated_runs(result: &RunResult) -> Vec<Contradiction> {
    let runs = &result.runs;
    let again = (0..runs.len()).filter_map(|at| {
        let first = runs[..at].iter().position(|run| *run == runs[at])?;
        let what = format!("is the same run as runs[{first}]");
        Some(Contradiction::new(format!("runs[{at}]"), what))
    });
    again.collect()
}

/// A comparison has one verdict on each subject, and none on its baseline.
fn verdicts(verdicts: &[Verdict]) -> Vec<Contradiction> {
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for verdict in verdicts {
        let mut wrong = |what: &str| found.push(Contradiction::new(about_verdict(verdict), what));
        if !seen.insert((&verdict.comparison, &verdict.subject)) {
            wrong("stands several times");
        }
        if verdict.subject == verdict.baseline {
            wrong("is about the baseline itself");
        }
    }
    found
}

pub(super) fn about_verdict(verdict: &Verdict) -> String {
    format!("verdict on {}, {}", verdict.subject, verdict.comparison)
}

/// The support of a runtime ends after the run exactly if it was supported. A month has no day.
fn support(used: &RuntimeUsed, environment: &Environment) -> Option<Contradiction> {
    let ends = used.support_ends.as_deref()?;
    let day = environment.started.get(..ends.len())?;
    let wrong = match used.support {
        SupportState::Supported => ends < day,
        SupportState::Ended => ends > day,
        SupportState::Unknown => false,
    };
    wrong.then(|| {
        let what = format!(
            "is {}; the run started on {}",
            used.support_in_words(),
            environment.started
        );
        Contradiction::new(format!("runtime {}", used.name), what)
    })
}
