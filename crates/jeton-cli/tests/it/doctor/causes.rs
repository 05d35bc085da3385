//! Tests that each cause is one finding, with what follows from it below, and that causes that look like another are
//! named: secrets, tokens for Microsoft Graph, empty signatures, types, key files.

use std::fs;
use std::path::Path;

use base64_simd::{STANDARD, URL_SAFE_NO_PAD};
use jeton::danger::{RawHeaderSigner, weak_mac_key};
use jeton::jws::JwsSigner;
use jeton::key::{MacAlg, MacKey, SigAlg, SigningKey};
use rcgen::{KeyPair, PKCS_ED25519, SigningKey as _};
use serde_json::Value;

use crate::binary::{inputs, jeton, keys, said};

const AT: [&str; 2] = ["--at", "1795656378"];
const CLAIMS: &[u8] = br#"{"iss":"https://id.example","exp":1795660000}"#;

#[track_caller]
fn doctor(folder: &Path, args: &[&str]) -> (String, i32) {
    let at = if args.contains(&"--at") { &[][..] } else { &AT };
    said(folder, &[&["doctor"], at, args].concat())
}

/// Asserts that a token is rejected for one cause, which has this text, and that the texts follow from it.
#[track_caller]
fn one_cause(folder: &Path, args: &[&str], cause: &str, consequences: &[&str]) {
    let (text, code) = doctor(folder, args);
    assert_eq!(code, 1, "{text}");
    assert!(text.ends_with("found: 1 error\n"), "{text}");
    let errors: Vec<&str> = text.lines().filter(|line| line.starts_with("! ")).collect();
    assert!(errors.len() == 1 && errors[0].contains(cause), "{text}");
    for consequence in consequences {
        let mut lines = text.lines().filter(|line| line.starts_with("    so: "));
        assert!(
            lines.any(|line| line.contains(consequence)),
            "{consequence}: {text}"
        );
    }
}

#[test]
fn doctor_cause_is_counted_once() {
    for (folder, args, cause, consequences) in [
        (
            "aws-alb",
            &["--key", "pub.pem", "@alb"][..],
            "signed by the key of pub.pem, over padded base64, as AWS load balancers do",
            &["jeton jwt verify rejects it: the header is malformed"][..],
        ),
        (
            "leading-zero",
            &["--key", "short.json", "@t1"],
            "x has 31 bytes, P-256 needs 32: a leading zero was removed",
            &["jeton jwt verify rejects it"],
        ),
        (
            "leading-zero",
            &["--key", "numkid.json", "@t1"],
            "`kid` must be a string, not a number",
            &["jeton jwt verify rejects it"],
        ),
        (
            "crit-and-b64",
            &["--key", "p.pem", "@ob"],
            "crit lists http://openbanking.org.uk/iat",
            &[
                "undetermined whether the key of p.pem signed it",
                "jeton jwt verify rejects it",
            ],
        ),
        (
            "entra-keycloak",
            &["--key", "entra.json", "@tok"],
            "3 keys, from key 1: RSA, kid kid0: no alg",
            &["jeton jwt verify rejects it"],
        ),
        (
            "typ-full",
            &["--key", "p.pem", "@full"],
            "typ is application/at+jwt, expected JWT or no typ",
            &["jeton jwt verify rejects it"],
        ),
        (
            "typ-full",
            &["--key", "../pasted/p.pem", "--typ", "at+jwt", "@full"],
            "not signed by the key of ../pasted/p.pem",
            &["jeton jwt verify rejects it: the signature is not valid"],
        ),
        (
            "many-keys",
            &["--key", "nine.json", "@nokid"],
            "9 keys match its `alg`",
            &[],
        ),
        (
            "jwk-nulls",
            &["--key", "algnull.json", "@tok"],
            "`alg` is null: remove it",
            &["jeton jwt verify rejects it"],
        ),
        (
            "typ-full",
            &[
                "--key",
                "p.pem",
                "--typ",
                "at+jwt",
                "--at",
                "1995656378",
                "@full",
            ],
            "expired",
            &["jeton jwt verify rejects it"],
        ),
    ] {
        one_cause(&inputs(folder), args, cause, consequences);
    }
}

#[test]
fn doctor_two_causes_are_two_errors() {
    let folder = inputs("typ-full");
    let (text, code) = said(
        &folder,
        &[
            "doctor",
            "--key",
            "p.pem",
            "--at",
            "1995656378",
            "--issuer",
            "x",
            "--typ",
            "at+jwt",
            "@full",
        ],
    );
    assert_eq!(code, 1, "{text}");
    assert!(text.ends_with("found: 2 errors\n"), "{text}");
}

