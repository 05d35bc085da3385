//! Checks that published comparisons match the rows.

use super::{ROUNDING, Wrong, not_negative};
use crate::result::{ClaimAnswered, PublishedFigure, PublishedTable, Row, RowId, RunResult};

/// Returns the first error as `place: message`.
pub(super) fn check(result: &RunResult) -> Result<(), String> {
    let rows = &result.rows.measured;
    for (i, table) in result.published.iter().enumerate() {
        published(table, rows).map_err(|what| format!("published[{i}]{what}"))?;
    }
    for (i, claim) in result.claims_answered.iter().enumerate() {
        answered(claim, rows)
            .map_err(|(member, what)| format!("claims_answered[{i}]{member}: {what}"))?;
    }
    Ok(())
}

fn published(table: &PublishedTable, rows: &[Row]) -> Result<(), String> {
    if !(1..=4).contains(&table.report) {
        return Err(".report: must be between 1 and 4".into());
    }
    for (i, row) in table.rows.iter().enumerate() {
        if row.figures.len() != table.columns.len() {
            return Err(format!(
                ".rows[{i}].figures: must have one figure per column"
            ));
        }
        for (k, figure) in row.figures.iter().enumerate() {
            self::figure(figure, table, rows)
                .map_err(|(member, what)| format!(".rows[{i}].figures[{k}]{member}: {what}"))?;
        }
    }
    Ok(())
}

fn figure(figure: &PublishedFigure, table: &PublishedTable, rows: &[Row]) -> Result<(), Wrong> {
    for (member, value) in [
        (".published", figure.published),
        (".measured", figure.measured),
        (".published_ratio", figure.published_ratio),
        (".measured_ratio", figure.measured_ratio),
    ] {
        if !value.is_none_or(not_negative) {
            return Err((member, "is negative".into()));
        }
    }
    let Some(measured) = figure.measured else {
        return Ok(());
    };
    let of_rows = |work: &RowId| {
        let mut about = rows.iter().filter(|row| work.names(row));
        about.any(|row| {
            let value = table.quantity.of(row);
            value.is_some_and(|v| (v - measured).abs() <= ROUNDING * v)
        })
    };
    if !figure.work.as_ref().is_some_and(of_rows) {
        return Err((".measured", "no row measured that".into()));
    }
    Ok(())
}

fn answered(claim: &ClaimAnswered, rows: &[Row]) -> Result<(), Wrong> {
    if !claim.id.starts_with(&format!("{}.", claim.report)) {
        return Err((".id", "is not a conclusion of that report".into()));
    }
    let is_there = |id: &RowId| rows.iter().any(|row| id.names(row));
    if !claim.rows.iter().all(is_there) {
        return Err((".rows", "names a row that does not exist".into()));
    }
    Ok(())
}
