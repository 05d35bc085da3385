//! HMAC secrets: `--secret-file`, `--secret-env`, `--secret-encoding`.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::binary::{ends, inputs, keys, line, said, succeeds};
use crate::data_folder::private;

const AT: [&str; 2] = ["--at", "1795656378"];
const SECRET: &str = "GQDstcKsx0NHjPOuXOYg5MbeJ1XT0uFiwDVvVBrk";

fn with_secret<'a>(command: &[&'a str], file: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let secret = ["--secret-file", file, "--alg", "HS256"];
    [command, &secret, more].concat()
}

fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn secret_in_every_encoding_verifies_and_signs() {
    let folder = inputs("secrets");
    let other = tempfile::tempdir().unwrap();
    let base64 = fs::read_to_string(folder.join("secret.b64")).unwrap();
    let unpadded = base64.trim().trim_end_matches('=').to_owned();
    let (start, end) = base64.split_at(20);
    for (encoding, text) in [
        ("text", SECRET.to_owned()),
        ("text", format!("{SECRET}\n")),
        ("text", format!("{SECRET}\r\n")),
        ("base64", base64.clone()),
        ("base64", unpadded.clone()),
        ("base64", format!("{start}\n{end}")),
        ("base64url", unpadded.replace('+', "-").replace('/', "_")),
        ("hex", hex(SECRET)),
        ("hex", hex(SECRET).to_uppercase()),
    ] {
        let file = other.path().join("secret");
        private(&file, &text);
        let file = file.to_str().unwrap();
        let encoding = ["--secret-encoding", encoding];
        let more = [&["@tok"][..], &AT, &encoding].concat();
        let verify = with_secret(&["jwt", "verify"], file, &more);
        let claims = line(&folder, &verify);
        assert!(claims.contains("alice"), "{claims}");
        let verify = [&["@tok"][..], &encoding].concat();
        succeeds(
            &folder,
            &with_secret(&["jws", "verify"], file, &verify),
            b"",
        );
        let doctor = with_secret(&["doctor"], file, &more);
        let (text, code) = said(&folder, &doctor);
        assert_eq!(code, 0, "{text}");
        // Signing is deterministic, so all encodings give the same token.
        let sign = [&["text"][..], &encoding].concat();
        let token = line(&folder, &with_secret(&["jws", "sign"], file, &sign));
        let expected = with_secret(&["jws", "sign"], "secret.txt", &["text"]);
        assert_eq!(token, line(&folder, &expected));
        let claims = ["--claims", "{\"iat\":1}", "--no-expiry"];
        let sign = [&claims[..], &encoding].concat();
        succeeds(&folder, &with_secret(&["jwt", "sign"], file, &sign), b"");
    }
}

#[test]
fn secret_in_the_environment_verifies() {
    let mut call = Command::new(env!("CARGO_BIN_EXE_jeton"));
    call.args(["jwt", "verify", "--secret-env", "MY_SECRET"])
        .args(["--alg", "HS256", "@tok"])
        .args(AT)
        .current_dir(inputs("secrets"));
    let output = call.env("MY_SECRET", SECRET).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    let output = call.env_remove("MY_SECRET").output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    let wanted = "no environment variable has this name\nhint: pass the name of the variable";
    assert!(stderr.contains(wanted), "{stderr}");
}

/// A secret that was passed in place of its place is not repeated.
#[test]
fn secret_as_an_argument_is_refused_and_not_shown() {
    let folder = inputs("secrets");
    for option in ["--secret-file", "--secret-env", "--key"] {
        for secret in [SECRET, "correct-horse-battery-staple-2026"] {
            if option == "--key" && secret != SECRET {
                continue;
            }
            let call = ["jwt", "verify", option, secret, "--alg", "HS256", "@tok"];
            let (text, code) = said(&folder, &call);
            assert_eq!(code, 2, "{text}");
            assert!(!text.contains(secret), "{text}");
            assert!(text.contains("hint: "), "{text}");
        }
    }
}

