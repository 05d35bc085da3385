//! Interop rows, summarised: matrices, failures with reasons, and totals.

mod columns;
mod section;

use std::collections::{BTreeMap, BTreeSet};

use jeton_lab_model::result::{Interop, InteropRow, Party, Reader};

use crate::grouped::grouped;
use jeton_lab_model::units;

pub(crate) use columns::row_columns;
pub(crate) use section::section;

use columns::{failure_columns, key_columns, letter, tag};

/// A matrix with issuers in rows and verifiers in columns, for kinds of token with equal results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Matrix<'a> {
    pub(crate) format: &'a str,
    /// The algorithms, for example `dir+A256GCM` for a JWE; empty if the format decides.
    pub(crate) algs: Vec<String>,
    /// The drivers, in the order of rows and columns.
    pub(crate) drivers: Vec<&'a Party>,
    /// The rows by issuer and verifier; `None` if the pair was not tested or one driver is unavailable.
    pub(crate) cells: Vec<Vec<Option<&'a InteropRow>>>,
    /// Unavailable drivers, each with the reason.
    pub(crate) absent: Vec<(&'a Party, &'a str)>,
}

impl Matrix<'_> {
    /// Returns the title: `jwt ES256, ES384`, `v4.public`.
    pub(crate) fn title(&self) -> String {
        if self.algs.is_empty() {
            return self.format.to_owned();
        }
        format!("{} {}", self.format, self.algs.join(", "))
    }
}

/// Returns the matrices. Kinds of token of one format with the same drivers and outcomes share one.
pub(crate) fn matrices(rows: &[InteropRow]) -> Vec<Matrix<'_>> {
    let kinds = grouped(rows.iter().map(|row| (kind(row), row)));
    let mut matrices: Vec<Matrix<'_>> = Vec::new();
    for ((format, alg, enc), rows) in kinds {
        let mut matrix = matrix(format, &rows);
        let alg = alg.map(|alg| enc.map_or_else(|| alg.to_owned(), |enc| format!("{alg}+{enc}")));
        match matrices.iter_mut().find(|m| alike(m, &matrix)) {
            Some(same) => same.algs.extend(alg),
            None => {
                matrix.algs.extend(alg);
                matrices.push(matrix);
            }
        }
    }
    matrices
}

type Kind<'a> = (&'a str, Option<&'a str>, Option<&'a str>);

fn kind(row: &InteropRow) -> Kind<'_> {
    (&row.format, row.alg.as_deref(), row.enc.as_deref())
}

fn matrix<'a>(format: &'a str, rows: &[&'a InteropRow]) -> Matrix<'a> {
    let (tested, absent): (Vec<&InteropRow>, Vec<_>) =
        rows.iter().partition(|row| row.outcome.is_some());
    let absent = absent.into_iter();
    let absent = absent.map(|row| (&row.issuer, row.reason.as_deref().unwrap_or_default()));
    let parties = tested.iter().flat_map(|row| [&row.issuer, &row.verifier]);
    let drivers: Vec<&Party> = BTreeSet::from_iter(parties).into_iter().collect();
    let cell = |issuer: &Party, verifier: &Party| {
        let mut own = tested.iter();
        let found = own.find(|row| row.issuer == *issuer && row.verifier == *verifier);
        found.copied()
    };
    let row = |issuer: &&Party| drivers.iter().map(|one| cell(issuer, one)).collect();
    let cells = drivers.iter().map(row);
    Matrix {
        format,
        algs: Vec::new(),
        cells: cells.collect(),
        drivers,
        absent: absent.collect(),
    }
}

fn alike(a: &Matrix<'_>, b: &Matrix<'_>) -> bool {
    let told = |row: &Option<&InteropRow>| {
        let row = (*row)?;
        let explanation = row.explanation.as_ref();
        Some((
            row.outcome,
            explanation.filter(|_| row.is_unexplained()).cloned(),
        ))
    };
    let outcomes = |m: &Matrix<'_>| -> Vec<_> { m.cells.iter().flatten().map(told).collect() };
    a.format == b.format
        && a.drivers == b.drivers
        && a.absent == b.absent
        && outcomes(a) == outcomes(b)
}

/// Cells with the same failure and the same reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FailureGroup<'a> {
    pub(crate) outcome: Interop,
    /// The reason, or `unexplained`.
    pub(crate) explanation: &'a str,
    pub(crate) rows: Vec<&'a InteropRow>,
}

