//! The stored runs in `docs/runs`.

use std::fs;
use std::path::{Path, PathBuf};

use jeton_lab_model::result::{RunResult, read};

/// The file of a run in its folder.
pub(crate) const FILE: &str = "results.json.gz";

/// Returns the folder of the runs, and the names of their folders.
pub(crate) fn runs() -> (PathBuf, Vec<String>) {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/runs");
    let entries = fs::read_dir(&docs).unwrap().map(|entry| entry.unwrap());
    let folders = entries.filter(|entry| entry.path().is_dir());
    let mut names: Vec<String> = folders
        .map(|folder| folder.file_name().into_string().unwrap())
        .collect();
    names.sort();
    (docs, names)
}

/// Reads the newest stored run of a kind: `full`, `sdks` or `servers`.
pub(crate) fn run(kind: &str) -> RunResult {
    let (docs, names) = runs();
    let is_of_kind = |name: &&String| name.ends_with(&format!("-{kind}"));
    let newest = names.iter().rfind(is_of_kind).unwrap();
    read(&docs.join(newest).join(FILE)).unwrap()
}
