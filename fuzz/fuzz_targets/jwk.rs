//! JWK and JWK Sets: no panic, and a key that is written and read again is the same key.
#![no_main]

use jeton::jwk::KeySet;
use jeton::key::{Alg, MacAlg, MacKey, SigAlg, SigningKey, VerifyingKey};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let _ = KeySet::from_json(text);
    for alg in [Alg::Mac(MacAlg::HS256), Alg::Sig(SigAlg::RS256)] {
        let _ = KeySet::from_json_as(text, alg);
    }
    for alg in MacAlg::ALL {
        let _ = MacKey::from_jwk_as(text, alg);
        let _ = jeton::danger::weak_mac_key_from_jwk(text, alg);
    }
    if let Ok(key) = MacKey::from_jwk(text) {
        let again = MacKey::from_jwk(&key.to_jwk()).expect("reads what it writes");
        assert_eq!(again.to_jwk(), key.to_jwk());
    }
    let _ = jeton::danger::weak_rsa_key_from_jwk(text, SigAlg::RS256);
    if let Ok(key) =
        VerifyingKey::from_jwk_as(text, SigAlg::PS256).or_else(|_| VerifyingKey::from_jwk(text))
    {
        let again = VerifyingKey::from_jwk(&key.to_jwk()).expect("reads what it writes");
        assert_eq!(again.to_jwk(), key.to_jwk());
        assert_eq!(again.thumbprint(), key.thumbprint());
    }
    if let Ok(key) =
        SigningKey::from_jwk_as(text, SigAlg::PS256).or_else(|_| SigningKey::from_jwk(text))
    {
        let written = key.to_jwk().expect("a key that was read is written");
        let again = SigningKey::from_jwk(&written).expect("reads what it writes");
        assert_eq!(again.to_jwk().expect("as before"), written);
    }
});
