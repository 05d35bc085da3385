//! Interop rows, summarised: matrices, failures with reasons, and totals.

mod columns;
mod section;

use std::collections::BTreeSet;

use itertools::Itertools as _;
use jeton_lab_model::result::{Interop, InteropRow, KeyExchange, Party};
use jeton_lab_model::units;

use crate::grouped::grouped;

pub(crate) use columns::row_columns;
pub(crate) use section::section;

/// A matrix with issuers in rows and verifiers in columns, for kinds of token with equal results.
struct Matrix<'a> {
    format: &'a str,
    /// The algorithms, for example `dir+A256GCM` for a JWE; empty if the format decides.
    algs: Vec<String>,
    /// The drivers, in the order of rows and columns.
    drivers: Vec<&'a Party>,
    /// The rows by issuer and verifier; `None` if the pair was not tested or one driver is unavailable.
    cells: Vec<Vec<Option<&'a InteropRow>>>,
    /// Unavailable drivers, each with the reason.
    absent: Vec<(&'a Party, &'a str)>,
}

/// Returns the matrices. Kinds of token of one format with the same drivers and outcomes share one.
fn matrices(rows: &[InteropRow]) -> Vec<Matrix<'_>> {
    let kinds = grouped(
        rows.iter()
            .map(|row| ((row.format.as_str(), alg(row)), row)),
    );
    let mut matrices: Vec<Matrix<'_>> = Vec::new();
    for ((format, alg), rows) in kinds {
        let mut matrix = Matrix::of(format, &rows);
        match matrices.iter_mut().find(|known| known.is_like(&matrix)) {
            Some(same) => same.algs.extend(alg),
            None => {
                matrix.algs.extend(alg);
                matrices.push(matrix);
            }
        }
    }
    matrices
}

impl<'a> Matrix<'a> {
    fn of(format: &'a str, rows: &[&'a InteropRow]) -> Self {
        let (tested, absent): (Vec<&InteropRow>, Vec<_>) =
            rows.iter().partition(|row| row.outcome.is_some());
        let absent = absent.into_iter();
        let drivers: Vec<&Party> = parties(&tested).into_iter().collect();
        let cell = |issuer: &Party, verifier: &Party| {
            let mut own = tested.iter().copied();
            own.find(|row| row.issuer == *issuer && row.verifier == *verifier)
        };
        let row = |issuer: &&Party| drivers.iter().map(|one| cell(issuer, one)).collect();
        Self {
            format,
            algs: Vec::new(),
            cells: drivers.iter().map(row).collect(),
            drivers,
            absent: absent
                .map(|row| (&row.issuer, row.reason.as_deref().unwrap_or_default()))
                .collect(),
        }
    }

    fn is_like(&self, other: &Self) -> bool {
        let told = |row: &Option<&'a InteropRow>| {
            let row = (*row)?;
            Some((
                row.outcome,
                row.explanation.as_ref().filter(|_| row.is_unexplained()),
            ))
        };
        let told = |one: &Self| one.cells.iter().flatten().map(told).collect::<Vec<_>>();
        (self.format, &self.drivers, &self.absent) == (other.format, &other.drivers, &other.absent)
            && told(self) == told(other)
    }

    /// Returns the title: `jwt ES256, ES384`, `v4.public`.
    fn title(&self) -> String {
        format!("{} {}", self.format, self.algs.join(", "))
            .trim_end()
            .to_owned()
    }
}

fn parties<'a>(rows: &[&'a InteropRow]) -> BTreeSet<&'a Party> {
    let both = rows.iter().flat_map(|row| [&row.issuer, &row.verifier]);
    both.collect()
}

/// Returns the algorithm: `ES256`, `dir+A256GCM`; none if the format decides.
fn alg(row: &InteropRow) -> Option<String> {
    let alg = row.alg.as_ref()?;
    Some(
        [Some(alg), row.enc.as_ref()]
            .into_iter()
            .flatten()
            .join("+"),
    )
}

