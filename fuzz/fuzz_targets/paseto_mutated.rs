//! Valid PASETOs of every version with changed, removed, inserted or exchanged parts: rejected.
#![no_main]

use std::sync::LazyLock;

use jeton::danger::{paseto_v1::V1, paseto_v2::V2};
use jeton::paseto::{TokenContext, Version, v3::V3, v4::V4};
use jeton_fuzz::keys::{self, Paseto};
use jeton_fuzz::mutation::{Bytes, mutate};
use jeton_fuzz::seeds;
use libfuzzer_sys::fuzz_target;

/// Two tokens of one key, and whether the key accepts a text.
struct Case {
    tokens: [String; 2],
    is_open: Box<dyn Fn(&str) -> bool + Send + Sync>,
}

static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| {
    let mut all = Vec::new();
    cases::<V1>(&mut all);
    cases::<V2>(&mut all);
    cases::<V3>(&mut all);
    cases::<V4>(&mut all);
    all
});

fn cases<V: Version>(all: &mut Vec<Case>) {
    for footer in ["", "footer"] {
        let Paseto { local, secret, .. } = keys::paseto::<V>();
        let public = secret.public_key();
        let context = || TokenContext::new().footer(footer);
        let messages = [&b"message"[..], b"another"];
        all.push(Case {
            tokens: messages.map(|message| local.encrypt(message, context()).expect("encrypts")),
            is_open: Box::new(move |token| local.decrypt(token, b"").is_ok()),
        });
        all.push(Case {
            tokens: messages.map(|message| secret.sign(message, context()).expect("signs")),
            is_open: Box::new(move |token| public.verify(token, b"").is_ok()),
        });
    }
}

fuzz_target!(
    init: seeds::write(|| seeds::numbers(2 * CASES.len())),
    |data: &[u8]| {
        let mut bytes = Bytes(data);
        let case = &CASES[bytes.below(CASES.len())];
        let [token, other] = &case.tokens;
        let changed = mutate(token, other, &mut bytes);
        let is_own = changed == *token || changed == *other;
        assert_eq!((case.is_open)(&changed), is_own, "{changed}");
    }
);
