//! PASERK has one encoding: what is read is written back byte for byte.
#![no_main]

use jeton::paserk::Id;
use jeton::paseto::v4::{LocalKey, PublicKey, SecretKey};
use jeton_fuzz::seeds;
use libfuzzer_sys::fuzz_target;

fuzz_target!(init: seeds::plant(|| seeds::from_vectors(|found| found.starts_with("k"))), |text: &str| {
    if let Ok(key) = LocalKey::from_paserk(text) {
        assert_eq!(*key.to_paserk(), text);
    }
    if let Ok(key) = PublicKey::from_paserk(text) {
        assert_eq!(key.to_paserk(), text);
    }
    if let Ok(key) = SecretKey::from_paserk(text) {
        assert_eq!(
            *key.to_paserk().expect("a key that was read is written"),
            text
        );
    }
    if let Ok(id) = text.parse::<Id>() {
        assert_eq!(id.to_string(), text);
    }
});
