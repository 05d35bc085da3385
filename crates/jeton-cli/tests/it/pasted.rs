//! Text that people paste: `verify`, `inspect` and `doctor` find the token in it, and name the rest. `--text` takes
//! exactly the text.

use std::fs;

use serde_json::Value;

use crate::binary::{ends, inputs, jeton, keys, line, said, succeeds};

const VERIFY: [&str; 5] = ["verify", "--key", "p.pem", "--at", "1795656378"];

/// The files of `vectors/inputs/pasted` with text around one token, and what was removed.
const AROUND: [(&str, &str); 7] = [
    ("bearer", "`Bearer` before the token was removed"),
    ("comma", "a comma after the token was removed"),
    ("cookie", "`access_token=` before the token was removed"),
    (
        "json",
        "the token was taken from the member `access_token` of JSON text",
    ),
    ("nlnl", "white space around the token was removed"),
    (
        "query",
        "the token was taken from the parameter `access_token` of a URL",
    ),
    ("quotes", "quotes around the token were removed"),
];

fn text(file: &str) -> String {
    fs::read_to_string(inputs("pasted").join(file)).unwrap()
}

fn token() -> String {
    text("tok").trim().to_owned()
}

/// Returns both streams.
fn streams(folder: &str, args: &[&str], stdin: &str) -> (String, String, Option<i32>) {
    let output = jeton(&inputs(folder), args, stdin.as_bytes());
    (
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
        output.status.code(),
    )
}

#[test]
fn token_in_pasted_text_is_verified() {
    let (claims, _, _) = streams("pasted", &[&VERIFY[..], &["@tok"]].concat(), "");
    for (file, note) in AROUND {
        let path = format!("@{file}");
        let pasted = text(file);
        for (given, stdin) in [(&*path, ""), (&*pasted, ""), ("-", &*pasted)] {
            let call = [&VERIFY[..], &[given]].concat();
            let (stdout, stderr, code) = streams("pasted", &call, stdin);
            assert_eq!(code, Some(0), "{file}: {stderr}");
            assert_eq!(stdout, claims, "{file}");
            assert!(
                stderr.contains(&format!("note: {note}\n")),
                "{file}: {stderr}"
            );
            assert!(!stderr.contains(&token()[..30]), "{file}: {stderr}");
        }
    }
    // A file usually ends with a line break.
    let (_, stderr, code) = streams("pasted", &[&VERIFY[..], &["@tok"]].concat(), "");
    assert_eq!(code, Some(0));
    assert!(!stderr.contains("removed"), "{stderr}");
}

#[test]
fn token_in_pasted_text_is_inspected_and_explained() {
    for (file, note) in AROUND {
        let path = format!("@{file}");
        let (stdout, stderr, code) = streams("pasted", &["inspect", "--json", &path], "");
        assert_eq!(code, Some(0), "{file}: {stderr}");
        let report: Value = serde_json::from_str(&stdout).unwrap();
        assert_eq!(report["header"]["alg"], "ES256");
        // White space around the text of a token or key is nothing to note.
        if file != "nlnl" {
            assert!(stderr.contains(&format!("note: {note}\n")), "{stderr}");
            assert_eq!(report["input_notes"][0], note, "{file}");
        }
        let call = ["doctor", "--key", "p.pem", "--at", "1795656378", &path];
        let (stdout, stderr, code) = streams("pasted", &call, "");
        assert_eq!(code, Some(0), "{file}: {stdout}");
        // It is told once.
        assert!(stdout.contains(&format!("? {note}\n")), "{stdout}");
        assert!(!stderr.contains(note), "{stderr}");
        let (stdout, stderr, _) = streams("pasted", &[&call[..], &["--json"]].concat(), "");
        assert_eq!(stdout.matches(note).count(), 1, "{stdout}");
        assert!(!stderr.contains(note), "{stderr}");
        let sections: Value = serde_json::from_str(&stdout).unwrap();
        let sections = sections.as_array().unwrap();
        let section = sections.iter().find(|section| section["about"] == "token");
        assert_eq!(section.unwrap()["input_notes"][0], note, "{file}");
    }
}

