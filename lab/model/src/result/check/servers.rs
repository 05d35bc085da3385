//! Checks of server rows that types cannot express.

use std::collections::HashMap;

use super::not_negative;
use crate::result::{ServerLoad, ServerRow, Status};

/// Returns the first error; `before` is the number of rows before these in the file.
pub(super) fn check(rows: &[ServerRow], before: usize) -> Result<(), String> {
    let mut seen = HashMap::new();
    for (i, row) in rows.iter().enumerate() {
        let place = before + i;
        self::row(row).map_err(|(member, what)| format!("rows[{place}].{member}: {what}"))?;
        let rate = row.rate.map(f64::to_bits);
        let key = (&row.subject.id, row.of_scenario(), rate);
        if let Some(first) = seen.insert(key, place) {
            return Err(format!(
                "rows[{place}]: is the same server and scenario as rows[{first}]"
            ));
        }
    }
    Ok(())
}

type Wrong = (&'static str, &'static str);

/// The largest number of calls with one status: a million a second for eleven days. Sums of them cannot
/// overflow.
const CALLS_MAX: u64 = 1_000_000_000_000;

/// The largest number of statuses; gRPC has 17.
const STATUSES_MAX: usize = 100;

fn row(row: &ServerRow) -> Result<(), Wrong> {
    for (member, number) in [
        ("cores", row.cores),
        ("connections", row.connections),
        ("in_flight", row.in_flight),
    ] {
        if number == 0 {
            return Err((member, "is zero"));
        }
    }
    if !row.rate.is_none_or(positive) {
        return Err(("rate", "is not a positive rate"));
    }
    if (row.status == Status::Ok) == row.reason.is_some() {
        return Err(("reason", "contradicts the status"));
    }
    if row.status == Status::Ok && row.load.is_none() {
        return Err(("requests_per_s", "is missing although the status is ok"));
    }
    row.load.as_ref().map_or(Ok(()), load)
}

fn load(load: &ServerLoad) -> Result<(), Wrong> {
    if load.repetitions.is_empty() {
        return Err(("repetitions", "is empty"));
    }
    let figures = [
        ("requests_per_s", Some(load.requests_per_s)),
        ("cpu_us_per_request", load.cpu_us_per_request),
        ("client_cpu_us_per_request", load.client_cpu_us_per_request),
    ];
    if let Some((member, _)) = figures
        .into_iter()
        .find(|(_, figure)| !figure.is_none_or(not_negative))
    {
        return Err((member, "is negative"));
    }
    for one in &load.repetitions {
        if !positive(one.seconds) {
            return Err(("repetitions", "has a duration that is not positive"));
        }
        if !not_negative(one.requests_per_s) {
            return Err(("repetitions", "has a negative rate"));
        }
        if !one.cpu_us_per_request.is_none_or(not_negative) {
            return Err(("repetitions", "has a negative CPU time"));
        }
    }
    if load.statuses.len() > STATUSES_MAX {
        return Err(("statuses", "has more than 100 statuses"));
    }
    if load.statuses.values().any(|calls| *calls > CALLS_MAX) {
        return Err(("statuses", "has more than 1,000,000,000,000 calls"));
    }
    if load.answers() != load.latencies.count() {
        return Err(("latencies", "does not have as many calls as ended with OK"));
    }
    Ok(())
}

fn positive(value: f64) -> bool {
    value.is_finite() && value > 0.0
}
