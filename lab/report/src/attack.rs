//! Attack rows, summarised by library.

mod columns;
mod section;

use std::collections::BTreeSet;

use jeton_lab_model::result::{AttackOutcome, AttackRow, Party, Practice, Status};

use crate::grouped::grouped;
use jeton_lab_model::units;

pub(crate) use columns::row_columns;
pub(crate) use section::section;

use columns::{Found, columns, found_columns, subject};

/// The counted outcomes, the harmless one first.
pub(crate) const COUNTED: [AttackOutcome; 5] = [
    AttackOutcome::Refused,
    AttackOutcome::Accepted,
    AttackOutcome::Crashed,
    AttackOutcome::Hung,
    AttackOutcome::OverLimit,
];

/// The attacks on one library with one kind of token and one practice.
#[derive(Debug, Clone)]
pub(crate) struct Attacked<'a> {
    pub(crate) library: &'a Party,
    pub(crate) format: &'a str,
    pub(crate) practice: Practice,
    rows: Vec<&'a AttackRow>,
}

/// Returns the attacked libraries by language, library and kind of token.
pub(crate) fn attacked(rows: &[AttackRow]) -> Vec<Attacked<'_>> {
    let keyed = rows.iter();
    let keyed = keyed.map(|row| ((&row.subject, row.format.as_str(), row.practice), row));
    let attacked = |((library, format, practice), rows)| Attacked {
        library,
        format,
        practice,
        rows,
    };
    let mut all: Vec<Attacked<'_>> = grouped(keyed).into_iter().map(attacked).collect();
    all.sort_by_key(|a| {
        let l = a.library;
        (&l.language, &l.library, &l.version, a.format, a.practice)
    });
    all
}

impl<'a> Attacked<'a> {
    /// Counts the attacks with this outcome.
    pub(crate) fn count(&self, outcome: AttackOutcome) -> usize {
        self.with(outcome).count()
    }

    /// Counts the void attacks: their positive control was rejected too.
    pub(crate) fn void(&self) -> usize {
        let void = |row: &&&AttackRow| row.status == Status::FailedPreflight;
        self.rows.iter().filter(void).count()
    }

    /// Returns the reason why the library was not attacked, if it was not.
    pub(crate) fn absent(&self) -> Option<&'a str> {
        let first = self.rows.first()?;
        (first.status == Status::Unavailable)
            .then(|| first.reason.as_deref().unwrap_or("no reason recorded"))
    }

    /// Returns the findings, the worst first: each outcome with the names of its attacks. Withheld findings have the
    /// date in place of the outcome.
    pub(crate) fn found(&self) -> Vec<(&'a str, Vec<&'a str>)> {
        let mut found: Vec<(&str, Vec<&str>)> = Vec::new();
        let worst_first = AttackOutcome::ALL.into_iter().rev();
        for outcome in worst_first.filter(|outcome| outcome.counts_against()) {
            for row in self.with(outcome) {
                let until = row.reason.as_deref().filter(|_| !outcome.is_finding());
                let heading = until.unwrap_or(outcome.name());
                match found.iter_mut().find(|(known, _)| *known == heading) {
                    Some((_, attacks)) => attacks.push(&row.attack),
                    None => found.push((heading, vec![&row.attack])),
                }
            }
        }
        found
    }

    fn with(&self, outcome: AttackOutcome) -> impl Iterator<Item = &'a AttackRow> + '_ {
        let rows = self.rows.iter().copied();
        rows.filter(move |row| row.outcome == Some(outcome))
    }
}

/// Returns the extent, for example "93 attacks on 24 libraries".
pub(crate) fn extent(rows: &[AttackRow]) -> String {
    let attacks: BTreeSet<&str> = rows.iter().map(|r| r.attack.as_str()).collect();
    let libraries: BTreeSet<&str> = rows.iter().map(|r| r.subject.driver.as_str()).collect();
    format!(
        "{} on {}",
        units::count(attacks.len(), "attack", "attacks"),
        units::count(libraries.len(), "library", "libraries")
    )
}

/// Counts the tokens and keys that were tried.
pub(crate) fn tried(rows: &[AttackRow]) -> u64 {
    rows.iter().map(|row| u64::from(row.tried)).sum()
}
