//! Passes an empty, a binary, an unreadable and a missing file and a folder to every file argument. Each call ends
//! with the documented exit code and names the problem.

use std::fs;
use std::path::Path;

use crate::binary::{jeton, keys, line, succeeds};
use crate::data_folder::{ISS, SETTINGS, private};
use crate::help_arguments;

/// The kind of an argument, which determines the result for an empty and for a binary file.
#[derive(Clone, Copy)]
enum Takes {
    /// Required input: keys, claims, settings. Exit code 2.
    Input,
    /// A token, or the expected content of one. Exit code 1.
    Judged,
    /// Any bytes. Exit code 0.
    Bytes,
    /// A folder. Exit code 2 for any file.
    Folder,
}

use Takes::{Bytes, Folder, Input, Judged};

/// The placeholder for the file name in a call.
const BAD: &str = "BAD";

/// Every file argument, in a call that is otherwise valid. `lists_every_argument` fails if one is missing.
fn calls() -> Vec<(Takes, String)> {
    let mut calls = Vec::new();
    let mut all = |takes: Takes, list: &[&str]| {
        calls.extend(list.iter().map(|call| (takes, (*call).to_owned())));
    };
    all(
        Input,
        &[
            "key public BAD",
            "key thumbprint BAD",
            "key convert --to pem BAD",
            "key import BAD",
            "key import --from-certificate BAD",
            "key import --secret-file BAD --alg HS256",
            "key import --key-password-file BAD --alg RS256 rsa.pem",
            "key set new - BAD",
            "key set new - --key-password-file BAD rsa.pem --alg RS256",
            "key set add BAD es256.jwk",
            "key set add set.json BAD",
            "key set add set.json --key-password-file BAD rsa.pem --alg RS256",
            "key set remove BAD --kid a",
            "key set list BAD",
            "jwt sign --secret-file BAD --alg HS256 --no-expiry --claims {}",
            "jwt verify --secret-file BAD --alg HS256 @jws",
            "jws sign --secret-file BAD --alg HS256 text",
            "jws verify --secret-file BAD --alg HS256 @jws",
            "inspect --secret-file BAD --alg HS256 @jws",
            "doctor --secret-file BAD",
            "jwt sign --key BAD --no-expiry --claims {}",
            "jwt sign --key hs256.jwk --no-expiry --claims @BAD",
            "jwt sign --key hs256.jwk --encrypt-key BAD --no-expiry --claims {}",
            "jwt verify --key BAD @jws",
            "jwt verify --discover http://127.0.0.1:1 --ca BAD @jws",
            "jwt verify --key hs256.jwk --decrypt-key BAD @jwe",
            "verify --key BAD @jws",
            "verify --secret-file BAD --alg HS256 @jws",
            "verify --discover http://127.0.0.1:1 --ca BAD @jws",
            "verify --key hs256.jwk --decrypt-key BAD @jwe",
            "verify --key hs256.jwk --decrypt-key ecdh.jwk --key-password-file BAD @jwe",
            "jws sign --key BAD text",
            "jws verify --key BAD @jws",
            "jws verify --discover http://127.0.0.1:1 --ca BAD @jws",
            "jwe encrypt --key BAD text",
            "jwe encrypt --password-file BAD --allow pbes2 text",
            "jwe decrypt --key BAD @jwe",
            "jwe decrypt --password-file BAD --allow pbes2 @jwe",
            "key public --key-password-file BAD rsa.pem",
            "key convert --to pem --key-password-file BAD rsa.pem",
            "jwt sign --key rsa.pem --alg RS256 --key-password-file BAD --no-expiry --claims {}",
            "jws sign --key rsa.pem --alg RS256 --key-password-file BAD text",
            "jwe decrypt --key ecdh.jwk --key-password-file BAD @jwe",
            "jwt verify --key hs256.jwk --decrypt-key ecdh.jwk --key-password-file BAD @jwe",
            "doctor --decrypt-key ecdh.jwk --key-password-file BAD @jwe",
            "paseto sign --key BAD text",
            "paseto sign --key k4.secret --no-expiry --claims @BAD",
            "paseto encrypt --key BAD text",
            "paseto encrypt --key k4.local --no-expiry --claims @BAD",
            "paseto verify --key BAD --raw @v4",
            "paseto decrypt --key BAD --raw @v4-local",
            "token issue --profile a --server https://127.0.0.1:1 --ca BAD",
            "token issue --profile a --server https://127.0.0.1:1 --client-certificate BAD --client-key rsa.pem",
            "token issue --profile a --server https://127.0.0.1:1 --client-certificate certificate.pem --client-key BAD",
            "token issue --profile a --server https://127.0.0.1:1 --bearer BAD",
            "token issue --profile a --server http://127.0.0.1:1 --claims @BAD",
            "token verify --audience a --server https://127.0.0.1:1 --ca BAD @jws",
            "token verify --audience a --server https://127.0.0.1:1 --client-certificate BAD --client-key rsa.pem @jws",
            "token verify --audience a --server https://127.0.0.1:1 --client-certificate certificate.pem --client-key BAD @jws",
            "token verify --audience a --server https://127.0.0.1:1 --bearer BAD @jws",
            "token revoke --server https://127.0.0.1:1 --ca BAD @jws",
            "token revoke --server https://127.0.0.1:1 --client-certificate BAD --client-key rsa.pem @jws",
            "token revoke --server https://127.0.0.1:1 --client-certificate certificate.pem --client-key BAD @jws",
            "token revoke --server https://127.0.0.1:1 --bearer BAD @jws",
            "doctor --key BAD",
            "inspect --discover http://127.0.0.1:1 --ca BAD @jws",
            "doctor --discover http://127.0.0.1:1 --ca BAD",
            "doctor --key BAD @jws",
            "doctor --decrypt-key BAD @jwe",
            "inspect --key BAD @jws",
            "inspect --decrypt-key BAD @jwe",
            "inspect --decrypt-key ecdh.jwk --key-password-file BAD @jwe",
            "admin issuer add @BAD",
            "admin issuer set @BAD",
            "admin key import https://id.example BAD",
            "admin key reencrypt --old-key BAD",
            "admin restore --data restored BAD",
            "admin client hash --secret-file BAD",
            "token get --server http://127.0.0.1:1 --client a --secret-file BAD",
            "token get --server http://127.0.0.1:1 --client a --issuer https://id.example --signing-key BAD",
            "token get --server http://127.0.0.1:1 --assertion-file BAD",
            "token get --server http://127.0.0.1:1 --subject-token-file BAD",
            "token get --server http://127.0.0.1:1 --subject-token-file jws --actor-token-file BAD",
            "token get --server https://127.0.0.1:1 --ca BAD",
            "token get --server https://127.0.0.1:1 --client-certificate BAD --client-key rsa.pem",
            "token get --server https://127.0.0.1:1 --client-certificate certificate.pem --client-key BAD",
            // The address is not loopback and TLS is missing, so an empty configuration fails too.
            "serve --config BAD --listen 192.0.2.1:1",
            "admin migrate --data good.json --config BAD",
            "admin restore --data good.json --config BAD backup",
        ],
    );
    for command in [
        "issuer add @settings.json",
        "issuer set @settings.json",
        "issuer list",
        "issuer show ISS",
        "key list ISS",
        "key rotate ISS",
        "key withdraw ISS kid",
        "key import ISS hs256.jwk",
        "key reencrypt --old-key settings.json",
        "revoke token ISS id",
        "revoke subject ISS alice",
        "revoke client ISS app",
        "revoke signed-by ISS kid",
        "revoke end subject ISS alice",
        "revoke list ISS",
        "status",
        "nodes",
    ] {
        let command = command.replace("ISS", ISS);
        all(
            Input,
            &[&format!("admin {command} --key-encryption-key BAD")],
        );
        all(Folder, &[&format!("admin {command} --data BAD")]);
    }
    for command in [
        "issuer add @settings.json",
        "issuer set @settings.json",
        "issuer list",
        "issuer show ISS",
        "key list ISS",
        "key rotate ISS",
        "key withdraw ISS kid",
        "key import ISS hs256.jwk",
        "key reencrypt",
        "revoke token ISS id",
        "revoke subject ISS alice",
        "revoke client ISS app",
        "revoke signed-by ISS kid",
        "revoke end subject ISS alice",
        "revoke list ISS",
        "status",
        "nodes",
        "page",
        "audit",
        "audit export other",
        "audit verify",
        "verify",
        "backup -o other",
    ] {
        let command = format!(
            "admin {} --server https://127.0.0.1:1",
            command.replace("ISS", ISS)
        );
        for credential in [
            "--bearer BAD",
            "--ca BAD",
            "--client-certificate BAD --client-key rsa.pem",
            "--client-certificate certificate.pem --client-key BAD",
        ] {
            all(Input, &[&format!("{command} {credential}")]);
        }
        // With an empty configuration, the data folder is wrong.
        let folder = command.split(" --server").next().unwrap_or_default();
        let old_key = if folder.ends_with("reencrypt") {
            " --old-key settings.json"
        } else {
            ""
        };
        all(
            Input,
            &[&format!("{folder}{old_key} --data good.json --config BAD")],
        );
    }
    all(
        Judged,
        &[
            "jwt verify --key hs256.jwk @BAD",
            "verify --key hs256.jwk @BAD",
            "verify --key k4.public --footer @BAD @v4",
            "verify --key k4.public --implicit @BAD @v4",
            "jws verify --key hs256.jwk @BAD",
            "jws verify --key hs256.jwk --detached @BAD @detached",
            "jwe decrypt --key a128kw.jwk @BAD",
            "paseto verify --key k4.public @BAD",
            "paseto verify --key k4.public --raw @BAD",
            "paseto verify --key k4.public --raw --footer @BAD @v4",
            "paseto verify --key k4.public --raw --implicit @BAD @v4",
            "paseto decrypt --key k4.local @BAD",
            "paseto decrypt --key k4.local --raw @BAD",
            "paseto decrypt --key k4.local --raw --footer @BAD @v4-local",
            "paseto decrypt --key k4.local --raw --implicit @BAD @v4-local",
            "inspect @BAD",
            "inspect --json @BAD",
            "inspect --web -o - @BAD",
            "inspect --key k4.public --footer @BAD @v4",
            "inspect --key k4.public --implicit @BAD @v4",
            "doctor @BAD",
            "doctor --key k4.public --footer @BAD @v4",
            "doctor --key k4.public --implicit @BAD @v4",
            "token verify --server http://127.0.0.1:1 --audience a @BAD",
            "token revoke --server http://127.0.0.1:1 @BAD",
        ],
    );
    all(
        Bytes,
        &[
            "jws sign --key hs256.jwk @BAD",
            "jwe encrypt --key a128kw.jwk @BAD",
            "jwe encrypt --key a128kw.jwk --serialization flattened --aad @BAD text",
            "jwe encrypt --key ecdh.pub.jwk --apu @BAD text",
            "jwe encrypt --key ecdh.pub.jwk --apv @BAD text",
            "paseto sign --key k4.secret @BAD",
            "paseto sign --key k4.secret --footer @BAD text",
            "paseto sign --key k4.secret --implicit @BAD text",
            "paseto encrypt --key k4.local @BAD",
            "paseto encrypt --key k4.local --footer @BAD text",
            "paseto encrypt --key k4.local --implicit @BAD text",
        ],
    );
    all(
        Folder,
        &[
            "serve --data BAD --listen 127.0.0.1:0 --admin-listen 127.0.0.1:0",
            "admin verify --data BAD",
            "admin page --data BAD",
            "admin audit --data BAD",
            "admin audit --exported BAD --chain main",
            "admin audit export other --data BAD",
            "admin audit export BAD",
            "admin audit verify --data BAD",
            "admin audit verify --exported BAD",
            "admin migrate --data BAD",
            "admin migrate --from BAD --to new",
            "admin migrate --from jeton-data --to BAD",
            "admin backup --data BAD -o other",
            "admin restore --data BAD backup",
            "man --out BAD",
        ],
    );
    calls
}

