//! Estimates the duration of an attack run.

use std::time::Duration;

use super::run::{Extent, Options, attackable, chosen_for_drivers};
use jeton_lab_harness::driver::Driver;

/// The size of an attack run, known before anything is built.
#[derive(Debug)]
pub struct Estimate<'a> {
    /// The number of attacks.
    pub attacks: usize,
    /// The attacked drivers.
    pub drivers: Vec<&'a Driver>,
    /// The duration once they are built, on a machine like the one where the constants were
    /// measured.
    pub takes: Duration,
}

/// Estimates a run of these drivers.
#[must_use]
pub fn estimate<'a>(drivers: &'a [Driver], options: &Options) -> Estimate<'a> {
    let attacks = chosen_for_drivers(&options.attacks).len();
    let attacked = drivers.iter().filter(|d| attackable(d, &options.subjects));
    let attacked: Vec<&Driver> = attacked
        .filter(|d| !options.built_only || !options.cache.stale(d.recipe()))
        .collect();
    let all = attacked.iter().map(|d| takes(d, options)).sum::<Duration>();
    let part = attacks as f64 / chosen_for_drivers(&[]).len() as f64;
    let workers = options.workers.min(attacked.len()).max(1);
    let starts = START * u32::try_from(attacked.len()).unwrap_or(u32::MAX);
    Estimate {
        attacks,
        takes: (all.mul_f64(part) + starts).div_f64(workers as f64),
        drivers: attacked,
    }
}

const START: Duration = Duration::from_millis(500);

/// Returns the time for one driver. Cost trials start a new process each, which is slow for a
/// virtual machine.
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
