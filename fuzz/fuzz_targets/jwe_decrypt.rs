//! Compact and JSON JWE for fixed keys of every algorithm and curve, with compression and unprotected `enc`
//! allowed: no panic, limited memory, and only content encrypted to the keys is decrypted.
#![no_main]

use std::sync::LazyLock;

use jeton::danger;
use jeton::jwe::{Decrypter, Encrypter};
use jeton::key::ContentEnc;
use jeton_fuzz::{bounded, keys, seeds};
use libfuzzer_sys::fuzz_target;

static DECRYPTERS: LazyLock<Vec<Decrypter>> = LazyLock::new(|| {
    let decrypter = |key: &keys::Decrypting| {
        danger::allow_unprotected_enc(danger::allow_zip(Decrypter::new(key.keys())))
    };
    keys::decrypting().iter().map(decrypter).collect()
});

fuzz_target!(
    init: seeds::write(|| {
        let mut all = seeds::from_vectors(|found| found.is_compact(5) || found.has("ciphertext"));
        for (index, key) in keys::decrypting().iter().enumerate() {
            let enc = key.enc().unwrap_or(ContentEnc::ALL[index % ContentEnc::ALL.len()]);
            let encrypter = || Encrypter::new(key.as_ref(), enc);
            all.push(encrypter().encrypt(b"secret").expect("encrypts"));
            all.push(danger::compress(encrypter()).encrypt(b"secret").expect("encrypts"));
            let flattened = encrypter().aad(b"aad").encrypt_flattened(b"secret");
            all.push(flattened.expect("encrypts"));
            all.push(encrypter().encrypt_general(b"secret").expect("encrypts"));
        }
        all
    }),
    |text: &str| {
        for decrypter in DECRYPTERS.iter() {
            let compact = bounded(text.len(), || decrypter.decrypt(text));
            let json = bounded(text.len(), || decrypter.decrypt_json(text));
            for decrypted in [compact, json].into_iter().flatten() {
                assert_eq!(decrypted.plaintext(), b"secret");
            }
        }
    }
);
