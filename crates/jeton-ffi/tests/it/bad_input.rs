//! Bad input returns a code and never crashes.

use std::mem::MaybeUninit;
use std::ptr;

use jeton_ffi::*;

use crate::api::{self, Keys, call};

const ISSUER: &str = r#"{"issuer":"i","audience":"a","lifetime":900}"#;
const POLICY: &str = r#"{"issuer":"i","audience":"a"}"#;

/// Lengths that no value in memory has.
const TOO_LONG: [usize; 4] = [1 << 63, usize::MAX, isize::MAX as usize + 1, usize::MAX - 7];

fn code(result: api::Result<()>) -> String {
    result.map_or_else(|failure| failure.code, |()| "OK".into())
}

#[test]
fn null_pointers_are_errors() {
    let mut key = ptr::null();
    let alg = "HS256";
    // SAFETY: the test passes null pointers; the other pointers live until the calls end, in all calls here.
    unsafe {
        let generate = |alg: *const u8, length, out| {
            code(call(|reason| {
                jeton_key_generate(alg, length, ptr::null(), 0, out, reason)
            }))
        };
        assert_eq!(generate(alg.as_ptr(), 5, ptr::null_mut()), "ARGUMENT_NULL");
        assert_eq!(generate(ptr::null(), 5, &mut key), "ARGUMENT_NULL");
        assert_eq!(generate(ptr::null(), 0, &mut key), "INVALID_OPTION");
        assert_eq!(generate(alg.as_ptr(), 5, &mut key), "OK");
        assert_eq!(jeton_release(key.cast(), ptr::null_mut()), 0);

        // Null is allowed: nothing to release, nothing to free, no reason wanted, no options.
        assert_eq!(jeton_release(ptr::null(), ptr::null_mut()), 0);
        assert_eq!(jeton_buffer_free(ptr::null_mut()), 0);
        assert_ne!(jeton_retain(ptr::null(), ptr::null_mut()), 0);
        assert_eq!(jeton_issue_bound(ptr::null(), 10), 0);
        let mut public = ptr::null();
        assert_eq!(
            code(call(|reason| jeton_key_public(
                ptr::null(),
                &mut public,
                reason
            ))),
            "ARGUMENT_NULL"
        );
        assert_eq!(
            code(call(|reason| jeton_key_warm_up(ptr::null(), reason))),
            "ARGUMENT_NULL"
        );
        let mut issuer = ptr::null();
        let made = |reason| {
            jeton_issuer_new(
                ptr::null(),
                ptr::null(),
                ptr::null(),
                ptr::null(),
                0,
                &mut issuer,
                reason,
            )
        };
        assert_eq!(code(call(made)), "ARGUMENT_NULL");
        let mut set = ptr::null();
        assert_eq!(
            code(call(|reason| jeton_key_set_new(
                ptr::null(),
                1,
                &mut set,
                reason
            ))),
            "ARGUMENT_NULL"
        );
        assert_eq!(
            code(call(|reason| jeton_key_set_new(
                ptr::null(),
                0,
                &mut set,
                reason
            ))),
            "KEY_SET_EMPTY"
        );
        let nulls = [ptr::null(); 2];
        assert_eq!(
            code(call(|reason| jeton_key_set_new(
                nulls.as_ptr(),
                2,
                &mut set,
                reason
            ))),
            "ARGUMENT_NULL"
        );
    }
    let key = api::generate("HS256", "").unwrap();
    let issuer = api::issuer(Some(&key), None, None, ISSUER).unwrap();
    let mut length = 0;
    let mut buffer = [0; 1000];
    // SAFETY: as above.
    unsafe {
        let issue =
            |claims: *const u8, length_of: usize, out: *mut u8, capacity, length: *mut usize| {
                code(call(|reason| {
                    jeton_issue(
                        issuer.0,
                        claims,
                        length_of,
                        JETON_USE_CLOCK,
                        out,
                        capacity,
                        length,
                        reason,
                    )
                }))
            };
        let (claims, out) = (b"{}".as_ptr(), buffer.as_mut_ptr());
        assert_eq!(issue(claims, 2, out, 1000, &mut length), "OK");
        assert_eq!(
            issue(claims, 2, out, 1000, ptr::null_mut()),
            "ARGUMENT_NULL"
        );
        assert_eq!(
            issue(claims, 2, ptr::null_mut(), 1000, &mut length),
            "ARGUMENT_NULL"
        );
        assert_eq!(
            issue(claims, 2, ptr::null_mut(), 0, &mut length),
            "BUFFER_TOO_SMALL"
        );
        assert_eq!(
            issue(ptr::null(), 2, out, 1000, &mut length),
            "ARGUMENT_NULL"
        );
        assert_eq!(
            issue(ptr::null(), 0, out, 1000, &mut length),
            "CLAIMS_SYNTAX"
        );
        for too_long in TOO_LONG {
            assert_eq!(
                issue(claims, too_long, out, 1000, &mut length),
                "ARGUMENT_LENGTH"
            );
            assert_eq!(
                issue(claims, 2, out, too_long, &mut length),
                "ARGUMENT_LENGTH"
            );
            assert_eq!(
                issue(ptr::null(), too_long, out, 1000, &mut length),
                "ARGUMENT_LENGTH"
            );
            assert!(jeton_issue_bound(issuer.0, too_long) > 0);
        }
    }
}