/// Names the kind of token: `jwt ES256`, `jwe dir+A256GCM`, `v4.public`.
fn kind(row: &InteropRow) -> String {
    [Some(row.format.clone()), alg(row)]
        .into_iter()
        .flatten()
        .join(" ")
}

/// The rows with the same failure and the same reason, or `unexplained`.
type Failure<'a> = ((Interop, &'a str), Vec<&'a InteropRow>);

/// Returns the failures, the most frequent first.
fn failures(rows: &[InteropRow]) -> Vec<Failure<'_>> {
    let failed = rows.iter().filter_map(|row| {
        let outcome = row.outcome.filter(|o| o.needs_explaining())?;
        let explanation = row.explanation.as_deref().unwrap_or("unexplained");
        Some(((outcome, explanation), row))
    });
    let mut failures = grouped(failed);
    failures.sort_by_key(|(_, rows)| std::cmp::Reverse(rows.len()));
    failures
}

/// Describes where a failure occurs, for example `issued by rust/josekit, verified by python/pyjwt (jwt ES256)`.
fn place(rows: &[&InteropRow]) -> String {
    let each = |party: fn(&InteropRow) -> &Party| {
        let names: BTreeSet<&str> = rows.iter().map(|row| party(row).driver.as_str()).collect();
        match names.len() {
            0..=3 => units::list(names),
            many => format!("{many} drivers"),
        }
    };
    let kinds: BTreeSet<String> = rows.iter().map(|row| kind(row)).collect();
    let kinds = match kinds.len() {
        0..=4 => kinds.iter().join(", "),
        many => format!("{} and {} more", kinds.iter().take(3).join(", "), many - 3),
    };
    let (issuers, verifiers) = (each(|row| &row.issuer), each(|row| &row.verifier));
    format!("issued by {issuers}, verified by {verifiers} ({kinds})")
}

/// Describes the totals in a sentence.
fn totals(rows: &[InteropRow]) -> String {
    let whole = |n: usize| units::whole(n as u64);
    let count = |is_it: &dyn Fn(&&InteropRow) -> bool| rows.iter().filter(is_it).count();
    let of = |outcome| count(&|row| row.outcome == Some(outcome));
    let (tested, absent): (Vec<&InteropRow>, Vec<_>) =
        rows.iter().partition(|row| row.outcome.is_some());
    let present = parties(&tested);
    let absent: BTreeSet<&Party> = absent.iter().map(|row| &row.issuer).collect();
    let kinds: BTreeSet<String> = rows.iter().map(kind).collect();
    let tried = tested.len() - of(Interop::NotOffered);
    let verified = of(Interop::Verified);
    let pairs = units::count(tried, "pair", "pairs");
    let failed = Interop::ALL.into_iter().filter(|o| o.needs_explaining());
    let failed = failed.filter_map(|one| match of(one) {
        0 => None,
        some => Some(format!(", {} {}", whole(some), one.label())),
    });
    let explained = match (tried - verified, count(&|row| row.is_unexplained())) {
        (0, _) => String::new(),
        (_, 0) => "; all failures are explained".to_owned(),
        (_, n) => format!("; {} unexplained", whole(n)),
    };
    let absent = match absent.difference(&present).count() {
        0 => String::new(),
        n => format!(
            "; {} unavailable",
            units::count(n, "driver is", "drivers are")
        ),
    };
    format!(
        "{} of {pairs} verified{}{explained}. {}, {} of token{absent}.",
        whole(verified),
        failed.collect::<String>(),
        units::count(present.len(), "driver", "drivers"),
        units::count(kinds.len(), "kind", "kinds")
    )
}

/// The keys that a verifier got, each with its outcome.
type KeysRead<'a> = (&'a Party, Vec<&'a KeyExchange>);

fn keys_read(rows: &[InteropRow]) -> Vec<KeysRead<'_>> {
    let keys = rows
        .iter()
        .flat_map(|row| row.keys.iter().map(move |key| (&row.verifier, key)));
    let mut read = grouped(keys);
    read.sort_by_key(|(verifier, _)| *verifier);
    read
}
