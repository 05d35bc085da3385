//! JWS in JSON under a fixed key: what is accepted has the payload that was signed, however the
//! document around it is written.
#![no_main]

use std::sync::LazyLock;

use jeton::jws::Verifier;
use jeton::key::{MacAlg, MacKey};
use libfuzzer_sys::fuzz_target;

static VERIFIER: LazyLock<Verifier> =
    LazyLock::new(|| Verifier::new(MacKey::new(MacAlg::HS256, &[7; 32]).expect("a key")));

fuzz_target!(|text: &str| {
    // The key has signed nothing else: see `jws_mutated` and the corpus.
    if let Ok(verified) = VERIFIER.verify_json(text) {
        assert_eq!(verified.payload(), b"signed");
    }
    let (document, content) = text.split_once('\0').unwrap_or((text, ""));
    if VERIFIER
        .verify_json_detached(document, content.as_bytes())
        .is_ok()
    {
        assert_eq!(content, "signed");
    }
});
