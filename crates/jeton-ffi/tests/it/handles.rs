//! Handles: counts, kinds, threads.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

use jeton_ffi::*;

use crate::api::{self, Keys, Owned};

const ISSUER: &str = r#"{"issuer":"i","audience":"a","lifetime":900}"#;
const POLICY: &str = r#"{"issuer":"i","audience":"a"}"#;

#[test]
fn verifier_lives_without_its_keys_and_references() {
    let key = api::generate("ES256", "{}").unwrap();
    let issuer = api::issuer(Some(&key), None, None, ISSUER).unwrap();
    let keys = Keys {
        key: Some(&key),
        ..Keys::default()
    };
    let verifier = api::verifier(keys, POLICY).unwrap();
    drop(key);
    // SAFETY: the handle has a reference.
    let retained = unsafe { jeton_retain(issuer.0.cast::<c_void>(), ptr::null_mut()) };
    assert_eq!(retained, 0);
    let again = Owned(issuer.0);
    drop(issuer);
    let token = api::issue(&again, "{}").unwrap();
    api::verify(&verifier, token.as_bytes()).unwrap();
}

#[test]
fn handle_of_another_kind_is_an_error() {
    let key = api::generate("HS256", "{}").unwrap();
    let issuer = api::issuer(Some(&key), None, None, ISSUER).unwrap();
    let wrong = Owned(key.0.cast::<JetonIssuer>());
    assert_eq!(
        api::issue(&wrong, "{}").unwrap_err().code,
        "ARGUMENT_HANDLE"
    );
    std::mem::forget(wrong);
    let wrong = Owned(issuer.0.cast::<JetonKey>());
    assert_eq!(
        api::export(&wrong, "alg").unwrap_err().code,
        "ARGUMENT_HANDLE"
    );
    std::mem::forget(wrong);
    // Memory that is not a handle.
    let zeros = [0_u64; 8];
    // SAFETY: it is readable memory without a valid kind.
    let failure = api::call(|reason| unsafe { jeton_release(zeros.as_ptr().cast(), reason) });
    assert_eq!(failure.unwrap_err().code, "ARGUMENT_HANDLE");
}

/// Only with the feature `checking`: without it, this is undefined.
#[cfg(feature = "checking")]
#[test]
fn released_handle_is_an_error() {
    let key = api::generate("ES256", "{}").unwrap();
    let issuer = api::issuer(Some(&key), None, None, ISSUER).unwrap();
    let released = issuer.0;
    drop(issuer);
    let released = std::mem::ManuallyDrop::new(Owned(released));
    assert_eq!(
        api::issue(&released, "{}").unwrap_err().code,
        "ARGUMENT_HANDLE"
    );
    for function in [jeton_retain, jeton_release] {
        // SAFETY: the memory of a released handle is kept.
        let failure = api::call(|reason| unsafe { function(released.0.cast(), reason) });
        assert_eq!(failure.unwrap_err().code, "ARGUMENT_HANDLE");
    }
}

/// With the feature `checking`, a thread may release a handle that others use.
#[cfg(feature = "checking")]
#[test]
fn handle_released_while_in_use_is_no_crash() {
    for _ in 0..50 {
        let key = api::generate("HS256", "{}").unwrap();
        let issuer =
            std::mem::ManuallyDrop::new(api::issuer(Some(&key), None, None, ISSUER).unwrap());
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| while api::issue(&issuer, "{}").is_ok() {});
            }
            // SAFETY: the one reference is given up once.
            let released = unsafe { jeton_release(issuer.0.cast(), ptr::null_mut()) };
            assert_eq!(released, 0);
        });
    }
}

#[test]
fn handles_are_used_from_64_threads() {
    let key = api::generate("EdDSA", "{}").unwrap();
    let issuer = api::issuer(Some(&key), None, None, ISSUER).unwrap();
    let keys = Keys {
        key: Some(&key),
        ..Keys::default()
    };
    let options = POLICY.replacen('{', r#"{"cache":64,"#, 1);
    let verifier = api::verifier(keys, &options).unwrap();
    let verified = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for thread in 0..64 {
            let (issuer, verifier, verified) = (&issuer, &verifier, &verified);
            scope.spawn(move || {
                for round in 0..20 {
                    let token = api::issue(issuer, &format!(r#"{{"n":{}}}"#, thread * 100 + round))
                        .unwrap();
                    let claims = api::verify(verifier, token.as_bytes()).unwrap();
                    assert!(
                        claims
                            .json()
                            .contains(&format!(r#""n":{}}}"#, thread * 100 + round))
                    );
                    // Each thread counts references, too.
                    // SAFETY: the handle lives.
                    unsafe {
                        assert_eq!(jeton_retain(issuer.0.cast(), ptr::null_mut()), 0);
                        assert_eq!(jeton_release(issuer.0.cast(), ptr::null_mut()), 0);
                    }
                    verified.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(verified.into_inner(), 64 * 20);
}
