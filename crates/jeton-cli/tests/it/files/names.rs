//! A bare argument that names a file is an error for every `TEXT|@FILE|-` argument, and both command lines of the hint
//! work.
#![cfg(unix)]

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::binary::{self, jeton, keys, line, succeeds};
use crate::data_folder::SETTINGS;
use crate::help_arguments;

/// The argument in the calls.
const NAME: &str = "small.bin";

/// A `TEXT|@FILE|-` argument.
struct Argument {
    /// A shell command line with `NAME` once.
    call: String,
    /// The part that the hint replaces: the name, with its option if it has one.
    replaced: String,
    /// The name of the argument in the message.
    called: &'static str,
    /// The content of the file.
    content: &'static [u8],
    /// The command that prints the argument from the file `out`, if the output of the call is random.
    shown_by: Option<&'static str>,
}

fn positional(call: &str, called: &'static str, content: &'static [u8]) -> Argument {
    Argument {
        call: call.replace("NAME", NAME),
        replaced: NAME.to_owned(),
        called,
        content,
        shown_by: None,
    }
}

fn option(call: &str, called: &'static str, content: &'static [u8]) -> Argument {
    Argument {
        replaced: format!("{called} {NAME}"),
        ..positional(call, called, content)
    }
}

impl Argument {
    fn shown_by(self, call: &'static str) -> Argument {
        Argument {
            shown_by: Some(call),
            ..self
        }
    }
}

const CLAIMS: &[u8] = br#"{"sub":"user-7","exp":1800000900,"iat":1800000000}"#;
const PASETO_CLAIMS: &[u8] =
    br#"{"sub":"user-7","exp":"2027-01-15T08:15:00Z","iat":"2026-01-15T08:00:00Z"}"#;
const JWS: &[u8] = b"eyJhbGciOiJIUzI1NiIsImtpZCI6InRlc3QtaHMifQ.aGVsbG8.AA";
/// Not UTF-8, so that every reader of text fails.
const BINARY: &[u8] = b"\xff\xfe";

