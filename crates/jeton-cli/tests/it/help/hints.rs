//! Runs the hints of the snapshots: what a hint says to type is accepted, and does not lead back to the same error.
#![cfg(unix)]

use std::fs::{self, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use super::provoked::{PROVOKED, Provoked};
use crate::binary::{inputs, jeton};

/// Options without a value.
const FLAGS: [&str; 8] = [
    "--json",
    "--no-expiry",
    "--raw",
    "--verbose",
    "--zip",
    "--b64-false",
    "--from-certificate",
    "--symmetric",
];

/// A call that ends with a hint.
struct Case {
    name: String,
    args: Vec<String>,
    stdin: String,
    /// Values for placeholders of the hint.
    fill: Vec<(&'static str, &'static str)>,
    /// The first line of standard error.
    error: String,
    hint: String,
}

/// Runs a call that ends with a hint.
fn provoke(keys: &Path, (call, fill): &Provoked) -> Case {
    let args: Vec<&str> = call.split(' ').collect();
    let stderr = jeton(keys, &args, b"").stderr;
    let stderr = String::from_utf8(stderr).unwrap();
    let hint = stderr.lines().find_map(|line| line.strip_prefix("hint: "));
    let hint = hint.unwrap_or_else(|| panic!("no hint: {call}: {stderr}"));
    let is_error = |line: &&str| line.starts_with("error: ") || line.starts_with("rejected: ");
    Case {
        name: (*call).to_owned(),
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        stdin: String::new(),
        fill: fill.to_vec(),
        error: stderr.lines().find(is_error).unwrap().to_owned(),
        hint: hint.to_owned(),
    }
}

/// What a hint says to do with a text in backticks.
enum Action {
    Add,
    Remove,
    /// Pass it instead of this option.
    Replace(&'static str),
}

fn cases() -> Vec<Case> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cmd");
    let mut cases = Vec::new();
    for folder in fs::read_dir(root).unwrap() {
        let folder = folder.unwrap().path();
        for file in fs::read_dir(&folder).unwrap() {
            cases.extend(case(&file.unwrap().path()));
        }
    }
    cases.sort_by(|one, other| one.name.cmp(&other.name));
    cases
}

fn case(file: &Path) -> Option<Case> {
    let snapshot: toml::Table = fs::read_to_string(file).unwrap().parse().unwrap();
    let text = |name: &str| match snapshot.get(name) {
        Some(text) => text.as_str().unwrap().to_owned(),
        None => String::new(),
    };
    let stderr = text("stderr");
    let hint = stderr
        .lines()
        .find_map(|line| line.strip_prefix("hint: "))?;
    let args = snapshot["args"].as_array().unwrap().iter();
    Some(Case {
        name: file.display().to_string(),
        fill: Vec::new(),
        args: args.map(|arg| arg.as_str().unwrap().to_owned()).collect(),
        stdin: text("stdin"),
        error: stderr
            .lines()
            .find(|line| !line.starts_with("note: "))
            .unwrap()
            .to_owned(),
        hint: hint.to_owned(),
    })
}

/// Splits a hint into the texts in backticks and what to do with each.
fn actions(hint: &str) -> Vec<(Action, &str)> {
    let parts: Vec<&str> = hint.split('`').collect();
    let pairs = parts.chunks_exact(2);
    pairs
        .map(|pair| {
            let action = match pair[0] {
                before if before.ends_with("remove ") => Action::Remove,
                before if before.ends_with("instead of --key, pass ") => Action::Replace("--key"),
                _ => Action::Add,
            };
            (action, pair[1])
        })
        .collect()
}

/// Removes an option and its value.
fn without(args: &[String], option: &str) -> Vec<String> {
    let mut args = args.to_vec();
    while let Some(at) = args.iter().position(|arg| arg == option) {
        let has_value = !FLAGS.contains(&option) && at + 1 < args.len();
        args.drain(at..=at + usize::from(has_value));
    }
    args
}

/// Replaces the placeholders of a hint.
fn filled(case: &Case, word: &str) -> String {
    if let Some((_, value)) = case.fill.iter().find(|(name, _)| *name == word) {
        return (*value).to_owned();
    }
    let value_of = |options: &[&str]| {
        let at = case
            .args
            .iter()
            .position(|arg| options.contains(&arg.as_str()))?;
        case.args.get(at + 1).cloned()
    };
    match word {
        "FILE" => value_of(&["--key", "--encrypt-key", "--decrypt-key"])
            .or_else(|| case.args.last().cloned())
            .unwrap(),
        // The payload of the detached token.
        "@FILE" => "hello, world".to_owned(),
        "TIME" if case.hint.contains("earlier") => "2021-12-31T23:59:59Z".to_owned(),
        "TIME" => "2027-01-15T08:05:00Z".to_owned(),
        "PAYLOAD" => "text".to_owned(),
        "TOKEN" => case.args.last().unwrap().clone(),
        "NAME" => value_of(&["--alg"]).unwrap_or_else(|| "ES256".to_owned()),
        "ID" => "test-es256".to_owned(),
        "BYTES" => "100000000".to_owned(),
        "URL" => "http://127.0.0.1:2".to_owned(),
        "DIR" => "another".to_owned(),
        other => other.to_owned(),
    }
}

/// Runs a call. Options that another command does not have are dropped.
fn run(folder: &Path, args: &[String], stdin: &str) -> String {
    let mut args = args.to_vec();
    loop {
        let call: Vec<&str> = args.iter().map(String::as_str).collect();
        let stderr = jeton(folder, &call, stdin.as_bytes()).stderr;
        let stderr = String::from_utf8_lossy(&stderr).into_owned();
        let unexpected = stderr
            .strip_prefix("error: unexpected argument '")
            .and_then(|rest| rest.split('\'').next());
        match unexpected {
            Some(option) if args.iter().any(|arg| arg == option) => args = without(&args, option),
            _ => return stderr,
        }
    }
}

/// Returns the call for the help of a command.
fn help_of(words: &[String]) -> Vec<String> {
    let is_name = |word: &&String| word.chars().all(|c| c.is_ascii_lowercase());
    let names = words.iter().take_while(is_name).cloned();
    names.chain(["--help".to_owned()]).collect()
}

/// Returns the call that a hint describes, if it can be run here.
fn call(case: &Case, action: &Action, text: &str) -> Option<Vec<String>> {
    let words: Vec<String> = text
        .split_whitespace()
        .map(|word| filled(case, word))
        .collect();
    match (words[0].as_str(), words.get(1).map(String::as_str)) {
        ("jeton", Some("key" | "inspect")) => Some(words[1..].to_vec()),
        // Another command, with the arguments of this one.
        ("jeton", Some("jwt" | "jws" | "jwe" | "paseto")) => {
            let mut args = words[1..].to_vec();
            for option in args.clone().iter().filter(|word| word.starts_with("--")) {
                if case.args.contains(option) {
                    return None;
                }
            }
            let is_complete = args.iter().any(|word| word == "text");
            if !is_complete {
                args.extend_from_slice(&case.args[2..]);
            }
            Some(args)
        }
        // These need a service or a data folder: their help shows that they exist.
        ("jeton", Some(_)) => Some(help_of(&words[1..])),
        ("--help", _) => Some(help_of(&case.args)),
        (option, _) if option.starts_with('-') && option.len() > 1 => Some(match action {
            Action::Remove => without(&case.args, option),
            Action::Add | Action::Replace(_) => {
                let mut args = case.args.clone();
                if let Action::Replace(replaced) = action {
                    args = without(&args, replaced);
                }
                for option in words.iter().filter(|word| word.starts_with("--")) {
                    if option != "--allow" {
                        args = without(&args, option);
                    }
                }
                args.extend(words);
                args
            }
        }),
        // Another program, or a part of a value.
        _ => None,
    }
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in ["keys", "tokens"] {
        let from = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests")
            .join(name);
        fs::create_dir(folder.path().join(name)).unwrap();
        for file in fs::read_dir(from).unwrap() {
            let file = file.unwrap();
            let to = folder.path().join(name).join(file.file_name());
            fs::copy(file.path(), to).unwrap();
        }
    }
    for (name, file) in [
        ("many-keys", "nine.json"),
        ("many-keys", "nokid"),
        ("pkcs12", "ks.jks"),
        ("encrypted", "old.pem"),
        ("encrypted", "ssh"),
        ("encrypted", "ssh.pub"),
    ] {
        let to = folder.path().join("keys").join(file);
        fs::copy(inputs(name).join(file), to).unwrap();
    }
    let own: [(&str, &[u8]); 8] = [
        ("zeros", &[0; 1 << 20]),
        ("oct-enc.jwk", br#"{"kty":"oct","use":"enc","k":"Y29ycmVjdCBob3JzZSBiYXR0ZXJ5IHN0YXBsZSBhbmM"}"#),
        ("pbes2-hs512.jwk", br#"{"kty":"oct","alg":"PBES2-HS512+A256KW","k":"Y29ycmVjdCBob3JzZSBiYXR0ZXJ5IHN0YXBsZQ"}"#),
        ("binary", &[0xff; 32]),
        ("base64url", b"__________________________________________8"),
        ("base64", b"//////////////////////////////////////////8="),
        ("one.json", br#"{"keys":[{"kty":"OKP","crv":"Ed25519","alg":"EdDSA","kid":"same","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#),
        ("same-kid.jwk", br#"{"kty":"EC","crv":"P-256","alg":"ES256","kid":"same","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}"#),
    ];
    for (name, content) in own {
        fs::write(folder.path().join("keys").join(name), content).unwrap();
    }
    folder
}

#[test]
fn hint_is_accepted_and_changes_the_error() {
    let folder = folder();
    let keys = folder.path().join("keys");
    let (mut run_count, mut failures) = (0, Vec::new());
    let provoked = PROVOKED.iter().map(|call| provoke(&keys, call));
    for case in cases().into_iter().chain(provoked) {
        let mut is_helpful = None;
        for (action, text) in actions(&case.hint) {
            let Some(args) = call(&case, &action, text) else {
                continue;
            };
            run_count += 1;
            let stderr = run(&keys, &args, &case.stdin);
            let context = format!("{}\n{}\n{args:?}\n{stderr}", case.name, case.hint);
            // Another command may need more arguments.
            let is_usage_error = stderr.contains("\nUsage: ")
                && !(text.starts_with("jeton ") && stderr.contains("required arguments"));
            if is_usage_error {
                failures.push(context.clone());
            }
            let is_same = stderr.lines().any(|line| line == case.error);
            is_helpful = Some((is_helpful.is_some_and(|(is, _)| is) || !is_same, context));
        }
        if let Some((false, context)) = is_helpful {
            failures.push(context);
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n---\n"));
    assert!(run_count > 100, "{run_count}");
}

/// The folders of the source whose hints are not run here, and why.
const ELSEWHERE: [(&str, &str); 6] = [
    ("connection", "they need a service: tests of `connections`"),
    ("admin", "they need a data folder: tests of `admin`"),
    ("doctor", "advice: tests of `doctor` run it"),
    ("serve.rs", "they need a service: tests of `serve`"),
    ("token", "they need a service"),
    (
        "inspect/web",
        "they need a temporary folder that cannot be written to",
    ),
];

/// Hints that need a terminal, or a server with a certificate: tests of `remote_keys` run that one. And a note, which
/// tests of `new_tokens` see.
const NOT_HERE: [&str; 3] = [
    "the token has {bytes} bytes, more than the default limit of verifiers ({}); to read it, add `--max-bytes {bytes}`",
    "to write it to a file, add `-o FILE`",
    "to trust the authority of the server, add `--ca FILE`",
];

/// Returns the texts in the source that tell the user to type something.
fn texts_in_source() -> Vec<(String, String)> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let roots = [own.join("src"), own.join("../jeton-terminal/src")];
    let mut texts = Vec::new();
    let mut folders: Vec<_> = roots.iter().map(|root| (root, root.clone())).collect();
    while let Some((root, folder)) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().display().to_string();
            if ELSEWHERE.iter().any(|(part, _)| name.starts_with(part))
                || name.ends_with("tests.rs")
            {
                continue;
            }
            if path.is_dir() {
                folders.push((root, path));
                continue;
            }
            let source = fs::read_to_string(path).unwrap();
            let source = source.split("#[cfg(test)]").next().unwrap();
            for line in source
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"))
            {
                let literals = line.split('"').skip(1).step_by(2);
                let is_typed = |text: &&str| {
                    ["`jeton ", "`--", "`-o "]
                        .iter()
                        .any(|typed| text.contains(typed))
                        && !NOT_HERE.contains(text)
                };
                texts.extend(
                    literals
                        .filter(is_typed)
                        .map(|text| (name.clone(), text.to_owned())),
                );
            }
        }
    }
    texts
}

/// Returns whether a hint is this text with its placeholders filled in.
fn is_of(hint: &str, text: &str) -> bool {
    let mut rest = hint;
    let mut pieces = text
        .split(['{', '}'])
        .step_by(2)
        .flat_map(|piece| piece.split(" FILE"));
    pieces.all(|piece| match rest.find(piece) {
        Some(at) => {
            rest = &rest[at + piece.len()..];
            true
        }
        None => false,
    })
}

#[test]
fn every_hint_of_the_source_is_run() {
    let folder = folder();
    let keys = folder.path().join("keys");
    let provoked = PROVOKED.iter().map(|call| provoke(&keys, call));
    let hints: Vec<String> = cases()
        .into_iter()
        .chain(provoked)
        .map(|case| case.hint)
        .collect();
    let texts = texts_in_source();
    assert!(texts.len() > 40, "{}", texts.len());
    let missing: Vec<_> = texts
        .iter()
        .filter(|(_, text)| !hints.iter().any(|hint| is_of(hint, text)))
        .collect();
    assert!(
        missing.is_empty(),
        "no call of this test prints: {missing:#?}"
    );
}

/// What the programs ask for, which a test cannot type.
const ANSWERS: [(&str, &[&str]); 5] = [
    ("ssh-keygen -q", &["-N", ""]),
    ("openssl pkcs12", &["-passin", "pass:changeit"]),
    ("openssl pkey", &["-passin", "pass:password"]),
    (
        "keytool -importkeystore",
        &["-srcstorepass", "changeit", "-deststorepass", "changeit"],
    ),
    ("ssh-keygen -p", &["-P", "", "-N", ""]),
];

/// Runs a program that a hint names; returns its output, or `None` if this machine does not have it.
fn run_program(folder: &Path, command: &str) -> Option<Vec<u8>> {
    let mut words = command.split_whitespace();
    let program = words.next().unwrap();
    let answers = ANSWERS.iter().find(|(begin, _)| command.starts_with(begin));
    let answers = answers.map_or(&[][..], |(_, answers)| answers);
    let output = Command::new(program)
        .args(words.chain(answers.iter().copied()))
        .current_dir(folder)
        .stdin(Stdio::null())
        .output();
    let output = match output {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            eprintln!("{program} is not installed");
            return None;
        }
        output => output.unwrap(),
    };
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command}: {stderr}");
    Some(output.stdout)
}

/// Follows the hints about a file that is no key, until it is one. A hint may lead to another file.
fn follow(folder: &Path, file: &str) {
    let mut file = file.to_owned();
    let mut errors: Vec<String> = Vec::new();
    loop {
        let stderr = jeton(folder, &["key", "thumbprint", &file], b"").stderr;
        let stderr = String::from_utf8(stderr).unwrap();
        let hint = stderr.lines().find_map(|line| line.strip_prefix("hint: "));
        let command = hint
            .and_then(|hint| hint.split('`').nth(1))
            .unwrap_or_default();
        let is_program = ["openssl ", "keytool ", "ssh-keygen "];
        if !is_program
            .iter()
            .any(|program| command.starts_with(program))
        {
            assert!(
                stderr.is_empty() || command.starts_with("jeton ") || command.starts_with("--"),
                "{file}: {stderr}"
            );
            assert!(!errors.is_empty() || !command.is_empty(), "{file}: no hint");
            return;
        }
        let error = stderr.lines().next().unwrap().replace(&file, "FILE");
        assert!(!errors.contains(&error), "{command} leads back to: {error}");
        errors.push(error);
        let next = format!("converted-{}-{file}", errors.len());
        let command = command.replace("NEW_FILE", &next);
        let Some(stdout) = run_program(folder, &command) else {
            return;
        };
        if !stdout.is_empty() && !command.contains(&next) && !command.starts_with("ssh-keygen -p") {
            fs::write(folder.join(&next), stdout).unwrap();
        }
        if folder.join(&next).exists() {
            file = next;
        }
    }
}

#[test]
fn hint_with_another_program_leads_to_a_key() {
    let folder = folder();
    let keys = folder.path().join("keys");
    let make = |command: &str| drop(run_program(&keys, command));
    for file in ["ssh", "es256.pem"] {
        // ssh-keygen reads no key that others can read.
        fs::set_permissions(keys.join(file), Permissions::from_mode(0o600)).unwrap();
    }
    make("openssl req -new -key es256.pem -subj /CN=a -out request.pem");
    make("ssh-keygen -q -t ecdsa -f ssh-ecdsa");
    for file in [
        "certificate.pem",
        "request.pem",
        "ks.jks",
        "old.pem",
        "ssh",
        "ssh.pub",
        "ssh-ecdsa",
        "ssh-ecdsa.pub",
    ] {
        if keys.join(file).exists() {
            follow(&keys, file);
        }
    }
}