#[test]
fn lengths_beyond_memory_are_errors() {
    let key = api::generate("HS256", "").unwrap();
    let verifier = api::verifier(
        Keys {
            key: Some(&key),
            ..Keys::default()
        },
        POLICY,
    )
    .unwrap();
    let mut result = MaybeUninit::uninit();
    let mut buffer = [0; 2000];
    let mut handle = ptr::null();
    let mut set = ptr::null();
    let keys = [key.0];
    for too_long in TOO_LONG {
        // SAFETY: lengths that are too long are not read.
        unsafe {
            let verified = |reason| {
                jeton_verify(
                    verifier.0,
                    b"a".as_ptr(),
                    too_long,
                    JETON_USE_CLOCK,
                    buffer.as_mut_ptr(),
                    2000,
                    result.as_mut_ptr(),
                    reason,
                )
            };
            assert_eq!(code(call(verified)), "ARGUMENT_LENGTH");
            let imported = |reason| {
                jeton_key_import(b"a".as_ptr(), too_long, ptr::null(), 0, &mut handle, reason)
            };
            assert_eq!(code(call(imported)), "ARGUMENT_LENGTH");
            let options = |reason| {
                jeton_key_import(
                    b"a".as_ptr(),
                    1,
                    b"{".as_ptr(),
                    too_long,
                    &mut handle,
                    reason,
                )
            };
            assert_eq!(code(call(options)), "ARGUMENT_LENGTH");
            let new = |reason| jeton_key_set_new(keys.as_ptr(), too_long, &mut set, reason);
            assert_eq!(code(call(new)), "ARGUMENT_LENGTH");
        }
        assert_eq!(
            jeton_verify_bound(too_long).max(too_long),
            jeton_verify_bound(too_long)
        );
    }
}

/// Each size below the bound is an error, and nothing is written beyond the buffer.
#[test]
fn small_buffers_are_errors() {
    let key = api::generate("HS256", "").unwrap();
    let issuer = api::issuer(Some(&key), None, None, ISSUER).unwrap();
    let verifier = api::verifier(
        Keys {
            key: Some(&key),
            ..Keys::default()
        },
        POLICY,
    )
    .unwrap();
    let claims = r#"{"sub":"user-7"}"#;
    // SAFETY: the handle lives.
    let bound = unsafe { jeton_issue_bound(issuer.0, claims.len()) };
    let token = api::issue(&issuer, claims).unwrap();
    assert!(
        token.len() <= bound && bound < token.len() + 64,
        "{} of {bound}",
        token.len()
    );
    let needed = jeton_verify_bound(token.len());
    let mut buffer = vec![0xaa_u8; needed];
    let mut length = 0;
    let mut result = MaybeUninit::uninit();
    for capacity in (0..bound).chain([bound - 1]) {
        // SAFETY: the buffer has more than `capacity` bytes.
        let issued = call(|reason| unsafe {
            jeton_issue(
                issuer.0,
                claims.as_ptr(),
                claims.len(),
                JETON_USE_CLOCK,
                buffer.as_mut_ptr(),
                capacity,
                &mut length,
                reason,
            )
        });
        assert_eq!(code(issued), "BUFFER_TOO_SMALL", "{capacity}");
    }
    for capacity in (0..needed).step_by(7).chain([needed - 1]) {
        // SAFETY: as above.
        let verified = call(|reason| unsafe {
            jeton_verify(
                verifier.0,
                token.as_ptr(),
                token.len(),
                JETON_USE_CLOCK,
                buffer.as_mut_ptr(),
                capacity,
                result.as_mut_ptr(),
                reason,
            )
        });
        assert_eq!(code(verified), "BUFFER_TOO_SMALL", "{capacity}");
    }
    assert!(
        buffer.iter().all(|byte| *byte == 0xaa),
        "something was written"
    );
}

#[test]
fn text_that_is_not_utf8_is_an_error() {
    let key = api::generate("HS256", "").unwrap();
    let issuer = api::issuer(Some(&key), None, None, ISSUER).unwrap();
    let claims = b"{\"a\":\"\xff\"}";
    let mut buffer = [0; 1000];
    let mut length = 0;
    // SAFETY: all pointers live until the call ends.
    let issued = call(|reason| unsafe {
        jeton_issue(
            issuer.0,
            claims.as_ptr(),
            claims.len(),
            JETON_USE_CLOCK,
            buffer.as_mut_ptr(),
            1000,
            &mut length,
            reason,
        )
    });
    assert_eq!(code(issued), "ARGUMENT_NOT_UTF8");
    let verifier = api::verifier(
        Keys {
            key: Some(&key),
            ..Keys::default()
        },
        POLICY,
    )
    .unwrap();
    // Anyone can send a token, so it is rejected.
    let token = api::issue(&issuer, "{}").unwrap();
    for at in 0..token.len() {
        let mut token = token.clone().into_bytes();
        token[at] |= 0x80;
        let failure = api::verify(&verifier, &token).unwrap_err();
        assert_eq!(failure.code, "TOKEN_MALFORMED", "{at}");
    }
}

