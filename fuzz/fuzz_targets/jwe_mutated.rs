//! Valid JWEs of every algorithm and curve with changed, removed, inserted or exchanged parts: rejected.
#![no_main]

use std::sync::LazyLock;

use jeton::jwe::{Decrypter, Encrypter};
use jeton::key::ContentEnc;
use jeton_fuzz::keys;
use jeton_fuzz::mutation::{Bytes, mutate};
use jeton_fuzz::seeds;
use libfuzzer_sys::fuzz_target;

/// A decrypter, and tokens that it decrypts: compact, flattened.
struct Case {
    decrypter: Decrypter,
    tokens: [[String; 2]; 2],
}

const PLAINTEXTS: [&[u8]; 2] = [b"secret", b"another secret"];

static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| {
    let mut cases = Vec::new();
    for key in keys::decrypting() {
        for &enc in ContentEnc::ALL {
            if key.enc().is_some_and(|only| only != enc) {
                continue;
            }
            let encrypter = Encrypter::new(key.as_ref(), enc);
            cases.push(Case {
                decrypter: Decrypter::new(key.keys()),
                tokens: PLAINTEXTS.map(|plaintext| {
                    [
                        encrypter.encrypt(plaintext).expect("encrypts"),
                        encrypter.encrypt_flattened(plaintext).expect("encrypts"),
                    ]
                }),
            });
        }
    }
    cases
});

fuzz_target!(
    init: seeds::write(|| seeds::numbers(CASES.len() * 2)),
    |data: &[u8]| {
        let mut bytes = Bytes(data);
        let case = &CASES[bytes.below(CASES.len())];
        let form = bytes.byte() % 2;
        let [token, other] = [0, 1].map(|plaintext| &case.tokens[plaintext][form]);
        let changed = mutate(token, other, &mut bytes);
        if form == 0 {
            let is_own = changed == *token || changed == *other;
            assert_eq!(case.decrypter.decrypt(&changed).is_ok(), is_own, "{changed}");
        }
        // White space and ignored members of a JSON token may change; the content may not.
        if let Ok(decrypted) = case.decrypter.decrypt_json(&changed) {
            assert!(PLAINTEXTS.contains(&decrypted.plaintext()), "{changed}");
        }
    }
);
