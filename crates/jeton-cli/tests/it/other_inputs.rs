//! Files that are no key: the error says what was found, and the hint takes the key out.

use std::fs;
use std::process::Command;

use crate::binary::{jeton, keys, said};

/// What a file is, its content, and what standard error has: the reason and the hint.
type Row = (&'static str, String, &'static str, &'static str);

fn der() -> Vec<u8> {
    fs::read(keys().join("es256.pub.der")).unwrap()
}

fn pem() -> String {
    fs::read_to_string(keys().join("es256.pub.pem")).unwrap()
}

fn jwk() -> String {
    let text = fs::read_to_string(keys().join("es256.pub.jwk")).unwrap();
    text.trim().to_owned()
}

fn rows() -> Vec<Row> {
    let base64 = base64_simd::STANDARD.encode_to_string(der());
    let certificate = "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n";
    let certificate = base64_simd::STANDARD.encode_to_string(certificate);
    let encoded = base64_simd::STANDARD.encode_to_string(pem());
    let encoded_jwk = base64_simd::STANDARD.encode_to_string(jwk());
    let (pem, jwk) = (serde_json::Value::from(pem()).to_string(), jwk());
    let check = "check the address of the keys";
    vec![
        (
            "aws-kms.json",
            format!(
                r#"{{"KeyId":"arn:aws:kms:…","PublicKey":"{base64}","KeySpec":"ECC_NIST_P256"}}"#
            ),
            "this is a public key as AWS KMS prints it",
            "to take it out, run `jq -r .PublicKey aws-kms.json`, and pass its algorithm",
        ),
        (
            "gcp-kms.json",
            format!(r#"{{"pem":{pem},"algorithm":"EC_SIGN_P256_SHA256","pemCrc32c":"1"}}"#),
            "this JSON has PEM in a member",
            "to take it out, run `jq -r .pem gcp-kms.json`",
        ),
        (
            "vault.json",
            format!(r#"{{"data":{{"keys":{{"1":{{"public_key":{pem}}}}}}}}}"#),
            "this JSON has PEM in a member",
            "to take it out, run `jq -r '.data.keys[\"1\"].public_key' vault.json`",
        ),
        (
            "azure.json",
            format!(r#"{{"attributes":{{}},"key":{jwk}}}"#),
            "this JSON has a JWK in a member",
            "to take it out, run `jq .key azure.json`",
        ),
        (
            "wrapped.json",
            format!(r#"{{"name":"k","spki":"{base64}"}}"#),
            "this JSON has the base64 of a key in a member",
            "to take it out, run `jq -r .spki wrapped.json`, and pass its algorithm",
        ),
        (
            "kubernetes.json",
            format!(
                r#"{{"kind":"Secret","data":{{"tls.crt":"{certificate}","tls.key":"{encoded}"}},"type":"kubernetes.io/tls"}}"#
            ),
            "this JSON has the base64 of a key file in a member",
            "to take it out, run `jq -r '.data[\"tls.key\"]' kubernetes.json | base64 -d`",
        ),
        (
            "certificate.json",
            format!(r#"{{"kind":"Secret","data":{{"ca":"{certificate}"}}}}"#),
            "this JSON has the base64 of a key file in a member",
            "to take it out, run `jq -r .data.ca certificate.json | base64 -d`",
        ),
        (
            "google-secret.json",
            format!(r#"{{"name":"a","payload":{{"data":"{encoded_jwk}","dataCrc32c":"1"}}}}"#),
            "this JSON has the base64 of a key file in a member",
            "to take it out, run `jq -r .payload.data google-secret.json | base64 -d`",
        ),
        (
            "nested.json",
            format!(r#"{{"data":{{"spki":"{base64}"}}}}"#),
            "this JSON has the base64 of a key in a member",
            "to take it out, run `jq -r .data.spki nested.json`, and pass its algorithm",
        ),
        (
            "list.json",
            format!("[{jwk}]"),
            "this is a list of JWKs and not a JWK Set",
            "to convert it, run `jq '{keys: .}' list.json`",
        ),
        (
            "numbers.json",
            "[1,2]".to_owned(),
            "this is a list in JSON, and not a key",
            "",
        ),
        (
            "number.json",
            "12345".to_owned(),
            "this is a number in JSON, and not a key",
            "",
        ),
        (
            "null.json",
            "null".to_owned(),
            "this is null in JSON, and not a key",
            "",
        ),
        (
            "true.json",
            "true".to_owned(),
            "this is a boolean in JSON, and not a key",
            "",
        ),
        (
            "text.json",
            "\"not a key\"".to_owned(),
            "this is a string in JSON, and not a key",
            "",
        ),
        (
            "object.json",
            "{\"a\":1}".to_owned(),
            "this JSON is not a key: it has no `kty` and no `keys`",
            "",
        ),
        (
            "error.json",
            "{\"error\":\"not_found\"}".to_owned(),
            "this is the error of a server, and not a key",
            check,
        ),
        (
            "answer.json",
            "{\"access_token\":\"a.b.c\",\"token_type\":\"Bearer\"}".to_owned(),
            "this is a token, and not a key",
            "pass the key of the issuer",
        ),
        (
            "jws.json",
            "{\"payload\":\"\",\"protected\":\"\",\"signature\":\"\"}".to_owned(),
            "this is a token, and not a key",
            "pass the key of the issuer",
        ),
        (
            "token",
            fs::read_to_string(keys().join("../tokens/es256")).unwrap(),
            "this is a token, and not a key",
            "pass the key of the issuer",
        ),
        (
            "paseto",
            fs::read_to_string(keys().join("../tokens/v4-s-1")).unwrap(),
            "this is a token, and not a key",
            "pass the key of the issuer",
        ),
        (
            "page.html",
            "<!DOCTYPE html>\n<html></html>".to_owned(),
            "this is a web page, and not a key",
            check,
        ),
        (
            "key.xml",
            "<RSAKeyValue><Modulus>AQAB</Modulus></RSAKeyValue>".to_owned(),
            "this is an RSA key in XML",
            "export it as PEM",
        ),
        (
            "saml.xml",
            "<?xml version=\"1.0\"?><E/>".to_owned(),
            "this is XML, and not a key",
            "",
        ),
        (
            "address",
            "https://id.example/jwks.json\n".to_owned(),
            "this is an address, and not a key",
            "fetch the keys from it",
        ),
        (
            "crl.pem",
            "-----BEGIN X509 CRL-----\nAA==\n-----END X509 CRL-----\n".to_owned(),
            "this is a list of revoked certificates (CRL), and not a key",
            "",
        ),
        (
            "pkcs7.pem",
            "-----BEGIN PKCS7-----\nAA==\n-----END PKCS7-----\n".to_owned(),
            "this is PKCS#7 with certificates",
            "run `openssl pkcs7 -in pkcs7.pem -print_certs`",
        ),
        (
            "parameters.pem",
            "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n"
                .to_owned(),
            "these are parameters without a key",
            "the key is in another PEM block",
        ),
    ]
}

#[test]
fn file_that_is_no_key_is_named_with_the_command() {
    let folder = tempfile::tempdir().unwrap();
    for (name, content, reason, hint) in rows() {
        fs::write(folder.path().join(name), &content).unwrap();
        for call in [
            &["key", "public"][..],
            &["key", "thumbprint"],
            &["key", "convert", "--to", "pem"],
            &["jwt", "verify", "--text", "a.b.c", "--key"],
            &["jws", "sign", "--text", "x", "--key"],
            &["jwe", "encrypt", "--text", "x", "--key"],
        ] {
            let (text, code) = said(folder.path(), &[call, &[name]].concat());
            assert_eq!(code, 2, "{name}: {text}");
            let reason = format!("error: {name}: key rejected: {reason}\n");
            assert!(text.starts_with(&reason), "{name}: {text}");
            assert!(text.contains(hint), "{name}: {text}");
            assert!(!text.contains("missing"), "{name}: {text}");
        }
    }
}

/// The commands of the hints, without jq and openssl.
#[test]
fn key_that_a_hint_takes_out_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let thumbprint = said(&keys(), &["key", "thumbprint", "es256.pub.jwk"]);
    fs::write(
        path.join("base64"),
        base64_simd::STANDARD.encode_to_string(der()),
    )
    .unwrap();
    fs::write(path.join("pem"), pem()).unwrap();
    fs::write(path.join("set"), format!("{{\"keys\":[{}]}}", jwk())).unwrap();
    for (file, options) in [
        ("base64", &["--alg", "ES256"][..]),
        ("pem", &[]),
        ("set", &[]),
    ] {
        let call = ["key", "public", file];
        let (jwk, code) = said(path, &[&call[..], options].concat());
        assert_eq!(code, 0, "{file}: {jwk}");
        fs::write(path.join("jwk"), jwk).unwrap();
        assert_eq!(
            said(path, &["key", "thumbprint", "jwk"]),
            thumbprint,
            "{file}"
        );
    }
}

#[test]
fn asymmetric_algorithm_has_no_hint_for_secrets() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("what"), "neither a key nor base64!").unwrap();
    for call in [
        &["jwt", "verify", "--text", "a.b.c", "--key", "what", "--alg"][..],
        &["jws", "sign", "--text", "x", "--key", "what", "--alg"],
        &["key", "public", "what", "--alg"],
        &["key", "convert", "--to", "pem", "what", "--alg"],
        &["key", "import", "what", "--alg"],
        &["doctor", "--key", "what", "--alg"],
    ] {
        for (alg, has_hint) in [("ES256", false), ("RS256", false), ("HS256", true)] {
            let (text, code) = said(folder.path(), &[call, &[alg]].concat());
            assert_ne!(code, 0, "{call:?}");
            assert!(text.contains("unknown key format"), "{call:?}: {text}");
            assert_eq!(text.contains("HMAC"), has_hint, "{call:?} {alg}: {text}");
        }
    }
    let call = [
        "jwe",
        "encrypt",
        "--text",
        "x",
        "--key",
        "what",
        "--alg",
        "RSA-OAEP-256",
    ];
    let (text, _) = said(folder.path(), &call);
    assert!(!text.contains("HMAC"), "{text}");
    let call = ["paseto", "verify", "--text", "x", "--key", "what"];
    let (text, _) = said(folder.path(), &call);
    assert!(!text.contains("HMAC") && text.contains("PASERK"), "{text}");
}

/// Makes a key with OpenSSL. Returns `None` if it is not installed.
fn openssl(folder: &std::path::Path, args: &[&str]) -> Option<()> {
    let output = Command::new("openssl")
        .args(args)
        .current_dir(folder)
        .output();
    output.ok()?.status.success().then_some(())
}

#[test]
fn curve_that_is_spelled_out_has_the_command_for_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let new = [
        "ecparam",
        "-name",
        "prime256v1",
        "-genkey",
        "-noout",
        "-param_enc",
        "explicit",
        "-out",
        "sec1.pem",
    ];
    if openssl(path, &new).is_none() {
        return;
    }
    openssl(
        path,
        &["ec", "-in", "sec1.pem", "-pubout", "-out", "public.pem"],
    )
    .unwrap();
    openssl(
        path,
        &[
            "pkcs8",
            "-topk8",
            "-nocrypt",
            "-in",
            "sec1.pem",
            "-out",
            "pkcs8.pem",
        ],
    )
    .unwrap();
    for (file, public) in [
        ("sec1.pem", ""),
        ("pkcs8.pem", ""),
        ("public.pem", "-pubin "),
    ] {
        let (text, code) = said(path, &["key", "public", file]);
        assert_eq!(code, 2, "{file}: {text}");
        let reason = "key rejected: its curve is spelled out; use a named curve";
        let hint = format!("openssl ec {public}-in {file} -param_enc named_curve -out NEW_FILE");
        assert_eq!(
            text,
            format!("error: {file}: {reason}\nhint: to convert it, run `{hint}`\n")
        );
        // The hint is right.
        let args: Vec<&str> = hint.split(' ').skip(1).collect();
        openssl(path, &args).unwrap();
        let output = jeton(path, &["key", "public", "NEW_FILE"], b"");
        assert_eq!(output.status.code(), Some(0), "{file}");
    }
}
