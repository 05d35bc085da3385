//! JSON JWS for fixed keys of every algorithm, with unprotected `alg` allowed: an accepted document has the signed
//! payload.
#![no_main]

use std::sync::LazyLock;

use jeton::danger;
use jeton::jws::{GeneralJws, JwsSigner, JwsVerifier};
use jeton_fuzz::{bounded, keys, seeds};
use libfuzzer_sys::fuzz_target;

static VERIFIERS: LazyLock<Vec<JwsVerifier>> = LazyLock::new(|| {
    keys::signing()
        .iter()
        .map(|key| danger::allow_unprotected_alg(key.verifier()))
        .collect()
});

fuzz_target!(
    init: seeds::write(|| {
        let is_jws = |found: &seeds::Found| {
            found.has("payload") && (found.has("signature") || found.has("signatures"))
        };
        let mut all = seeds::from_vectors(is_jws);
        let mut general = GeneralJws::new();
        let keys = keys::signing();
        for (index, key) in keys.iter().enumerate() {
            let signer = || JwsSigner::new(key.as_ref());
            all.push(signer().sign_flattened(b"signed").expect("signs"));
            let detached = signer().sign_flattened_detached(b"signed");
            all.push(format!("{}\0signed", detached.expect("signs")));
            if index % 4 == 0 {
                general = general.signer(signer());
            }
        }
        all.push(general.sign(b"signed").expect("signs"));
        all
    }),
    |text: &str| {
        let (document, content) = text.split_once('\0').unwrap_or((text, ""));
        for verifier in VERIFIERS.iter() {
            if let Ok(verified) = bounded(text.len(), || verifier.verify_json(text)) {
                assert_eq!(verified.payload(), b"signed");
            }
            if verifier
                .verify_json_detached(document, content.as_bytes())
                .is_ok()
            {
                assert_eq!(content, "signed");
            }
        }
    }
);