#[test]
fn token_of_ten_megabytes_is_rejected() {
    let key = api::generate("HS256", "").unwrap();
    let keys = || Keys {
        key: Some(&key),
        ..Keys::default()
    };
    let verifier = api::verifier(keys(), POLICY).unwrap();
    for byte in [b'a', b'.', b'=', 0, 0xff] {
        let token = vec![byte; 10 * 1024 * 1024];
        let failure = api::verify(&verifier, &token).unwrap_err();
        let expected = if byte == 0xff {
            "TOKEN_MALFORMED"
        } else {
            "TOKEN_TOO_LARGE"
        };
        assert_eq!(failure.code, expected, "{byte}");
        assert!(failure.message.len() < JETON_MESSAGE_BYTES);
    }
    let claims = format!(r#"{{"a":"{}"}}"#, "x".repeat(10 * 1024 * 1024));
    let issuer = api::issuer(Some(&key), None, None, ISSUER).unwrap();
    let token = api::issue(&issuer, &claims).unwrap();
    assert_eq!(
        api::verify(&verifier, token.as_bytes()).unwrap_err().code,
        "TOKEN_TOO_LARGE"
    );
    let large = POLICY.replacen('{', r#"{"limits":{"token_bytes":20000000},"#, 1);
    let verifier = api::verifier(keys(), &large).unwrap();
    assert!(
        api::verify(&verifier, token.as_bytes())
            .unwrap()
            .json()
            .len()
            > claims.len()
    );
}

/// An unknown, wrongly typed or contradictory option is an error, and the message contains no value.
#[test]
fn wrong_options_are_errors() {
    let key = api::generate("HS256", "").unwrap();
    for options in [
        "{",
        "[]",
        "null",
        r#"{"isuer":"i"}"#,
        r#"{"ISSUER":"i"}"#,
        r#"{"issuer":1}"#,
        r#"{"issuer":"i","issuer":"j"}"#,
        r#"{"lifetime":"15m"}"#,
        r#"{"lifetime":-1}"#,
        r#"{"lifetime":1.5}"#,
        r#"{"lifetime":1,"without_expiry":true}"#,
        r#"{"format":"jwx"}"#,
        r#"{"format":"paseto"}"#,
        r#"{"format":"jwe"}"#,
        r#"{"footer":"f"}"#,
        r#"{"detached":true}"#,
        r#"{"format":"jws","issuer":"i"}"#,
        r#"{"format":"jws","serialization":"xml"}"#,
    ] {
        let failure = api::issuer(Some(&key), None, None, options).unwrap_err();
        assert_eq!(failure.code, "INVALID_OPTION", "{options}");
    }
    for options in [
        "{}",
        r#"{"issuer":"i"}"#,
        r#"{"audience":"a"}"#,
        r#"{"issuer":"i","any_issuer":true,"audience":"a"}"#,
        r#"{"issuer":"i","audience":"a","any_audience":true}"#,
        r#"{"issuer":"i","audience":[1]}"#,
        r#"{"issuer":"i","audience":"a","leeway":-1}"#,
        r#"{"issuer":"i","audience":"a","enc":"A128GCM"}"#,
        r#"{"issuer":"i","audience":"a","limits":{"bytes":1}}"#,
        r#"{"format":"jws","leeway":1}"#,
    ] {
        let keys = Keys {
            key: Some(&key),
            ..Keys::default()
        };
        let failure = api::verifier(keys, options).unwrap_err();
        assert_eq!(failure.code, "INVALID_OPTION", "{options}");
    }
    let failure = api::import(b"x", r#"{"password":["hunter2"]}"#).unwrap_err();
    assert!(!failure.message.contains("hunter2"), "{}", failure.message);
}

#[test]
fn functions_for_claims_and_for_bytes_do_not_mix() {
    let key = api::generate("HS256", "").unwrap();
    let keys = || Keys {
        key: Some(&key),
        ..Keys::default()
    };
    let of_claims = api::issuer(Some(&key), None, None, ISSUER).unwrap();
    let of_bytes = api::issuer(Some(&key), None, None, r#"{"format":"jws"}"#).unwrap();
    assert_eq!(
        api::issue_bytes(&of_claims, b"x").unwrap_err().code,
        "INVALID_OPTION"
    );
    assert_eq!(
        api::issue(&of_bytes, "{}").unwrap_err().code,
        "INVALID_OPTION"
    );
    let token = api::issue(&of_claims, "{}").unwrap();
    let of_claims = api::verifier(keys(), POLICY).unwrap();
    let of_bytes = api::verifier(keys(), r#"{"format":"jws"}"#).unwrap();
    assert_eq!(
        api::verify_bytes(&of_claims, token.as_bytes(), None)
            .unwrap_err()
            .code,
        "INVALID_OPTION"
    );
    assert_eq!(
        api::verify(&of_bytes, token.as_bytes()).unwrap_err().code,
        "INVALID_OPTION"
    );
}
