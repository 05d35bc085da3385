//! Valid tokens of every kind of key with bytes changed, cut out or put in: refused.
#![no_main]

use std::sync::LazyLock;

use jeton::jws::{Signer, Verifier};
use jeton::key::{MacAlg, MacKey, SigAlg, SigningKey};
use libfuzzer_sys::fuzz_target;

/// A verifier, and tokens that it accepts: compact, unencoded, flattened.
struct Case {
    verifier: Verifier,
    tokens: [String; 3],
}

static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| {
    let tokens = |signer: &dyn Fn() -> Signer<'static>| {
        [
            signer().sign(b"signed").expect("signs"),
            signer().unencoded().sign(b"signed").expect("signs"),
            signer().sign_flattened(b"signed").expect("signs"),
        ]
    };
    let mac: &'static MacKey = Box::leak(Box::new(
        MacKey::new(MacAlg::HS256, &[7; 32]).expect("a key"),
    ));
    let mut cases = vec![Case {
        verifier: Verifier::new(mac),
        tokens: tokens(&|| Signer::new(mac)),
    }];
    for alg in [
        SigAlg::ES256,
        SigAlg::EdDSA,
        SigAlg::RS256,
        SigAlg::ES256K,
        SigAlg::MlDsa44,
    ] {
        let key: &'static SigningKey =
            Box::leak(Box::new(SigningKey::generate(alg).expect("a key")));
        cases.push(Case {
            verifier: Verifier::new(key.verifying_key()),
            tokens: tokens(&|| Signer::new(key)),
        });
    }
    cases
});

fuzz_target!(|data: &[u8]| {
    let [case, form, cut, high, low, put @ ..] = data else {
        return;
    };
    let case = &CASES[usize::from(*case) % CASES.len()];
    let form = usize::from(*form) % 3;
    let token = &case.tokens[form];
    let at = (usize::from(*high) << 8 | usize::from(*low)) % (token.len() + 1);
    let end = (at + usize::from(*cut)).min(token.len());
    let mut changed = token.clone().into_bytes();
    changed.splice(at..end, put.iter().copied());
    let Ok(changed) = String::from_utf8(changed) else {
        return;
    };
    if changed == *token {
        assert!(form == 2 || case.verifier.verify(token).is_ok());
        return;
    }
    assert!(form == 2 || case.verifier.verify(&changed).is_err());
    // Space and members that nobody reads may change around a JSON token; the payload may not.
    if let Ok(verified) = case.verifier.verify_json(&changed) {
        assert_eq!(verified.payload(), b"signed");
    }
});
