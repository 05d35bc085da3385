//! Tests of the output of untrusted content: control characters are escaped, and private keys are not shown.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use base64_simd::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use crate::binary::{jeton, keys, line, succeeds};

/// Control, bidirectional and invisible characters, and ordinary letters.
const HOSTILE: &str = "a\u{7f}\u{9b}2J\u{61c}\u{200b}\u{200e}\u{200f}\u{202a}\u{202e}\u{2066}\u{2069}\u{feff}\u{ad}\u{e0041}é漢";
/// The expected output on a terminal.
const ESCAPED: &str = "a\\u007f\\u009b2J\\u061c\\u200b\\u200e\\u200f\\u202a\\u202e\\u2066\\u2069\\ufeff\\u00ad\\udb40\\udc41é漢";

/// Runs jeton with standard output on a terminal, and returns the output.
fn on_a_terminal(folder: &Path, args: &[&str]) -> String {
    let quoted = |word: &&str| format!("'{}'", word.replace('\'', r"'\''"));
    let words: Vec<String> = args.iter().map(quoted).collect();
    let call = format!(
        "{} {} 2> /dev/null",
        quoted(&env!("CARGO_BIN_EXE_jeton")),
        words.join(" ")
    );
    let output = Command::new("script")
        .args(["-qec", &call, "/dev/null"])
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    // A terminal ends lines with \r\n.
    String::from_utf8(output.stdout)
        .unwrap()
        .replace("\r\n", "\n")
}

fn with_keys() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for key in fs::read_dir(keys()).unwrap() {
        let key = key.unwrap();
        fs::copy(key.path(), folder.path().join(key.file_name())).unwrap();
    }
    folder
}

/// Returns calls that print these claims from a token.
fn printing(folder: &Path, claims: &str) -> Vec<Vec<String>> {
    fs::write(folder.join("claims"), claims).unwrap();
    let signed = line(folder, &["jws", "sign", "--key", "hs256.jwk", "@claims"]);
    let sealed = line(
        folder,
        &["jwe", "encrypt", "--key", "ecdh.pub.jwk", "@claims"],
    );
    let public = line(folder, &["paseto", "sign", "--key", "k4.secret", "@claims"]);
    let local = line(
        folder,
        &["paseto", "encrypt", "--key", "k4.local", "@claims"],
    );
    let call = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let allow = ["--allow", "no-expiry"];
    vec![
        call(&["jws", "verify", "--key", "hs256.jwk", &signed]),
        call(&[
            "jwt",
            "verify",
            "--key",
            "hs256.jwk",
            allow[0],
            allow[1],
            &signed,
        ]),
        call(&["jwe", "decrypt", "--key", "ecdh.jwk", &sealed]),
        call(&[
            "paseto",
            "verify",
            "--key",
            "k4.public",
            allow[0],
            allow[1],
            &public,
        ]),
        call(&["paseto", "verify", "--key", "k4.public", "--raw", &public]),
        call(&[
            "paseto", "decrypt", "--key", "k4.local", allow[0], allow[1], &local,
        ]),
        call(&["paseto", "decrypt", "--key", "k4.local", "--raw", &local]),
    ]
}

