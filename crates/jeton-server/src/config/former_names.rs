//! Keys that had another name in an earlier version. Both names are read.
//!
//! serde reads the former name as an alias. This table is for error messages.

/// A key, and its former name.
const FORMER_NAMES: [(&str, &str); 6] = [
    ("bearer_subject", "subject"),
    ("calls_per_connection", "streams"),
    ("client_stall_timeout_seconds", "stall_seconds"),
    ("revocation_watchers", "watchers"),
    (
        "store_outage_issuing_seconds",
        "issue_without_store_seconds",
    ),
    ("worker_delay_milliseconds", "lag_milliseconds"),
];

/// The former name of a key, if it had one.
pub(super) fn former_name(key: &str) -> Option<&'static str> {
    let found = FORMER_NAMES.iter().find(|(current, _)| *current == key);
    found.map(|(_, former)| *former)
}
