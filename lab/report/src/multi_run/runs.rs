//! A set of runs: the runs that made a result, the same work in two of them, and the same code.

use std::collections::HashMap;
use std::fmt;

use jeton_lab_model::result::{
    Environment, MergedRun, Party, Row, Rows, RunResult, Status, Timing,
};

use super::machine::{Difference, system};

/// A result with its name, such as the file name.
#[derive(Debug, Clone)]
pub struct Named {
    pub name: String,
    pub result: RunResult,
}

fn all_runs(result: &RunResult, rounds: u32) -> Vec<MergedRun> {
    let own = || MergedRun {
        started: result.environment.started.clone(),
        command: result.command.clone(),
        seed: result.seed,
        rounds,
    };
    match result.runs.as_slice() {
        [] => vec![own()],
        merged => merged.to_vec(),
    }
}

pub(super) fn runs(result: &RunResult) -> Vec<MergedRun> {
    let mut runs = all_runs(result, result.environment.rounds_finished);
    runs.retain(|run| run.rounds > 0 || result.runs.is_empty());
    runs
}

/// Returns the runs that made rows without times; they have no rounds.
pub(super) fn untimed_runs(result: &RunResult) -> Vec<MergedRun> {
    let mut runs = all_runs(result, 0);
    runs.retain(|run| run.rounds == 0);
    runs
}

pub(super) fn in_common(
    of: fn(&RunResult) -> Vec<MergedRun>,
    one: &RunResult,
    other: &RunResult,
) -> bool {
    let theirs = of(other);
    of(one).iter().any(|run| theirs.contains(run))
}

pub(crate) fn is_same_run(one: &RunResult, other: &RunResult) -> bool {
    let all = |result: &RunResult| [runs(result), untimed_runs(result)].concat();
    in_common(all, one, other)
}

/// The same work: operation, subject, claims and threads. The suite and the library's version are not
/// part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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

impl fmt::Display for Work<'_> {
    /// Formats `sign rust/jeton:jwt:HS256:prepared`, followed by unusual claims and threads.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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
    pub(super) measured: bool,
}

pub(super) fn by_work(result: &RunResult) -> (Vec<Work<'_>>, HashMap<Work<'_>, Copies<'_>>) {
    let mut order = Vec::new();
    let mut found: HashMap<Work<'_>, Copies<'_>> = HashMap::new();
    let differ = |a: &Row, b: &Row| {
        (&a.subject, &a.claims, a.status, &a.ns_per_op)
            != (&b.subject, &b.claims, b.status, &b.ns_per_op)
    };
    for row in &result.rows.measured {
        let work = Work::of(row);
        let copies = found.entry(work).or_insert_with(|| {
            order.push(work);
            let (differ, measured) = (false, false);
            Copies {
                row,
                differ,
                measured,
            }
        });
        copies.differ |= differ(copies.row, row);
        copies.measured |= measured(row).is_some();
    }
    (order, found)
}

pub(super) fn measured(row: &Row) -> Option<&Timing> {
    let counts = matches!(row.status, Status::Ok | Status::Disturbed);
    row.ns_per_op.as_ref().filter(|_| counts)
}

pub(super) fn counterpart<'r>(result: &'r RunResult, row: &Row) -> Option<&'r Row> {
    let mut rows = result.rows.measured.iter();
    rows.find(|other| Work::of(other) == Work::of(row) && other.suite == row.suite)
}

/// Reports whether a driver has the same sources and lockfile in two results on the same system.
pub(super) fn unchanged_driver(before: &RunResult, after: &RunResult, driver: &str) -> bool {
    let [before, after] = [before, after].map(|result| &result.environment);
    let hash = before.drivers.get(driver);
    system(before, after).is_empty() && hash.is_some() && hash == after.drivers.get(driver)
}

/// Reports whether a subject has the same code in two results on the same system: version, driver sources, lockfile
/// and runtime. Missing information counts as different.
pub(super) fn unchanged(before: (&RunResult, &Row), after: (&RunResult, &Row)) -> bool {
    // A run on several runtimes has the runtime in each row.
    let [own, other] = [before, after].map(|(run, Row { subject, .. })| {
        let runtime = run.environment.runtimes.get(&subject.language);
        (&subject.runtime, &subject.version, runtime)
    });
    let driver = before.1.subject.driver();
    own == other && own.2.is_some() && unchanged_driver(before.0, after.0, driver)
}

pub(super) fn code(a: &Environment, b: &Environment, kind: &str) -> Option<Difference> {
    let short = |hash: &String| hash.chars().take(8).collect();
    a.drivers.iter().find_map(|(driver, hash)| {
        let other = b.drivers.get(driver)?;
        (other != hash).then(|| Difference {
            what: format!("sources or lockfile of the {kind} {driver}"),
            before: short(hash),
            after: short(other),
        })
    })
}

/// Returns a driver whose version in `others` differs from that in `known`. A driver that could not be built has
/// no version.
pub(super) fn other_version(known: &Rows, others: &Rows) -> Option<Difference> {
    let mut versions = HashMap::new();
    for (driver, version) in versions_of(known) {
        versions.entry(driver).or_insert(version);
    }
    versions_of(others).find_map(|(driver, version)| {
        let known = *versions.get(driver)?;
        Difference::of(format!("version of {driver}"), known, version)
    })
}

pub(super) fn parties(rows: &Rows) -> impl Iterator<Item = &Party> {
    let exchanges = rows.interop.iter();
    let exchanges = exchanges.flat_map(|row| [&row.issuer, &row.verifier]);
    rows.attack.iter().map(|row| &row.subject).chain(exchanges)
}

fn versions_of(rows: &Rows) -> impl Iterator<Item = (&str, &str)> {
    let measured = rows.measured.iter().map(|row| &row.subject);
    let measured = measured.map(|subject| (subject.driver(), subject.version.as_str()));
    let parties = parties(rows).map(|party| (party.driver.as_str(), party.version.as_str()));
    let all = measured.chain(parties);
    all.filter(|(_, version)| !version.is_empty())
}
