//! Runs the program that is tested. The tests of `jeton-lab` use this file, too.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;

use crate::PROGRAM;

pub(crate) fn keys() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates/jeton-cli/tests/keys")
}

/// Reads a file of `vectors/`.
pub(crate) fn vector(path: &str) -> String {
    let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors");
    fs::read_to_string(vectors.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

pub(crate) fn vector_json(path: &str) -> Value {
    serde_json::from_str(&vector(path)).unwrap()
}

pub(crate) fn jeton(folder: &Path, args: &[&str], stdin: &[u8]) -> Output {
    jeton_testkit::run(&jeton_testkit::program(PROGRAM), folder, args, stdin)
}

/// Returns a folder of `vectors/inputs`.
pub(crate) fn inputs(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../vectors/inputs")
        .join(name)
}

/// Returns the output of both streams and the exit code.
pub(crate) fn said(folder: &Path, args: &[&str]) -> (String, i32) {
    let output = jeton(folder, args, b"");
    let said = [output.stdout, output.stderr].concat();
    (
        String::from_utf8(said).unwrap(),
        output.status.code().unwrap(),
    )
}

pub(crate) fn succeeds(folder: &Path, args: &[&str], stdin: &[u8]) -> Vec<u8> {
    let output = jeton(folder, args, stdin);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {stderr}");
    output.stdout
}

pub(crate) fn line(folder: &Path, args: &[&str]) -> String {
    let stdout = String::from_utf8(succeeds(folder, args, b"")).unwrap();
    stdout.strip_suffix('\n').unwrap().to_owned()
}

/// Asserts the exit code and a text on standard error, and that standard output is empty.
pub(crate) fn ends(folder: &Path, args: &[&str], stdin: &[u8], code: i32, said: &str) {
    let output = jeton(folder, args, stdin);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{args:?}: {stderr}");
    assert!(output.stdout.is_empty(), "{args:?}");
    assert!(stderr.contains(said), "{args:?}: {stderr}");
}
