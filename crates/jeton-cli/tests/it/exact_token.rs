//! The commands that take a token exactly: they accept what the library accepts, and name the command for pasted text.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use jeton::jwt::JwtVerifier;
use jeton::key::MacKey;
use jeton::{FixedClock, Policy, Timestamp, Verified};
use proptest::prelude::*;
use serde::de::IgnoredAny;

use crate::binary::{jeton, keys, line, said, succeeds};

const VERIFY_HINT: &str = "hint: the text is more than a token, and this command takes a token exactly; to verify pasted text, run `jeton verify`\n";
const INSPECT_HINT: &str = "hint: the text is more than a token, and this command takes a token exactly; to see what is in it, run `jeton inspect`\n";

const AT: [&str; 2] = ["--at", "2027-01-15T08:05:00Z"];
const PASETO_AT: [&str; 2] = ["--at", "2021-12-31T00:00:00Z"];

/// Each command that takes a token exactly, a token that it accepts, and its hint.
const COMMANDS: [(&[&str], &str, &str); 7] = [
    (
        &["jwt", "verify", "--key", "es256.pub.jwk", AT[0], AT[1]],
        "es256",
        VERIFY_HINT,
    ),
    (
        &["jws", "verify", "--key", "es256.pub.jwk"],
        "es256-payload",
        VERIFY_HINT,
    ),
    (
        &[
            "jws",
            "verify",
            "--key",
            "es256.pub.jwk",
            "--detached-text",
            "x",
        ],
        "es256",
        INSPECT_HINT,
    ),
    (
        &["jwe", "decrypt", "--key", "ecdh.jwk"],
        "jwe",
        INSPECT_HINT,
    ),
    (
        &[
            "paseto",
            "verify",
            "--key",
            "k4.public",
            PASETO_AT[0],
            PASETO_AT[1],
        ],
        "v4-s-1",
        VERIFY_HINT,
    ),
    (
        &[
            "paseto",
            "decrypt",
            "--key",
            "k4.local",
            PASETO_AT[0],
            PASETO_AT[1],
        ],
        "v4-e-1",
        VERIFY_HINT,
    ),
    (
        &["paseto", "verify", "--raw", "--key", "k4.public"],
        "v4-s-1",
        INSPECT_HINT,
    ),
];

fn token(file: &str) -> String {
    let path = keys().join("../tokens").join(file);
    fs::read_to_string(path).unwrap().trim().to_owned()
}

#[test]
fn white_space_at_the_ends_of_a_token_is_removed() {
    for (call, file, _) in COMMANDS {
        let token = token(file);
        let expected = jeton(&keys(), &[call, &[&token]].concat(), b"");
        for around in [format!(" {token}"), format!("\n\t{token} \r\n\n")] {
            for (given, stdin) in [(&*around, ""), ("-", &*around)] {
                let found = jeton(&keys(), &[call, &[given]].concat(), stdin.as_bytes());
                assert_eq!(found, expected, "{call:?} {around:?}");
            }
        }
    }
}

#[test]
fn text_with_more_than_a_token_is_rejected() {
    for (call, file, hint) in COMMANDS {
        let token = token(file);
        let (start, end) = token.split_at(token.len() / 2);
        for changed in [
            format!("{start} {end}"),
            format!("{start}\n{end}"),
            format!("{start}\r\n  {end}"),
            format!("{start}\\{end}"),
            format!("{start}\\\n{end}"),
            format!("{start}\\n{end}"),
            format!("Bearer {token}"),
            format!("Authorization: Bearer {token}\n"),
            format!("\"{token}\""),
            format!("access_token={token}"),
            format!("{{\"access_token\":\"{token}\"}}"),
            format!("{token},"),
            format!("{token} {token}"),
        ] {
            let output = jeton(&keys(), &[call, &["-"]].concat(), changed.as_bytes());
            let stderr = String::from_utf8(output.stderr).unwrap();
            assert_eq!(
                output.status.code(),
                Some(1),
                "{call:?} {changed}: {stderr}"
            );
            assert!(output.stdout.is_empty(), "{call:?} {changed}");
            // A backslash that no program writes inside a token is not text that was pasted.
            let is_pasted =
                !changed.contains(&format!("\\{}", &end[..1])) || changed.contains("\\n");
            if is_pasted {
                assert!(stderr.ends_with(hint), "{call:?} {changed:?}: {stderr}");
            }
        }
    }
}

/// The hint is right: the command that it names does what the caller wanted.
#[test]
fn hinted_command_reads_the_pasted_text() {
    for (call, file, hint) in COMMANDS {
        let token = token(file);
        let (start, end) = token.split_at(token.len() / 2);
        let wrapped = format!("Bearer {start}\n{end}\n");
        let args: Vec<&str> = if hint == VERIFY_HINT {
            let options = call.iter().skip(2).copied();
            ["verify"].into_iter().chain(options).chain(["-"]).collect()
        } else {
            vec!["inspect", "-"]
        };
        let output = jeton(&keys(), &args, wrapped.as_bytes());
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}: {stderr}");
        let note = "line breaks inside the token were removed";
        assert!(stderr.contains(note), "{args:?}: {stderr}");
    }
}