impl FailureGroup<'_> {
    /// Describes the cells, for example `issued by rust/josekit, verified by python/pyjwt (jwt ES256)`.
    pub(crate) fn place(&self) -> String {
        let each = |name: fn(&InteropRow) -> &Party| {
            let names: BTreeSet<&str> = self.rows.iter().map(|r| name(r).driver.as_str()).collect();
            match names.len() {
                0..=3 => units::list(&names.into_iter().collect::<Vec<_>>()),
                many => format!("{many} drivers"),
            }
        };
        let kinds: BTreeSet<String> = self.rows.iter().map(|r| kind_name(r)).collect();
        let kinds: Vec<String> = kinds.into_iter().collect();
        let kinds = match kinds.as_slice() {
            few if few.len() <= 4 => few.join(", "),
            many => format!("{} and {} more", many[..3].join(", "), many.len() - 3),
        };
        format!(
            "issued by {}, verified by {} ({kinds})",
            each(|r| &r.issuer),
            each(|r| &r.verifier)
        )
    }
}

/// Names the kind of token: `jwt ES256`, `jwe dir+A256GCM`, `v4.public`.
pub(crate) fn kind_name(row: &InteropRow) -> String {
    match (&row.alg, &row.enc) {
        (Some(alg), Some(enc)) => format!("{} {alg}+{enc}", row.format),
        (Some(alg), None) => format!("{} {alg}", row.format),
        (None, _) => row.format.clone(),
    }
}

/// Returns the failures, the most frequent first.
pub(crate) fn failure_groups(rows: &[InteropRow]) -> Vec<FailureGroup<'_>> {
    let failed = rows.iter().filter_map(|row| {
        let outcome = row.outcome.filter(|o| o.needs_explaining())?;
        let explanation = row.explanation.as_deref().unwrap_or("unexplained");
        Some(((outcome, explanation), row))
    });
    let group = |((outcome, explanation), rows)| FailureGroup {
        outcome,
        explanation,
        rows,
    };
    let mut groups: Vec<FailureGroup<'_>> = grouped(failed).into_iter().map(group).collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.rows.len()));
    groups
}

/// Describes the totals in a sentence.
pub(crate) fn totals(rows: &[InteropRow]) -> String {
    let whole = |n: usize| units::whole(n as u64);
    let of = |outcome| {
        rows.iter()
            .filter(|row| row.outcome == Some(outcome))
            .count()
    };
    let (tested, absent): (Vec<&InteropRow>, Vec<_>) =
        rows.iter().partition(|row| row.outcome.is_some());
    let parties = tested.iter().flat_map(|row| [&row.issuer, &row.verifier]);
    let present: BTreeSet<&Party> = parties.collect();
    let absent: BTreeSet<&Party> = absent.iter().map(|row| &row.issuer).collect();
    let kinds: BTreeSet<Kind<'_>> = rows.iter().map(kind).collect();
    let (verified, tried) = (
        of(Interop::Verified),
        tested.len() - of(Interop::NotOffered),
    );
    let pairs = units::count(tried, "pair", "pairs");
    let mut parts = vec![format!("{} of {pairs} verified", whole(verified))];
    let failed = Interop::ALL.into_iter().filter(|o| o.needs_explaining());
    let failed = failed.filter(|outcome| of(*outcome) > 0);
    parts.extend(failed.map(|one| format!("{} {}", whole(of(one)), one.label())));
    let unexplained = rows.iter().filter(|row| row.is_unexplained()).count();
    let explained = match (tried - verified, unexplained) {
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
    let drivers = units::count(present.len(), "driver", "drivers");
    let kinds = units::count(kinds.len(), "kind", "kinds");
    let parts = parts.join(", ");
    format!("{parts}{explained}. {drivers}, {kinds} of token{absent}.")
}

/// The outcomes of a verifier by key encoding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeysRead<'a> {
    pub(crate) verifier: &'a Party,
    /// The counts by encoding.
    pub(crate) encodings: BTreeMap<&'a str, KeyCounts>,
}

/// Verifications with one key encoding.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct KeyCounts {
    /// Verified; the library read the key.
    pub(crate) by_library: usize,
    /// Verified; the driver read the key.
    pub(crate) by_driver: usize,
    /// Not verified.
    pub(crate) otherwise: usize,
    /// The library does not support the encoding.
    pub(crate) not_offered: usize,
}

/// Counts the verifications by verifier and key encoding.
pub(crate) fn keys_read(rows: &[InteropRow]) -> Vec<KeysRead<'_>> {
    let mut verifiers: BTreeMap<&Party, BTreeMap<&str, KeyCounts>> = BTreeMap::new();
    for row in rows {
        for key in &row.keys {
            let counts = verifiers.entry(&row.verifier).or_default();
            let counts = counts.entry(key.encoding.as_str()).or_default();
            let count = match (key.outcome, key.read_by) {
                (Interop::Verified, Some(Reader::Library)) => &mut counts.by_library,
                (Interop::Verified, _) => &mut counts.by_driver,
                (Interop::NotOffered, _) => &mut counts.not_offered,
                _ => &mut counts.otherwise,
            };
            *count += 1;
        }
    }
    let of = |(verifier, encodings)| KeysRead {
        verifier,
        encodings,
    };
    verifiers.into_iter().map(of).collect()
}
