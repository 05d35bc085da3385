//! Server rows as comma-separated values.

use super::plain;
use crate::servers::statuses;
use jeton_lab_model::result::{ServerLoad, ServerRow};

/// Columns of the server and scenario.
const SUBJECT_COLUMNS: [&str; 14] = [
    "suite",
    "status",
    "reason",
    "server",
    "language",
    "libraries",
    "as_published",
    "cores",
    "connections",
    "in_flight",
    "call",
    "alg",
    "rate",
    "oversubscribed",
];

/// Columns of rates.
const RATES: [&str; 3] = [
    "tokens_per_s",
    "cpu_us_per_token",
    "client_cpu_us_per_token",
];

/// The latencies of a row.
const LATENCIES: [&str; 12] = [
    "average", "fastest", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "p99.9", "p99.99",
    "slowest",
];

/// Columns after the latencies.
const REST: [&str; 9] = [
    "tokens",
    "errors",
    "ended",
    "verified",
    "client_bound",
    "base_rss_bytes",
    "peak_rss_bytes",
    "tainted_run",
    "repetitions",
];

/// Returns the header and a line for each row. The tokens per second of each repetition are in columns
/// `repetition_1` and following.
pub(super) fn lines(rows: &[ServerRow], disturbed: bool) -> (Vec<String>, Vec<Vec<String>>) {
    let loads = rows.iter().filter_map(|row| row.load.as_ref());
    let repetitions = loads.map(|load| load.repetitions.len()).max().unwrap_or(0);
    let mut head: Vec<String> = SUBJECT_COLUMNS
        .iter()
        .chain(&RATES)
        .map(|&name| name.into())
        .collect();
    head.extend(LATENCIES.iter().map(|name| format!("{name}_ms")));
    head.extend(REST.iter().map(|&name| name.into()));
    head.extend((1..=repetitions).map(|n| format!("repetition_{n}")));
    let width = head.len();
    let line = |row: &ServerRow| {
        let mut line = subject_fields(row);
        if let Some(load) = &row.load {
            line.extend(figures(row, load, disturbed));
        }
        line.resize(width, String::new());
        line
    };
    (head, rows.iter().map(line).collect())
}

fn subject_fields(row: &ServerRow) -> Vec<String> {
    vec![
        jeton_lab_model::result::SERVERS.to_owned(),
        row.status.name().to_owned(),
        plain(row.reason.as_deref().unwrap_or_default()),
        plain(&row.subject.id),
        plain(&row.subject.language),
        plain(&row.subject.libraries),
        row.subject.as_published.to_string(),
        row.cores.to_string(),
        row.connections.to_string(),
        row.in_flight.to_string(),
        row.call.name().to_owned(),
        row.alg.name().to_owned(),
        known(row.rate),
        row.oversubscribed.to_string(),
    ]
}

fn figures(row: &ServerRow, load: &ServerLoad, disturbed: bool) -> Vec<String> {
    let mut fields = vec![
        load.requests_per_s.to_string(),
        known(load.cpu_us_per_request),
        known(load.client_cpu_us_per_request),
    ];
    fields.extend(LATENCIES.map(|name| known(load.latency_ms.get(name))));
    fields.extend([
        row.tokens().to_string(),
        load.errors().to_string(),
        plain(&statuses(load)),
        load.verified.to_string(),
        known(load.client_bound),
        known(load.base_rss_bytes),
        known(load.peak_rss_bytes),
        disturbed.to_string(),
        load.repetitions.len().to_string(),
    ]);
    let each = load.repetitions.iter();
    fields.extend(each.map(|repetition| repetition.requests_per_s.to_string()));
    fields
}

/// Formats a value; an unmeasured value is an empty field.
fn known<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}