#[test]
fn secret_without_algorithm_names_the_option() {
    let folder = inputs("secrets");
    for command in [
        &["jwt", "verify", "@tok"][..],
        &["jws", "verify", "@tok"],
        &["jws", "sign", "text"],
        &["jwt", "sign", "--claims", "{}", "--no-expiry"],
        &["key", "import"],
    ] {
        let call = [command, &["--secret-file", "secret.txt"]].concat();
        ends(&folder, &call, b"", 2, "hint: add `--alg HS256`");
    }
    let call = ["doctor", "--secret-file", "secret.txt", "@tok"];
    let (text, code) = said(&folder, &[&call[..], &AT].concat());
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("add `--alg HS256`"), "{text}");
}

#[test]
fn short_secret_is_an_error_with_both_sizes() {
    let folder = tempfile::tempdir().unwrap();
    private(&folder.path().join("short"), "only 20 bytes long!!");
    for (alg, bytes) in [("HS256", "32"), ("HS384", "48"), ("HS512", "64")] {
        for command in [
            &["jws", "sign", "text"][..],
            &["jws", "verify", "a.b.c"],
            &["key", "import"],
        ] {
            let call = [command, &["--secret-file", "short", "--alg", alg]].concat();
            let (text, code) = said(folder.path(), &call);
            assert_eq!(code, 2, "{text}");
            assert!(text.contains("20") && text.contains(bytes), "{text}");
        }
    }
    let old = ["jws", "verify", "a.b.c", "--allow", "weak-keys"];
    let call = with_secret(&old, "short", &[]);
    ends(folder.path(), &call, b"", 1, "rejected: ");
}

/// The second token of the folder is signed with the word that many examples use.
#[test]
fn short_secret_of_an_old_system_can_be_allowed() {
    let folder = tempfile::tempdir().unwrap();
    private(&folder.path().join("old"), "secret");
    let token = fs::read_to_string(inputs("secrets").join("stok")).unwrap();
    let more = [token.trim(), AT[0], AT[1]];
    let call = with_secret(&["jwt", "verify"], "old", &more);
    ends(folder.path(), &call, b"", 2, "hint: ");
    let call = [&call[..], &["--allow", "weak-keys"]].concat();
    succeeds(folder.path(), &call, b"");
}

#[test]
fn secret_that_is_a_key_is_refused() {
    let sign = with_secret(&["jws", "sign", "text"], "es256.pub.pem", &[]);
    ends(&keys(), &sign, b"", 2, "key rejected: k: ");
    let sign = with_secret(&["jws", "sign", "text"], "es256.jwk", &[]);
    ends(&keys(), &sign, b"", 2, "key rejected: k: ");
}

#[test]
fn malformed_secret_names_the_encoding_that_fits() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    private(&path.join("url"), "-_-_AAAA");
    private(&path.join("standard"), "+/+/AAAA");
    private(&path.join("odd"), "abc");
    fs::write(path.join("binary"), [0xff; 40]).unwrap();
    fs::write(path.join("blank"), "\n").unwrap();
    for (file, encoding, said) in [
        ("url", "base64", "add `--secret-encoding base64url`"),
        ("standard", "base64url", "add `--secret-encoding base64`"),
        ("odd", "hex", "the secret is not hex"),
        ("binary", "text", "the secret is not text"),
        ("blank", "text", "the secret is empty"),
        ("blank", "base64", "the secret is empty"),
    ] {
        let more = ["--secret-encoding", encoding];
        let call = with_secret(&["jws", "sign", "text"], file, &more);
        ends(path, &call, b"", 2, said);
    }
}

#[test]
fn doctor_names_the_encoding_that_verifies() {
    let folder = inputs("secrets");
    let other = tempfile::tempdir().unwrap();
    private(&other.path().join("hex"), &hex(SECRET));
    let hex = other.path().join("hex");
    let hex = hex.to_str().unwrap();
    for (file, given, right) in [
        ("secret.b64", "text", "base64"),
        ("secret.txt", "base64", "text"),
        (hex, "text", "hex"),
        (hex, "base64", "hex"),
    ] {
        let more = [&["@tok", "--secret-encoding", given][..], &AT].concat();
        let (text, code) = said(&folder, &with_secret(&["doctor"], file, &more));
        assert_eq!(code, 1, "{text}");
        let wanted = format!("signed by the secret, if its encoding is {right}");
        assert!(text.contains(&wanted), "{text}");
        let advice = format!("add `--secret-encoding {right}`");
        assert!(text.contains(&advice), "{text}");
        assert!(text.ends_with("found: 1 error\n"), "{text}");
        assert!(!text.contains("another key signed the token"), "{text}");
        // The advice works.
        let more = [&["@tok", "--secret-encoding", right][..], &AT].concat();
        let (text, code) = said(&folder, &with_secret(&["doctor"], file, &more));
        assert_eq!(code, 0, "{text}");
    }
}