/// Creates a folder with keys, tokens, settings and an issuer.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    for key in fs::read_dir(keys()).unwrap() {
        let key = key.unwrap();
        fs::copy(key.path(), path.join(key.file_name())).unwrap();
    }
    for (name, call) in [
        ("jws", "jws sign --key hs256.jwk text"),
        ("detached", "jws sign --key hs256.jwk --detached text"),
        ("jwe", "jwe encrypt --key a128kw.jwk text"),
        (
            "v4",
            "paseto sign --key k4.secret --footer f --implicit i text",
        ),
        (
            "v4-local",
            "paseto encrypt --key k4.local --footer f --implicit i text",
        ),
    ] {
        let call: Vec<&str> = call.split(' ').collect();
        fs::write(path.join(name), line(path, &call)).unwrap();
    }
    fs::write(path.join("good.json"), "{}").unwrap();
    fs::write(path.join("settings.json"), SETTINGS).unwrap();
    succeeds(path, &["admin", "issuer", "add", "@settings.json"], b"");
    succeeds(path, &["admin", "backup", "-o", "backup"], b"");
    folder
}

/// Arguments for files that are written, or read and written.
const WRITTEN: [&str; 4] = ["--output", "--out", "--junit", "--sarif"];

/// Arguments for a configuration, which may be empty: tests of `doctor` give them other files.
const CONFIGURATIONS: [&str; 2] = ["doctor --trust", "doctor --config"];