/// Writes a public key and returns its private key.
fn key_in(folder: &Path) -> SigningKey {
    let key = SigningKey::generate(SigAlg::ES256).unwrap();
    fs::write(folder.join("public"), key.verifying_key().to_jwk()).unwrap();
    key
}

#[test]
fn doctor_graph_token_is_undetermined() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // The library sets no nonce.
    let key = KeyPair::generate_for(&PKCS_ED25519).unwrap();
    fs::write(folder.join("public"), key.public_key_pem()).unwrap();
    let base64url = |bytes: &[u8]| URL_SAFE_NO_PAD.encode_to_string(bytes);
    let header = |nonce: &str| {
        base64url(format!(r#"{{"alg":"EdDSA","typ":"JWT","nonce":"{nonce}"}}"#).as_bytes())
    };
    // The issuer signs another header than the one it sends.
    let payload = base64url(CLAIMS);
    let input = format!("{}.{payload}", header("hash"));
    let signature = base64url(&key.sign(input.as_bytes()).unwrap());
    let signed = format!("{input}.{signature}");
    let sent = format!("{}.{payload}.{signature}", header("nonce"));
    one_cause(
        folder,
        &["--key", "public", &sent],
        "the header has `nonce`, as tokens for Microsoft Graph have: only Graph can verify them",
        &[
            "undetermined whether the key of public signed it",
            "jeton jwt verify rejects it",
        ],
    );
    let (text, _) = doctor(folder, &["--key", "public", &sent]);
    assert!(!text.contains("not signed by"), "{text}");
    assert!(text.contains("request a token"), "{text}");
    // Without keys, nothing was computed.
    let (text, code) = doctor(folder, &[&sent]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("? the header has `nonce`"), "{text}");
    // Other tokens can have this header and a valid signature.
    let (text, code) = doctor(folder, &["--key", "public", &signed]);
    assert_eq!(code, 0, "{text}");
    assert!(!text.contains("Graph"), "{text}");
}

#[test]
fn doctor_empty_signature_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let key = key_in(folder);
    let token = JwsSigner::new(&key).sign(CLAIMS).unwrap();
    let (signed, _) = token.rsplit_once('.').unwrap();
    let empty = format!("{signed}.");
    one_cause(
        folder,
        &["--key", "public", &empty],
        "the signature is empty",
        &[
            "undetermined whether the key of public signed it",
            "jeton jwt verify rejects it",
        ],
    );
    let (text, code) = doctor(folder, &[&empty]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("! the signature is empty"), "{text}");
    // So is the MAC.
    let mac = JwsSigner::new(&MacKey::generate(MacAlg::HS256).unwrap()).sign(CLAIMS);
    let mac = mac.unwrap();
    let (signed, _) = mac.rsplit_once('.').unwrap();
    let hs256 = keys().join("hs256.jwk");
    let args = ["--key", hs256.to_str().unwrap(), &format!("{signed}.")];
    one_cause(
        folder,
        &args,
        "the signature is empty",
        &["undetermined whether"],
    );
}

#[test]
fn doctor_secret_file_names_its_encoding() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let secret: Vec<u8> = (0..32_u8)
        .map(|byte| byte.wrapping_mul(37) ^ 0x5b)
        .collect();
    let token = JwsSigner::new(&MacKey::new(MacAlg::HS256, &secret).unwrap()).sign(CLAIMS);
    let token = token.unwrap();
    let hex: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
    for (text, encoding) in [
        (STANDARD.encode_to_string(&secret), "base64"),
        (
            format!("{}\n", STANDARD.encode_to_string(&secret)),
            "base64",
        ),
        (hex, "hex"),
    ] {
        fs::write(folder.join("secret"), &text).unwrap();
        one_cause(
            folder,
            &["--key", "secret", &token],
            &format!("not a key file but a secret: read as {encoding}, it signed the token"),
            &[],
        );
        let (said, _) = doctor(folder, &["--key", "secret", &token]);
        assert!(!said.contains(text.trim()), "{said}");
        // The advice works.
        let instead = ["--secret-file", "secret", "--secret-encoding", encoding];
        let advice = format!("instead of --key, pass `{} --alg HS256`", instead.join(" "));
        assert!(said.contains(&advice), "{said}");
        let (said, code) = doctor(
            folder,
            &[&instead, &["--alg", "HS256", &token][..]].concat(),
        );
        assert_eq!(code, 0, "{said}");
    }
    fs::write(folder.join("secret"), "another secret\n").unwrap();
    let cause = "not a key file, and not the secret that signed the token";
    one_cause(folder, &["--key", "secret", &token], cause, &[]);
    // A token with another algorithm was signed by no secret.
    let es256 = JwsSigner::new(&key_in(folder)).sign(CLAIMS).unwrap();
    let (text, code) = doctor(folder, &["--key", "secret", &es256]);
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("error: secret: unknown key format"), "{text}");
}

