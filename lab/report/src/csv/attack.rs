//! Attack rows as comma-separated values.

use super::plain;
use jeton_lab_model::result::AttackRow;

pub(super) const COLUMNS: [&str; 16] = [
    "suite", "status", "outcome", "reason", "attack", "family", "subject", "library", "version",
    "language", "format", "practice", "algs", "tried", "void", "found",
];

pub(super) fn record(row: &AttackRow) -> Vec<String> {
    vec![
        jeton_lab_model::result::ATTACK.to_owned(),
        row.status.name().to_owned(),
        row.outcome.map_or("", |outcome| outcome.name()).to_owned(),
        plain(row.reason.as_deref().unwrap_or_default()),
        plain(&row.attack),
        plain(&row.family),
        plain(&row.subject.driver),
        plain(&row.subject.library),
        plain(&row.subject.version),
        plain(&row.subject.language),
        plain(&row.format),
        row.practice.name().to_owned(),
        plain(&row.algs.join(" ")),
        row.tried.to_string(),
        row.void.to_string(),
        row.found.to_string(),
    ]
}
