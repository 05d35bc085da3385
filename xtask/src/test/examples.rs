//! The examples that need more than cargo stand alone, like the drivers, and are tested here.

use super::{Outcome, stands_alone};
use crate::command::{House, Stop, on_path};

/// Format, lints and tests of every crate under examples/.
pub(super) fn run(house: &House) -> Result<Outcome, Stop> {
    if on_path("softhsm2-util").is_none() {
        return Ok(Outcome::Skipped("SoftHSM is not installed".into()));
    }
    for folder in house.folders_with("examples", "Cargo.toml") {
        stands_alone::format(house, &folder)?;
        stands_alone::lints_and_tests(house, &folder, &[])?;
    }
    Ok(Outcome::Passed)
}
