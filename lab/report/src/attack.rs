//! Attack rows, summarised by library.

mod columns;
mod section;

use itertools::Itertools as _;
use jeton_lab_model::result::{AttackOutcome, AttackRow, Party, Practice, Status};

use crate::grouped::grouped;
use jeton_lab_model::units;

pub(crate) use columns::row_columns;
pub(crate) use section::section;

/// The attacks on one library with one kind of token and one practice.
#[derive(Clone)]
pub(crate) struct Attacked<'a> {
    library: &'a Party,
    format: &'a str,
    practice: Practice,
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
    /// Returns the reason why the library was not attacked, if it was not.
    fn absent(&self) -> Option<&'a str> {
        let first = self.rows.first()?;
        let reason = first.reason.as_deref().unwrap_or("no reason recorded");
        (first.status == Status::Unavailable).then_some(reason)
    }

    /// Returns the findings, the worst first: each outcome with the names of its attacks. Withheld findings have the
    /// date in place of the outcome.
    fn found(&self) -> Vec<(&'a str, Vec<&'a str>)> {
        let worst_first = AttackOutcome::ALL.into_iter().rev();
        let counted = worst_first.filter(|outcome| outcome.counts_against());
        grouped(counted.flat_map(|outcome| {
            self.with(outcome).map(move |row| {
                let until = row.reason.as_deref().filter(|_| !outcome.is_finding());
                (until.unwrap_or(outcome.name()), row.attack.as_str())
            })
        }))
    }

    fn with(&self, outcome: AttackOutcome) -> impl Iterator<Item = &'a AttackRow> + '_ {
        let rows = self.rows.iter().copied();
        rows.filter(move |row| row.outcome == Some(outcome))
    }
}

/// Returns the extent, for example "93 attacks on 24 libraries".
fn extent(rows: &[AttackRow]) -> String {
    let count = |name: fn(&AttackRow) -> &String| rows.iter().map(name).unique().count();
    let attacks = units::count(count(|row| &row.attack), "attack", "attacks");
    let libraries = units::count(count(|row| &row.subject.driver), "library", "libraries");
    format!("{attacks} on {libraries}")
}
