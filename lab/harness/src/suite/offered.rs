//! From the drivers' manifests to the possible cases.

use crate::driver::runtime::Runtime;
use crate::driver::{Driver, Offer};
use jeton_lab_model::result::RowId;
use jeton_lab_model::{Case, Format, KeyHandling, Operation};

/// The driver that is the baseline in every comparison with it.
const BASELINE: &str = "rust/jeton";

/// The library that is the baseline in other comparisons: jeton in another language.
const BASELINE_LIBRARY: &str = "jeton";

/// All possible cases, with the claims `standard` on one thread.
pub(super) struct Offered(Vec<Case>);

impl Offered {
    pub(super) fn new(cases: Vec<Case>) -> Self {
        Self(cases)
    }

    /// Returns all cases.
    pub(super) fn cases(&self) -> Vec<Case> {
        self.0.clone()
    }

    /// Returns all cases with prepared keys and this operation, for any algorithm.
    pub(super) fn all(&self, format: Format, operation: Operation) -> impl Iterator<Item = &Case> {
        self.0.iter().filter(move |c| {
            c.format == format
                && c.operation == operation
                && c.key_handling == KeyHandling::Prepared
        })
    }

    /// Returns the cases of a format, algorithm and operation with prepared keys.
    pub(super) fn of(
        &self,
        format: Format,
        alg: Option<&str>,
        enc: Option<&str>,
        operation: Operation,
    ) -> impl Iterator<Item = &Case> {
        self.handled(KeyHandling::Prepared, format, alg, enc, operation)
    }

    /// Returns the same cases with any single key handling.
    pub(super) fn handled(
        &self,
        handling: KeyHandling,
        format: Format,
        alg: Option<&str>,
        enc: Option<&str>,
        operation: Operation,
    ) -> impl Iterator<Item = &Case> {
        self.0.iter().filter(move |c| {
            c.format == format
                && c.alg.as_deref() == alg
                && c.enc.as_deref() == enc
                && c.operation == operation
                && c.key_handling == handling
        })
    }

    /// Returns the cases of a signed JWT.
    pub(super) fn jwt(&self, alg: &str, operation: Operation) -> impl Iterator<Item = &Case> {
        self.of(Format::Jwt, Some(alg), None, operation)
    }

    /// Finds the case for this work, with its claims, threads and key size; `None` if no driver offers
    /// it.
    pub(super) fn doing(&self, work: &RowId) -> Option<Case> {
        let (id, key_bits) = match work.subject.split_once('@') {
            Some((before, after)) => {
                let (bits, rest) = after.split_once(':')?;
                (format!("{before}:{rest}"), Some(bits.parse().ok()?))
            }
            None => (work.subject.clone(), None),
        };
        let does = |c: &&Case| c.operation.name() == work.operation && c.subject_id() == id;
        let case = self.0.iter().find(does)?;
        Some(Case {
            key_bits,
            claims: work.claims.clone(),
            threads: work.threads,
            ..case.clone()
        })
    }
}

/// Reports whether a case belongs to the baseline.
pub(super) fn own(case: &&Case) -> bool {
    case.is_of(BASELINE)
}

/// Returns every case that the manifests offer: the baseline's first, then jeton's in other languages, then by driver.
#[must_use]
pub(super) fn cases(drivers: &[Driver]) -> Vec<Case> {
    let mut cases: Vec<Case> = drivers
        .iter()
        .flat_map(|driver| driver.manifest.offers.iter().map(move |o| (driver, o)))
        .filter_map(|(driver, offer)| Some(cases_of(driver, offer, offer.format?)))
        .flatten()
        .collect();
    cases.sort_by_cached_key(rank);
    cases
}

/// Where a case is in the order of all.
fn rank(case: &Case) -> (bool, bool, String) {
    let another_library = case.library != BASELINE_LIBRARY;
    (!own(&case), another_library, case.driver.clone())
}

fn cases_of(driver: &Driver, offer: &Offer, format: Format) -> Vec<Case> {
    let m = &driver.manifest;
    let mut cases = Vec::new();
    for alg in each_or_none(&offer.algs) {
        // Only a JWE has a content encryption; each is combined with each algorithm.
        let encs = if format == Format::Jwe {
            offer.encs.iter().cloned().map(Some).collect()
        } else {
            vec![None]
        };
        for enc in encs {
            let mut case = Case::new(&driver.id, &m.library, &m.version, &m.language);
            case.runtime = driver.runtime.as_ref().map(Runtime::label);
            case.released.clone_from(&m.released);
            case.superseded_by.clone_from(&m.superseded_by);
            case.format = format;
            case.alg.clone_from(&alg);
            case.enc = enc;
            case.caches = m.caches_tokens;
            for &operation in &offer.operations {
                for key_handling in handlings(&case, offer, operation) {
                    cases.push(Case {
                        operation,
                        key_handling,
                        ..case.clone()
                    });
                }
            }
        }
    }
    cases
}

/// Returns the key handlings of an operation: none for a generated key, and every readable form for a
/// loaded key.
fn handlings(case: &Case, offer: &Offer, operation: Operation) -> Vec<KeyHandling> {
    match operation {
        Operation::GenerateKey => vec![KeyHandling::Prepared],
        Operation::LoadKey => {
            let forms = offer.key_text.iter().filter(|form| case.has_form(**form));
            forms.map(|form| KeyHandling::Text(*form)).collect()
        }
        _ => offer.key_handling.clone(),
    }
}

fn each_or_none(names: &[String]) -> Vec<Option<String>> {
    if names.is_empty() {
        vec![None]
    } else {
        names.iter().cloned().map(Some).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jeton_is_first_in_rust_and_then_in_other_languages() {
        let case = |driver: &str, library| Case::new(driver, library, "1.0.0", "any");
        let mut cases = [
            case("go/cristalhq", "cristalhq"),
            case("node/jeton", "jeton"),
            case("rust/jeton", "jeton"),
            case("go/jeton", "jeton"),
        ];
        cases.sort_by_cached_key(rank);
        let drivers = cases.each_ref().map(|case| &*case.driver);
        assert_eq!(
            drivers,
            ["rust/jeton", "go/jeton", "node/jeton", "go/cristalhq"]
        );
        let own: Vec<_> = cases.iter().filter(own).map(|case| &*case.driver).collect();
        assert_eq!(own, ["rust/jeton"]);
    }
}
