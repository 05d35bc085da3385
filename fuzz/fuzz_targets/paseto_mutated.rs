//! Valid PASETOs with parts changed, cut out, put in and exchanged: refused.
#![no_main]

use std::sync::LazyLock;

use jeton::paseto::Binding;
use jeton::paseto::v4::{LocalKey, SecretKey};
use jeton_fuzz::mutation::{Bytes, mutate};
use jeton_fuzz::seeds;
use libfuzzer_sys::fuzz_target;

static LOCAL: LazyLock<LocalKey> = LazyLock::new(|| LocalKey::generate().expect("a key"));
static SECRET: LazyLock<SecretKey> = LazyLock::new(|| SecretKey::generate().expect("a key"));

/// Local and public, with and without a footer; two of each.
static TOKENS: LazyLock<[[String; 2]; 4]> = LazyLock::new(|| {
    let local = |footer: &'static str| {
        [b"message", b"another"].map(|message| {
            let binding = Binding::new().footer(footer);
            LOCAL.encrypt(message, binding).expect("encrypts")
        })
    };
    let public = |footer: &'static str| {
        [b"message", b"another"].map(|message| {
            let binding = Binding::new().footer(footer);
            SECRET.sign(message, binding).expect("signs")
        })
    };
    [local(""), local("footer"), public(""), public("footer")]
});

fuzz_target!(
    init: seeds::plant(|| seeds::numbers(8)),
    |data: &[u8]| {
        let mut bytes = Bytes(data);
        let index = bytes.below(TOKENS.len());
        let [token, other] = &TOKENS[index];
        let changed = mutate(token, other, &mut bytes);
        let is_open = match index {
            0 | 1 => LOCAL.decrypt(&changed, b"").is_ok(),
            _ => SECRET.public_key().verify(&changed, b"").is_ok(),
        };
        assert_eq!(is_open, changed == *token || changed == *other, "{changed}");
    }
);
