//! The messages of the driver protocol (`drivers/PROTOCOL.md`), its version, and the limit of a line.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The protocol version of the lab.
pub const PROTOCOL: u32 = 1;

/// The longest line in either direction, in bytes. A driver that exceeds it is stopped.
pub const MAX_LINE_BYTES: usize = 8 << 20;

/// The identification of a driver.
#[derive(Debug, Clone, Deserialize)]
pub struct Hello {
    /// The protocol version of the driver.
    pub protocol: u32,
    /// The library's name.
    pub library: String,
    /// The linked version of the library.
    pub version: String,
    /// The language.
    pub language: String,
    /// The language's runtime or compiler, with its version.
    pub runtime: String,
    /// What the runtime counts exactly: `bytes`, `allocs`.
    pub counts: Vec<String>,
    /// True if the driver loads key text for every operation, not only for `load-key`.
    #[serde(default)]
    pub takes_key_text: bool,
    /// True if the driver performs the operations of a `lead` before its clock starts.
    #[serde(default)]
    pub leads: bool,
    /// The offers.
    pub offers: Vec<Offered>,
    /// The practices that the driver supports; empty: only its own, which is `documented`.
    #[serde(default)]
    pub practices: Vec<String>,
    /// Checks that the driver performs because the library does not, as `format:check`: `jwe:claims`,
    /// `jwt:exp` (that there is one), `v4.public:iss`, …
    #[serde(default)]
    pub by_driver: Vec<String>,
    /// The names of the [`Extra`]s that the driver supports.
    #[serde(default)]
    pub extras: Vec<String>,
}

/// An offer: a format and an algorithm with some operations.
#[derive(Debug, Clone, Deserialize)]
pub struct Offered {
    /// The format.
    pub format: String,
    /// The JOSE algorithm; `None` if the format decides.
    #[serde(default)]
    pub alg: Option<String>,
    /// The content encryption of a JWE.
    #[serde(default)]
    pub enc: Option<String>,
    /// The operations.
    #[serde(rename = "contracts")]
    pub operations: Vec<String>,
    /// The key handlings.
    pub key_handling: Vec<String>,
    /// The readable key text forms.
    #[serde(default)]
    pub key_text: Vec<String>,
}

/// The parameters of a `run`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Work {
    /// Operations of each thread.
    pub iterations: u64,
    /// Operations before the clock starts.
    pub lead: u64,
    /// True to count their allocations.
    pub count: bool,
}

impl Work {
    /// Returns a run of this many operations, timed and not counted.
    #[must_use]
    pub const fn of(iterations: u64) -> Self {
        Self {
            iterations,
            lead: 0,
            count: false,
        }
    }

    /// Makes the driver count allocations.
    #[must_use]
    pub const fn counted(self) -> Self {
        Self {
            count: true,
            ..self
        }
    }

    /// Adds operations before the timed ones.
    #[must_use]
    pub const fn behind(self, lead: u64) -> Self {
        Self { lead, ..self }
    }
}

/// The `prepare` request for one operation.
#[derive(Debug, Clone, Serialize)]
pub struct Prepare {
    /// The operation.
    #[serde(rename = "contract")]
    pub operation: String,
    /// The format.
    pub format: String,
    /// The JOSE algorithm; `None` if the format decides.
    pub alg: Option<String>,
    /// The content encryption of a JWE.
    pub enc: Option<String>,
    /// `prepared` or `parsed-per-call`; for `load-key` the key text form.
    pub key_handling: String,
    /// The keys.
    pub keys: Keys,
    /// The same keys as text; if present, the text is loaded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_text: Option<KeyText>,
    /// The claims to sign, or the claims of the tokens.
    pub claims: ClaimsPool,
    /// What `verify` must check in addition to the signature.
    pub policy: Policy,
    /// How to call the library: `defaults` or `documented`; `None` means `documented`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub practice: Option<String>,
    /// What `verify` has besides or in place of the keys and the policy.
    #[serde(flatten)]
    pub extra: Option<Extra>,
    /// The tokens to verify; `None` for operations that make tokens or keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Vec<String>>,
}

/// A feature of some libraries, for `verify`. Only attacks use it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Extra {
    /// Several verifiers in one process, each with a cache of verified tokens.
    Cached(Vec<Trusted>),
    /// One verifier for several issuers, each with its own keys.
    Issuers(Vec<Trusted>),
    /// The options of the library's call, as its user writes them.
    Options(Value),
}

impl Extra {
    /// Returns the name in `hello`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Cached(_) => "cached",
            Self::Issuers(_) => "issuers",
            Self::Options(_) => "options",
        }
    }
}

/// The keys of a verifier, or of one of its issuers, with the policy.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Trusted {
    /// The keys.
    pub keys: Keys,
    /// The policy.
    pub policy: Policy,
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

impl Keys {
    /// Returns a private or symmetric key alone.
    pub fn private(jwk: Value) -> Self {
        Self {
            private: Some(jwk),
            ..Self::default()
        }
    }

    /// Returns a public key alone.
    pub fn public(jwk: Value) -> Self {
        Self {
            public: Some(jwk),
            ..Self::default()
        }
    }

    /// Returns PASETO keys.
    pub fn paserk(keys: Paserk) -> Self {
        Self {
            paserk: Some(keys),
            ..Self::default()
        }
    }
}

/// Keys as text of one form.
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
    /// The name.
    pub name: String,
    /// The values that a run cycles through.
    pub values: Vec<Value>,
}

/// The policy of a verifier.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Policy {
    /// The issuer.
    pub issuer: String,
    /// The audience.
    pub audience: String,
}

/// The outcome of one token.
#[derive(Debug, Clone, Deserialize)]
pub struct VerifyAnswer {
    /// True if the token was accepted.
    pub accepted: bool,
    /// The claims of an accepted token, if the operation decodes them and JSON can represent them.
    #[serde(default)]
    pub claims: Option<Value>,
    /// The reason of a rejection.
    #[serde(default)]
    pub reason: Option<String>,
}

/// The measurements of a `run`.
#[derive(Debug, Clone, Copy, Deserialize)]
pub struct RunReport {
    /// The duration by the driver's monotonic clock.
    pub elapsed_ns: u64,
    /// The checksum that proves the work.
    pub checksum: u64,
    /// Bytes allocated, if counted.
    #[serde(default)]
    pub bytes: Option<u64>,
    /// Allocations, if counted.
    #[serde(default)]
    pub allocs: Option<u64>,
    /// Operations of each thread between two garbage collections, if known.
    #[serde(default)]
    pub collects_after: Option<u64>,
}
