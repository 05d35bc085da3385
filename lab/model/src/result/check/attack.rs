//! Checks of attack rows that types cannot express.

use std::collections::HashMap;

use crate::result::{AttackOutcome, AttackRow, Status};

/// Returns the first error; `before` is the number of rows before these in the file.
pub(super) fn check(rows: &[AttackRow], before: usize) -> Result<(), String> {
    let mut seen = HashMap::new();
    for (i, row) in rows.iter().enumerate() {
        let place = before + i;
        self::row(row).map_err(|(member, what)| format!("rows[{place}].{member}: {what}"))?;
        let key = (&row.attack, &row.subject.driver, &row.format, row.practice);
        if let Some(first) = seen.insert(key, place) {
            return Err(format!(
                "rows[{place}]: is the same attack as rows[{first}]"
            ));
        }
    }
    Ok(())
}

fn row(row: &AttackRow) -> Result<(), (&'static str, &'static str)> {
    let agrees = match row.outcome {
        None => matches!(row.status, Status::Unavailable | Status::FailedPreflight),
        Some(AttackOutcome::Crashed) => row.status == Status::Crashed,
        Some(AttackOutcome::Hung) => row.status == Status::TimedOut,
        Some(_) => row.status == Status::Ok,
    };
    if !agrees {
        return Err(("status", "contradicts the outcome"));
    }
    let is_shown = row.outcome.is_some_and(|o| o != AttackOutcome::Withheld);
    if !is_shown && row.reason.is_none() {
        return Err(("reason", "is missing although no outcome is shown"));
    }
    let counts = row.outcome.is_some_and(|o| o >= AttackOutcome::Refused);
    if counts != (row.tried > 0) {
        return Err(("tried", "contradicts the outcome"));
    }
    let found = row.outcome.is_some_and(AttackOutcome::is_finding);
    if found == row.evidence.is_empty() {
        return Err(("evidence", "contradicts the outcome"));
    }
    if row.evidence.len() > AttackRow::EVIDENCE_MAX {
        return Err(("evidence", "has more entries than a row may have"));
    }
    if row.also.len() > AttackRow::ALSO_MAX {
        return Err(("also", "has more entries than a row may have"));
    }
    let told = row.evidence.len() + row.also.len();
    if row.found > row.tried || told > row.found as usize || found != (row.found > 0) {
        return Err(("found", "contradicts the evidence, or what was tried"));
    }
    let worst = row.evidence.iter().map(|e| e.outcome).max();
    if worst.is_some() && worst != row.outcome {
        return Err(("outcome", "is not the worst outcome of the evidence"));
    }
    Ok(())
}
