//! Interop rows as comma-separated values.

use super::plain;
use jeton_lab_model::result::InteropRow;

pub(super) const COLUMNS: [&str; 18] = [
    "suite",
    "status",
    "outcome",
    "reason",
    "explanation",
    "minter",
    "minter_library",
    "minter_version",
    "verifier",
    "verifier_library",
    "verifier_version",
    "format",
    "alg",
    "enc",
    "key_jwk",
    "key_pem",
    "key_paserk",
    "key_read_by",
];

pub(super) fn record(row: &InteropRow) -> Vec<String> {
    let key = |encoding: &str| {
        let key = row.keys.iter().find(|key| key.encoding == encoding);
        key.map_or_else(String::new, |key| key.outcome.name().to_owned())
    };
    let read_by = row.keys.iter().filter_map(|key| {
        let reader = key.read_by?.name();
        Some(format!("{} {reader}", key.encoding))
    });
    vec![
        jeton_lab_model::result::INTEROP.to_owned(),
        row.status.name().to_owned(),
        row.outcome.map_or("", |o| o.name()).to_owned(),
        plain(row.reason.as_deref().unwrap_or_default()),
        plain(row.explanation.as_deref().unwrap_or_default()),
        plain(&row.issuer.driver),
        plain(&row.issuer.library),
        plain(&row.issuer.version),
        plain(&row.verifier.driver),
        plain(&row.verifier.library),
        plain(&row.verifier.version),
        plain(&row.format),
        plain(row.alg.as_deref().unwrap_or_default()),
        plain(row.enc.as_deref().unwrap_or_default()),
        key("jwk"),
        key("pem"),
        key("paserk"),
        plain(&read_by.collect::<Vec<_>>().join("; ")),
    ]
}
