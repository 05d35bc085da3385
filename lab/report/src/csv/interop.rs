//! Interop rows as comma-separated values.

use crate::table::{Column, Value};
use jeton_lab_model::result::{INTEROP, InteropRow};

/// Returns the columns of one line for each pair of libraries.
pub(super) fn columns<'a>() -> Vec<Column<'a, &'a InteropRow>> {
    let text = |name: &str, value: fn(&InteropRow) -> &str| {
        Column::text(name, move |row: &&InteropRow| Value::text(value(row)))
    };
    let key = |encoding: &'static str| {
        Column::text(&format!("key_{encoding}"), move |row: &&InteropRow| {
            let key = row.keys.iter().find(|key| key.encoding == encoding);
            key.map_or_else(Value::none, |key| Value::text(key.outcome.name()))
        })
    };
    vec![
        text("suite", |_| INTEROP),
        text("status", |row| row.status.name()),
        text("outcome", |row| row.outcome.map_or("", |o| o.name())),
        text("reason", |row| row.reason.as_deref().unwrap_or_default()),
        text("explanation", |row| {
            row.explanation.as_deref().unwrap_or_default()
        }),
        text("minter", |row| &row.issuer.driver),
        text("minter_library", |row| &row.issuer.library),
        text("minter_version", |row| &row.issuer.version),
        text("verifier", |row| &row.verifier.driver),
        text("verifier_library", |row| &row.verifier.library),
        text("verifier_version", |row| &row.verifier.version),
        text("format", |row| &row.format),
        text("alg", |row| row.alg.as_deref().unwrap_or_default()),
        text("enc", |row| row.enc.as_deref().unwrap_or_default()),
        key("jwk"),
        key("pem"),
        key("paserk"),
        Column::text("key_read_by", |row: &&InteropRow| {
            let read_by = row.keys.iter().filter_map(|key| {
                let reader = key.read_by?.name();
                Some(format!("{} {reader}", key.encoding))
            });
            Value::text(read_by.collect::<Vec<_>>().join("; "))
        }),
    ]
}
