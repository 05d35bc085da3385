//! Attack rows as comma-separated values.

use crate::table::{Column, Value};
use jeton_lab_model::result::{ATTACK, AttackRow};

/// Returns the columns of one line for each attack on each library.
pub(super) fn columns<'a>() -> Vec<Column<'a, &'a AttackRow>> {
    let text = |name: &str, value: fn(&AttackRow) -> &str| {
        Column::text(name, move |row: &&AttackRow| Value::text(value(row)))
    };
    let count = |name: &str, value: fn(&AttackRow) -> u32| {
        Column::number(name, move |row: &&AttackRow| {
            Value::count(u64::from(value(row)))
        })
    };
    vec![
        text("suite", |_| ATTACK),
        text("status", |row| row.status.name()),
        text("outcome", |row| row.outcome.map_or("", |o| o.name())),
        text("reason", |row| row.reason.as_deref().unwrap_or_default()),
        text("attack", |row| &row.attack),
        text("family", |row| &row.family),
        text("subject", |row| &row.subject.driver),
        text("library", |row| &row.subject.library),
        text("version", |row| &row.subject.version),
        text("language", |row| &row.subject.language),
        text("format", |row| &row.format),
        text("practice", |row| row.practice.name()),
        Column::text("algs", |row: &&AttackRow| Value::text(row.algs.join(" "))),
        count("tried", |row| row.tried),
        count("void", |row| row.void),
        count("found", |row| row.found),
    ]
}
