//! PASETO v4 under fixed keys: nothing is opened but what the keys have made.
#![no_main]

use std::sync::LazyLock;

use jeton::paseto::Binding;
use jeton::paseto::v4::{LocalKey, PublicKey, SecretKey};
use jeton_fuzz::seeds;
use libfuzzer_sys::fuzz_target;

static LOCAL: LazyLock<LocalKey> = LazyLock::new(|| {
    LocalKey::from_paserk("k4.local.cHFyc3R1dnd4eXp7fH1-f4CBgoOEhYaHiImKi4yNjo8").expect("a key")
});
static SECRET: LazyLock<SecretKey> = LazyLock::new(|| {
    let text = "k4.secret.cHFyc3R1dnd4eXp7fH1-f4CBgoOEhYaHiImKi4yNjo8c5WpIyC_5kWKhS8VEYSZ05dYfuTF-ZdQFV4D9vLTcNQ";
    SecretKey::from_paserk(text).expect("a key")
});
static PUBLIC: LazyLock<PublicKey> = LazyLock::new(|| SECRET.public_key());

fuzz_target!(
    init: seeds::plant(|| {
        // Those of the vectors are under other keys, or this one with other messages.
        let mut all = seeds::from_vectors(|found| {
            found.starts_with("v4.local.") || found.starts_with("v4.public.")
        });
        for footer in ["", "footer"] {
            let binding = || Binding::new().footer(footer);
            all.push(LOCAL.encrypt(b"message", binding()).expect("encrypts"));
            all.push(SECRET.sign(b"message", binding()).expect("signs"));
            let bound = SECRET.sign(b"message", binding().implicit_assertion("implicit"));
            all.push(format!("{}\0implicit", bound.expect("signs")));
        }
        all
    }),
    |text: &str| {
        let (token, implicit) = text.split_once('\0').unwrap_or((text, ""));
        for opened in [
            LOCAL.decrypt(token, implicit.as_bytes()),
            PUBLIC.verify(token, implicit.as_bytes()),
        ]
        .into_iter()
        .flatten()
        {
            // The keys are those of the official vectors, whose messages are JSON.
            assert!(opened.message() == b"message" || opened.message().starts_with(b"{\"data\":"));
        }
    }
);
