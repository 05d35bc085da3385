//! Remote keys in memory, which a test makes unavailable.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex};

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair};
use jeton::key::{SigAlg, SigningKey, VerifyingKey};
use jeton::remote::{Signature, SigningInput};
use jeton_issuer::{KeyKind, NamedKey, RemoteKeys};

/// Why it does not sign.
pub(crate) const GONE: &str = "CKR_DEVICE_REMOVED";

/// An HSM with ES256 keys. Clones are the same.
#[derive(Clone, Default)]
pub(crate) struct FakeHsm(Arc<Inner>);

#[derive(Default)]
struct Inner {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    keys: HashMap<String, SigningKey>,
    /// The label that the configuration names for each issuer.
    named: HashMap<String, String>,
    is_gone: bool,
    is_slow: bool,
    signing: usize,
    signatures: usize,
}

impl FakeHsm {
    /// Generates a key with this label, and names it for the issuer's ES256 tokens.
    pub(crate) fn name(&self, iss: &str, label: &str) {
        let mut state = self.0.state.lock().unwrap();
        let key = || SigningKey::generate(SigAlg::ES256).unwrap();
        state.keys.entry(label.to_owned()).or_insert_with(key);
        state.named.insert(iss.to_owned(), label.to_owned());
    }

    /// Removes the HSM, or brings it back.
    pub(crate) fn set_gone(&self, is_gone: bool) {
        self.0.state.lock().unwrap().is_gone = is_gone;
    }

    /// Makes signatures wait until it is fast again.
    pub(crate) fn set_slow(&self, is_slow: bool) {
        self.0.state.lock().unwrap().is_slow = is_slow;
        self.0.changed.notify_all();
    }

    /// The number of signatures that are being made.
    pub(crate) fn signing(&self) -> usize {
        self.0.state.lock().unwrap().signing
    }

    /// The number of signatures made.
    pub(crate) fn signatures(&self) -> usize {
        self.0.state.lock().unwrap().signatures
    }
}

impl RemoteKeys for FakeHsm {
    fn named(&self, iss: &str, kind: KeyKind) -> Option<Result<NamedKey, String>> {
        let state = self.0.state.lock().unwrap();
        let label = state.named.get(iss)?;
        if kind != KeyKind::Jws(SigAlg::ES256) {
            return None;
        }
        if state.is_gone {
            return Some(Err(GONE.to_owned()));
        }
        Some(Ok(NamedKey {
            label: label.clone(),
            public: state.keys[label].verifying_key(),
        }))
    }

    fn sign(
        &self,
        label: &str,
        public: &VerifyingKey,
        input: &SigningInput<'_>,
    ) -> Result<Signature, String> {
        let mut state = self.0.state.lock().unwrap();
        state.signing += 1;
        while state.is_slow {
            state = self.0.changed.wait(state).unwrap();
        }
        state.signing -= 1;
        if state.is_gone {
            return Err(GONE.to_owned());
        }
        let key = &state.keys[label];
        assert_eq!(key.verifying_key().thumbprint(), public.thumbprint());
        let pair =
            EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &key.to_der().unwrap());
        let signature = pair.unwrap().sign(&SystemRandom::new(), input.message());
        state.signatures += 1;
        Ok(Signature::Der(signature.unwrap().as_ref().to_vec()))
    }

    fn fault(&self) -> Option<String> {
        let state = self.0.state.lock().unwrap();
        state.is_gone.then(|| GONE.to_owned())
    }
}

impl std::fmt::Debug for FakeHsm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("FakeHsm")
    }
}
