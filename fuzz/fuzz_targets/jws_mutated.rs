//! Valid tokens of every algorithm with changed, removed, inserted or exchanged parts: rejected.
#![no_main]

use std::sync::LazyLock;

use jeton::jws::{JwsSigner, JwsVerifier};
use jeton_fuzz::keys::{self, Signing};
use jeton_fuzz::mutation::{Bytes, mutate};
use jeton_fuzz::seeds;
use libfuzzer_sys::fuzz_target;

/// A verifier, and tokens that it accepts: compact, unencoded, flattened.
struct Case {
    verifier: JwsVerifier,
    tokens: [[String; 3]; 2],
}

const PAYLOADS: [&[u8]; 2] = [b"signed", b"so was this"];

static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| {
    let case = |key: &Signing| Case {
        verifier: key.verifier(),
        tokens: PAYLOADS.map(|payload| {
            let signer = || JwsSigner::new(key.as_ref());
            [
                signer().sign(payload).expect("signs"),
                signer().unencoded().sign(payload).expect("signs"),
                signer().sign_flattened(payload).expect("signs"),
            ]
        }),
    };
    keys::signing().iter().map(case).collect()
});

fuzz_target!(
    init: seeds::write(|| seeds::numbers(2 * 18 * 3)),
    |data: &[u8]| {
        let mut bytes = Bytes(data);
        let case = &CASES[bytes.below(CASES.len())];
        let form = bytes.byte() % 3;
        let [token, other] = [0, 1].map(|payload| &case.tokens[payload][form]);
        let changed = mutate(token, other, &mut bytes);
        let is_own = changed == *token || changed == *other;
        if form < 2 {
            // An attacker can have the two original tokens; only these are accepted.
            assert_eq!(case.verifier.verify(&changed).is_ok(), is_own, "{changed}");
        }
        // White space and ignored members of a JSON token may change; the payload may not.
        if let Ok(verified) = case.verifier.verify_json(&changed) {
            assert!(PAYLOADS.contains(&verified.payload()), "{changed}");
        }
    }
);
