//! Attack rows, summarised by library.

mod columns;
mod section;

use std::collections::BTreeSet;

use jeton_lab_model::result::{AttackOutcome, AttackRow, Party, Practice, Status};

use jeton_lab_model::units;

pub(crate) use columns::row_columns;
pub(crate) use section::section;

use columns::{Found, columns, found_columns, subject};

/// The counted outcomes, the harmless one first.
pub const COUNTED: [AttackOutcome; 5] = [
    AttackOutcome::Refused,
    AttackOutcome::Accepted,
    AttackOutcome::Crashed,
    AttackOutcome::Hung,
    AttackOutcome::OverLimit,
];

/// The attacks on one library with one kind of token and one practice.
#[derive(Debug, Clone)]
pub struct Attacked<'a> {
    /// The library.
    pub library: &'a Party,
    /// The format: `jwt`, `jwe`, `v4.public`.
    pub format: &'a str,
    /// How the library was called.
    pub practice: Practice,
    rows: Vec<&'a AttackRow>,
}

/// Returns the attacked libraries by language, library and kind of token.
#[must_use]
pub fn attacked(rows: &[AttackRow]) -> Vec<Attacked<'_>> {
    let mut all: Vec<Attacked<'_>> = Vec::new();
    for row in rows {
        let same = |a: &&mut Attacked<'_>| {
            a.library == &row.subject && a.format == row.format && a.practice == row.practice
        };
        match all.iter_mut().find(same) {
            Some(known) => known.rows.push(row),
            None => all.push(Attacked {
                library: &row.subject,
                format: &row.format,
                practice: row.practice,
                rows: vec![row],
            }),
        }
    }
    all.sort_by_key(|a| {
        let l = a.library;
        (&l.language, &l.library, &l.version, a.format, a.practice)
    });
    all
}

impl<'a> Attacked<'a> {
    /// Counts the attacks with this outcome.
    #[must_use]
    pub fn count(&self, outcome: AttackOutcome) -> usize {
        self.with(outcome).count()
    }

    /// Counts the void attacks: their positive control was rejected too.
    #[must_use]
    pub fn void(&self) -> usize {
        let void = |row: &&&AttackRow| row.status == Status::FailedPreflight;
        self.rows.iter().filter(void).count()
    }

    /// Returns the reason why the library was not attacked, if it was not.
    #[must_use]
    pub fn absent(&self) -> Option<&'a str> {
        let first = self.rows.first()?;
        (first.status == Status::Unavailable)
            .then(|| first.reason.as_deref().unwrap_or("no reason recorded"))
    }

    /// Returns the findings, the worst first: each outcome with the names of its attacks.
    #[must_use]
    pub fn found(&self) -> Vec<(AttackOutcome, Vec<&'a str>)> {
        let worst_first = AttackOutcome::ALL.into_iter().rev();
        let findings = worst_first.filter(|outcome| outcome.is_finding());
        findings
            .map(|outcome| {
                (
                    outcome,
                    self.with(outcome).map(|r| r.attack.as_str()).collect(),
                )
            })
            .filter(|(_, names): &(_, Vec<_>)| !names.is_empty())
            .collect()
    }

    fn with(&self, outcome: AttackOutcome) -> impl Iterator<Item = &'a AttackRow> + '_ {
        let rows = self.rows.iter().copied();
        rows.filter(move |row| row.outcome == Some(outcome))
    }
}

/// Returns the extent, for example "93 attacks on 24 libraries".
#[must_use]
pub fn extent(rows: &[AttackRow]) -> String {
    let attacks: BTreeSet<&str> = rows.iter().map(|r| r.attack.as_str()).collect();
    let libraries: BTreeSet<&str> = rows.iter().map(|r| r.subject.driver.as_str()).collect();
    format!(
        "{} on {}",
        units::count(attacks.len(), "attack", "attacks"),
        units::count(libraries.len(), "library", "libraries")
    )
}

/// Counts the tokens and keys that were tried.
#[must_use]
pub fn tried(rows: &[AttackRow]) -> u64 {
    rows.iter().map(|row| u64::from(row.tried)).sum()
}
