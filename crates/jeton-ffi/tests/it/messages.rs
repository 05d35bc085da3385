//! Messages name what was found and what was expected.

use crate::api::{self, Failure, Keys};

fn fails<T: std::fmt::Debug>(result: api::Result<T>, code: &str, message: &str) {
    let expected = Failure {
        code: code.into(),
        message: message.into(),
    };
    assert_eq!(result.unwrap_err(), expected);
}

#[test]
fn key_of_another_use_is_named() {
    let code = "KEY_USE_MISMATCH";
    let es256 = api::generate("ES256", "").unwrap();
    let ecdh = api::generate("ECDH-ES", "").unwrap();
    let v4 = api::generate("v4.public", "").unwrap();
    fails(
        api::new_set(&[&ecdh, &es256]),
        code,
        "key rejected: found a private key for ES256, expected a key that decrypts, like the first key",
    );
    fails(
        api::new_set(&[&v4, &es256]),
        code,
        "key rejected: found a private key for ES256, expected a PASETO key",
    );
    let key = Keys {
        key: Some(&ecdh),
        ..Keys::default()
    };
    fails(
        api::verifier(key, r#"{"format":"jws"}"#),
        code,
        "key rejected: found a private key for ECDH-ES, expected a key that verifies signatures",
    );
    let set = api::new_set(&[&ecdh]).unwrap();
    let keys = Keys {
        set: Some(&set),
        ..Keys::default()
    };
    fails(
        api::verifier(keys, r#"{"format":"jws"}"#),
        code,
        "key rejected: found a set of keys that decrypt, expected keys that verify signatures",
    );
}

#[test]
fn symmetric_key_has_no_public_key() {
    let key = api::generate("HS256", "").unwrap();
    fails(
        api::public(&key),
        "KEY_TYPE_MISMATCH",
        "key rejected: a key for HS256 is symmetric: it has no public key",
    );
}

#[test]
fn export_that_a_key_does_not_have_names_another() {
    for (alg, what, message) in [
        (
            "v4.public",
            "pem",
            "a key for v4.public cannot be exported as PEM: export it as a PASERK",
        ),
        (
            "ES256",
            "paserk",
            "a key for ES256 cannot be exported as a PASERK: export it as a JWK, PEM or DER",
        ),
        (
            "HS256",
            "insecure-pem",
            "a key for HS256 cannot be exported as PEM: export it as a JWK",
        ),
        (
            "v4.local",
            "thumbprint",
            "a key for v4.local has no thumbprint: use its key id (`kid`)",
        ),
        (
            "ES256",
            "text",
            "option `what`: not a form or a property of a key",
        ),
    ] {
        let key = api::generate(alg, "").unwrap();
        fails(api::export(&key, what), "INVALID_OPTION", message);
    }
    let decryption = api::new_set(&[&api::generate("ECDH-ES", "").unwrap()]).unwrap();
    let paseto = api::new_set(&[&api::generate("v4.public", "").unwrap()]).unwrap();
    for (set, what, message) in [
        (
            &decryption,
            "jwks",
            "a set of keys that decrypt cannot be exported",
        ),
        (
            &paseto,
            "jwks",
            "PASETO keys cannot be exported as a JWK Set: export each key as a PASERK",
        ),
        (
            &paseto,
            "text",
            "option `what`: must be jwks, ids or skipped",
        ),
    ] {
        fails(api::export_set(set, what), "INVALID_OPTION", message);
    }
}

#[test]
fn input_that_does_not_fit_the_algorithm_is_named() {
    let pem = {
        let key = api::generate("ES256", "").unwrap();
        api::export(&key, "pem").unwrap()
    };
    let paserk = {
        let key = api::generate("v4.public", "").unwrap();
        api::export(&key, "paserk").unwrap()
    };
    for (data, options, code, message) in [
        (
            "secret",
            r#"{"format":"secret","alg":"RS256"}"#,
            "KEY_TYPE_MISMATCH",
            "key rejected: found RS256, expected an algorithm for a secret; \
             import the other keys from a JWK, PEM, DER or a PASERK",
        ),
        (
            "secret",
            r#"{"format":"insecure-secret","alg":"ES256"}"#,
            "KEY_TYPE_MISMATCH",
            "key rejected: found ES256, expected a MAC algorithm, such as HS256",
        ),
        (
            &pem,
            r#"{"alg":"v4.public"}"#,
            "KEY_TYPE_MISMATCH",
            "key rejected: found PEM, expected a PASERK, or a secret for v3.local or v4.local",
        ),
        (
            &pem,
            r#"{"alg":"A128KW"}"#,
            "KEY_TYPE_MISMATCH",
            "key rejected: found PEM, expected a JWK or a secret",
        ),
        (
            &paserk,
            r#"{"alg":"v4.local"}"#,
            "KEY_ALGORITHM_MISMATCH",
            "key rejected: found a public key for v4.public, expected a key for v4.local",
        ),
        (
            r#"{"keys":[]}"#,
            "{}",
            "INVALID_OPTION",
            "key rejected: this is a JWK Set: import it as a key set",
        ),
        (
            "no key",
            "{}",
            "KEY_MALFORMED",
            "key rejected: malformed: expected a JWK, PEM, DER or a PASERK",
        ),
        (
            r#"{"kty":"new","alg":"ES256"}"#,
            "{}",
            "KEY_UNSUPPORTED",
            "key rejected: kty: not supported: expected EC, OKP, RSA or AKP",
        ),
    ] {
        fails(api::import(data.as_bytes(), options), code, message);
    }
}

#[test]
fn issuer_that_cannot_issue_bytes_names_the_key() {
    let key = api::generate("ES256", "").unwrap();
    let public = api::public(&key).unwrap();
    let issuer = api::issuer(Some(&public), None, None, r#"{"format":"jws"}"#).unwrap();
    fails(
        api::issue_bytes(&issuer, b"data"),
        "KEY_IS_PUBLIC",
        "key rejected: the issuer has a public key, so it only prepares tokens: \
         to issue them, create it with the private key",
    );
}