#[test]
fn doctor_short_secret_is_named_with_both_lengths() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let token = JwsSigner::new(&weak_mac_key(MacAlg::HS256, b"hush-hush").unwrap()).sign(CLAIMS);
    let token = token.unwrap();
    fs::write(folder.join("secret"), "hush-hush\n").unwrap();
    let (text, code) = doctor(folder, &["--key", "secret", &token]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("read as text, it signed the token"), "{text}");
    assert!(
        text.contains("! the secret has 9 bytes, minimum 32"),
        "{text}"
    );
    assert!(!text.contains("hush"), "{text}");
}

#[test]
fn doctor_secret_files_of_the_cases_are_explained() {
    let folder = inputs("secrets");
    let mut signers = 0;
    for token in ["@tok", "@stok"] {
        for file in ["secret.txt", "secret.b64"] {
            let (text, code) = doctor(&folder, &["--key", file, token]);
            assert_eq!(code, 1, "{text}");
            signers += text.matches("it signed the token").count();
        }
    }
    assert!(signers >= 2, "{signers}");
}

#[test]
fn doctor_jwk_secret_encoded_twice_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let secret: Vec<u8> = (0..40_u8)
        .map(|byte| byte.wrapping_mul(91) ^ 0x17)
        .collect();
    let token = JwsSigner::new(&MacKey::new(MacAlg::HS256, &secret).unwrap()).sign(CLAIMS);
    let token = token.unwrap();
    let twice = URL_SAFE_NO_PAD.encode_to_string(STANDARD.encode_to_string(&secret));
    let jwk = format!(r#"{{"kty":"oct","alg":"HS256","k":"{twice}"}}"#);
    fs::write(folder.join("jwk"), jwk).unwrap();
    one_cause(
        folder,
        &["--key", "jwk", &token],
        "signed by the secret of the key of jwk, if its encoding is base64",
        &["jeton jwt verify rejects it"],
    );
    // The text of the secret instead of its base64url.
    let text = "correct-horse-battery-staple-and-more";
    let token = JwsSigner::new(&MacKey::new(MacAlg::HS256, text.as_bytes()).unwrap()).sign(CLAIMS);
    let jwk = format!(r#"{{"kty":"oct","alg":"HS256","k":"{text}"}}"#);
    fs::write(folder.join("jwk"), jwk).unwrap();
    let (said, code) = doctor(folder, &["--key", "jwk", &token.unwrap()]);
    assert_eq!(code, 1, "{said}");
    assert!(said.ends_with("found: 1 error\n"), "{said}");
    let what = "signed by the secret of the key of jwk, if its encoding is text";
    assert!(said.contains(what), "{said}");
}

#[test]
fn doctor_type_is_named_with_the_option_that_accepts_it() {
    let folder = inputs("typ-full");
    let (text, _) = doctor(&folder, &["--key", "p.pem", "@full"]);
    assert!(
        text.contains("an access token (RFC 9068); to accept it, add `--typ at+jwt`"),
        "{text}"
    );
    let (text, code) = doctor(&folder, &["--key", "p.pem", "--typ", "at+jwt", "@full"]);
    assert_eq!(code, 0, "{text}");
    let (text, _) = doctor(&inputs("crit-and-b64"), &["--key", "p.pem", "@logout"]);
    assert!(
        text.contains("a logout token") && text.contains("add `--typ logout+jwt`"),
        "{text}"
    );
    // An ID token in place of an access token.
    let es256 = keys().join("../tokens/es256");
    let token = format!("@{}", es256.display());
    let args = [
        "doctor",
        "--key",
        "es256.pub.jwk",
        "--typ",
        "at+jwt",
        "--at",
        "1800000500",
        &token,
    ];
    let (text, code) = said(&keys(), &args);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("typ is JWT, expected at+jwt"), "{text}");
    assert!(
        text.contains("an ID token, or an access token of an issuer that does not follow RFC 9068"),
        "{text}"
    );
}

