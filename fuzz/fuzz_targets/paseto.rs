//! PASETOs of every version for fixed keys: only tokens of the keys are accepted.
#![no_main]

use std::sync::LazyLock;

use jeton::danger::{paseto_v1::V1, paseto_v2::V2};
use jeton::paseto::{Message, TokenContext, Version, v3::V3, v4::V4};
use jeton_fuzz::keys::{self, Paseto};
use jeton_fuzz::{bounded, seeds};
use libfuzzer_sys::fuzz_target;

type Open = Box<dyn Fn(&str, &[u8]) -> jeton::Result<Message> + Send + Sync>;

/// The only message of the tokens of these keys.
const MESSAGE: &[u8] = b"message";

static OPEN: LazyLock<Vec<Open>> = LazyLock::new(|| {
    let mut all = Vec::new();
    all.extend(open::<V1>());
    all.extend(open::<V2>());
    all.extend(open::<V3>());
    all.extend(open::<V4>());
    all
});

fn open<V: Version>() -> [Open; 2] {
    let Paseto { local, secret, .. } = keys::paseto::<V>();
    let public = secret.public_key();
    [
        Box::new(move |token, implicit| local.decrypt(token, implicit)),
        Box::new(move |token, implicit| public.verify(token, implicit)),
    ]
}

fn tokens<V: Version>(all: &mut Vec<String>) {
    let Paseto { local, secret, .. } = keys::paseto::<V>();
    for footer in ["", "footer"] {
        let context = || TokenContext::new().footer(footer);
        all.push(local.encrypt(MESSAGE, context()).expect("encrypts"));
        all.push(secret.sign(MESSAGE, context()).expect("signs"));
        // Versions 1 and 2 have no implicit assertions.
        if let Ok(token) = secret.sign(MESSAGE, context().implicit_assertion("implicit")) {
            all.push(format!("{token}\0implicit"));
        }
    }
}

fuzz_target!(
    init: seeds::write(|| {
        let mut all = seeds::from_vectors(|found| {
            (1..=4).any(|version| found.starts_with(&format!("v{version}.")))
        });
        tokens::<V1>(&mut all);
        tokens::<V2>(&mut all);
        tokens::<V3>(&mut all);
        tokens::<V4>(&mut all);
        all
    }),
    |text: &str| {
        let (token, implicit) = text.split_once('\0').unwrap_or((text, ""));
        for open in OPEN.iter() {
            if let Ok(opened) = bounded(text.len(), || open(token, implicit.as_bytes())) {
                assert_eq!(opened.message(), MESSAGE);
            }
        }
    }
);