/// All arguments. `lists_every_argument` fails if one is missing.
fn arguments() -> Vec<Argument> {
    let nowhere = "--server http://127.0.0.1:1";
    vec![
        option("jwt sign --key hs256.jwk --claims NAME", "--claims", CLAIMS),
        positional("jwt verify --key hs256.jwk NAME", "TOKEN", JWS),
        positional("jws sign --key hs256.jwk NAME", "PAYLOAD", b"\0payload"),
        positional("jws verify --key hs256.jwk NAME", "TOKEN", JWS),
        option(
            "jws verify --key hs256.jwk --detached NAME @detached",
            "--detached",
            b"the payload",
        ),
        positional("jwe encrypt --key a128kw.jwk NAME", "PAYLOAD", b"\0payload")
            .shown_by("jwe decrypt --key a128kw.jwk @out"),
        option(
            "jwe encrypt --key a128kw.jwk --serialization flattened --aad NAME text",
            "--aad",
            b"for both",
        )
        .shown_by("jwe decrypt --key a128kw.jwk --json @out | grep -o '\"aad\":[^,]*'"),
        option(
            "jwe encrypt --key ecdh.pub.jwk --apu NAME text",
            "--apu",
            b"Alice",
        )
        .shown_by("inspect --json @out | grep -o '\"apu\":[^,]*'"),
        option(
            "jwe encrypt --key ecdh.pub.jwk --apv NAME text",
            "--apv",
            b"Bob",
        )
        .shown_by("inspect --json @out | grep -o '\"apv\":[^,}]*'"),
        positional("jwe decrypt --key a128kw.jwk NAME", "TOKEN", BINARY),
        option(
            "paseto sign --key k4.secret --claims NAME",
            "--claims",
            PASETO_CLAIMS,
        ),
        positional("paseto sign --key k4.secret NAME", "PAYLOAD", b"\0payload"),
        option(
            "paseto sign --key k4.secret --footer NAME text",
            "--footer",
            b"the.footer",
        ),
        option(
            "paseto sign --key k4.secret --implicit NAME text",
            "--implicit",
            b"tenant-7",
        ),
        option(
            "paseto encrypt --key k4.local --claims NAME",
            "--claims",
            PASETO_CLAIMS,
        )
        .shown_by("paseto decrypt --key k4.local --raw @out"),
        positional("paseto encrypt --key k4.local NAME", "PAYLOAD", b"\0payload")
            .shown_by("paseto decrypt --key k4.local --raw @out"),
        option(
            "paseto encrypt --key k4.local --footer NAME text",
            "--footer",
            b"the.footer",
        )
        .shown_by("inspect @out"),
        option(
            "paseto encrypt --key k4.local --implicit NAME text",
            "--implicit",
            b"tenant-7",
        )
        .shown_by(
            "paseto decrypt --key k4.local --raw --implicit tenant-7 @out 2> /dev/null || echo other",
        ),
        positional("paseto verify --key k4.public NAME", "TOKEN", BINARY),
        option(
            "paseto verify --key k4.public --raw --footer NAME @signed-footer",
            "--footer",
            b"the.footer",
        ),
        option(
            "paseto verify --key k4.public --raw --implicit NAME @signed-implicit",
            "--implicit",
            b"tenant-7",
        ),
        positional("paseto decrypt --key k4.local NAME", "TOKEN", BINARY),
        option(
            "paseto decrypt --key k4.local --raw --footer NAME @encrypted-footer",
            "--footer",
            b"the.footer",
        ),
        option(
            "paseto decrypt --key k4.local --raw --implicit NAME @encrypted-implicit",
            "--implicit",
            b"tenant-7",
        ),
        positional("verify --key hs256.jwk NAME", "TOKEN", JWS),
        option(
            "verify --key k4.public --footer NAME @signed-footer",
            "--footer",
            b"the.footer",
        ),
        option(
            "verify --key k4.public --implicit NAME @signed-implicit",
            "--implicit",
            b"tenant-7",
        ),
        positional("inspect NAME", "TOKEN", JWS),
        option(
            "inspect --key k4.public --footer NAME @signed-footer",
            "--footer",
            b"the.footer",
        ),
        option(
            "inspect --key k4.public --implicit NAME @signed-implicit",
            "--implicit",
            b"tenant-7",
        ),
        positional("doctor NAME", "TOKEN", JWS),
        option(
            "doctor --key k4.public --footer NAME @signed-footer",
            "--footer",
            b"the.footer",
        ),
        option(
            "doctor --key k4.public --implicit NAME @signed-implicit",
            "--implicit",
            b"tenant-7",
        ),
        option(
            &format!("token issue {nowhere} --profile access --claims NAME"),
            "--claims",
            BINARY,
        ),
        positional(
            &format!("token verify {nowhere} --audience api NAME"),
            "TOKEN",
            BINARY,
        ),
        positional(&format!("token revoke {nowhere} NAME"), "TOKEN", BINARY),
        positional("admin issuer add NAME", "SETTINGS", b"{\"iss\":1}"),
        positional("admin issuer set NAME", "SETTINGS", b"{\"iss\":1}"),
    ]
}

/// Creates a folder with the keys and tokens for the calls.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for key in fs::read_dir(keys()).unwrap() {
        let key = key.unwrap();
        fs::copy(key.path(), folder.path().join(key.file_name())).unwrap();
    }
    let path = folder.path();
    for (name, call) in [
        ("detached", "jws sign --key hs256.jwk --detached"),
        (
            "signed-footer",
            "paseto sign --key k4.secret --footer the.footer",
        ),
        (
            "signed-implicit",
            "paseto sign --key k4.secret --implicit tenant-7",
        ),
        (
            "encrypted-footer",
            "paseto encrypt --key k4.local --footer the.footer",
        ),
        (
            "encrypted-implicit",
            "paseto encrypt --key k4.local --implicit tenant-7",
        ),
    ] {
        let mut call: Vec<&str> = call.split(' ').collect();
        call.push("the payload");
        fs::write(path.join(name), line(path, &call)).unwrap();
    }
    folder
}

