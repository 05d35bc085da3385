//! Interop rows, summarised: matrices, failures with reasons, and totals.

mod columns;
mod section;

use std::collections::BTreeMap;

use jeton_lab_model::result::{Interop, InteropRow, Party, Reader};

use jeton_lab_model::units;

pub(crate) use columns::row_columns;
pub(crate) use section::section;

use columns::{failure_columns, key_columns, letter, tag};

/// A matrix with issuers in rows and verifiers in columns, for kinds of token with equal results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matrix<'a> {
    /// The format: `jwt`, `jwe`, `v4.public`.
    pub format: &'a str,
    /// The algorithms, for example `dir+A256GCM` for a JWE; empty if the format decides.
    pub algs: Vec<String>,
    /// The drivers, in the order of rows and columns.
    pub drivers: Vec<&'a Party>,
    /// The rows by issuer and verifier; `None` if the pair was not tested or one driver is unavailable.
    pub cells: Vec<Vec<Option<&'a InteropRow>>>,
    /// Unavailable drivers, each with the reason.
    pub absent: Vec<(&'a Party, &'a str)>,
}

impl Matrix<'_> {
    /// Returns the title: `jwt ES256, ES384`, `v4.public`.
    #[must_use]
    pub fn title(&self) -> String {
        if self.algs.is_empty() {
            return self.format.to_owned();
        }
        format!("{} {}", self.format, self.algs.join(", "))
    }
}

/// Returns the matrices. Kinds of token of one format with the same drivers and outcomes share one.
#[must_use]
pub fn matrices(rows: &[InteropRow]) -> Vec<Matrix<'_>> {
    let mut kinds: Vec<(Kind<'_>, Vec<&InteropRow>)> = Vec::new();
    for row in rows {
        let kind = kind(row);
        match kinds.iter_mut().rev().find(|(k, _)| *k == kind) {
            Some((_, rows)) => rows.push(row),
            None => kinds.push((kind, vec![row])),
        }
    }
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
    let mut drivers: Vec<&Party> = Vec::new();
    let mut absent = Vec::new();
    for row in rows {
        if row.outcome.is_none() {
            absent.push((&row.issuer, row.reason.as_deref().unwrap_or_default()));
            continue;
        }
        for party in [&row.issuer, &row.verifier] {
            if !drivers.contains(&party) {
                drivers.push(party);
            }
        }
    }
    drivers.sort();
    let cell = |issuer: &Party, verifier: &Party| {
        let found = rows.iter().find(|row| {
            row.outcome.is_some() && row.issuer == *issuer && row.verifier == *verifier
        });
        found.copied()
    };
    let cells = drivers
        .iter()
        .map(|issuer| {
            drivers
                .iter()
                .map(|verifier| cell(issuer, verifier))
                .collect()
        })
        .collect();
    Matrix {
        format,
        algs: Vec::new(),
        drivers,
        cells,
        absent,
    }
}

fn alike(a: &Matrix<'_>, b: &Matrix<'_>) -> bool {
    let told = |row: &Option<&InteropRow>| {
        row.map(|r| {
            (
                r.outcome,
                r.explanation.clone().filter(|_| r.is_unexplained()),
            )
        })
    };
    let outcomes = |m: &Matrix<'_>| -> Vec<_> { m.cells.iter().flatten().map(told).collect() };
    a.format == b.format
        && a.drivers == b.drivers
        && a.absent == b.absent
        && outcomes(a) == outcomes(b)
}

/// Cells with the same failure and the same reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailureGroup<'a> {
    /// The failure.
    pub outcome: Interop,
    /// The reason, or `unexplained`.
    pub explanation: &'a str,
    /// The cells.
    pub rows: Vec<&'a InteropRow>,
}