#[test]
fn doctor_access_token_without_its_claims_is_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let key = key_in(folder);
    let signer = RawHeaderSigner::new(&key, r#"{"alg":"ES256","typ":"at+jwt"}"#).unwrap();
    let token = signer.sign(CLAIMS).unwrap();
    let (text, code) = doctor(folder, &["--key", "public", "--typ", "at+jwt", &token]);
    assert_eq!(code, 0, "{text}");
    assert!(
        text.contains("? at+jwt without aud, sub, client_id, iat, jti"),
        "{text}"
    );
}

#[test]
fn doctor_key_file_says_what_it_is_and_can_do() {
    for (file, texts) in [
        ("es256.pub.jwk", &["JWK", "verifies ES256"][..]),
        (
            "rsa.pem",
            &["signs; no alg, and the key fits several algorithms; secret, do not publish it"],
        ),
        ("es256.jwk", &["signs ES256; secret, do not publish it"]),
        (
            "hs256.jwk",
            &["signs and verifies HS256; secret, do not publish it"],
        ),
        ("es256.pub.pem", &["PEM, a public key", "verifies ES256"]),
        (
            "rsa.pub.pem",
            &[
                "PEM, a public key",
                "no alg, and the key fits several algorithms",
            ],
        ),
        ("jwks.json", &["JWK Set, ", "verifies ES256"]),
        ("jwks-enc.json", &["for encryption, not for verification"]),
        (
            "x25519.pub.pem",
            &["PEM, a public key", "for encryption, not for verification"],
        ),
        ("k4.public", &["PASERK k4.public"]),
        ("k4.local", &["PASERK k4.local: secret, do not publish it"]),
    ] {
        let (text, code) = said(&keys(), &["doctor", "--key", file]);
        assert_eq!(code, 0, "{file}: {text}");
        for part in texts {
            assert!(text.contains(part), "{file}: {part}: {text}");
        }
    }
}

#[test]
fn doctor_text_has_the_token_first_and_no_uncompared_clock() {
    let folder = inputs("typ-full");
    let call = ["--key", "p.pem", "--typ", "at+jwt", "@full"];
    let (text, _) = doctor(&folder, &call);
    assert!(text.starts_with("token\n"), "{text}");
    assert!(!text.contains("clock"), "{text}");
    let (text, _) = doctor(&folder, &[&["-v"], &call[..]].concat());
    assert!(text.contains("\nclock\n"), "{text}");
    let (text, _) = doctor(&folder, &[]);
    assert!(text.starts_with("clock\n"), "{text}");
    let json = jeton(
        &folder,
        &[&["doctor", "--json"], &AT[..], &call].concat(),
        b"",
    );
    let all: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(all[0]["about"], "clock");
}

#[test]
fn doctor_json_lists_consequences_under_their_cause() {
    let folder = inputs("typ-full");
    let call = [&["doctor", "--json"], &AT[..], &["--key", "p.pem", "@full"]].concat();
    let output = jeton(&folder, &call, b"");
    let all: Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = all[2]["findings"].as_array().unwrap();
    let mut wrong = findings.iter().filter(|one| one["state"] == "wrong");
    let cause = wrong.next().unwrap();
    assert!(wrong.next().is_none(), "{all}");
    let consequence = cause["consequences"][0].as_str().unwrap();
    assert!(
        consequence.starts_with("jeton jwt verify rejects it: "),
        "{all}"
    );
}

#[test]
fn doctor_thumbprint_of_another_length_is_listed_with_v() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let key = fs::read_to_string(keys().join("es256.pub.jwk")).unwrap();
    // The hexadecimal digits of the hash in base64url.
    let digits = URL_SAFE_NO_PAD.encode_to_string("0123456789ABCDEF0123456789ABCDEF01234567");
    let member = format!("{{\"x5t\":\"{digits}\",");
    fs::write(folder.join("key"), key.replacen('{', &member, 1)).unwrap();
    let why = "`x5t` is malformed: ignored";
    let (text, code) = said(folder, &["key", "thumbprint", "key"]);
    assert_eq!(code, 0, "{text}");
    assert!(!text.contains("x5t"), "{text}");
    let (text, code) = doctor(folder, &["--key", "key"]);
    assert_eq!(code, 0, "{text}");
    assert!(!text.contains("x5t"), "{text}");
    let (text, code) = doctor(folder, &["-v", "--key", "key"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains(why), "{text}");
}
