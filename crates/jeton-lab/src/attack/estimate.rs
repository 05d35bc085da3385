//! How long an attack run takes, about.

use std::time::Duration;

use super::catalogue::Attack;
use super::run::{Extent, Options, attackable, chosen};
use crate::driver::Driver;

/// What an attack run is, before anything is built.
#[derive(Debug)]
pub struct Estimate<'a> {
    /// How many attacks.
    pub attacks: usize,
    /// The drivers that are attacked.
    pub drivers: Vec<&'a Driver>,
    /// What it will take once they are built, on a machine like the one it was written on.
    pub takes: Duration,
}

/// What a run of these drivers will be.
#[must_use]
pub fn estimate<'a>(drivers: &'a [Driver], options: &Options) -> Estimate<'a> {
    let attacks = chosen(&options.attacks).len();
    let attacked = drivers.iter().filter(|d| attackable(d, &options.subjects));
    let attacked: Vec<&Driver> = attacked
        .filter(|d| !options.built_only || !options.cache.stale(d.recipe()))
        .collect();
    let all = attacked.iter().map(|d| takes(d, options)).sum::<Duration>();
    let part = attacks as f64 / Attack::all().len() as f64;
    let workers = options.workers.min(attacked.len()).max(1);
    let starts = START * u32::try_from(attacked.len()).unwrap_or(u32::MAX);
    Estimate {
        attacks,
        takes: (all.mul_f64(part) + starts).div_f64(workers as f64),
        drivers: attacked,
    }
}

const START: Duration = Duration::from_millis(500);

/// Everything, on one driver. Where something is measured the driver is started anew, and a virtual
/// machine takes its time for that.
fn takes(driver: &Driver, options: &Options) -> Duration {
    let (at_once, at_length) = match driver.manifest.language.as_str() {
        "java" => (13, 48),
        "rust" => (2, 8),
        _ => (4, 16),
    };
    let at_length = match options.extent {
        Extent::Everything => at_length,
        Extent::Quick => 0,
    };
    Duration::from_secs(at_once) * options.rounds + Duration::from_secs(at_length)
}
