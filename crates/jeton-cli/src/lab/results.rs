//! Result files that a verb is given; `-` is standard input.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use jeton_lab::result::{self, RunResult};

use super::sentence;

/// The result in a file, or on standard input.
pub(super) fn read(path: &Path) -> Result<RunResult, String> {
    static TAKEN: AtomicBool = AtomicBool::new(false);
    if path != Path::new("-") {
        return result::read(path).map_err(sentence);
    }
    if TAKEN.swap(true, Ordering::Relaxed) {
        return Err("standard input holds one result: give - once, and files beside it".to_owned());
    }
    let name = Path::new("standard input");
    result::read_from(name, std::io::stdin().lock()).map_err(sentence)
}
