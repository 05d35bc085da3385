//! What the commands that measure have in common: the time limit, the seed, Ctrl-C and the estimate of a build.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jeton_lab_harness::Stop;

use super::ENDED_EARLY;
use crate::time;

/// Installs the Ctrl-C handler: the first signal asks the run to end, the second one exits at once.
/// The drivers exit when their input closes.
pub(super) fn handle_ctrl_c(stop: &Stop) -> Result<(), String> {
    let stop = stop.clone();
    let asked = AtomicBool::new(false);
    ctrlc::set_handler(move || {
        if asked.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(ENDED_EARLY));
        }
        stop.request();
    })
    .map_err(|e| format!("cannot handle Ctrl-C: {e}"))
}

/// Returns the part of an estimate about drivers that must be built first.
pub(super) fn building_first(stale: usize) -> String {
    match stale {
        0 => String::new(),
        1 => ", after building 1 driver (a first build takes a minute or two)".into(),
        n => format!(", after building {n} drivers (a first build takes a few minutes)"),
    }
}

pub(super) fn budget(text: &str) -> Result<Duration, String> {
    match time::duration(text)? {
        Duration::ZERO => Err("must be at least 1s".to_owned()),
        budget => Ok(budget),
    }
}

pub(super) fn some_seed() -> u64 {
    let now = jiff::Timestamp::now().as_nanosecond();
    // Six digits, so that a user can type the seed.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "any digits do"
    )]
    let digits = (now / 1000) as u64 % 1_000_000;
    digits
}