#[test]
fn text_option_takes_exactly_the_text() {
    for (file, _) in AROUND {
        let pasted = text(file);
        for call in [
            &VERIFY[..],
            &["jws", "verify", "--key", "p.pem"],
            &["doctor", "--key", "p.pem", "--at", "1795656378"],
        ] {
            let call = [call, &["--text", &pasted]].concat();
            let (stdout, stderr, code) = streams("pasted", &call, "");
            assert_eq!(code, Some(1), "{file} {call:?}: {stdout}{stderr}");
        }
    }
    let exact = token();
    let call = [&VERIFY[..], &["--text", &exact]].concat();
    succeeds(&inputs("pasted"), &call, b"");
}

#[test]
fn json_answers_have_notes_and_codes() {
    let answer = |args: &[&str]| -> Value {
        let (stdout, _, _) = streams("pasted", &[&VERIFY[..], &["--json"], args].concat(), "");
        serde_json::from_str(&stdout).unwrap()
    };
    let accepted = answer(&["@bearer"]);
    assert_eq!(accepted["valid"], true);
    let note = "`Bearer` before the token was removed";
    assert_eq!(accepted["input_notes"][0], note);
    assert!(answer(&["@tok"]).get("input_notes").is_none());
    let rejected = answer(&["--audience", "other", "@bearer"]);
    assert_eq!(rejected["valid"], false);
    assert_eq!(rejected["code"], "TOKEN_AUDIENCE_MISMATCH");
    assert_eq!(rejected["input_notes"][0], note);
    for (args, code) in [
        (&["--issuer", "other", "@tok"][..], "TOKEN_ISSUER_MISMATCH"),
        (&["--typ", "at+jwt", "@tok"], "TOKEN_TYPE_MISMATCH"),
        (&["--max-bytes", "5", "@tok"], "TOKEN_TOO_LARGE"),
        (&["@two"], "TOKEN_MALFORMED"),
        (&[""], "TOKEN_MALFORMED"),
        (&["a.b.c"], "TOKEN_MALFORMED"),
    ] {
        assert_eq!(answer(args)["code"], code, "{args:?}");
    }
    for (command, key, token, code) in [
        (
            "jws",
            "es256-other.pub.jwk",
            "@../tokens/es256",
            "TOKEN_INVALID_SIGNATURE",
        ),
        (
            "jwe",
            "a128kw.jwk",
            "@../tokens/jwe-tampered",
            "TOKEN_DECRYPTION_FAILED",
        ),
        (
            "paseto",
            "k4.public",
            "@../tokens/es256",
            "TOKEN_ALGORITHM_MISMATCH",
        ),
    ] {
        let verb = if command == "jwe" {
            "decrypt"
        } else {
            "verify"
        };
        let (text, code_found) = said(&keys(), &[command, verb, "--json", "--key", key, token]);
        assert_eq!(code_found, 1, "{text}");
        let line = text.lines().find(|line| line.starts_with('{')).unwrap();
        let answer: Value = serde_json::from_str(line).unwrap();
        assert_eq!(answer["code"], code, "{command}: {text}");
    }
    let call = ["doctor", "--json", "--key", "p.pem", "@tok", "--at"];
    let (stdout, _, _) = streams("pasted", &[&call[..], &["1895656378"]].concat(), "");
    assert!(stdout.contains(r#""code":"TOKEN_EXPIRED""#), "{stdout}");
}

#[test]
fn two_tokens_are_named_and_one_is_chosen() {
    let token = token();
    let answer = format!(
        r#"{{"access_token":"{token}","id_token":"{}","refresh_token":"v4.local.AAAA"}}"#,
        token.replace(
            "eyJhbGciOiJFUzI1NiJ9",
            "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9"
        )
    );
    let call = [&VERIFY[..], &[&answer]].concat();
    let (_, stderr, code) = streams("pasted", &call, "");
    assert_eq!(code, Some(1), "{stderr}");
    assert_eq!(
        stderr,
        "rejected: these are 3 tokens: `access_token` (JWT, ES256); `id_token` (JWT, HS256, typ JWT); \
         `refresh_token` (PASETO v4.local)\nhint: to choose one, add `--member access_token`\n"
    );
    let call = [&call[..], &["--member", "access_token"]].concat();
    let (_, stderr, code) = streams("pasted", &call, "");
    assert_eq!(code, Some(0), "{stderr}");
    for command in [&["inspect"][..], &["doctor", "--key", "p.pem"]] {
        let (text, code) = said(&inputs("pasted"), &[command, &[&answer]].concat());
        assert_eq!(code, 1, "{text}");
        assert!(text.contains("`id_token` (JWT, HS256, typ JWT)"), "{text}");
        assert!(text.contains("--member access_token"), "{text}");
    }
    let (text, code) = said(
        &inputs("pasted"),
        &["inspect", &answer, "--member", "id_token"],
    );
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("HS256"), "{text}");
    let (text, code) = said(
        &inputs("pasted"),
        &["inspect", &answer, "--member", "missing"],
    );
    assert_eq!(code, 2, "{text}");
}

#[test]
fn file_name_without_at_is_named() {
    let call = [&VERIFY[..], &["tok"]].concat();
    ends(
        &inputs("pasted"),
        &call,
        b"",
        2,
        "to read the file: @tok; to use the text: --text tok",
    );
}

#[test]
fn token_of_every_format_is_found_in_a_header() {
    let folder = keys();
    for (key, file) in [("es256.pub.jwk", "es256"), ("k4.public", "v4-s-1")] {
        let token = fs::read_to_string(folder.join("../tokens").join(file)).unwrap();
        let header = format!("Authorization: Bearer {}\r\n", token.trim());
        let call = ["verify", "--key", key, "--at", "2027-01-15T08:05:00Z"];
        let exact = jeton(&folder, &[&call[..], &[token.trim()]].concat(), b"");
        let found = jeton(&folder, &[&call[..], &[&header]].concat(), b"");
        assert_eq!(exact.status.code(), found.status.code(), "{file}");
        assert_eq!(exact.stdout, found.stdout, "{file}");
        let stderr = String::from_utf8(found.stderr).unwrap();
        let note = "note: `Authorization: Bearer` before the token was removed\n";
        assert!(stderr.contains(note), "{file}: {stderr}");
    }
}

#[test]
fn token_without_argument_is_read_from_a_pipe() {
    let token = token();
    for call in [&VERIFY[..], &["inspect"], &["decode"]] {
        let (_, stderr, code) = streams("pasted", call, &token);
        assert_eq!(code, Some(0), "{call:?}: {stderr}");
        let (_, stderr, code) = streams("pasted", call, "");
        assert_eq!(code, Some(2), "{call:?}: {stderr}");
        assert!(stderr.starts_with("error: no token\nhint: "), "{stderr}");
    }
    // Standard input is the key.
    let key = text("p.pem");
    let call = ["jwt", "verify", "--key", "-"];
    let (_, stderr, code) = streams("pasted", &call, &key);
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.starts_with("error: no token\n"), "{stderr}");
    // `doctor` also checks keys alone.
    let (_, stderr, code) = streams("pasted", &["doctor", "--key", "p.pem"], &token);
    assert_eq!(code, Some(0), "{stderr}");
}

