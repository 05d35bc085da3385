//! From what the drivers' manifests say to the cells that can be planned.

use super::{Cell, Contract, Format, KeyHandling};
use crate::driver::runtime::Runtime;
use crate::driver::{Driver, Offer};
use crate::result::RowId;

/// The library that is the baseline wherever it takes part.
pub(super) const BASELINE: &str = "jeton";

/// What can be planned: every cell with the claims `standard` on one thread.
pub(super) struct Offered(Vec<Cell>);

impl Offered {
    pub(super) fn new(cells: Vec<Cell>) -> Self {
        Self(cells)
    }

    /// All cells with prepared keys under a contract, whatever their algorithm.
    pub(super) fn all(&self, format: Format, contract: Contract) -> impl Iterator<Item = &Cell> {
        self.0.iter().filter(move |c| {
            c.format == format && c.contract == contract && c.key_handling == KeyHandling::Prepared
        })
    }

    /// The cells of a format and algorithm under a contract, with prepared keys.
    pub(super) fn of(
        &self,
        format: Format,
        alg: Option<&str>,
        enc: Option<&str>,
        contract: Contract,
    ) -> impl Iterator<Item = &Cell> {
        self.handled(KeyHandling::Prepared, format, alg, enc, contract)
    }

    /// The same with keys handled in any one way.
    pub(super) fn handled(
        &self,
        handling: KeyHandling,
        format: Format,
        alg: Option<&str>,
        enc: Option<&str>,
        contract: Contract,
    ) -> impl Iterator<Item = &Cell> {
        self.0.iter().filter(move |c| {
            c.format == format
                && c.alg.as_deref() == alg
                && c.enc.as_deref() == enc
                && c.contract == contract
                && c.key_handling == handling
        })
    }

    /// Those of a signed JWT.
    pub(super) fn jwt(&self, alg: &str, contract: Contract) -> impl Iterator<Item = &Cell> {
        self.of(Format::Jwt, Some(alg), None, contract)
    }

    /// The cell that does this work, with its claims, its threads and the size of its key; none if no
    /// driver offers it.
    pub(super) fn doing(&self, work: &RowId) -> Option<Cell> {
        let (id, key_bits) = match work.subject.split_once('@') {
            Some((before, after)) => {
                let (bits, rest) = after.split_once(':')?;
                (format!("{before}:{rest}"), Some(bits.parse().ok()?))
            }
            None => (work.subject.clone(), None),
        };
        let does = |c: &&Cell| c.contract.name() == work.contract && c.subject_id() == id;
        let cell = self.0.iter().find(does)?;
        Some(Cell {
            key_bits,
            claims: work.claims.clone(),
            threads: work.threads,
            ..cell.clone()
        })
    }
}

/// Whether a cell is of the library that is the baseline.
pub(super) fn own(cell: &&Cell) -> bool {
    cell.library == BASELINE
}

/// Every cell that the drivers offer, by their manifests: the baseline's first, then by driver.
#[must_use]
pub(super) fn cells(drivers: &[Driver]) -> Vec<Cell> {
    let mut cells: Vec<Cell> = drivers
        .iter()
        .flat_map(|driver| driver.manifest.offers.iter().map(move |o| (driver, o)))
        .filter_map(|(driver, offer)| Some(cells_of(driver, offer, offer.format?)))
        .flatten()
        .collect();
    cells.sort_by(|a, b| {
        let rank = |c: &Cell| (c.library != BASELINE, c.driver.clone());
        rank(a).cmp(&rank(b))
    });
    cells
}

fn cells_of(driver: &Driver, offer: &Offer, format: Format) -> Vec<Cell> {
    let m = &driver.manifest;
    let mut cells = Vec::new();
    for alg in each_or_none(&offer.algs) {
        // Only a JWE has a content encryption, and each of them goes with each algorithm.
        let encs = if format == Format::Jwe {
            offer.encs.iter().cloned().map(Some).collect()
        } else {
            vec![None]
        };
        for enc in encs {
            let mut cell = Cell::new(&driver.id, &m.library, &m.version, &m.language);
            cell.runtime = driver.runtime.as_ref().map(Runtime::label);
            cell.released.clone_from(&m.released);
            cell.superseded_by.clone_from(&m.superseded_by);
            cell.format = format;
            cell.alg.clone_from(&alg);
            cell.enc = enc;
            cell.caches = m.caches_tokens;
            for &contract in &offer.contracts {
                for key_handling in handlings(&cell, offer, contract) {
                    cells.push(Cell {
                        contract,
                        key_handling,
                        ..cell.clone()
                    });
                }
            }
        }
    }
    cells
}

/// How the keys are handled under a contract: a fresh key in no way, and a key that is loaded
/// comes in every form that the driver reads and the key has.
fn handlings(cell: &Cell, offer: &Offer, contract: Contract) -> Vec<KeyHandling> {
    match contract {
        Contract::GenerateKey => vec![KeyHandling::Prepared],
        Contract::LoadKey => {
            let forms = offer.key_text.iter().filter(|form| cell.has_form(**form));
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
