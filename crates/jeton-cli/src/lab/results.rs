//! Reads result files; `-` is standard input.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use jeton_lab_model::result::{self, RunResult};

use super::sentence;

/// Reads a result from a file or from standard input.
pub(super) fn read(path: &Path) -> Result<RunResult, String> {
    static TAKEN: AtomicBool = AtomicBool::new(false);
    if path != Path::new("-") {
        return result::read(path).map_err(sentence);
    }
    if TAKEN.swap(true, Ordering::Relaxed) {
        return Err(
            "standard input can be read only once: pass - once and name the other files".to_owned(),
        );
    }
    let name = Path::new("standard input");
    result::read_from(name, std::io::stdin().lock()).map_err(sentence)
}