#[test]
fn policy_option_that_is_repeated_accepts_each_value() {
    let policy = |args: &[&str]| {
        let (_, stderr, code) = streams("pasted", &[&VERIFY[..], args, &["@tok"]].concat(), "");
        (code, stderr)
    };
    let issuers = ["--issuer", "other", "--issuer", "https://id.example"];
    let neither = ["--shared-keys", "--issuer", "other", "--issuer", "another"];
    let (code, stderr) = policy(&issuers);
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("add `--shared-keys`"), "{stderr}");
    let (code, stderr) = policy(&["--shared-keys", "--issuer", "other"]);
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("requires several --issuer"), "{stderr}");
    let issuers = [&["--shared-keys"], &issuers[..]].concat();
    let audiences = ["--audience", "other", "--audience", "api"];
    assert_eq!(
        policy(&[&issuers[..], &audiences].concat()),
        (Some(0), String::new())
    );
    assert_eq!(policy(&neither).0, Some(1));
    assert_eq!(
        policy(&["--audience", "other", "--audience", "another"]).0,
        Some(1)
    );
    let call = ["doctor", "--key", "p.pem", "--at", "1795656378", "@tok"];
    let (text, code) = said(&inputs("pasted"), &[&call[..], &issuers].concat());
    assert_eq!(code, 0, "{text}");
    let call = [&call[..], &neither].concat();
    let (text, code) = said(&inputs("pasted"), &call);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("expected other or another"), "{text}");
    // A token of either type.
    for file in ["full", "short"] {
        let path = format!("@{file}");
        let call = [&VERIFY[..], &["--typ", "JWT", "--typ", "at+jwt", &path]].concat();
        let (text, code) = said(&inputs("typ-full"), &call);
        assert_eq!(code, 0, "{file}: {text}");
    }
}

