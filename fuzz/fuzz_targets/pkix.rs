//! PEM and DER: no panic, and a key that is written and read again is the same key.
#![no_main]

use jeton::key::{SigAlg, SigningKey, VerifyingKey};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let alg = SigAlg::RS256;
    let publics = [
        VerifyingKey::from_der(data),
        VerifyingKey::from_der_as(data, alg),
    ];
    for key in publics.into_iter().flatten() {
        same_public(&key);
    }
    let privates = [
        SigningKey::from_der(data),
        SigningKey::from_der_as(data, alg),
    ];
    for key in privates.into_iter().flatten() {
        same_private(&key);
    }
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let _ = jeton::danger::weak_rsa_key_from_pem(text, alg);
    let publics = [
        VerifyingKey::from_pem(text),
        VerifyingKey::from_pem_as(text, alg),
    ];
    for key in publics.into_iter().flatten() {
        same_public(&key);
    }
    let privates = [
        SigningKey::from_pem(text),
        SigningKey::from_pem_as(text, alg),
    ];
    for key in privates.into_iter().flatten() {
        same_private(&key);
    }
});

fn same_public(key: &VerifyingKey) {
    let der = key.to_der().expect("a key that was read is written");
    let again = VerifyingKey::from_der_as(&der, key.alg()).expect("reads what it writes");
    assert_eq!(again.to_der().expect("as before"), der);
    assert_eq!(again.thumbprint(), key.thumbprint());
}

fn same_private(key: &SigningKey) {
    let der = key.to_der().expect("a key that was read is written");
    let again = SigningKey::from_der_as(&der, key.alg()).expect("reads what it writes");
    assert_eq!(
        again.to_jwk().expect("as before"),
        key.to_jwk().expect("as before")
    );
}
