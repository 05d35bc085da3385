//! The messages of the driver protocol.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a driver says of itself.
#[derive(Debug, Clone, Deserialize)]
pub struct Hello {
    /// The protocol version it speaks.
    pub protocol: u32,
    /// The library's name.
    pub library: String,
    /// The version that was linked.
    pub version: String,
    /// The language.
    pub language: String,
    /// The language's runtime or compiler, with its version.
    pub runtime: String,
    /// What the runtime counts exactly: `bytes`, `allocs`.
    pub counts: Vec<String>,
    /// Whether it loads a key's text under every contract, and not under `load-key` alone.
    #[serde(default)]
    pub takes_key_text: bool,
    /// Whether it does the operations of a `lead` before its clock is read.
    #[serde(default)]
    pub leads: bool,
    /// What it can do.
    pub offers: Vec<Offered>,
    /// The practices that it can be told to follow; empty: it knows its own alone, which is
    /// `documented`.
    #[serde(default)]
    pub practices: Vec<String>,
    /// What the driver checks by hand because the library does not, as `format:check`: `jwe:claims`,
    /// `jwt:exp` (that there is one), `v4.public:iss`, …
    #[serde(default)]
    pub by_driver: Vec<String>,
}

/// One thing that a driver offers: a format and an algorithm under some contracts.
#[derive(Debug, Clone, Deserialize)]
pub struct Offered {
    /// The format.
    pub format: String,
    /// The JOSE algorithm; none where the format decides.
    #[serde(default)]
    pub alg: Option<String>,
    /// The content encryption of a JWE.
    #[serde(default)]
    pub enc: Option<String>,
    /// The contracts.
    #[serde(rename = "contracts")]
    pub operations: Vec<String>,
    /// How keys can be handled.
    pub key_handling: Vec<String>,
    /// The forms of key text that it reads.
    #[serde(default)]
    pub key_text: Vec<String>,
}

/// What one `run` is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Work {
    /// Operations of each thread.
    pub iterations: u64,
    /// Operations before the clock is read.
    pub lead: u64,
    /// Whether what they allocate is counted.
    pub count: bool,
}

impl Work {
    /// So many operations, timed and not counted.
    #[must_use]
    pub const fn of(iterations: u64) -> Self {
        Self {
            iterations,
            lead: 0,
            count: false,
        }
    }

    /// Makes a driver count what they allocate.
    #[must_use]
    pub const fn counted(self) -> Self {
        Self {
            count: true,
            ..self
        }
    }

    /// Lets so many others go before them.
    #[must_use]
    pub const fn behind(self, lead: u64) -> Self {
        Self { lead, ..self }
    }
}

/// Makes a driver ready for one contract.
#[derive(Debug, Clone, Serialize)]
pub struct Prepare {
    /// The contract.
    #[serde(rename = "contract")]
    pub operation: String,
    /// The format.
    pub format: String,
    /// The JOSE algorithm; none where the format decides.
    pub alg: Option<String>,
    /// The content encryption of a JWE.
    pub enc: Option<String>,
    /// `prepared` or `parsed-per-call`; for `load-key` the form of the text.
    pub key_handling: String,
    /// The keys.
    pub keys: Keys,
    /// The same keys as text, which is then what is loaded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_text: Option<KeyText>,
    /// The claims to sign, or that the tokens carry.
    pub claims: ClaimsPool,
    /// What `verify` must check beside the signature.
    pub policy: Policy,
    /// How the library is called: `defaults` or `documented`, which is what absence means.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub practice: Option<String>,
    /// The tokens to open; absent for contracts that make tokens or keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Vec<String>>,
}

/// Key material. A symmetric key is `private`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Keys {
    /// The private or symmetric JWK.
    pub private: Option<Value>,
    /// The public JWK.
    pub public: Option<Value>,
    /// PASETO keys.
    pub paserk: Option<Paserk>,
}

/// Keys as the text of one form.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KeyText {
    /// `jwk`, `pem` or `paserk`.
    pub form: String,
    /// The private or symmetric key.
    pub private: Option<String>,
    /// The public key.
    pub public: Option<String>,
}

/// PASETO keys as PASERK strings.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Paserk {
    /// The symmetric key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub local: Option<String>,
    /// The private key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// The public key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public: Option<String>,
}

/// A named pool of claims.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClaimsPool {
    /// Its name.
    pub name: String,
    /// The values that a run goes round in.
    pub values: Vec<Value>,
}

/// What a verifier demands.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Policy {
    /// The issuer.
    pub issuer: String,
    /// The audience.
    pub audience: String,
}

/// What became of one token.
#[derive(Debug, Clone, Deserialize)]
pub struct VerifyAnswer {
    /// Whether it was accepted.
    pub accepted: bool,
    /// Its claims, if it was accepted, the contract decodes them and JSON has words for them.
    #[serde(default)]
    pub claims: Option<Value>,
    /// Why it was not.
    #[serde(default)]
    pub reason: Option<String>,
}

/// What one `run` came to.
#[derive(Debug, Clone, Copy, Deserialize)]
pub struct RunReport {
    /// By the driver's own monotonic clock.
    pub elapsed_ns: u64,
    /// The proof of work.
    pub checksum: u64,
    /// Bytes allocated, if counted.
    #[serde(default)]
    pub bytes: Option<u64>,
    /// Allocations, if counted.
    #[serde(default)]
    pub allocs: Option<u64>,
    /// Operations of each thread from one collection of memory to the next, where that is known.
    #[serde(default)]
    pub collects_after: Option<u64>,
}
