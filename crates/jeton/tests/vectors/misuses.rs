//! Misuses that the type system prevents. Each file in `misuses/` has lines that must not compile, marked with
//! `//~` and the error code or words of the message. With the lines after `//+` instead, the file compiles, so
//! that it has no other error.
//!
//! This calls rustc directly with the library in the target folder, so that nothing is built again.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test reads files"
)]

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use libtest_mimic::Failed;
use serde_json::Value;

use crate::support::{Trial, trial};

pub(crate) fn trials() -> Vec<Trial> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/misuses");
    let mut trials = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = fs::read_to_string(&path).unwrap();
        trials.push(trial(name.clone(), move || check(&name, &text)));
    }
    trials
}

fn check(name: &str, text: &str) -> Result<(), Failed> {
    let expected = marked(text);
    if expected.is_empty() {
        return Err("no line is marked with //~".into());
    }
    let corrected = errors(name, "right", &corrected(text));
    if !corrected.is_empty() {
        return Err(format!("the corrected lines do not compile: {corrected:#?}").into());
    }
    let found = errors(name, "wrong", text);
    for (line, words) in &expected {
        match found.get(line) {
            Some(message) if message.contains(words) => {}
            other => return Err(format!("line {line}: {words} expected, but {other:?}").into()),
        }
    }
    match found.keys().find(|line| !expected.contains_key(line)) {
        None => Ok(()),
        Some(line) => Err(format!("line {line}: {}", found[line]).into()),
    }
}

/// The lines that must not compile, and the expected words of the compiler.
fn marked(text: &str) -> BTreeMap<usize, String> {
    let mark = |(index, line): (usize, &str)| {
        let (_, words) = line.split_once("//~ ")?;
        Some((index + 1, words.to_owned()))
    };
    text.lines().enumerate().filter_map(mark).collect()
}

/// The corrected text.
fn corrected(text: &str) -> String {
    text.lines()
        .filter(|line| !line.contains("//~ "))
        .map(|line| line.replace("//+ ", "") + "\n")
        .collect()
}

/// The errors of the compiler: line, code and message.
fn errors(name: &str, way: &str, text: &str) -> BTreeMap<usize, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("misuses");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join(format!("{name}_{way}.rs"));
    fs::write(&file, text).unwrap();
    let library = LIBRARY.get_or_init(library);
    let output = compile(&folder, &file, library);
    let stderr = String::from_utf8(output.stderr).unwrap();
    let mut all = BTreeMap::new();
    for message in stderr
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
    {
        let spans = message["spans"].as_array().cloned().unwrap_or_default();
        let Some(line) = spans.iter().find(|span| span["is_primary"] == true) else {
            continue;
        };
        if message["level"] == "error" {
            let code = message["code"]["code"].as_str().unwrap_or_default();
            let words = format!("{code} {}", message["message"].as_str().unwrap_or_default());
            all.insert(line["line_start"].as_u64().unwrap() as usize, words);
        }
    }
    assert_eq!(output.status.success(), all.is_empty(), "{stderr}");
    all
}

fn compile(out: &Path, file: &Path, library: &Path) -> Output {
    Command::new("rustc")
        .args([
            "--edition",
            "2024",
            "--crate-type",
            "bin",
            "--emit",
            "metadata",
        ])
        .args(["--error-format", "json", "-A", "warnings", "--out-dir"])
        .arg(out)
        .arg("-L")
        .arg(format!("dependency={}", folder_of_libraries().display()))
        .arg("--extern")
        .arg(format!("jeton={}", library.display()))
        .arg(file)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn folder_of_libraries() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    own.parent().unwrap().to_path_buf()
}

static LIBRARY: OnceLock<PathBuf> = OnceLock::new();

/// What the programs need. A build of the library with fewer features, by another command, lies in the same folder.
const FEATURES: &str =
    "use jeton::{jwe as _, key::MacKey as _, key::SigningKey as _, paseto as _}; fn main() {}";

/// The most recent build of the library that has the features of this test.
fn library() -> PathBuf {
    let is_library = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.starts_with("libjeton-") && name.ends_with(".rlib")
    };
    let mut built: Vec<PathBuf> = fs::read_dir(folder_of_libraries())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(is_library)
        .collect();
    built.sort_by_key(|path| Reverse(fs::metadata(path).unwrap().modified().unwrap()));
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("misuses");
    let file = out.join("features.rs");
    fs::write(&file, FEATURES).unwrap();
    let has_features = |path: &PathBuf| compile(&out, &file, path).status.success();
    built
        .into_iter()
        .find(has_features)
        .expect("this test was linked with one")
}