/// A command that names files and reads none: a token may be written later.
const READS_NO_FILES: &str = "admin context set ";

#[test]
fn lists_every_argument() {
    let calls = calls();
    let mut found = help_arguments::all();
    let names = ["BEFORE", "AFTER", "RESULT"];
    found.retain(|argument| {
        let parts = argument.value.split(['|', '@']);
        let mut parts = parts.filter(|part| !part.is_empty());
        let is_file = parts.any(|p| ["FILE", "FILES", "DIR"].contains(&p) || names.contains(&p));
        is_file && !WRITTEN.contains(&&*argument.name)
    });
    assert!(found.len() > 100, "{found:?}");
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
        .filter(|argument| !calls.iter().any(|(_, call)| is_listed(argument, call)))
        .map(|argument| format!("{} {}", argument.command, argument.name))
        .filter(|argument| !CONFIGURATIONS.contains(&&**argument))
        .filter(|argument| !argument.starts_with(READS_NO_FILES))
        .collect();
    assert!(missing.is_empty(), "{missing:#?}");
}

/// Writes a file that only its owner can read, so that its mode is no problem.
fn bad_files(folder: &Path) {
    private(&folder.join("zero"), "");
    private(&folder.join("random"), "");
    let bytes: Vec<u8> = (0..=255).cycle().skip(128).take(1000).collect();
    fs::write(folder.join("random"), bytes).unwrap();
    fs::create_dir(folder.join("folder")).unwrap();
}