#[test]
fn valid_token_that_is_rejected_has_its_own_hint() {
    let call = [
        "jwt",
        "verify",
        "--key",
        "es256.pub.jwk",
        "@../tokens/es256",
    ];
    let (text, code) = said(
        &keys(),
        &[&call[..], &["--at", "2037-01-15T08:05:00Z"]].concat(),
    );
    assert_eq!(code, 1, "{text}");
    assert!(
        text.contains("add `--at TIME`") && !text.contains("jeton verify"),
        "{text}"
    );
}

#[test]
fn paseto_claims_end_with_a_line_break() {
    for (call, file) in [(&COMMANDS[4], "v4-s-1"), (&COMMANDS[5], "v4-e-1")] {
        let shown = succeeds(&keys(), &[call.0, &[&token(file)]].concat(), b"");
        assert!(shown.ends_with(b"}\n") && !shown.ends_with(b"\n\n"));
    }
    // The bytes of a payload stay as they are.
    let folder = keys();
    let sign = [
        "paseto",
        "sign",
        "--key",
        "k4.secret",
        "--text",
        "any payload",
    ];
    let signed = line(&folder, &sign);
    let raw = ["paseto", "verify", "--raw", "--key", "k4.public", &signed];
    assert_eq!(succeeds(&folder, &raw, b""), b"any payload");
}

static TOKEN: LazyLock<String> = LazyLock::new(|| token("hs256"));

/// The library, with the key and the time of [`accepted_by_the_command`].
fn accepted_by_the_library(token: &str) -> Option<String> {
    let jwk = fs::read_to_string(keys().join("hs256.jwk")).unwrap();
    let key = MacKey::from_jwk(jwk.trim()).unwrap();
    let policy = Policy::new("", "").any_issuer().any_audience();
    let now = Timestamp::from_unix_seconds(1_800_000_300).unwrap();
    let verifier = JwtVerifier::new(&key, policy).clock(FixedClock(now));
    let verified: Verified<IgnoredAny> = verifier.verify(token).ok()?;
    Some(format!("{}\n", verified.json()))
}

fn accepted_by_the_command(folder: &Path, text: &str) -> Option<String> {
    let call = ["jwt", "verify", "--key", "hs256.jwk", AT[0], AT[1], "-"];
    let output = jeton(folder, &call, text.as_bytes());
    let is_accepted = output.status.code() == Some(0);
    is_accepted.then(|| String::from_utf8(output.stdout).unwrap())
}

/// Texts that programs, shells and people put into tokens.
const INSERTED: [&str; 22] = [
    " ", "\n", "\r\n", "\t", "\\", "\\n", "\\\n", "=", "==", ".", "..", "\"", "'", ",", "%20", "+",
    "/", "A", "~", "\u{a0}", "\u{200b}", "\u{feff}",
];

fn changed() -> impl Strategy<Value = String> {
    let inserted = proptest::sample::select(INSERTED.to_vec());
    let place = prop_oneof![Just(0.0), Just(1.0), 0.0..1.0_f64];
    let around = proptest::sample::select(vec!["", " ", "\n", "\r\n", "\t \n"]);
    let before = proptest::sample::select(vec!["", "Bearer ", "token=", "\""]);
    let changes = proptest::collection::vec((place, inserted), 0..3);
    (changes, around, before).prop_map(|(changes, around, before)| {
        let mut text = TOKEN.clone();
        for (place, inserted) in changes {
            let mut at = (text.len() as f64 * place) as usize;
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            text.insert_str(at, inserted);
        }
        format!("{around}{before}{text}{around}")
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the command accepts is, byte for byte, what the library accepts; only white space at the ends differs.
    #[test]
    fn jwt_verify_accepts_what_the_library_accepts(text in changed()) {
        let folder = keys();
        let library = accepted_by_the_library(text.trim_matches(|c: char| c.is_ascii_whitespace()));
        prop_assert_eq!(accepted_by_the_command(&folder, &text), library, "{:?}", text);
    }
}

/// Each insertion at each end of each part: duplicated padding, blanks, backslashes, line breaks.
#[test]
fn insertion_at_each_part_is_rejected() {
    let folder = keys();
    assert!(accepted_by_the_command(&folder, &TOKEN).is_some());
    let dots: Vec<usize> = TOKEN.match_indices('.').map(|(at, _)| at).collect();
    let ends = [dots[0], dots[0] + 1, dots[1], dots[1] + 1];
    for inserted in INSERTED {
        for at in ends {
            let mut text = TOKEN.clone();
            text.insert_str(at, inserted);
            assert_eq!(accepted_by_the_library(&text), None, "{text:?}");
            assert_eq!(accepted_by_the_command(&folder, &text), None, "{text:?}");
        }
    }
}
