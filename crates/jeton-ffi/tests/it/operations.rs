//! The functions with valid input: every algorithm, every format.

use jeton::key::{Alg, KeyManagementAlg, KeyWrapAlg, MacAlg, SigAlg};
use jeton_ffi::JETON_USE_CLOCK;

use crate::api::{self, Keys};

const NOW: i64 = 1_800_000_000;

const ISSUER: &str = r#"{"issuer":"https://id.example","audience":"api","lifetime":900}"#;
const POLICY: &str = r#"{"issuer":"https://id.example","audience":"api"}"#;

fn keys<'k>(key: &'k api::Owned<jeton_ffi::JetonKey>) -> Keys<'k> {
    Keys {
        key: Some(key),
        ..Keys::default()
    }
}

#[test]
fn jwt_of_every_algorithm_is_issued_and_verified() {
    let macs = MacAlg::ALL.iter().map(|alg| Alg::Mac(*alg));
    let signatures = SigAlg::ALL.iter().map(|alg| Alg::Sig(*alg));
    for alg in macs.chain(signatures) {
        let key = api::generate(alg.name(), r#"{"kid":"k1"}"#).unwrap();
        let issuer = api::issuer(Some(&key), None, None, ISSUER).unwrap();
        let token = api::issue(&issuer, r#"{"sub":"user-7","n":1.10}"#).unwrap();
        let of_verifier = api::public(&key).unwrap_or(key);
        let verifier = api::verifier(keys(&of_verifier), POLICY).unwrap();
        let claims = api::verify(&verifier, token.as_bytes()).unwrap();
        assert_eq!(claims.alg(), alg.name());
        assert_eq!(claims.text(claims.result.kid), "k1");
        assert_eq!(claims.text(claims.result.typ), "JWT");
        assert_eq!(claims.value(2), Some("\"user-7\""));
        assert!(
            claims.json().ends_with(r#","sub":"user-7","n":1.10}"#),
            "{}",
            claims.json()
        );
        let (issued, expires) = (claims.result.issued_at, claims.result.expires_at);
        assert_eq!(expires - issued, 900);
    }
}

#[test]
fn encrypted_and_nested_jwt_are_issued_and_verified() {
    let content = api::generate("dir", r#"{"enc":"A256GCM"}"#).unwrap();
    let issuer = api::issuer(Some(&content), None, None, ISSUER).unwrap();
    let token = api::issue(&issuer, r#"{"a":1}"#).unwrap();
    let verifier = api::verifier(keys(&content), POLICY).unwrap();
    assert!(
        api::verify(&verifier, token.as_bytes())
            .unwrap()
            .json()
            .ends_with(r#""a":1}"#)
    );

    let signing = api::generate("ES256", "{}").unwrap();
    let managed = KeyManagementAlg::ALL.iter().map(|alg| alg.name());
    let wrapped = KeyWrapAlg::ALL.iter().map(|alg| alg.name());
    for alg in managed.chain(wrapped).filter(|alg| *alg != "RSA1_5") {
        let private = api::generate(alg, "{}").unwrap();
        let to = api::public(&private);
        for enc in ["A128GCM", "A256CBC-HS512"] {
            let options = ISSUER.replacen('{', &format!(r#"{{"enc":"{enc}","#), 1);
            let encryption = to.as_ref().unwrap_or(&private);
            let issuer = api::issuer(Some(&signing), Some(encryption), None, &options).unwrap();
            // The bound holds for any length.
            for length in 0..20 {
                let claims = format!(r#"{{"a":"{}"}}"#, "x".repeat(length));
                let token = api::issue(&issuer, &claims).unwrap();
                let decryption = api::new_set(&[&private]).unwrap();
                let public = api::public(&signing).unwrap();
                let verifier = api::verifier(
                    Keys {
                        decryption: Some(&decryption),
                        ..keys(&public)
                    },
                    POLICY,
                )
                .unwrap();
                api::verify(&verifier, token.as_bytes()).unwrap();
                if alg.starts_with("RSA") {
                    break;
                }
            }
        }
    }
}

#[test]
fn paseto_of_every_kind_is_issued_and_verified() {
    for alg in ["v3.local", "v3.public", "v4.local", "v4.public"] {
        let key = api::generate(alg, "{}").unwrap();
        let context = r#"{"format":"paseto","footer":"{\"a\":1}","implicit_assertion":"tenant","#;
        let issuer =
            api::issuer(Some(&key), None, None, &ISSUER.replacen('{', context, 1)).unwrap();
        let token = api::issue(&issuer, r#"{"sub":"user-7"}"#).unwrap();
        assert!(token.starts_with(alg));
        let verifier = api::verifier(keys(&key), &POLICY.replacen('{', context, 1)).unwrap();
        let claims = api::verify(&verifier, token.as_bytes()).unwrap();
        assert_eq!(claims.text(claims.result.footer), r#"{"a":1}"#);
        assert_eq!(claims.alg(), alg);
        let other = POLICY.replacen('{', &context.replace("tenant", "other"), 1);
        let verifier = api::verifier(keys(&key), &other).unwrap();
        let failure = api::verify(&verifier, token.as_bytes()).unwrap_err();
        let expected = if alg.ends_with("local") {
            "TOKEN_DECRYPTION_FAILED"
        } else {
            "TOKEN_INVALID_SIGNATURE"
        };
        assert_eq!(failure.code, expected);
        let bytes = api::issue_bytes(&issuer, b"bytes").unwrap();
        assert!(bytes.starts_with(alg));
    }
}

#[test]
fn bytes_are_signed_and_verified_in_every_form() {
    let key = api::generate("ES256", "{}").unwrap();
    for (of_issuer, of_verifier, content) in [
        ("", "", None),
        (r#","detached":true"#, "", Some(&b"content"[..])),
        (r#","detached":true,"unencoded":true"#, "", Some(b"content")),
        (
            r#","serialization":"flattened""#,
            r#","serialization":"flattened""#,
            None,
        ),
        (
            r#","serialization":"general","typ":"x""#,
            r#","serialization":"general""#,
            None,
        ),
        (
            r#","serialization":"general","detached":true"#,
            r#","serialization":"general""#,
            Some(b"content"),
        ),
    ] {
        let issuer = api::issuer(
            Some(&key),
            None,
            None,
            &format!(r#"{{"format":"jws"{of_issuer}}}"#),
        )
        .unwrap();
        let token = api::issue_bytes(&issuer, b"content").unwrap();
        let verifier =
            api::verifier(keys(&key), &format!(r#"{{"format":"jws"{of_verifier}}}"#)).unwrap();
        let payload = api::verify_bytes(&verifier, token.as_bytes(), content).unwrap();
        assert_eq!(payload, b"content");
        if content.is_some() {
            let other = api::verify_bytes(&verifier, token.as_bytes(), Some(b"other"));
            assert_eq!(other.unwrap_err().code, "TOKEN_INVALID_SIGNATURE");
        }
    }
}

#[test]
fn bytes_are_encrypted_and_decrypted() {
    let private = api::generate("ECDH-ES+A256KW", r#"{"crv":"X25519"}"#).unwrap();
    let public = api::public(&private).unwrap();
    for form in ["compact", "flattened", "general"] {
        let options = format!(r#"{{"format":"jwe","serialization":"{form}"}}"#);
        let issuer = api::issuer(None, Some(&public), None, &options).unwrap();
        let token = api::issue_bytes(&issuer, b"content").unwrap();
        let decryption = api::new_set(&[&private]).unwrap();
        let keys = Keys {
            decryption: Some(&decryption),
            ..Keys::default()
        };
        let verifier = api::verifier(keys, &options).unwrap();
        assert_eq!(
            api::verify_bytes(&verifier, token.as_bytes(), None).unwrap(),
            b"content"
        );
    }
}

/// All issuers and verifiers with a clock handle use its time. The cache rechecks times.
#[test]
fn clock_of_a_test_expires_a_token() {
    let clock = api::clock(NOW).unwrap();
    let key = api::generate("HS256", "{}").unwrap();
    let issuer = api::issuer(Some(&key), None, Some(&clock), ISSUER).unwrap();
    let token = api::issue(&issuer, "{}").unwrap();
    let cached = POLICY.replacen('{', r#"{"cache":16,"#, 1);
    for options in [POLICY, &cached] {
        let of_clock = |seconds: i64| {
            let micros = seconds * 1_000_000;
            // SAFETY: the handle lives.
            api::call(|reason| unsafe { jeton_ffi::jeton_clock_set(clock.0, micros, reason) })
        };
        of_clock(NOW).unwrap();
        let verifier = api::verifier(
            Keys {
                clock: Some(&clock),
                ..keys(&key)
            },
            options,
        )
        .unwrap();
        for _ in 0..3 {
            let claims = api::verify(&verifier, token.as_bytes()).unwrap();
            assert_eq!(claims.result.expires_at, NOW + 900);
        }
        of_clock(NOW + 900).unwrap();
        let failure = api::verify(&verifier, token.as_bytes()).unwrap_err();
        assert_eq!(failure.code, "TOKEN_EXPIRED");
        assert_eq!(of_clock(-1).unwrap_err().code, "CLAIM_RANGE");
    }
}

/// Threads pass different times to the same issuer and verifier. Each call gets its own time.
#[test]
fn time_of_a_call_is_independent_of_other_threads() {
    const SECOND: i64 = 1_000_000;
    let clock = api::clock(NOW + 100).unwrap();
    let key = api::generate("HS256", "{}").unwrap();
    let issuer = api::issuer(Some(&key), None, Some(&clock), ISSUER).unwrap();
    let cached = POLICY.replacen('{', r#"{"cache":16,"#, 1);
    let token = api::issue_at(&issuer, "{}", NOW * SECOND).unwrap();
    for options in [POLICY, &cached] {
        let keys = Keys {
            clock: Some(&clock),
            ..keys(&key)
        };
        let verifier = api::verifier(keys, options).unwrap();
        let code = |now: i64| match api::verify_at(&verifier, token.as_bytes(), now) {
            Ok(_) => "OK".to_owned(),
            Err(failure) => failure.code,
        };
        let issued = |now: i64| {
            let token = api::issue_at(&issuer, "{}", now).unwrap();
            let claims = api::verify_at(&verifier, token.as_bytes(), now).unwrap();
            claims.result.issued_at
        };
        let barrier = std::sync::Barrier::new(3);
        std::thread::scope(|scope| {
            for (now, expected) in [
                (NOW * SECOND, "OK"),
                ((NOW + 900) * SECOND, "TOKEN_EXPIRED"),
            ] {
                let (barrier, code, issued) = (&barrier, &code, &issued);
                scope.spawn(move || {
                    barrier.wait();
                    for _ in 0..500 {
                        assert_eq!(code(now), expected);
                        assert_eq!(issued(now), now / SECOND);
                    }
                });
            }
            // The clock of the handle is 100 seconds later than the first time.
            barrier.wait();
            for _ in 0..500 {
                assert_eq!(issued(JETON_USE_CLOCK), NOW + 100);
            }
        });
        for out_of_range in [-1, i64::MAX, i64::MIN + 1] {
            assert_eq!(code(out_of_range), "CLAIM_RANGE");
            assert_eq!(issued(JETON_USE_CLOCK), NOW + 100);
        }
        // A call that fails leaves no time for the next call of its thread.
        assert_eq!(code((NOW + 900) * SECOND), "TOKEN_EXPIRED");
        assert_eq!(code(JETON_USE_CLOCK), "OK");
    }
    let failure = api::issue_at(&issuer, "{}", -1).unwrap_err();
    assert_eq!(failure.code, "CLAIM_RANGE");
}

#[test]
fn prepared_token_has_the_time_of_the_call() {
    let key = api::generate("ES256", "{}").unwrap();
    let public = api::public(&key).unwrap();
    let clock = api::clock(NOW + 100).unwrap();
    let issuer = api::issuer(Some(&public), None, Some(&clock), ISSUER).unwrap();
    for (now, expected) in [(NOW * 1_000_000, NOW), (JETON_USE_CLOCK, NOW + 100)] {
        let prepared = api::prepare_at(&issuer, "{}", now).unwrap();
        // SAFETY: handles and texts live until the call ends.
        let message = api::buffer(|out, reason| unsafe {
            jeton_ffi::jeton_prepared_input(prepared.0, b"message".as_ptr(), 7, out, reason)
        });
        let message = String::from_utf8(message.unwrap()).unwrap();
        let claims = api::unverified(format!("{message}.").as_bytes()).unwrap();
        assert!(claims.contains(&format!(r#""iat":{expected}"#)), "{claims}");
    }
    let failure = api::prepare_at(&issuer, "{}", -1).unwrap_err();
    assert_eq!(failure.code, "CLAIM_RANGE");
}

#[test]
fn prepared_token_takes_one_signature() {
    for (alg, form) in [("ES256", "fixed"), ("EdDSA", "fixed"), ("RS256", "fixed")] {
        let key = api::generate(alg, "{}").unwrap();
        let public = api::public(&key).unwrap();
        let options = ISSUER.replacen('{', r#"{"typ":"at+jwt","#, 1);
        let issuer = api::issuer(Some(&public), None, None, &options).unwrap();
        assert_eq!(api::issue(&issuer, "{}").unwrap_err().code, "KEY_IS_PUBLIC");
        let claims = r#"{"sub":"user-7"}"#;
        let prepared = api::prepare_at(&issuer, claims, JETON_USE_CLOCK).unwrap();
        let input = |what: &str| {
            // SAFETY: handles and texts live until the calls end, in all calls here.
            api::buffer(|out, reason| unsafe {
                jeton_ffi::jeton_prepared_input(prepared.0, what.as_ptr(), what.len(), out, reason)
            })
        };
        assert_eq!(input("alg").unwrap(), alg.as_bytes());
        assert_eq!(input("digest").is_ok(), alg != "EdDSA");
        // The remote signer signs the header and the payload of the prepared token.
        let message = String::from_utf8(input("message").unwrap()).unwrap();
        let signature = sign_remotely(&key, &message);
        let attach = |signature: &[u8]| {
            // SAFETY: as above.
            api::buffer(|out, reason| unsafe {
                jeton_ffi::jeton_attach(
                    prepared.0,
                    signature.as_ptr(),
                    signature.len(),
                    form.as_ptr(),
                    form.len(),
                    out,
                    reason,
                )
            })
        };
        let token = attach(&signature).unwrap();
        let policy = POLICY.replacen('{', r#"{"typ":"at+jwt","#, 1);
        let verifier = api::verifier(keys(&public), &policy).unwrap();
        api::verify(&verifier, &token).unwrap();
        assert_eq!(attach(&signature).unwrap_err().code, "PREPARED_TOKEN_USED");
        assert_eq!(input("message").unwrap_err().code, "PREPARED_TOKEN_USED");
    }
}

#[test]
fn signature_of_another_key_does_not_leave() {
    let key = api::generate("ES256", "{}").unwrap();
    let other = api::generate("ES256", "{}").unwrap();
    let public = api::public(&key).unwrap();
    let issuer = api::issuer(Some(&public), None, None, r#"{"format":"jws"}"#).unwrap();
    let prepared = api::prepare_at(&issuer, "x", JETON_USE_CLOCK).unwrap();
    // SAFETY: handles and texts live until the calls end.
    let message = api::buffer(|out, reason| unsafe {
        jeton_ffi::jeton_prepared_input(prepared.0, b"message".as_ptr(), 7, out, reason)
    })
    .unwrap();
    let signature = sign_remotely(&other, std::str::from_utf8(&message).unwrap());
    // SAFETY: as above.
    let attached = api::buffer(|out, reason| unsafe {
        jeton_ffi::jeton_attach(
            prepared.0,
            signature.as_ptr(),
            signature.len(),
            b"fixed".as_ptr(),
            5,
            out,
            reason,
        )
    });
    assert_eq!(attached.unwrap_err().code, "SIGNER_SIGNATURE_INVALID");
}

/// Signs `header.payload` with a private key, as a KMS does.
fn sign_remotely(key: &api::Owned<jeton_ffi::JetonKey>, message: &str) -> Vec<u8> {
    use base64ct::{Base64UrlUnpadded, Encoding};
    let pem = api::export(key, "insecure-pem").unwrap();
    let alg = api::export(key, "alg").unwrap().parse().unwrap();
    let key = jeton::key::SigningKey::from_pem_as(&pem, alg).unwrap();
    let (header, payload) = message.split_once('.').unwrap();
    let decoded = |text| Base64UrlUnpadded::decode_vec(text).unwrap();
    let header = String::from_utf8(decoded(header)).unwrap();
    let signer = jeton::danger::RawHeaderSigner::new(&key, &header).unwrap();
    let token = signer.sign(&decoded(payload)).unwrap();
    let (signed, signature) = token.rsplit_once('.').unwrap();
    assert_eq!(signed, message);
    decoded(signature)
}

#[test]
fn key_is_exported_and_imported_again() {
    for (alg, forms) in [
        ("ES256", &["jwk", "pem", "der"][..]),
        ("RSA-OAEP-256", &["jwk", "pem"]),
        ("HS256", &["jwk"]),
        ("A256KW", &["jwk"]),
        ("v3.public", &["paserk"]),
        ("v4.local", &["paserk"]),
    ] {
        let key = api::generate(alg, "{}").unwrap();
        for form in forms {
            let secret = if *form == "der" {
                continue;
            } else {
                api::export(&key, &format!("insecure-{form}")).unwrap()
            };
            let options = match *form {
                "pem" => format!(r#"{{"alg":"{alg}"}}"#),
                _ => "{}".into(),
            };
            let again = api::import(secret.as_bytes(), &options).unwrap();
            for what in ["alg", "kind", "kid"] {
                assert_eq!(
                    api::export(&again, what),
                    api::export(&key, what),
                    "{alg} {form}"
                );
            }
            assert_eq!(
                api::export(&again, "thumbprint"),
                api::export(&key, "thumbprint")
            );
            // A secret is exported only by its name.
            let public = api::export(&key, form);
            assert!(
                public.is_err() || !secret.contains(&public.unwrap()[10..40]) || *form == "jwk"
            );
        }
    }
    let key = api::generate("HS256", "{}").unwrap();
    assert_eq!(
        api::export(&key, "jwk").unwrap_err().code,
        "KEY_TYPE_MISMATCH"
    );
    let public = api::public(&api::generate("ES256", "{}").unwrap()).unwrap();
    assert_eq!(
        api::export(&public, "insecure-jwk").unwrap_err().code,
        "KEY_IS_PUBLIC"
    );
}

#[test]
fn key_set_is_built_published_and_read() {
    let one = api::generate("ES256", r#"{"kid":"a"}"#).unwrap();
    let two = api::generate("EdDSA", r#"{"kid":"b"}"#).unwrap();
    let set = api::new_set(&[&one, &two]).unwrap();
    let jwks = api::export_set(&set, "jwks").unwrap();
    assert!(!jwks.contains("\"d\":"), "a private key was published");
    let read = api::import_set(&jwks, r#"{"published":true}"#).unwrap();
    assert_eq!(api::export_set(&read, "ids").unwrap(), "a\nb");
    let issuer = api::issuer(Some(&two), None, None, ISSUER).unwrap();
    let token = api::issue(&issuer, "{}").unwrap();
    let keys = Keys {
        set: Some(&read),
        ..Keys::default()
    };
    let verifier = api::verifier(keys, POLICY).unwrap();
    assert_eq!(
        api::verify(&verifier, token.as_bytes())
            .unwrap()
            .text(api::verify(&verifier, token.as_bytes()).unwrap().result.kid),
        "b"
    );
    let mac = api::generate("HS256", "{}").unwrap();
    let jwk = api::export(&mac, "insecure-jwk").unwrap();
    let skipped = jwks.replacen("[{", &format!("[{jwk},{{"), 1);
    let read = api::import_set(&skipped, r#"{"published":true}"#).unwrap();
    assert_eq!(
        api::export_set(&read, "skipped").unwrap().lines().count(),
        1
    );
}

#[test]
fn secret_is_read_as_text_and_as_base64() {
    for (text, format) in [
        ("0123456789abcdef0123456789abcdef", "secret"),
        (
            "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=",
            "secret-base64",
        ),
        (
            "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY\n",
            "secret-base64",
        ),
    ] {
        let options = format!(r#"{{"format":"{format}","alg":"HS256"}}"#);
        let key = api::import(text.as_bytes(), &options).unwrap();
        let jwk = api::export(&key, "insecure-jwk").unwrap();
        assert!(
            jwk.contains("MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY"),
            "{format}"
        );
    }
    let options = r#"{"format":"secret-base64","alg":"HS256"}"#;
    assert_eq!(
        api::import(b"!", options).unwrap_err().code,
        "KEY_NOT_BASE64"
    );
}
