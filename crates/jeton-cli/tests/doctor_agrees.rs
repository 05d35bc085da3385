//! With the same key, policy and time, `jeton doctor` finds an error exactly when `jeton jwt verify` or
//! `jeton paseto verify` and `decrypt` do not accept the token: over all of `tests/cases`, and over tokens
//! and keys of every kind from `tests/tokens` and `tests/keys`.
//!
//! The same over vectors, attacks and thousands of changed tokens is tested inside of the program:
//! `src/doctor/agreement.rs`.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic)]

mod binary;

use std::fs;
use std::path::{Path, PathBuf};

use binary::jeton;

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// The verb that takes such a token.
fn verb(token: &str) -> [&'static str; 2] {
    match token.as_bytes() {
        [b'v', b'1'..=b'4', b'.', b'l', ..] => ["paseto", "decrypt"],
        [b'v', b'1'..=b'4', b'.', ..] => ["paseto", "verify"],
        _ => ["jwt", "verify"],
    }
}

/// How both end: `true` if the token is accepted.
fn accepted(folder: &Path, token: &Path, key: &Path, options: &[&str]) -> (bool, String) {
    let text = fs::read_to_string(token).unwrap();
    let (key, argument) = (
        key.to_str().unwrap(),
        format!("@{}", token.to_str().unwrap()),
    );
    let end = |call: &[&str]| {
        let output = jeton(folder, call, b"");
        let said = [output.stdout, output.stderr].concat();
        let code = output.status.code().unwrap();
        assert!((0..=2).contains(&code), "{call:?} ended with {code}");
        (code, String::from_utf8_lossy(&said).into_owned())
    };
    let verb = verb(&text);
    let of_verb: Vec<&str> = match verb[0] {
        // A PASETO has no algorithm and no type to choose.
        "paseto" => (options.chunks(2))
            .filter(|pair| !["--alg", "--typ"].contains(&pair[0]))
            .flatten()
            .copied()
            .collect(),
        _ => options.to_vec(),
    };
    let verify = [&verb[..], &["--key", key], &of_verb, &[&argument]].concat();
    let doctor = [&["doctor", "--keys", key], &of_verb[..], &[&argument]].concat();
    let (verified, why) = end(&verify);
    let (examined, found) = end(&doctor);
    assert_eq!(
        verified == 0,
        examined == 0,
        "{verify:?} ended with {verified}:\n{why}\n{doctor:?} ended with {examined}:\n{found}"
    );
    (verified == 0, found)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn doctor_agrees_with_verify_over_all_cases() {
    const OPTIONS: [&[&str]; 6] = [
        &["--at", "1795656378"],
        &["--at", "1795656378", "--typ", "at+jwt"],
        &[
            "--at",
            "1795656378",
            "--issuer",
            "https://id.example",
            "--audience",
            "api",
        ],
        &["--at", "1795656378", "--audience", "other"],
        &["--at", "1795656378", "--alg", "RS256"],
        &["--at", "1995656378", "--leeway", "1s"],
    ];
    let is_key = |path: &PathBuf| {
        let extension = path.extension().and_then(|name| name.to_str());
        ["pem", "json", "jwk", "paserk", "txt", "b64"].contains(&extension.unwrap_or_default())
    };
    let (mut accepted_ones, mut all) = (0, 0);
    let folders = files(&tests().join("cases"));
    for folder in folders.iter().filter(|path| path.is_dir()) {
        let (keys, tokens): (Vec<_>, Vec<_>) = files(folder).into_iter().partition(is_key);
        for token in &tokens {
            for key in &keys {
                for options in OPTIONS {
                    let (is_accepted, _) = accepted(folder, token, key, options);
                    accepted_ones += usize::from(is_accepted);
                    all += 1;
                }
            }
        }
    }
    assert!(
        accepted_ones > 40 && all > 250,
        "{accepted_ones} of {all} accepted"
    );
}

#[test]
fn doctor_agrees_with_verify_over_tokens_and_keys_of_every_kind() {
    let folder = tests();
    let (mut accepted_ones, mut all) = (0, 0);
    for token in files(&folder.join("tokens")) {
        for key in [
            "es256.pub.jwk",
            "es256.jwk",
            "hs256.jwk",
            "rsa.pub.pem",
            "jwks.json",
            "jwks-left-out.json",
            "k4.public",
            "k4.local",
            "x25519.pub.pem",
        ] {
            let key = folder.join("keys").join(key);
            let (is_accepted, _) = accepted(&folder, &token, &key, &["--at", "1700000000"]);
            accepted_ones += usize::from(is_accepted);
            all += 1;
        }
    }
    assert!(
        accepted_ones > 5 && all > 300,
        "{accepted_ones} of {all} accepted"
    );
}
