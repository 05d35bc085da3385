//! Conclusions of report 4: pascaldekloe or cristalhq.

use super::evidence::{Evidence, Finding, Missing, difference};
use super::{Claim, claim, of};
use crate::report_4::{CRISTALHQ, PASCALDEKLOE, doing};
use crate::source::REPORT_4;
use jeton_lab_model::result::{Answer, ClaimAnswered, RowId, VerdictKind};

const HMACS: [&str; 3] = ["HS256", "HS384", "HS512"];

pub(super) fn answers(evidence: &Evidence<'_>) -> Vec<ClaimAnswered> {
    let e = evidence;
    let claims: Vec<Claim> = vec![
        claim("4.1", signs_faster(e)),
        claim("4.2", checks(e, &HMACS, VerdictKind::Faster)),
        claim("4.3a", checks(e, &["ES256"], VerdictKind::Faster)),
        claim("4.3b", checks(e, &["EdDSA"], VerdictKind::Faster)),
        claim("4.3c", checks(e, &["RS384@1024"], VerdictKind::Faster)),
        claim("4.3d", checks(e, &["RS384@4096"], VerdictKind::Slower)),
        claim("4.4", longer(e)),
    ];
    of(REPORT_4, claims)
}

/// Compares cristalhq with pascaldekloe for these operations: the verdict on each algorithm, a
/// description, and the rows.
fn pairs(
    e: &Evidence<'_>,
    algs: &[&str],
    operation: &str,
    of_cristalhq: &str,
) -> Result<(Vec<VerdictKind>, String, Vec<RowId>), Missing> {
    let (mut kinds, mut words, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    for alg in algs {
        let ours = doing(CRISTALHQ, alg, of_cristalhq);
        let compared = e.compare(&ours, &doing(PASCALDEKLOE, alg, operation))?;
        kinds.push(compared.kind);
        words.push(format!(
            "{alg} {} ({})",
            difference(compared.ratio),
            compared.words
        ));
        rows.extend(compared.rows);
    }
    Ok((kinds, words.join(", "), rows))
}

fn signs_faster(e: &Evidence<'_>) -> Result<Finding, Missing> {
    let (kinds, words, rows) = pairs(e, &HMACS, "sign", "sign")?;
    if kinds.iter().all(|j| *j == VerdictKind::Faster) {
        return Ok(Finding::new(
            Answer::Holds,
            words,
            "true with all three hashes",
            rows,
        ));
    }
    decided(&kinds, &words)?;
    let why = "not faster with all three hashes";
    Ok(Finding::new(Answer::DoesNotHold, words, why, rows))
}

/// Answers a conclusion about checking: true for the same work, or only for the unequal work that was
/// timed.
fn checks(e: &Evidence<'_>, algs: &[&str], said: VerdictKind) -> Result<Finding, Missing> {
    let (equal, words, mut rows) = pairs(e, algs, "verify", "verify")?;
    let measured = format!("same work: {words}");
    if equal.iter().all(|j| *j == said) {
        let why = "true if both parse, verify and decode";
        return Ok(Finding::new(Answer::Holds, measured, why, rows));
    }
    decided(&equal, &words)?;
    let (unequal, words, more) = pairs(e, algs, "verify", "verify-parsed")?;
    rows.extend(more);
    let measured = format!("{measured}; as originally timed: {words}");
    Ok(if unequal.iter().all(|j| *j == said) {
        let why = "the two sides did different work: one verified a token that was parsed outside of \
                   the timed part and decoded no claims, the other did both; with the same work there \
                   is no difference";
        Finding::new(Answer::Artefact, measured, why, rows)
    } else {
        let why = "neither the same work nor the originally timed work shows it in this run";
        Finding::new(Answer::DoesNotHold, measured, why, rows)
    })
}

/// An undecided verdict leaves it open.
fn decided(kinds: &[VerdictKind], words: &str) -> Result<(), Missing> {
    match kinds.contains(&VerdictKind::Undecided) {
        true => Err(format!("more rounds: {words}, not all decided in this run")),
        false => Ok(()),
    }
}

fn longer(e: &Evidence<'_>) -> Result<Finding, Missing> {
    let (mut all, mut words, mut rows) = (true, Vec::new(), Vec::new());
    for alg in ["HS256", "ES256", "EdDSA"] {
        let (ours, theirs) = (
            doing(CRISTALHQ, alg, "sign"),
            doing(PASCALDEKLOE, alg, "sign"),
        );
        let (long, short) = (e.size(&ours)?, e.size(&theirs)?);
        all &= long > short;
        words.push(format!("{alg} {long} against {short} bytes"));
        rows.extend([ours, theirs]);
    }
    let words = words.join(", ");
    Ok(if all {
        let why = "the claims are equal, so the header causes it: one library writes `typ` and the other does not";
        Finding::new(Answer::Holds, words, why, rows)
    } else {
        let why = "not true for equal claims";
        Finding::new(Answer::DoesNotHold, words, why, rows)
    })
}