/// Runs the calls with this argument.
fn tried(folder: &Path, bad: &str) -> Vec<(Takes, Vec<String>, Option<i32>, String)> {
    let is_file = ["zero", "random"].contains(&bad);
    let calls = calls().into_iter();
    let calls = calls.filter(|(takes, _)| is_file || !matches!(takes, Folder));
    let tried = calls.map(|(takes, call)| {
        let call = call.split(' ').map(|word| word.replace(BAD, bad));
        let call: Vec<String> = call.collect();
        let words: Vec<&str> = call.iter().map(String::as_str).collect();
        let output = jeton(folder, &words, b"");
        let stderr = String::from_utf8(output.stderr).unwrap();
        if std::env::var_os("SHOW").is_some() {
            println!("{} -> {:?}\n{stderr}", call.join(" "), output.status.code());
        }
        (takes, call, output.status.code(), stderr)
    });
    tried.collect()
}

fn says(stderr: &str, words: &[&str]) -> bool {
    let said = stderr.lines().find(|line| {
        ["error: ", "rejected: ", "found: "]
            .iter()
            .any(|kind| line.starts_with(kind))
    });
    said.is_some_and(|said| words.iter().any(|word| said.contains(word)))
}

/// Gives this file to every argument. The message of a file that is read as input has one of the first words,
/// that of a file that is judged one of the second.
fn check(file: &str, input: &[&str], judged: &[&str]) {
    let folder = folder();
    bad_files(folder.path());
    for (takes, call, code, stderr) in tried(folder.path(), file) {
        let (expected, words) = match takes {
            Input => (2, input),
            Judged => (1, judged),
            Bytes => {
                assert_eq!(code, Some(0), "{call:?}: {stderr}");
                continue;
            }
            Folder => (2, &["irectory", "File exists"][..]),
        };
        assert_eq!(code, Some(expected), "{call:?}: {stderr}");
        assert!(says(&stderr, words), "{call:?}: {stderr}");
    }
}

#[test]
fn empty_file_is_named_as_empty() {
    check(
        "zero",
        &[
            "empty",
            "truncated",
            "has no valid key",
            "`tls` is missing",
            // An empty configuration of `jeton admin`, with a file for the data folder.
            "Not a directory",
            "File exists",
        ],
        &[
            "empty",
            "signature",
            "cannot be decrypted",
            "1 error",
            "errors",
        ],
    );
}

#[test]
fn binary_file_is_an_error_with_its_name() {
    check(
        "random",
        &[
            "random",
            "laims: ",
            "settings: ",
            "the password file: ",
            "the secret is not text",
            "not a jeton backup",
        ],
        &[
            "not UTF-8 text",
            "unknown format",
            "signature",
            "cannot be decrypted",
            "1 error",
            "errors",
        ],
    );
}

#[test]
fn folder_instead_of_file_is_an_error() {
    let folder = folder();
    bad_files(folder.path());
    for (_, call, code, stderr) in tried(folder.path(), "folder") {
        assert_eq!(code, Some(2), "{call:?}: {stderr}");
        assert!(says(&stderr, &["irectory"]), "{call:?}: {stderr}");
    }
}

/// Even root cannot read the first page of `/proc/self/mem`.
#[cfg(target_os = "linux")]
#[test]
fn unreadable_file_is_an_error() {
    let folder = folder();
    std::os::unix::fs::symlink("/proc/self/mem", folder.path().join("unreadable")).unwrap();
    for (_, call, code, stderr) in tried(folder.path(), "unreadable") {
        assert_eq!(code, Some(2), "{call:?}: {stderr}");
        assert!(says(&stderr, &["Input/output error"]), "{call:?}: {stderr}");
    }
}

#[test]
fn missing_file_is_an_error() {
    let folder = folder();
    for (_, call, code, stderr) in tried(folder.path(), "missing") {
        assert_eq!(code, Some(2), "{call:?}: {stderr}");
        let words = ["No such file", "no such file"];
        assert!(says(&stderr, &words), "{call:?}: {stderr}");
    }
}
