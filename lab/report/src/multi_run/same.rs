//! Which rows of two results are the same work, and which subjects have the same code.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use jeton_lab_model::result::{Party, Row, Rows, RunResult, Status};

use super::machine::Difference;

/// The same work: operation, subject, claims and threads. The suite and the library's version are not
/// part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Work<'a> {
    pub(super) operation: &'a str,
    pub(super) subject: &'a str,
    pub(super) claims: &'a str,
    pub(super) threads: u32,
}

impl<'a> Work<'a> {
    pub(super) fn of(row: &'a Row) -> Self {
        Self {
            operation: &row.operation,
            subject: &row.subject.id,
            claims: &row.claims.name,
            threads: row.threads,
        }
    }
}

impl std::fmt::Display for Work<'_> {
    /// Formats `sign rust/jeton:jwt:HS256:prepared`, followed by unusual claims and threads.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.operation, self.subject)?;
        if self.claims != "standard" {
            write!(f, ", {} claims", self.claims)?;
        }
        if self.threads > 1 {
            write!(f, ", {} threads", self.threads)?;
        }
        Ok(())
    }
}

/// The rows of a result with the same work. Two suites may have the same measurement.
pub(super) struct Copies<'r> {
    pub(super) row: &'r Row,
    /// True if another row has the same work with other figures: no name tells the two apart.
    pub(super) differ: bool,
    /// True if one of them has times.
    pub(super) measured: bool,
}

/// Returns the rows of a result by their work, and the works in their order.
pub(super) fn by_work(result: &RunResult) -> (Vec<Work<'_>>, HashMap<Work<'_>, Copies<'_>>) {
    let (mut order, mut found) = (Vec::new(), HashMap::new());
    for row in &result.rows.measured {
        let work = Work::of(row);
        match found.entry(work) {
            Entry::Vacant(first) => {
                order.push(work);
                first.insert(Copies {
                    row,
                    differ: false,
                    measured: measured(row),
                });
            }
            Entry::Occupied(mut known) => {
                let copies: &mut Copies<'_> = known.get_mut();
                copies.differ |= !is_copy(copies.row, row);
                copies.measured |= measured(row);
            }
        }
    }
    (order, found)
}

/// Reports whether a row has times that count.
pub(super) fn measured(row: &Row) -> bool {
    row.ns_per_op.is_some() && matches!(row.status, Status::Ok | Status::Disturbed)
}

/// Reports whether two rows are the same measurement.
fn is_copy(a: &Row, b: &Row) -> bool {
    a.subject == b.subject
        && a.claims == b.claims
        && a.status == b.status
        && a.ns_per_op == b.ns_per_op
}

/// Finds the row of another result of the same plan: the same work and suite.
pub(super) fn counterpart<'r>(result: &'r RunResult, row: &Row) -> Option<&'r Row> {
    let mut rows = result.rows.measured.iter();
    rows.find(|other| Work::of(other) == Work::of(row) && other.suite == row.suite)
}

/// Reports whether a driver has the same sources and lockfile in two results.
pub(super) fn unchanged_driver(before: &RunResult, after: &RunResult, driver: &str) -> bool {
    let hash = |result: &RunResult| result.environment.drivers.get(driver).cloned();
    hash(before).is_some_and(|known| hash(after) == Some(known))
}

/// Reports whether a subject has the same code in two results: version, driver sources, lockfile and
/// runtime. Missing information counts as different.
pub(super) fn unchanged(before: (&RunResult, &Row), after: (&RunResult, &Row)) -> bool {
    // A run on several runtimes has the runtime in each row.
    if before.1.subject.runtime != after.1.subject.runtime {
        return false;
    }
    let code = |(result, row): (&RunResult, &Row)| {
        let e = &result.environment;
        let hash = e.drivers.get(row.subject.driver())?.clone();
        let runtime = e.runtimes.get(&row.subject.language)?.clone();
        Some((row.subject.version.clone(), hash, runtime))
    };
    code(before).is_some_and(|known| code(after) == Some(known))
}

/// Returns a driver whose version in `others` differs from that in `known`. A driver that could not be built has
/// no version.
pub(super) fn other_version(known: &Rows, others: &Rows) -> Option<Difference> {
    let mut versions = HashMap::new();
    for (driver, version) in versions_of(known) {
        versions.entry(driver).or_insert(version);
    }
    versions_of(others).find_map(|(driver, version)| {
        let known = versions.get(driver).filter(|known| **known != version)?;
        Some(Difference {
            what: format!("version of {driver}"),
            before: (*known).to_owned(),
            after: version.to_owned(),
        })
    })
}

/// The parties of attack and interop rows.
pub(super) fn parties(rows: &Rows) -> impl Iterator<Item = &Party> {
    let issuers_and_verifiers = rows.interop.iter();
    let issuers_and_verifiers = issuers_and_verifiers.flat_map(|row| [&row.issuer, &row.verifier]);
    (rows.attack.iter().map(|row| &row.subject)).chain(issuers_and_verifiers)
}

fn versions_of(rows: &Rows) -> impl Iterator<Item = (&str, &str)> {
    let measured =
        (rows.measured.iter()).map(|row| (row.subject.driver(), row.subject.version.as_str()));
    let parties = parties(rows).map(
        |Party {
             driver, version, ..
         }| (driver.as_str(), version.as_str()),
    );
    measured
        .chain(parties)
        .filter(|(_, version)| !version.is_empty())
}