/// A JWK whose secret was imported in the wrong encoding.
#[test]
fn doctor_names_the_encoding_of_a_jwk() {
    let folder = inputs("secrets");
    let other = tempfile::tempdir().unwrap();
    let hex_file = other.path().join("hex");
    private(&hex_file, &hex(SECRET));
    for (file, given, right) in [
        ("secret.b64", "text", "base64"),
        (hex_file.to_str().unwrap(), "text", "hex"),
        ("secret.txt", "base64url", "text"),
    ] {
        let jwk = other.path().join(format!("{given}-{right}"));
        let jwk = jwk.to_str().unwrap();
        // The last one is too short for HS256 after decoding.
        let text = match right {
            "text" => format!(r#"{{"kty":"oct","alg":"HS256","k":"{SECRET}"}}"#),
            _ => line(
                &folder,
                &with_secret(&["key", "import"], file, &["--secret-encoding", given]),
            ),
        };
        private(Path::new(jwk), &text);
        let call = ["doctor", "--key", jwk, "@tok", AT[0], AT[1]];
        let (text, code) = said(&folder, &call);
        assert_eq!(code, 1, "{text}");
        let wanted =
            format!("signed by the secret of the key of {jwk}, if its encoding is {right}");
        assert!(text.contains(&wanted), "{text}");
        let advice = format!("`jeton key import` and `--secret-encoding {right}`");
        assert!(text.contains(&advice), "{text}");
    }
}

#[test]
fn verify_with_a_secret_names_the_doctor() {
    let more = ["@tok", AT[0], AT[1]];
    let call = with_secret(&["jwt", "verify"], "secret.b64", &more);
    ends(&inputs("secrets"), &call, b"", 1, "run `jeton doctor");
    let call = with_secret(&["jws", "verify"], "secret.b64", &["@tok"]);
    ends(&inputs("secrets"), &call, b"", 1, "run `jeton doctor");
}

/// The hint of a secret in place of a key file leads to a key.
#[test]
fn secret_as_key_file_is_named_with_the_option() {
    let folder = inputs("secrets");
    for file in ["secret.txt", "secret.b64"] {
        for call in [
            &["jwt", "verify", "--key", file, "@tok"][..],
            &["jws", "sign", "--key", file, "text"],
            &["inspect", "--key", file, "@tok"],
            &["doctor", "--key", file],
        ] {
            ends(
                &folder,
                call,
                b"",
                2,
                "pass `--secret-file FILE --alg HS256`",
            );
        }
        let call = ["key", "public", file];
        ends(
            &folder,
            &call,
            b"",
            2,
            "jeton key import --secret-file FILE",
        );
    }
}

#[test]
fn import_secret_is_a_jwk_that_verifies() {
    let folder = inputs("secrets");
    let other = tempfile::tempdir().unwrap();
    let jwk = other.path().join("secret.jwk");
    let jwk = jwk.to_str().unwrap();
    let more = ["--secret-encoding", "base64", "-o", jwk];
    let call = with_secret(&["key", "import"], "secret.b64", &more);
    succeeds(&folder, &call, b"");
    let made: Value = serde_json::from_slice(&fs::read(Path::new(jwk)).unwrap()).unwrap();
    assert_eq!(
        (&made["kty"], &made["alg"]),
        (&"oct".into(), &"HS256".into())
    );
    assert_eq!(made.get("kid"), None);
    let verify = ["jwt", "verify", "--key", jwk, "@tok", AT[0], AT[1]];
    succeeds(&folder, &verify, b"");
}

#[test]
fn two_sources_of_a_key_are_an_error() {
    let call = ["jws", "sign", "--key", "hs256.jwk", "text"];
    let call = with_secret(&call, "password", &[]);
    ends(&keys(), &call, b"", 2, "cannot be used with");
    let call = ["jws", "sign", "text"];
    ends(&keys(), &call, b"", 2, "--secret-file <FILE>");
}