fn shell(folder: &Path, call: &str) -> Output {
    Command::new("sh")
        .args(["-c", call])
        .current_dir(folder)
        .env("JETON", env!("CARGO_BIN_EXE_jeton"))
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// Returns the exit code and the output of a call.
fn does(folder: &Path, call: &str, shown_by: Option<&str>) -> (Option<i32>, String, String) {
    let call = match shown_by {
        Some(shown_by) => {
            format!("\"$JETON\" {call} > out && \"$JETON\" {shown_by}")
        }
        None => format!("\"$JETON\" {call}"),
    };
    let output = shell(folder, &call);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

/// Returns the two command lines of the hint.
#[track_caller]
fn hint(stderr: &str) -> (String, String) {
    let hint = stderr.lines().find_map(|line| line.strip_prefix("hint: "));
    let hint = hint.unwrap_or_else(|| panic!("no hint: {stderr}"));
    let (file, text) = hint.split_once("; to use the text: ").unwrap();
    let file = file.strip_prefix("to read the file: ").unwrap();
    (file.to_owned(), text.to_owned())
}

#[test]
fn bare_file_name_is_an_error_and_both_hints_work() {
    let with = folder();
    let without = folder();
    for argument in arguments() {
        fs::write(with.path().join(NAME), argument.content).unwrap();
        let call = &argument.call;
        let (code, stdout, stderr) = does(with.path(), call, None);
        assert_eq!(code, Some(2), "{call}: {stdout}{stderr}");
        assert_eq!(stdout, "", "{call}");
        let said = format!("error: {}: {NAME} is a file, and", argument.called);
        assert!(stderr.starts_with(&said), "{call}: {stderr}");

        let (file, text) = hint(&stderr);
        let replaced = |by: &str| call.replace(&argument.replaced, by);
        assert_ne!(*call, replaced(&file));
        let read = does(with.path(), &replaced(&file), argument.shown_by);
        assert!(!read.2.contains("is a file, and"), "{file}");
        // Standard input gives the same bytes.
        let stdin = format!("{} < {NAME}", replaced(&file.replace(&at(), "-")));
        let stdin = does(with.path(), &stdin, argument.shown_by);
        assert_eq!(read, stdin, "{call}: {file}");

        let used = does(with.path(), &replaced(&text), argument.shown_by);
        assert!(!used.2.contains("is a file, and"), "{text}");
        assert_ne!(read, used, "{call}");
        // The result is the same if no file has this name.
        let plain = does(without.path(), call, argument.shown_by);
        assert_eq!(used, plain, "{call}: {text}");
    }
}

fn at() -> String {
    format!("@{NAME}")
}

/// Every argument with `@FILE` in its help is in the list above.
#[test]
fn lists_every_argument() {
    let listed: Vec<String> = (arguments().iter())
        .map(|argument| {
            let words = argument.call.split(' ');
            let command: Vec<&str> = words
                .take_while(|word| !word.starts_with('-') && *word != NAME)
                .collect();
            format!("{} {}", command.join(" "), argument.called)
        })
        .collect();
    let mut found = help_arguments::all();
    found.retain(|argument| argument.value.contains("@FILE"));
    assert!(found.len() > 25, "{found:?}");
    for argument in found {
        let called = argument.name.split('|').next().unwrap();
        let argument = format!("{} {called}", argument.command);
        assert!(listed.contains(&argument), "{argument}");
    }
}

#[test]
fn absolute_path_is_an_error_with_working_hint() {
    let folder = folder();
    let path = folder.path().join(NAME);
    fs::write(&path, "the payload").unwrap();
    let path = path.to_str().unwrap();
    let sign = "jws sign --key hs256.jwk";
    let (code, _, stderr) = does(folder.path(), &format!("{sign} {path}"), None);
    assert_eq!(code, Some(2));
    let (file, text) = hint(&stderr);
    assert_eq!((file, text), (format!("@{path}"), format!("--text {path}")));
}

#[test]
fn name_with_shell_characters_is_quoted_in_the_hint() {
    let with = folder();
    let without = folder();
    for name in ["my file's.bin", "a;b", "$HOME", "-x", "ü", "~"] {
        fs::write(with.path().join(name), "the payload").unwrap();
        let quoted = format!("'{}'", name.replace('\'', r"'\''"));
        for call in [
            "jws sign --key hs256.jwk ",
            "paseto sign --key k4.secret text --footer=",
        ] {
            if name.starts_with('-') && !call.ends_with('=') {
                continue;
            }
            let bare = format!("{call}{quoted}");
            let (code, _, stderr) = does(with.path(), &bare, None);
            assert_eq!(code, Some(2), "{bare}: {stderr}");
            let (file, text) = hint(&stderr);
            let call = call.trim_end_matches("--footer=");
            let read = does(with.path(), &format!("{call}{file}"), None);
            assert_eq!(read.0, Some(0), "{file}: {}", read.2);
            let used = does(with.path(), &format!("{call}{text}"), None);
            assert_eq!(used, does(without.path(), &bare, None), "{text}");
            assert_ne!(read, used);
        }
    }
}

/// After `--`, no option can follow.
#[test]
fn name_with_leading_dash_has_a_working_hint() {
    let folder = folder();
    let path = folder.path();
    fs::write(path.join("-x"), "the payload").unwrap();
    let sign = "jws sign --key hs256.jwk";
    let (code, _, stderr) = does(path, &format!("{sign} -- -x"), None);
    assert_eq!(code, Some(2), "{stderr}");
    assert_eq!(
        hint(&stderr),
        ("@-x".to_owned(), "--text=-x, without --".to_owned())
    );
    let signed = does(path, &format!("{sign} --text=-x"), None);
    assert_eq!(signed.0, Some(0));
    let read = does(path, &format!("{sign} -- @-x"), None);
    assert_eq!(read.0, Some(0));
    assert_ne!(read, signed);
}

/// A pipe, as of `<(…)` in a shell, would block if it were opened.
#[test]
fn pipes_and_links_are_errors_and_not_opened() {
    let folder = folder();
    let path = folder.path();
    let made = shell(path, "mkfifo fifo");
    assert!(made.status.success());
    fs::write(path.join("file"), "the payload").unwrap();
    symlink("file", path.join("link")).unwrap();
    let _socket = UnixListener::bind(path.join("socket")).unwrap();
    for name in ["fifo", "link", "socket", "/dev/stdin", "/dev/null"] {
        let call = ["jws", "sign", "--key", "hs256.jwk", name];
        let output = jeton(path, &call, b"");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{name}: {stderr}");
        assert!(stderr.contains(&format!("@{name};")), "{name}: {stderr}");
    }
}

/// A folder has no content to read.
#[test]
fn folder_name_is_text() {
    let folder = folder();
    fs::create_dir(folder.path().join("folder")).unwrap();
    symlink("nowhere", folder.path().join("dangling")).unwrap();
    for text in [
        ".",
        "..",
        "/",
        "folder",
        "folder/",
        "dangling",
        "hs256.jwk/",
        "",
    ] {
        let call = ["jws", "sign", "--key", "hs256.jwk", text];
        let token = line(folder.path(), &call);
        let verify = ["jws", "verify", "--key", "hs256.jwk", &token];
        assert_eq!(succeeds(folder.path(), &verify, b""), text.as_bytes());
    }
}

/// `--text` takes any text, also one that begins with `@` or is `-`.
#[test]
fn text_option_reads_no_file() {
    let folder = folder();
    fs::write(folder.path().join(NAME), "the payload").unwrap();
    for text in ["-", "@small.bin", "@nothing", NAME, "hello", ""] {
        let call = ["jws", "sign", "--key", "hs256.jwk", "--text", text];
        let token = line(folder.path(), &call);
        let verify = ["jws", "verify", "--key", "hs256.jwk", "--text", &token];
        assert_eq!(succeeds(folder.path(), &verify, b""), text.as_bytes());
    }
    let sign = ["paseto", "sign", "--key", "k4.secret", "text"];
    for text in ["-", "@nothing", NAME] {
        let bound = ["--footer-text", text, "--implicit-text", text];
        let token = line(folder.path(), &[&sign[..], &bound].concat());
        let verify = ["paseto", "verify", "--key", "k4.public", "--raw", &token];
        let verified = succeeds(folder.path(), &[&verify[..], &bound].concat(), b"");
        assert_eq!(verified, b"text");
    }
    let both = ["jws", "sign", "--key", "hs256.jwk", "--text", "a", "b"];
    binary::ends(folder.path(), &both, b"", 2, "cannot be used with");
    let text_options = [
        "jwe",
        "encrypt",
        "--key",
        "a128kw.jwk",
        "--aad",
        "a",
        "--aad-text",
        "b",
        "c",
    ];
    binary::ends(folder.path(), &text_options, b"", 2, "cannot be used with");
    let neither = ["jws", "sign", "--key", "hs256.jwk"];
    binary::ends(folder.path(), &neither, b"", 2, "<PAYLOAD|@FILE|->");
}

/// A token or key that is also the name of a file is not shown.
#[test]
fn token_with_the_name_of_a_file_is_not_shown() {
    let folder = folder();
    let path = folder.path();
    for text in [
        "eyJhbGciOiJub25lIn0.e30.",
        "AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA",
        r#"{"sub":"user-7"}"#,
    ] {
        fs::write(path.join(text), "a file").unwrap();
        for (call, hints) in [
            (&["inspect"][..], ("@FILE", "--text TEXT")),
            (
                &["jwt", "verify", "--key", "hs256.jwk"],
                ("@FILE", "--text TEXT"),
            ),
            (
                &["jwt", "sign", "--key", "hs256.jwk", "--claims"],
                ("--claims @FILE", "--claims-text TEXT"),
            ),
        ] {
            let output = jeton(path, &[call, &[text]].concat(), b"");
            let stderr = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{call:?}: {stderr}");
            assert!(!stderr.contains(&text[..12]), "{stderr}");
            let (file, text) = hint(&stderr);
            assert_eq!((&*file, &*text), hints);
        }
    }
}

/// Control characters are escaped, and no hint is given that would not work.
#[test]
fn name_with_control_characters_is_escaped() {
    let folder = folder();
    let path = folder.path();
    for name in [&b"a\x1b[2Jb"[..], b"\xff\xfe"] {
        let name = OsStr::from_bytes(name);
        fs::write(path.join(name), "the payload").unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_jeton"))
            .args(["jws", "sign", "--key", "hs256.jwk"])
            .arg(name)
            .current_dir(path)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(!output.stderr.contains(&0x1b));
        let (file, text) = hint(std::str::from_utf8(&output.stderr).unwrap());
        assert_eq!((&*file, &*text), ("@FILE", "--text TEXT"));
    }
}

#[test]
fn long_argument_is_text() {
    let folder = folder();
    for bytes in [256, 4096, 100_000] {
        let text = "a".repeat(bytes);
        let call = ["jws", "sign", "--key", "hs256.jwk", &text];
        let token = line(folder.path(), &call);
        assert!(token.len() > bytes);
        // Each name is short enough, and the path is too long.
        let path = "a/".repeat(bytes / 2);
        let call = ["jws", "sign", "--key", "hs256.jwk", &path];
        assert!(line(folder.path(), &call).len() > bytes);
    }
}

/// The error comes first: no key is read, no file is created, no request is sent.
#[test]
fn bare_file_name_fails_before_any_other_work() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(NAME), SETTINGS).unwrap();
    let add = ["admin", "issuer", "add", NAME];
    binary::ends(folder.path(), &add, b"", 2, "is a file, and");
    assert!(!folder.path().join("jeton-data").exists());
    let sign = ["jws", "sign", "--key", "missing", NAME];
    binary::ends(folder.path(), &sign, b"", 2, "is a file, and");
}
