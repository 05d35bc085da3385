//! The suites: from what the drivers offer to the cells of a run and their comparisons.

use std::fmt;

use super::{Cell, Comparison, Contract, Format, KeyHandling};
use crate::driver::Driver;

/// The library that is the baseline wherever it takes part.
pub(super) const BASELINE: &str = "jeton";

/// The algorithms that libraries are compared under.
const LIBRARY_ALGS: [&str; 4] = ["HS256", "ES256", "EdDSA", "RS256"];

/// The algorithms of jeton that a quick run of everything shows.
const FEW_ALGS: [&str; 7] = [
    "HS256", "HS512", "RS256", "PS256", "ES256", "ES384", "EdDSA",
];

/// A named choice of comparisons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Suite {
    /// JWT or PASETO?
    Formats,
    /// What does each algorithm cost?
    Algorithms,
    /// Which library?
    Libraries,
}

impl Suite {
    /// All of them, in the order in which they are measured and shown.
    pub const ALL: [Self; 3] = [Self::Libraries, Self::Formats, Self::Algorithms];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Formats => "formats",
            Self::Algorithms => "algorithms",
            Self::Libraries => "libraries",
        }
    }

    /// The question it answers.
    #[must_use]
    pub fn question(self) -> &'static str {
        match self {
            Self::Formats => "JWT or PASETO, with the same claims?",
            Self::Algorithms => "What does each algorithm cost?",
            Self::Libraries => "Which library, doing the same work?",
        }
    }

    /// The suite of that name.
    ///
    /// # Errors
    /// [`PlanError::NoSuite`].
    pub fn named(name: &str) -> Result<Self, PlanError> {
        let found = Self::ALL.into_iter().find(|s| s.name() == name);
        found.ok_or_else(|| PlanError::NoSuite {
            name: name.to_owned(),
            nearest: nearest(name, Self::ALL.map(Self::name).into_iter()),
        })
    }
}

/// What a run measures.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// Every cell once, with the name of the first suite that asked for it.
    pub cells: Vec<(Cell, &'static str)>,
    /// What is set side by side.
    pub comparisons: Vec<Comparison>,
}

/// Why there is nothing to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanError {
    /// No suite has that name.
    NoSuite {
        /// What was asked for.
        name: String,
        /// What may have been meant.
        nearest: String,
    },
    /// No subject matches.
    NoSubject {
        /// What was asked for.
        pattern: String,
        /// What may have been meant.
        nearest: String,
    },
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuite { name, nearest } => {
                let all: Vec<_> = Suite::ALL.into_iter().map(Suite::name).collect();
                write!(
                    f,
                    "there is no suite `{name}`; did you mean `{nearest}`? (suites: {})",
                    all.join(", ")
                )
            }
            Self::NoSubject { pattern, nearest } => write!(
                f,
                "no subject of these suites matches `{pattern}`; did you mean `{nearest}`? (`jeton lab list` shows all)"
            ),
        }
    }
}

impl std::error::Error for PlanError {}

/// Plans a run of `suites` over what `drivers` offer. `few` takes the small choice that a quick
/// run of everything has time for. With `patterns`, only subjects whose id matches one of them
/// take part; `*` stands for anything.
///
/// # Errors
/// [`PlanError::NoSubject`].
pub fn plan(
    drivers: &[Driver],
    suites: &[Suite],
    few: bool,
    patterns: &[String],
) -> Result<Plan, PlanError> {
    let offered = cells(drivers);
    let mut plan = Plan::default();
    for suite in Suite::ALL.into_iter().filter(|s| suites.contains(s)) {
        match suite {
            Suite::Libraries => libraries(&offered, few, &mut plan),
            Suite::Formats => formats(&offered, &mut plan),
            Suite::Algorithms => algorithms(&offered, few, &mut plan),
        }
    }
    narrow(&mut plan, patterns)?;
    Ok(plan)
}

/// Every cell that the drivers offer, by their manifests.
#[must_use]
fn cells(drivers: &[Driver]) -> Vec<Cell> {
    let mut cells = Vec::new();
    for driver in drivers {
        let m = &driver.manifest;
        for offer in &m.offers {
            let algs: Vec<Option<String>> = if offer.algs.is_empty() {
                vec![None]
            } else {
                offer.algs.iter().cloned().map(Some).collect()
            };
            for alg in algs {
                for &key_handling in &offer.key_handling {
                    for &contract in &offer.contracts {
                        cells.push(Cell {
                            driver: driver.id.clone(),
                            library: m.library.clone(),
                            version: m.version.clone(),
                            language: m.language.clone(),
                            format: offer.format,
                            alg: alg.clone(),
                            key_handling,
                            contract,
                        });
                    }
                }
            }
        }
    }
    // The baseline first, then by language and library.
    cells.sort_by(|a, b| {
        let rank = |c: &Cell| (c.library != BASELINE, c.driver.clone());
        rank(a).cmp(&rank(b))
    });
    cells
}

