//! PEM and DER: no panic, and a key is the same after writing and reading.
#![no_main]

use jeton::key::{
    AnyKey, DecryptionKey, EncryptionKey, KeyManagementAlg, SigAlg, SigningKey, VerifyingKey,
};
use jeton_fuzz::keys::{self, Signing};
use jeton_fuzz::seeds;
use libfuzzer_sys::fuzz_target;

fuzz_target!(init: seeds::write(first), |data: &[u8]| {
    let alg = SigAlg::RS256;
    let publics = [
        VerifyingKey::from_der(data),
        VerifyingKey::from_der_as(data, alg),
    ];
    for key in publics.into_iter().flatten() {
        same_public(&key);
    }
    // The key of a certificate, which nothing checks.
    if let Ok(key) = AnyKey::from_certificate(data)
        && let Ok(key) = key.verifying(alg)
    {
        same_public(&key);
    }
    let privates = [
        SigningKey::from_der(data),
        SigningKey::from_der_as(data, alg),
    ];
    for key in privates.into_iter().flatten() {
        same_private(&key);
    }
    for alg in [KeyManagementAlg::RsaOaep, KeyManagementAlg::EcdhEs] {
        if let Ok(key) = EncryptionKey::from_der_as(data, alg) {
            let der = key.to_der().expect("a key that was read is written");
            let again = EncryptionKey::from_der_as(&der, alg).expect("reads what it writes");
            assert_eq!(again.to_der().expect("as before"), der);
        }
        if let Ok(key) = DecryptionKey::from_der_as(data, alg) {
            let der = key.to_der().expect("a key that was read is written");
            let again = DecryptionKey::from_der_as(&der, alg).expect("reads what it writes");
            assert_eq!(
                again.to_jwk().expect("as before"),
                key.to_jwk().expect("as before")
            );
        }
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

/// Every key as DER and PEM, private and public.
fn first() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for key in keys::signing() {
        let Signing::Pair(key) = key else { continue };
        all.push(key.to_der().expect("written").to_vec());
        all.push(key.to_pem().expect("written").as_bytes().to_vec());
        let public = key.verifying_key();
        all.push(public.to_der().expect("written"));
        all.push(public.to_pem().expect("written").into_bytes());
    }
    all.extend(
        seeds::from_vectors(|found| found.starts_with("-----BEGIN"))
            .into_iter()
            .map(String::into_bytes),
    );
    all
}

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