#[test]
fn claims_are_escaped_on_a_terminal_and_exact_in_a_pipe() {
    let folder = with_keys();
    let folder = folder.path();
    let claims = format!(r#"{{"sub":"{HOSTILE}"}}"#);
    for call in printing(folder, &claims) {
        let call: Vec<&str> = call.iter().map(String::as_str).collect();
        let shown = on_a_terminal(folder, &call);
        assert_eq!(shown, format!("{{\"sub\":\"{ESCAPED}\"}}\n"), "{call:?}");
        let [shown, meant]: [Value; 2] =
            [&*shown, &*claims].map(|text| serde_json::from_str(text).unwrap());
        assert_eq!(shown, meant, "{call:?}");
        let piped = succeeds(folder, &call, b"");
        let piped = piped.strip_suffix(b"\n").unwrap_or(&piped);
        assert_eq!(piped, claims.as_bytes(), "{call:?}");
    }
}

#[test]
fn binary_payload_is_escaped_on_a_terminal() {
    let folder = with_keys();
    let folder = folder.path();
    let payload = b"one\r\ntwo\rthree\x1b[2J\x9b2J\xff\n";
    fs::write(folder.join("payload"), payload).unwrap();
    let token = line(folder, &["jws", "sign", "--key", "hs256.jwk", "@payload"]);
    let verify = ["jws", "verify", "--key", "hs256.jwk", &token];
    assert_eq!(
        on_a_terminal(folder, &verify),
        "one\ntwo\\u000dthree\\u001b[2J\\x9b2J\\xff\n"
    );
    assert_eq!(succeeds(folder, &verify, b""), payload);
}

#[test]
fn json_output_is_escaped_on_a_terminal_and_equivalent() {
    let folder = with_keys();
    let folder = folder.path();
    let unprotected = format!("note={HOSTILE}");
    let flattened = [
        "--serialization",
        "flattened",
        "--unprotected",
        &unprotected,
    ];
    let sign = ["jws", "sign", "--key", "hs256.jwk", "text"];
    let signed = line(folder, &[&sign[..], &flattened].concat());
    let header = json!({"alg": HOSTILE, "kid": HOSTILE});
    let token = format!(
        "{}.{}.AAAA",
        encoded(&header),
        encoded(&json!({"sub": HOSTILE}))
    );
    for call in [
        &["jws", "verify", "--json", "--key", "hs256.jwk", &signed][..],
        &["inspect", "--json", &token],
        &["doctor", "--json", &token],
    ] {
        let shown = on_a_terminal(folder, call);
        for c in HOSTILE
            .chars()
            .filter(|c| !matches!(c, 'a' | '2' | 'J' | 'é' | '漢'))
        {
            assert!(!shown.contains(c), "{call:?}: {c:?}");
        }
        let piped = jeton(folder, call, b"").stdout;
        let [shown, piped]: [Value; 2] =
            [shown.as_bytes(), &piped].map(|json| serde_json::from_slice(json).unwrap());
        if call[0] != "doctor" {
            assert_eq!(shown, piped, "{call:?}");
        }
    }
    for call in [
        &["inspect", &*token][..],
        &["inspect", "--web", "-o", "-", &token],
    ] {
        for shown in [
            on_a_terminal(folder, call),
            String::from_utf8(succeeds(folder, call, b"")).unwrap(),
        ] {
            assert!(
                shown.contains("\\u202e") && !shown.contains('\u{202e}'),
                "{call:?}"
            );
        }
    }
}

fn encoded(value: &Value) -> String {
    URL_SAFE_NO_PAD.encode_to_string(value.to_string())
}

const SECRET: &str = "c2VjcmV0LXNlY3JldC1zZWNyZXQ";

/// Tokens that contain a private key, and whether its text is not encoded.
fn with_a_private_key() -> Vec<(&'static str, String)> {
    let ec = json!({"kty": "EC", "crv": "P-256", "x": "eA", "y": "eQ", "d": SECRET});
    let oct = json!({"kty": "oct", "k": SECRET});
    let rsa = json!({"kty": "RSA", "n": "AA", "e": "AQAB", "d": SECRET, "p": SECRET, "q": SECRET,
        "dp": SECRET, "dq": SECRET, "qi": SECRET, "oth": [{"r": SECRET, "d": SECRET, "t": SECRET}]});
    let akp = json!({"alg": "ML-DSA-44", "priv": SECRET, "pub": "AA"});
    let header = |jwk: &Value| json!({"alg": "ES256", "jwk": jwk});
    let pem = format!("-----BEGIN PRIVATE KEY-----\n{SECRET}\n-----END PRIVATE KEY-----\n");
    let compact = |header: &Value, payload: &str| format!("{}.{payload}.AAAA", encoded(header));
    vec![
        ("EC", compact(&header(&ec), "e30")),
        ("oct", compact(&header(&oct), "e30")),
        ("RSA", compact(&header(&rsa), "e30")),
        ("AKP", compact(&header(&akp), "e30")),
        (
            "cnf",
            compact(
                &json!({"alg": "ES256"}),
                &encoded(&json!({"cnf": {"jwk": ec}})),
            ),
        ),
        ("payload", compact(&json!({"alg": "ES256"}), &encoded(&oct))),
        (
            "PEM claim",
            compact(&json!({"alg": "ES256"}), &encoded(&json!({"key": pem}))),
        ),
        (
            "PEM",
            compact(
                &json!({"alg": "ES256"}),
                &URL_SAFE_NO_PAD.encode_to_string(&pem),
            ),
        ),
        (
            "unprotected",
            json!({"payload": "e30", "header": header(&ec), "signature": "AA"}).to_string(),
        ),
        (
            "signatures",
            json!({"payload": "e30", "signatures": [{"signature": "AA"},
                {"protected": encoded(&header(&ec)), "signature": "AA"}]})
            .to_string(),
        ),
        (
            "JWE",
            format!(
                "{}....",
                encoded(&json!({"alg": "ECDH-ES", "enc": "A128GCM", "epk": ec}))
            ),
        ),
        (
            "recipients",
            json!({"ciphertext": "AA", "unprotected": {"jwk": akp}, "recipients": [
                {"header": {"epk": ec}}, {"header": {"jwk": oct}}]})
            .to_string(),
        ),
        (
            "PASETO footer",
            format!("v4.local.AAAA.{}", encoded(&json!({"jwk": oct}))),
        ),
    ]
}

#[test]
fn inspect_private_key_in_a_token_is_not_shown() {
    let folder = tempfile::tempdir().unwrap();
    for (what, token) in with_a_private_key() {
        fs::write(folder.path().join("token"), &token).unwrap();
        let at = "@token";
        for look in [
            &["inspect", at][..],
            &["inspect", "--json", at],
            &["inspect", "--web", "-o", "-", at],
        ] {
            let output = jeton(folder.path(), look, b"");
            let [shown, said] =
                [output.stdout, output.stderr].map(|b| String::from_utf8(b).unwrap());
            assert_eq!(output.status.code(), Some(0), "{what}: {said}");
            let encoded = URL_SAFE_NO_PAD.encode_to_string(SECRET);
            // base64url of the text at each of the three alignments.
            for hidden in [SECRET, &encoded[2..encoded.len() - 2], &token] {
                assert!(
                    !shown.contains(hidden) && !said.contains(hidden),
                    "{what}: {look:?}"
                );
            }
            assert!(said.contains("private key"), "{what}: {said}");
            assert!(shown.contains("private"), "{what}: {look:?}: {shown}");
        }
    }
}

/// Members that verifiers ignore (RFC 7515, section 7.2.1), and signatures that are not shown. The page would contain
/// the whole token.
#[test]
fn inspect_web_omits_unreported_private_keys() {
    let folder = tempfile::tempdir().unwrap();
    let oct = json!({"kty": "oct", "k": SECRET});
    let header = encoded(&json!({"alg": "ES256", "jwk": oct}));
    let signature = |protected: &str| json!({"protected": protected, "signature": "AA"});
    let mut signatures = vec![signature(&encoded(&json!({"alg": "ES256"}))); 64];
    signatures.push(signature(&header));
    for token in [
        json!({"payload": "e30", "protected": "e30", "signature": "AA", "key": oct}),
        json!({"payload": "e30", "signatures": signatures}),
    ] {
        fs::write(folder.path().join("token"), token.to_string()).unwrap();
        for form in [&["--web", "-o", "-"][..], &["--json"], &[]] {
            let call = [&["inspect"][..], form, &["@token"]].concat();
            let shown = String::from_utf8(succeeds(folder.path(), &call, b"")).unwrap();
            let shows_none = !shown.contains(SECRET) && !shown.contains(&header);
            assert!(shows_none, "{form:?}");
        }
    }
}

#[test]
fn inspect_public_key_in_a_token_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let jwk = json!({"kty": "EC", "crv": "P-256", "x": "eA", "y": "eQ"});
    let header = json!({"alg": "ES256", "jwk": jwk, "d": 1, "k": "of no key"});
    let token = format!("{}.e30.AAAA", encoded(&header));
    let shown = succeeds(folder.path(), &["inspect", "--json", &token], b"");
    let shown: Value = serde_json::from_slice(&shown).unwrap();
    assert_eq!(shown["header"], header);
    assert_eq!(shown["notes"], Value::Null);
}