fn libraries(offered: &[Cell], few: bool, plan: &mut Plan) {
    for alg in LIBRARY_ALGS {
        for contract in Contract::ALL {
            // The third contract answers a finer question; a quick run has no time for it.
            if few && contract == Contract::VerifySignature {
                continue;
            }
            let of = |format: Format| {
                offered.iter().filter(move |c| {
                    c.format == format
                        && c.alg.as_deref() == Some(alg)
                        && c.contract == contract
                        && c.key_handling == KeyHandling::Prepared
                })
            };
            plan.add("libraries", alg, of(Format::Jwt));
            plan.add_references("libraries", of(Format::Bare));
        }
    }
}

fn formats(offered: &[Cell], plan: &mut Plan) {
    for contract in [Contract::Sign, Contract::Verify] {
        let all = |format: Format, alg: Option<&'static str>| {
            offered.iter().filter(move |c| {
                c.format == format
                    && c.alg.as_deref() == alg
                    && c.contract == contract
                    && c.key_handling == KeyHandling::Prepared
            })
        };
        let by = |library: &'static str| move |c: &&Cell| c.library == library;
        let own = by(BASELINE);
        let signed = || all(Format::V4Public, None);
        let jwt = all(Format::Jwt, Some("EdDSA")).filter(own);
        plan.add(
            "formats",
            "JWT or v4.public, both Ed25519 in jeton",
            jwt.chain(signed().filter(own)),
        );
        plan.add("formats", "v4.public", signed());
        plan.add("formats", "v4.local", all(Format::V4Local, None));
        // Report 1 compared this pair and called the difference "JWT against PASETO".
        let es256 = all(Format::Jwt, Some("ES256")).filter(by("golang-jwt"));
        plan.add(
            "formats",
            "report 1's pair: golang-jwt ES256 or go-paseto v4.public",
            es256.chain(signed().filter(by("go-paseto"))),
        );
    }
}

fn algorithms(offered: &[Cell], few: bool, plan: &mut Plan) {
    for contract in [Contract::Sign, Contract::Verify] {
        let cells = offered.iter().filter(|c| {
            c.library == BASELINE
                && c.format == Format::Jwt
                && c.contract == contract
                && c.key_handling == KeyHandling::Prepared
                && (!few || c.alg.as_deref().is_some_and(|a| FEW_ALGS.contains(&a)))
        });
        plan.add("algorithms", "JWT algorithms in jeton", cells);
    }
}

impl Plan {
    /// Adds the cells, and their comparison if there are two or more: one alone is still a row.
    fn add<'a>(&mut self, suite: &'static str, title: &str, cells: impl Iterator<Item = &'a Cell>) {
        let cells: Vec<Cell> = cells.cloned().collect();
        for cell in &cells {
            self.add_cell(suite, cell);
        }
        if let [baseline, others @ ..] = cells.as_slice() {
            let made = Comparison::new(suite, title, baseline.clone(), others.to_vec());
            // Every call above filters by one contract and leaves references out.
            self.comparisons.extend(made.ok());
        }
    }

    fn add_references<'a>(&mut self, suite: &'static str, cells: impl Iterator<Item = &'a Cell>) {
        cells.for_each(|cell| self.add_cell(suite, cell));
    }

    fn add_cell(&mut self, suite: &'static str, cell: &Cell) {
        if !self.cells.iter().any(|(c, _)| c == cell) {
            self.cells.push((cell.clone(), suite));
        }
    }
}

fn narrow(plan: &mut Plan, patterns: &[String]) -> Result<(), PlanError> {
    if patterns.is_empty() {
        return Ok(());
    }
    let ids: Vec<String> = plan.cells.iter().map(|(c, _)| c.subject_id()).collect();
    for pattern in patterns {
        if !ids.iter().any(|id| matches(pattern, id)) {
            let names = plan
                .cells
                .iter()
                .flat_map(|(c, _)| [c.driver.as_str(), c.library.as_str()]);
            return Err(PlanError::NoSubject {
                pattern: pattern.clone(),
                nearest: nearest(pattern, names),
            });
        }
    }
    let chosen = |c: &Cell| patterns.iter().any(|p| matches(p, &c.subject_id()));
    plan.cells.retain(|(c, _)| chosen(c));
    let narrowed = plan.comparisons.iter().filter_map(|c| c.narrowed(chosen));
    plan.comparisons = narrowed.collect();
    Ok(())
}

/// Whether `pattern` is somewhere in `id`; `*` stands for anything between its parts.
fn matches(pattern: &str, id: &str) -> bool {
    let mut rest = id;
    pattern.split('*').all(|part| match rest.find(part) {
        Some(at) => {
            rest = &rest[at + part.len()..];
            true
        }
        None => false,
    })
}

fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let closeness = |k: &&str| strsim::jaro_winkler(name, k);
    known
        .max_by(|a, b| closeness(a).total_cmp(&closeness(b)))
        .unwrap_or_default()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_matches_anywhere_and_a_star_matches_anything() {
        let id = "go/golang-jwt:jwt:HS256:prepared";
        assert!(matches("golang-jwt", id));
        assert!(matches("go/*:HS256", id));
        assert!(!matches("HS256*golang", id));
        assert!(!matches("node/*", id));
    }

    #[test]
    fn an_unknown_suite_names_the_nearest() {
        let error = Suite::named("librarys").map_err(|e| e.to_string());
        assert!(error.is_err_and(|e| e.contains("did you mean `libraries`?")));
    }
}
