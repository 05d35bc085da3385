//! Runs the command with key files as GitHub gives them, and with wrong ones.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::Path;
use std::process::{Command, Output};
use std::time::{SystemTime, UNIX_EPOCH};

use aws_lc_rs::signature::{RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};
use base64_simd::URL_SAFE_NO_PAD;

use jeton::key::{SigAlg, SigningKey};
use pkcs8::PrivateKeyInfoRef;
use pkcs8::der::pem::{LineEnding, encode_string};
use serde_json::{Value, json};

fn github_app(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_github-app"))
        .args(arguments)
        .output()
        .unwrap()
}

/// Runs the command with a key file of this content.
fn with_key_file(content: impl AsRef<[u8]>) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("app.private-key.pem");
    std::fs::write(&file, content).unwrap();
    github_app(&["123456", file.to_str().unwrap()])
}

/// The PEM that GitHub offers for download: PKCS#1, lines of 64.
fn as_github_gives_it(key: &SigningKey) -> String {
    let pkcs8 = key.to_der().unwrap();
    let pkcs1 = PrivateKeyInfoRef::try_from(pkcs8.as_slice()).unwrap();
    let pkcs1 = pkcs1.private_key.as_bytes();
    encode_string("RSA PRIVATE KEY", LineEnding::LF, pkcs1).unwrap()
}

fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    now.as_secs().try_into().unwrap()
}

/// Verifies the printed header without jeton, and returns the claims.
fn verified(output: &Output, key: &SigningKey) -> Value {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let line = std::str::from_utf8(&output.stdout).unwrap();
    let token = line.strip_prefix("Authorization: Bearer ").unwrap();
    let (message, signature) = token.trim_end().rsplit_once('.').unwrap();
    let decode = |part: &str| URL_SAFE_NO_PAD.decode_to_vec(part).unwrap();
    let public = key.verifying_key().to_der().unwrap();
    UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, public)
        .verify(message.as_bytes(), &decode(signature))
        .unwrap();
    let (header, claims) = message.split_once('.').unwrap();
    let header: Value = serde_json::from_slice(&decode(header)).unwrap();
    assert_eq!(header, json!({"alg": "RS256", "typ": "JWT"}));
    serde_json::from_slice(&decode(claims)).unwrap()
}

#[test]
fn key_of_github_signs_what_github_accepts() {
    let key = SigningKey::generate(SigAlg::RS256).unwrap();
    let before = now();
    let claims = verified(&with_key_file(as_github_gives_it(&key)), &key);
    let after = now();
    assert_eq!(claims["iss"], "123456");
    let (iat, exp) = (
        claims["iat"].as_i64().unwrap(),
        claims["exp"].as_i64().unwrap(),
    );
    assert!((before - 60..=after - 60).contains(&iat), "{iat}");
    assert!(exp > after && exp <= before + 600, "{exp}");
    assert_eq!(claims.as_object().unwrap().len(), 3);
}

#[test]
fn key_in_another_form_is_accepted() {
    let key = SigningKey::generate(SigAlg::RS256).unwrap();
    verified(&with_key_file(&*key.to_pem().unwrap()), &key);
    verified(&with_key_file(&*key.to_der().unwrap()), &key);
    verified(&with_key_file(&*key.to_jwk().unwrap()), &key);
    let windows = as_github_gives_it(&key).replace('\n', "\r\n");
    verified(&with_key_file(windows), &key);
}

#[test]
fn wrong_key_file_is_named_with_the_reason() {
    let rsa = SigningKey::generate(SigAlg::RS256).unwrap();
    let ec = SigningKey::generate(SigAlg::ES256).unwrap();
    let keys = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates/jeton-cli/tests/keys");
    let file = |name: &str| std::fs::read_to_string(keys.join(name)).unwrap();
    for (content, reason) in [
        (
            rsa.verifying_key().to_pem().unwrap(),
            "public key given, private key expected",
        ),
        (
            ec.to_pem().unwrap().to_string(),
            "found EC P-256, expected RSA for RS256",
        ),
        (file("certificate.pem"), "certificate"),
        (file("encrypted.pem"), "the key is encrypted"),
        (
            file("../../../../vectors/inputs/encrypted/ssh.pub"),
            "OpenSSH public key",
        ),
        (String::new(), "the input is empty"),
    ] {
        let output = with_key_file(&content);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        assert!(output.stdout.is_empty());
        assert!(stderr.contains("app.private-key.pem: "), "{stderr}");
        assert!(stderr.contains(reason), "{stderr}");
    }
}

#[test]
fn missing_file_and_missing_argument_are_errors() {
    let output = github_app(&["123456", "missing.pem"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr.starts_with("error: missing.pem: "), "{stderr}");
    assert_eq!(github_app(&["123456"]).status.code(), Some(2));
}
