//! `jeton key`, and keys as other commands take them.

mod import;
mod key_id;
mod secret;
mod set;
mod several;

use std::fs;
use std::path::Path;

use serde_json::Value;

/// Reads a JSON file.
fn json(folder: &Path, file: &str) -> Value {
    serde_json::from_slice(&fs::read(folder.join(file)).unwrap()).unwrap()
}
