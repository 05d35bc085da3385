//! Reads result files; `-` is standard input.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use jeton_lab_conformance::attack::withhold;
use jeton_lab_model::result::{self, RunResult};

/// Reads a result from a file or from standard input.
pub(super) fn read(path: &Path) -> Result<RunResult, String> {
    let read = if is_standard_input(path)? {
        result::read_from(Path::new(STANDARD_INPUT), std::io::stdin().lock())
    } else {
        result::read(path)
    };
    shown(read?)
}

/// Returns the result without what is withheld today: the file may be older than the decision.
fn shown(mut result: RunResult) -> Result<RunResult, String> {
    withhold(&mut result.rows.attack, jiff::Zoned::now().date());
    Ok(result)
}

/// Reads a result whose derived figures are computed again: they may be wrong.
pub(super) fn read_measured(path: &Path) -> Result<RunResult, String> {
    let read = if is_standard_input(path)? {
        result::read_measured_from(Path::new(STANDARD_INPUT), std::io::stdin().lock())
    } else {
        result::read_measured(path)
    };
    shown(read?)
}

/// The name of standard input in errors.
const STANDARD_INPUT: &str = "standard input";

/// Reports whether the path is `-`, which can be read once.
fn is_standard_input(path: &Path) -> Result<bool, String> {
    static TAKEN: AtomicBool = AtomicBool::new(false);
    if path != Path::new("-") {
        return Ok(false);
    }
    if !TAKEN.swap(true, Ordering::Relaxed) {
        Ok(true)
    } else {
        Err("standard input can be read only once: pass - once and name the other files".to_owned())
    }
}