impl FailureGroup<'_> {
    /// Describes the cells, for example `issued by rust/josekit, verified by python/pyjwt (jwt ES256)`.
    #[must_use]
    pub fn place(&self) -> String {
        let each = |name: fn(&InteropRow) -> &Party| {
            let mut names: Vec<&str> = self.rows.iter().map(|r| name(r).driver.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            match names.as_slice() {
                few @ [_] | few @ [_, _] | few @ [_, _, _] => units::list(few),
                many => format!("{} drivers", many.len()),
            }
        };
        let mut kinds: Vec<String> = self.rows.iter().map(|r| kind_name(r)).collect();
        kinds.sort_unstable();
        kinds.dedup();
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
#[must_use]
pub fn kind_name(row: &InteropRow) -> String {
    match (&row.alg, &row.enc) {
        (Some(alg), Some(enc)) => format!("{} {alg}+{enc}", row.format),
        (Some(alg), None) => format!("{} {alg}", row.format),
        (None, _) => row.format.clone(),
    }
}

/// Returns the failures, the most frequent first.
#[must_use]
pub fn failure_groups(rows: &[InteropRow]) -> Vec<FailureGroup<'_>> {
    let mut failure_groups: Vec<FailureGroup<'_>> = Vec::new();
    for row in rows {
        let Some(outcome) = row.outcome.filter(|o| o.needs_explaining()) else {
            continue;
        };
        let explanation = row.explanation.as_deref().unwrap_or("unexplained");
        let same = |t: &&mut FailureGroup<'_>| t.outcome == outcome && t.explanation == explanation;
        match failure_groups.iter_mut().find(same) {
            Some(group) => group.rows.push(row),
            None => failure_groups.push(FailureGroup {
                outcome,
                explanation,
                rows: vec![row],
            }),
        }
    }
    failure_groups.sort_by_key(|t| std::cmp::Reverse(t.rows.len()));
    failure_groups
}

/// Counts of an interop run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// Pairs by outcome.
    pub outcomes: BTreeMap<Interop, usize>,
    /// Failed pairs without an explanation.
    pub unexplained: usize,
    /// Unavailable drivers.
    pub absent: usize,
    /// Tested drivers.
    pub drivers: usize,
    /// Kinds of token.
    pub kinds: usize,
}

/// Counts the rows.
#[must_use]
pub fn tally(rows: &[InteropRow]) -> Tally {
    let mut tally = Tally::default();
    let (mut present, mut absent, mut kinds) = (Vec::new(), Vec::new(), Vec::new());
    for row in rows {
        kinds.push(kind(row));
        tally.unexplained += usize::from(row.is_unexplained());
        match row.outcome {
            Some(outcome) => {
                *tally.outcomes.entry(outcome).or_default() += 1;
                present.extend([&row.issuer, &row.verifier]);
            }
            None => absent.push(&row.issuer),
        }
    }
    let distinct = |parties: &mut Vec<&Party>| {
        parties.sort();
        parties.dedup();
        parties.len()
    };
    tally.drivers = distinct(&mut present);
    absent.retain(|party| !present.contains(party));
    tally.absent = distinct(&mut absent);
    kinds.sort_unstable();
    kinds.dedup();
    tally.kinds = kinds.len();
    tally
}

impl Tally {
    /// Counts the pairs with this outcome.
    #[must_use]
    pub fn of(&self, outcome: Interop) -> usize {
        self.outcomes.get(&outcome).copied().unwrap_or(0)
    }

    /// Describes the totals in a sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let tried: usize = self.outcomes.values().sum::<usize>() - self.of(Interop::NotOffered);
        let whole = |n: usize| units::whole(n as u64);
        let mut parts = vec![format!(
            "{} of {} verified",
            whole(self.of(Interop::Verified)),
            units::count(tried, "pair", "pairs")
        )];
        for outcome in Interop::ALL.into_iter().filter(|o| o.needs_explaining()) {
            if self.of(outcome) > 0 {
                parts.push(format!("{} {}", whole(self.of(outcome)), outcome.label()));
            }
        }
        let owed = tried - self.of(Interop::Verified);
        let explained = match (owed, self.unexplained) {
            (0, _) => String::new(),
            (_, 0) => "; all failures are explained".to_owned(),
            (_, n) => format!("; {} unexplained", whole(n)),
        };
        let absent = match self.absent {
            0 => String::new(),
            n => format!(
                "; {} unavailable",
                units::count(n, "driver is", "drivers are")
            ),
        };
        format!(
            "{}{explained}. {}, {} of token{absent}.",
            parts.join(", "),
            units::count(self.drivers, "driver", "drivers"),
            units::count(self.kinds, "kind", "kinds"),
        )
    }
}

/// The outcomes of a verifier by key encoding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeysRead<'a> {
    /// The verifier.
    pub verifier: &'a Party,
    /// The counts by encoding.
    pub encodings: BTreeMap<&'a str, KeyCounts>,
}

/// Verifications with one key encoding.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KeyCounts {
    /// Verified; the library read the key.
    pub by_library: usize,
    /// Verified; the driver read the key.
    pub by_driver: usize,
    /// Not verified.
    pub otherwise: usize,
    /// The library does not support the encoding.
    pub not_offered: usize,
}

/// Counts the verifications by verifier and key encoding.
#[must_use]
pub fn keys_read(rows: &[InteropRow]) -> Vec<KeysRead<'_>> {
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
    verifiers
        .into_iter()
        .map(|(verifier, encodings)| KeysRead {
            verifier,
            encodings,
        })
        .collect()
}
