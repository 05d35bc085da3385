//! PASERK is canonical: reading and writing returns the same text, in every version.
#![no_main]

use jeton::danger::{paseto_v1::V1, paseto_v2::V2};
use jeton::paserk::{Id, Paserk, PaserkWrappingKey};
use jeton::paseto::{LocalKey, PublicKey, SecretKey, Version, v3::V3, v4::V4};
use jeton_fuzz::{keys, seeds};
use libfuzzer_sys::fuzz_target;

fn same<V: Version>(text: &str) {
    if let Ok(key) = LocalKey::<V>::from_paserk(text) {
        assert_eq!(*key.to_paserk(), text);
        assert!(PaserkWrappingKey::<V>::from_paserk(text).is_ok());
    }
    if let Ok(key) = PublicKey::<V>::from_paserk(text) {
        assert_eq!(key.to_paserk(), text);
        assert!(key.id().to_string().starts_with("k"));
    }
    if let Ok(key) = SecretKey::<V>::from_paserk(text) {
        let written = key.to_paserk().expect("a key that was read is written");
        assert_eq!(*written, text);
        let public = key.public_key().to_paserk();
        assert!(PublicKey::<V>::from_paserk(&public).is_ok());
    }
}

fn texts<V: Version>(all: &mut Vec<String>) {
    let keys = keys::paseto::<V>();
    all.push(keys.local.to_paserk().to_string());
    all.push(keys.secret.to_paserk().expect("written").to_string());
    all.push(keys.secret.public_key().to_paserk());
}

fuzz_target!(
    init: seeds::write(|| {
        let mut all = seeds::from_vectors(|found| {
            (1..=4).any(|version| found.starts_with(&format!("k{version}.")))
        });
        texts::<V1>(&mut all);
        texts::<V2>(&mut all);
        texts::<V3>(&mut all);
        texts::<V4>(&mut all);
        all
    }),
    |text: &str| {
        same::<V1>(text);
        same::<V2>(text);
        same::<V3>(text);
        same::<V4>(text);
        if let Ok(paserk) = Paserk::parse(text) {
            assert_eq!(*paserk.to_text(), text);
        }
        if let Ok(id) = text.parse::<Id>() {
            assert_eq!(id.to_string(), text);
        }
    }
);
