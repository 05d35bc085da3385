//! From what the drivers' manifests say to the cells that can be planned.

use super::{Cell, Contract, Format, KeyHandling};
use crate::driver::{Driver, Offer};

/// The library that is the baseline wherever it takes part.
pub(super) const BASELINE: &str = "jeton";

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
