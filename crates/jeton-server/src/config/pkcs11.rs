//! Keys in an HSM, which a PKCS#11 module signs with.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Duration;

use jeton::key::SigAlg;
use serde::{Deserialize, Deserializer};

use super::problem::Problem;
use crate::limits::{HSM_QUEUE, HSM_SESSIONS, HSM_TIMEOUT};

/// The algorithms that a key in an HSM may have.
const ALGS: [SigAlg; 10] = [
    SigAlg::RS256,
    SigAlg::RS384,
    SigAlg::RS512,
    SigAlg::PS256,
    SigAlg::PS384,
    SigAlg::PS512,
    SigAlg::ES256,
    SigAlg::ES384,
    SigAlg::ES512,
    SigAlg::EdDSA,
];

/// The PKCS#11 module of an HSM, and the keys in it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pkcs11 {
    /// The file of the module, a shared library.
    pub module: PathBuf,
    /// The label of the token (PKCS#11's word for a partition of the HSM). Set this or [`slot`](Pkcs11::slot).
    #[serde(default)]
    pub token: Option<String>,
    /// The number of the slot with the token.
    #[serde(default)]
    pub slot: Option<u64>,
    /// The file with the PIN of the token's user.
    pub pin_file: PathBuf,
    /// Number of sessions: how many signatures are made at the same time.
    #[serde(default = "sessions")]
    pub sessions: usize,
    /// How many calls wait for a session. Further ones are refused with `RESOURCE_EXHAUSTED`.
    #[serde(default = "queue")]
    pub queue: usize,
    /// How long a call waits for its signature, in seconds.
    #[serde(default = "timeout")]
    pub timeout_seconds: u64,
    /// The keys, one for each issuer and algorithm.
    #[serde(rename = "key", default)]
    pub keys: Vec<Pkcs11Key>,
}

/// A key pair in the HSM that signs the tokens of an issuer.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pkcs11Key {
    /// The issuer's `iss`.
    pub issuer: String,
    /// The algorithm, as in the issuer's profiles.
    #[serde(deserialize_with = "alg")]
    pub alg: SigAlg,
    /// The label (`CKA_LABEL`) of the private key and of the public key.
    pub label: String,
}

impl Pkcs11 {
    /// How long a call waits for its signature.
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout_seconds)
    }
}

fn sessions() -> usize {
    HSM_SESSIONS
}

fn queue() -> usize {
    HSM_QUEUE
}

fn timeout() -> u64 {
    HSM_TIMEOUT.as_secs()
}

fn alg<'de, D: Deserializer<'de>>(from: D) -> Result<SigAlg, D::Error> {
    let name = String::deserialize(from)?;
    let known = ALGS.iter().find(|alg| alg.name() == name);
    known.copied().ok_or_else(|| {
        let names = ALGS.map(SigAlg::name).join(", ");
        serde::de::Error::custom(format!("expected one of: {names}"))
    })
}

pub(super) fn problem(pkcs11: Option<&Pkcs11>) -> Option<Problem> {
    let pkcs11 = pkcs11?;
    let wrong = |key: &str, what: &str| Some(Problem::new(key, what));
    if pkcs11.token.is_some() == pkcs11.slot.is_some() {
        return wrong(
            "pkcs11.token",
            "set exactly one of `token` (its label) and `slot` (a number)",
        );
    }
    if !(1..=256).contains(&pkcs11.sessions) {
        return wrong("pkcs11.sessions", "must be between 1 and 256");
    }
    if pkcs11.queue > 100_000 {
        return wrong("pkcs11.queue", "must be at most 100000");
    }
    if !(1..=300).contains(&pkcs11.timeout_seconds) {
        return wrong("pkcs11.timeout_seconds", "must be between 1 and 300");
    }
    if pkcs11.keys.is_empty() {
        return wrong("pkcs11", "has no [[pkcs11.key]]");
    }
    let (mut seen, mut labels) = (HashSet::new(), HashSet::new());
    for (index, key) in pkcs11.keys.iter().enumerate() {
        let field = |name: &str| format!("pkcs11.key[{index}].{name}");
        if key.label.is_empty() {
            return wrong(&field("label"), "must not be empty");
        }
        if !seen.insert((&key.issuer, key.alg.name())) {
            return wrong(
                &field("alg"),
                "another key has this issuer and algorithm: the newest key is named, and former ones are known",
            );
        }
        if !labels.insert(&key.label) {
            return wrong(
                &field("label"),
                "another key has this label: each issuer and algorithm requires a key pair of its own",
            );
        }
    }
    None
}
