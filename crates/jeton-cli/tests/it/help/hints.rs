//! Runs the hints of the snapshots: what a hint says to type is accepted, and does not lead back to the same error.
#![cfg(unix)]

use std::fs;
use std::path::Path;

use crate::binary::jeton;

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

/// A snapshot that ends with a hint.
struct Case {
    name: String,
    args: Vec<String>,
    stdin: String,
    /// The first line of standard error.
    error: String,
    hint: String,
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
        // The hints of the lab need a lab.
        if folder.ends_with("lab") {
            continue;
        }
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
                before if before.ends_with("instead of --keys, pass ") => Action::Replace("--keys"),
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
    let value_of = |options: &[&str]| {
        let at = case
            .args
            .iter()
            .position(|arg| options.contains(&arg.as_str()))?;
        case.args.get(at + 1).cloned()
    };
    match word {
        "FILE" => value_of(&["--key", "--keys", "--encrypt-key", "--decrypt-key"])
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
    folder
}

#[test]
fn hint_is_accepted_and_changes_the_error() {
    let folder = folder();
    let keys = folder.path().join("keys");
    let (mut run_count, mut failures) = (0, Vec::new());
    for case in cases() {
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
