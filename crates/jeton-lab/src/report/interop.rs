//! Interop rows as people look at them: matrices, what went wrong and why, and the totals.

use std::collections::BTreeMap;

use crate::result::{Interop, InteropRow, Party, Reader};

use super::units;

/// Issuers down, verifiers across, for every kind of token that came out alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matrix<'a> {
    /// The format: `jwt`, `jwe`, `v4.public`.
    pub format: &'a str,
    /// The algorithms, `dir+A256GCM` for a JWE; empty where the format decides.
    pub algs: Vec<String>,
    /// Who takes part, in the order of the rows and of the columns.
    pub drivers: Vec<&'a Party>,
    /// What became of it, by minter and then by verifier; none where nobody asked, or where one of
    /// the two is not available.
    pub cells: Vec<Vec<Option<&'a InteropRow>>>,
    /// Drivers that could not be had, each with the reason.
    pub absent: Vec<(&'a Party, &'a str)>,
}

impl Matrix<'_> {
    /// What it is about: `jwt ES256, ES384`, `v4.public`.
    #[must_use]
    pub fn title(&self) -> String {
        if self.algs.is_empty() {
            return self.format.to_owned();
        }
        format!("{} {}", self.format, self.algs.join(", "))
    }
}

/// The matrices of all rows. Kinds of one format whose drivers and outcomes are the same share one.
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

/// Cells that came to the same for the same reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble<'a> {
    /// What they came to.
    pub outcome: Interop,
    /// Why, or that nobody knows.
    pub explanation: &'a str,
    /// The cells.
    pub rows: Vec<&'a InteropRow>,
}

impl Trouble<'_> {
    /// Which they are, as a sentence's beginning: `josekit's tokens by pyjwt (jwt ES256)`.
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
            "made by {}, given to {} ({kinds})",
            each(|r| &r.issuer),
            each(|r| &r.verifier)
        )
    }
}

/// `jwt ES256`, `jwe dir+A256GCM`, `v4.public`.
#[must_use]
pub fn kind_name(row: &InteropRow) -> String {
    match (&row.alg, &row.enc) {
        (Some(alg), Some(enc)) => format!("{} {alg}+{enc}", row.format),
        (Some(alg), None) => format!("{} {alg}", row.format),
        (None, _) => row.format.clone(),
    }
}

/// Everything that is owed an explanation, the most frequent first.
#[must_use]
pub fn troubles(rows: &[InteropRow]) -> Vec<Trouble<'_>> {
    let mut troubles: Vec<Trouble<'_>> = Vec::new();
    for row in rows {
        let Some(outcome) = row.outcome.filter(|o| o.needs_explaining()) else {
            continue;
        };
        let explanation = row.explanation.as_deref().unwrap_or("unexplained");
        let same = |t: &&mut Trouble<'_>| t.outcome == outcome && t.explanation == explanation;
        match troubles.iter_mut().find(same) {
            Some(trouble) => trouble.rows.push(row),
            None => troubles.push(Trouble {
                outcome,
                explanation,
                rows: vec![row],
            }),
        }
    }
    troubles.sort_by_key(|t| std::cmp::Reverse(t.rows.len()));
    troubles
}

/// How often what happened.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// Pairs by what they came to.
    pub outcomes: BTreeMap<Interop, usize>,
    /// Of them, those that nobody can explain.
    pub unexplained: usize,
    /// Drivers that could not be had.
    pub absent: usize,
    /// Drivers that took part.
    pub drivers: usize,
    /// Kinds of token.
    pub kinds: usize,
}

/// Counts.
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
    /// How many pairs came to this.
    #[must_use]
    pub fn of(&self, outcome: Interop) -> usize {
        self.outcomes.get(&outcome).copied().unwrap_or(0)
    }

    /// The totals as a sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let tried: usize = self.outcomes.values().sum::<usize>() - self.of(Interop::NotOffered);
        let whole = |n: usize| units::whole(n as u64);
        let mut parts = vec![format!(
            "{} of {} verified",
            whole(self.of(Interop::Verified)),
            units::count(tried, "exchange", "exchanges")
        )];
        for outcome in Interop::ALL.into_iter().filter(|o| o.needs_explaining()) {
            if self.of(outcome) > 0 {
                parts.push(format!("{} {}", whole(self.of(outcome)), outcome.name()));
            }
        }
        let owed = tried - self.of(Interop::Verified);
        let explained = match (owed, self.unexplained) {
            (0, _) => String::new(),
            (_, 0) => "; each of the others is explained".to_owned(),
            (_, n) => format!("; {} unexplained", whole(n)),
        };
        let absent = match self.absent {
            0 => String::new(),
            n => format!(
                "; {} not available",
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

/// In which encodings a verifier was given keys, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeysRead<'a> {
    /// The verifier.
    pub verifier: &'a Party,
    /// By encoding: what was verified with a key that the library read, with one that its driver
    /// read, and what was not offered.
    pub encodings: BTreeMap<&'a str, KeyCounts>,
}

/// Exchanges in one encoding of the key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KeyCounts {
    /// Verified, the key read by the library.
    pub by_library: usize,
    /// Verified, the key read by the driver.
    pub by_driver: usize,
    /// Neither verified nor left out.
    pub otherwise: usize,
    /// The library does not read it.
    pub not_offered: usize,
}

/// Who read keys in which encodings, by verifier.
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