#[test]
fn verify_detects_the_format() {
    let folder = keys();
    let at = ["--at", "2027-01-15T08:05:00Z"];
    for (key, token, same) in [
        ("es256.pub.jwk", "@../tokens/es256", &["jwt", "verify"][..]),
        (
            "es256.pub.jwk",
            "@../tokens/es256-tampered",
            &["jwt", "verify"],
        ),
        (
            "es256.pub.jwk",
            "@../tokens/es256-no-expiry",
            &["jwt", "verify"],
        ),
        ("k4.public", "@../tokens/v4-s-1", &["paseto", "verify"]),
        ("k4.local", "@../tokens/v4-e-1", &["paseto", "decrypt"]),
        ("k4.public", "@../tokens/v4-e-1", &["paseto", "decrypt"]),
    ] {
        for json in [&[][..], &["--json"]] {
            let args = [&["--key", key, token], &at[..], json].concat();
            let any = jeton(&folder, &[&["verify"], &args[..]].concat(), b"");
            let one = jeton(&folder, &[same, &args].concat(), b"");
            assert_eq!(any, one, "{token}");
        }
    }
    for (key, token) in [
        ("es256.pub.jwk", "@../tokens/es256-payload"),
        ("jwks.json", "@../tokens/jws-general.json"),
    ] {
        let any = jeton(&folder, &["verify", "--key", key, token], b"");
        let one = jeton(&folder, &["jws", "verify", "--key", key, token], b"");
        assert_eq!(
            (any.status, any.stdout),
            (one.status, one.stdout),
            "{token}"
        );
        let stderr = String::from_utf8(any.stderr).unwrap();
        let note = "note: the payload is not claims: only the signature was verified\n";
        assert!(stderr.contains(note), "{stderr}");
        // A required claim is never ignored.
        let call = ["verify", "--key", key, "--audience", "api", token];
        assert_eq!(jeton(&folder, &call, b"").status.code(), Some(1), "{token}");
    }
}

#[test]
fn claims_keep_their_order() {
    let folder = keys();
    let claims = r#"{"z":1,"sub":"alice","a":{"y":1,"b":2},"aud":"api","m":1.10,"exp":1800000900}"#;
    let sign = ["jwt", "sign", "--key", "es256.jwk", "--claims", claims];
    let token = line(&folder, &sign);
    let at = ["--at", "1800000000"];
    let verify = ["jwt", "verify", "--key", "es256.pub.jwk", &token];
    let shown = line(&folder, &[&verify[..], &at].concat());
    let order = |text: &str| -> Vec<usize> {
        [
            "\"z\"", "\"sub\"", "\"a\"", "\"y\"", "\"b\"", "\"aud\"", "\"m\"", "\"exp\"",
        ]
        .iter()
        .map(|name| text.find(name).unwrap())
        .collect()
    };
    assert!(order(&shown).is_sorted(), "{shown}");
    assert!(shown.contains("1.10"), "{shown}");
    for call in [
        &["inspect", &token][..],
        &["inspect", "--json", &token],
        &[
            "verify",
            "--json",
            "--key",
            "es256.pub.jwk",
            "--at",
            "1800000000",
            &token,
        ],
    ] {
        let (shown, _) = said(&folder, call);
        let payload = &shown[shown.find("\"z\"").unwrap()..];
        assert!(order(payload).is_sorted(), "{shown}");
    }
}
