//! Passes an empty, a binary and a missing file and a folder to every file argument. Each call ends with exit code 2 and
//! names the problem.

use std::fs;
use std::path::Path;

use crate::binary::{jeton, keys, succeeds};
use crate::help_arguments;

/// The placeholder for the file name in a call.
const BAD: &str = "BAD";

/// Arguments for files that are read, each in a call that is otherwise valid.
const FILES: [&str; 16] = [
    "load 127.0.0.1:1 --seconds 0.1 --alg ES256 --verify-with BAD",
    "load 127.0.0.1:1 --seconds 0.1 --alg ES256 --call pass --tokens BAD",
    "run --claims BAD --drivers drivers",
    "attack --corpus BAD --drivers drivers",
    "attack --target http://127.0.0.1:1/ --target-key BAD",
    "attack --target http://127.0.0.1:1/ --target-key hs256.jwk --target-claims @BAD",
    "attack --target http://127.0.0.1:1/ --target-key hs256.jwk --target-authorization BAD",
    "import BAD --name a --cores 1",
    "report BAD",
    "compare BAD good.json",
    "compare good.json BAD",
    "gate --baseline BAD good.json",
    "gate --baseline good.json BAD",
    "merge BAD good.json",
    "check BAD",
    "load merge BAD",
];

/// Arguments for folders.
const FOLDERS: [&str; 8] = [
    "list --drivers BAD",
    "run --drivers BAD",
    "attack --drivers BAD",
    "interop --drivers BAD",
    "servers --servers BAD",
    "run --quick --drivers drivers --out BAD",
    "attack --drivers drivers --out BAD",
    "interop --drivers drivers --out BAD",
];

/// Arguments for files that are written, or read and written.
const WRITTEN: [&str; 4] = ["--output", "--out", "--junit", "--sarif"];

/// Creates a folder with a key, a result and a driver, and with bad files.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::copy(keys().join("hs256.jwk"), path.join("hs256.jwk")).unwrap();
    fs::copy(crate::stored_result(), path.join("good.json")).unwrap();
    let driver = path.join("drivers/fake/fake");
    fs::create_dir_all(&driver).unwrap();
    let manifest = r#"protocol = 1
library = "fake"
language = "fake"
version = "1.0.0"
needs = ["sh"]
run = ["false"]

[[offers]]
format = "jwt"
algs = ["HS256"]
contracts = ["sign", "verify"]
key_handling = ["prepared"]
"#;
    fs::write(driver.join("driver.toml"), manifest).unwrap();
    fs::write(path.join("zero"), "").unwrap();
    let bytes: Vec<u8> = (0..=255).cycle().skip(128).take(1000).collect();
    fs::write(path.join("random"), bytes).unwrap();
    fs::create_dir(path.join("folder")).unwrap();
    folder
}

/// Runs a call with this argument, and returns what it says.
fn refused(folder: &Path, call: &str, bad: &str) -> String {
    let call = call.replace(BAD, bad);
    let words: Vec<&str> = call.split(' ').collect();
    let output = jeton(folder, &words, b"");
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{call}: {said}");
    let line = said.lines().find(|line| line.starts_with("error: "));
    line.unwrap_or_else(|| panic!("{call}: {said}")).to_owned()
}

fn check(bad: &str, calls: &[&str], words: &[&str]) {
    let folder = folder();
    for call in calls {
        let said = refused(folder.path(), call, bad);
        assert!(
            words.iter().any(|word| said.contains(word)),
            "{call}: {said}"
        );
    }
}

#[test]
fn lists_every_argument() {
    let mut found = help_arguments::all();
    let names = ["BEFORE", "AFTER", "RESULT"];
    found.retain(|argument| {
        let parts = argument.value.split(['|', '@']);
        let mut parts = parts.filter(|part| !part.is_empty());
        let is_file = parts.any(|p| ["FILE", "FILES", "DIR"].contains(&p) || names.contains(&p));
        // `doctor` lists it among its findings, and `man` writes a folder.
        let is_excepted = ["doctor", "man"].contains(&&*argument.command);
        is_file && !is_excepted && !WRITTEN.contains(&&*argument.name)
    });
    assert!(found.len() > 10, "{found:?}");
    let is_listed = |argument: &help_arguments::HelpArgument, call: &str| {
        let Some(rest) = call.strip_prefix(&*argument.command) else {
            return false;
        };
        let words: Vec<&str> = rest.split(' ').collect();
        words.windows(2).any(|pair| {
            pair[1].trim_start_matches('@') == BAD
                && (pair[0] == argument.name
                    || !argument.name.starts_with('-') && !pair[0].starts_with("--"))
        })
    };
    let missing: Vec<String> = found
        .iter()
        .filter(|argument| {
            !FILES
                .iter()
                .chain(&FOLDERS)
                .any(|call| is_listed(argument, call))
        })
        .map(|argument| format!("{} {}", argument.command, argument.name))
        .collect();
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn empty_file_is_named_as_empty() {
    // Results end with a marker, a report of ghz with a brace.
    check(
        "zero",
        &FILES,
        &["empty", "no cases", "incomplete", "EOF", "has no valid key"],
    );
    check("zero", &FOLDERS, &["irectory", "File exists"]);
}

#[test]
fn binary_file_is_an_error_with_its_name() {
    check("random", &FILES, &["random", "laims: "]);
    check("random", &FOLDERS, &["irectory", "File exists"]);
}

#[test]
fn folder_instead_of_file_is_an_error() {
    check("folder", &FILES, &["irectory"]);
}

#[test]
fn missing_file_is_an_error() {
    check("missing", &FILES, &["No such file", "no such file"]);
}

/// Even root cannot read the first page of `/proc/self/mem`.
#[cfg(target_os = "linux")]
#[test]
fn unreadable_file_is_an_error() {
    let folder = folder();
    std::os::unix::fs::symlink("/proc/self/mem", folder.path().join("unreadable")).unwrap();
    for call in FILES {
        let said = refused(folder.path(), call, "unreadable");
        assert!(said.contains("Input/output error"), "{call}: {said}");
    }
}

/// The corpus is read again and extended at the end of the run, possibly hours later.
#[test]
fn fuzz_bad_corpus_is_refused_before_it_begins() {
    let folder = folder();
    for corpus in ["random", "folder"] {
        let call = format!("attack --seconds 600 --drivers drivers --corpus {corpus}");
        assert!(refused(folder.path(), &call, "").contains(corpus));
    }
}

#[test]
fn doctor_unreadable_drivers_are_a_finding() {
    let folder = folder();
    let found = succeeds(folder.path(), &["doctor", "--drivers", "zero"], b"");
    let found = String::from_utf8(found).unwrap();
    assert!(
        found.contains("! cannot read the drivers' folder zero"),
        "{found}"
    );
}

/// An argument without `@` that names a file is an error, because the caller may have forgotten the `@`.
#[test]
fn claims_that_name_a_file_are_an_error() {
    let folder = folder();
    let call =
        "attack --target http://127.0.0.1:1/ --target-key hs256.jwk --target-claims good.json";
    let said = refused(folder.path(), call, "");
    assert!(
        said.contains("--target-claims: good.json is a file"),
        "{said}"
    );
}
