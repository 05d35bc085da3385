//! Checks of interop rows that types cannot express.

use std::collections::HashMap;

use crate::result::{Interop, InteropRow, Status};

/// Returns the first error; `before` is the number of rows before these in the file.
pub(super) fn check(rows: &[InteropRow], before: usize) -> Result<(), String> {
    let mut seen = HashMap::new();
    for (i, row) in rows.iter().enumerate() {
        let place = before + i;
        self::row(row).map_err(|(member, what)| format!("rows[{place}].{member}: {what}"))?;
        let parties = (&row.issuer.driver, &row.verifier.driver);
        let key = (parties, &row.format, &row.alg, &row.enc);
        if let Some(first) = seen.insert(key, place) {
            return Err(format!("rows[{place}]: is the same pair as rows[{first}]"));
        }
    }
    Ok(())
}

fn row(row: &InteropRow) -> Result<(), (&'static str, &'static str)> {
    let status = match row.outcome {
        None => Status::Unavailable,
        Some(Interop::Crashed) => Status::Crashed,
        Some(Interop::Hung) => Status::TimedOut,
        Some(_) => Status::Ok,
    };
    if row.status != status {
        return Err(("status", "contradicts the outcome"));
    }
    if row.outcome.is_none() && row.reason.is_none() {
        return Err(("reason", "is missing although there is no outcome"));
    }
    let owed = row.outcome.is_some_and(Interop::needs_explaining);
    if owed != row.explanation.is_some() {
        return Err(("explanation", "contradicts the outcome"));
    }
    let worst = row.keys.iter().map(|key| key.outcome).max();
    if worst.is_some() && worst != row.outcome {
        return Err(("outcome", "is not the worst outcome of the keys"));
    }
    Ok(())
}
