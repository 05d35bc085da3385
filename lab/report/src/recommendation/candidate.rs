//! Candidates: measured subjects with their rows.

use jeton_lab_model::claims::{OWN, STANDARD};
use jeton_lab_model::names;
use jeton_lab_model::result::{Row, Status, Subject};

/// A subject with its measurements.
#[derive(Debug, Clone)]
pub(super) struct Candidate<'a> {
    pub(super) subject: &'a Subject,
    /// The token's name.
    pub(super) token: String,
    /// The row of issuing: `sign` or `encrypt`.
    pub(super) making: Option<&'a Row>,
    /// The row of verifying: `verify` or `decrypt`.
    pub(super) opening: Option<&'a Row>,
    /// The row of a failed check or a crash.
    pub(super) failed: Option<&'a Row>,
    /// The exact size of the token.
    pub(super) token_bytes: Option<u64>,
}

/// Returns the claims set for the recommendation: the user's own, or the standard set, or the first
/// one.
pub(crate) fn claims_of(rows: &[Row]) -> Option<&str> {
    let has = |name: &str| rows.iter().any(|row| row.claims.name == name);
    [OWN, STANDARD]
        .into_iter()
        .find(|name| has(name))
        .or_else(|| rows.first().map(|row| row.claims.name.as_str()))
}

/// The threads of the rows that a recommendation is made of.
pub(super) const THREADS: u32 = 1;

/// Returns every subject with a prepared key on one thread, except bare primitives and insecure tokens.
pub(super) fn candidates(rows: &[Row]) -> Vec<Candidate<'_>> {
    let claims = claims_of(rows).unwrap_or_default();
    let mut found: Vec<Candidate<'_>> = Vec::new();
    let eligible = |row: &&Row| {
        !row.reference
            && row.threads == THREADS
            && row.claims.name == claims
            && row.subject.key_handling == "prepared"
            && !matches!(row.subject.format.as_str(), "bare" | "none")
    };
    for row in rows.iter().filter(eligible) {
        let index = found
            .iter()
            .position(|c| c.subject.id == row.subject.id)
            .unwrap_or_else(|| {
                found.push(Candidate {
                    subject: &row.subject,
                    token: names::token(&row.subject),
                    making: None,
                    opening: None,
                    failed: None,
                    token_bytes: None,
                });
                found.len() - 1
            });
        add(&mut found[index], row);
    }
    // A subject that could not start is missing, not excluded.
    found.retain(|c| c.making.is_some() || c.opening.is_some() || c.failed.is_some());
    found
}

fn add<'a>(candidate: &mut Candidate<'a>, row: &'a Row) {
    candidate.token_bytes = candidate.token_bytes.max(row.token_bytes);
    match row.status {
        Status::Unavailable => return,
        Status::FailedPreflight | Status::Crashed | Status::TimedOut => {
            candidate.failed.get_or_insert(row);
            return;
        }
        Status::Ok | Status::Disturbed => {}
    }
    if row.ns_per_op.is_none() {
        return;
    }
    match row.operation.as_str() {
        "sign" => candidate.making = Some(row),
        "verify" => candidate.opening = Some(row),
        "encrypt" => candidate.making = candidate.making.or(Some(row)),
        "decrypt" => candidate.opening = candidate.opening.or(Some(row)),
        _ => {}
    }
}
