//! JWK and JWK Sets: no panic, and a key is the same after writing and reading.
#![no_main]

use jeton::danger::Password;
use jeton::jwk::KeySet;
use jeton::key::{
    Alg, ContentEnc, ContentKey, DecryptionKey, DecryptionKeys, EncryptionKey, KeyManagementAlg,
    KeyWrapAlg, MacAlg, MacKey, SigAlg, SigningKey, VerifyingKey, WrappingKey,
};
use jeton_fuzz::{keys, seeds};
use libfuzzer_sys::fuzz_target;

fuzz_target!(
    init: seeds::write(|| {
        let mut all = seeds::from_vectors(|found| found.has("kty") || found.has("keys"));
        all.extend(["RSA", "EC", "OKP", "AKP"].map(|kty| keys::jwk(kty, "")));
        all
    }),
    |text: &str| {
        sets(text);
        mac(text);
        verifying(text);
        signing(text);
        encrypting(text);
        decrypting(text);
        shared(text);
    }
);

fn sets(text: &str) {
    let _ = KeySet::from_json(text);
    for alg in [Alg::Mac(MacAlg::HS256), Alg::Sig(SigAlg::RS256)] {
        let _ = KeySet::from_json_as(text, alg);
    }
    if let Ok(keys) = DecryptionKeys::from_jwk_set(text) {
        assert!(!keys.is_empty());
    }
}

fn mac(text: &str) {
    for &alg in MacAlg::ALL {
        let _ = MacKey::from_jwk_as(text, alg);
        let _ = jeton::danger::weak_mac_key_from_jwk(text, alg);
    }
    if let Ok(key) = MacKey::from_jwk(text) {
        let again = MacKey::from_jwk(&key.to_jwk()).expect("reads what it writes");
        assert_eq!(again.to_jwk(), key.to_jwk());
        assert_eq!(again.thumbprint(), key.thumbprint());
    }
}

fn verifying(text: &str) {
    let _ = jeton::danger::weak_rsa_key_from_jwk(text, SigAlg::RS256);
    if let Ok(key) =
        VerifyingKey::from_jwk_as(text, SigAlg::PS256).or_else(|_| VerifyingKey::from_jwk(text))
    {
        let again = VerifyingKey::from_jwk(&key.to_jwk()).expect("reads what it writes");
        assert_eq!(again.to_jwk(), key.to_jwk());
        assert_eq!(again.thumbprint(), key.thumbprint());
    }
}

fn signing(text: &str) {
    if let Ok(key) =
        SigningKey::from_jwk_as(text, SigAlg::PS256).or_else(|_| SigningKey::from_jwk(text))
    {
        let written = key.to_jwk().expect("a key that was read is written");
        let again = SigningKey::from_jwk(&written).expect("reads what it writes");
        assert_eq!(again.to_jwk().expect("as before"), written);
        assert_eq!(
            again.verifying_key().thumbprint(),
            key.verifying_key().thumbprint()
        );
    }
}

fn encrypting(text: &str) {
    for alg in [KeyManagementAlg::RsaOaep, KeyManagementAlg::EcdhEs] {
        if let Ok(key) = EncryptionKey::from_jwk_as(text, alg) {
            let again = EncryptionKey::from_jwk(&key.to_jwk()).expect("reads what it writes");
            assert_eq!(again.to_jwk(), key.to_jwk());
            assert_eq!(again.thumbprint(), key.thumbprint());
        }
    }
}

fn decrypting(text: &str) {
    for alg in [KeyManagementAlg::RsaOaep, KeyManagementAlg::EcdhEs] {
        if let Ok(key) = DecryptionKey::from_jwk_as(text, alg) {
            let written = key.to_jwk().expect("a key that was read is written");
            let again = DecryptionKey::from_jwk(&written).expect("reads what it writes");
            assert_eq!(again.to_jwk().expect("as before"), written);
        }
    }
}

fn shared(text: &str) {
    if let Ok(key) = WrappingKey::from_jwk_as(text, KeyWrapAlg::A128Kw) {
        let again = WrappingKey::from_jwk(&key.to_jwk()).expect("reads what it writes");
        assert_eq!(again.to_jwk(), key.to_jwk());
    }
    if let Ok(key) = ContentKey::from_jwk_as(text, ContentEnc::A256Gcm) {
        let again = ContentKey::from_jwk(&key.to_jwk()).expect("reads what it writes");
        assert_eq!(again.to_jwk(), key.to_jwk());
    }
    let _ = Password::from_jwk(text);
}
