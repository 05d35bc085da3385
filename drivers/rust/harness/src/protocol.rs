//! The protocol's messages, as far as a driver needs them.

use crate::claims::Pool;
use crate::error::DriverError;
use crate::key::{KeyForm, KeyHandling, KeyText, Keys};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// The protocol's version.
pub const PROTOCOL: u32 = 1;

/// One line of what a driver can do: every algorithm in it with every operation in it.
///
/// ```
/// use jeton_driver_harness::{Operation, KeyHandling, Offer};
/// const PASETO: Offer = Offer {
///     format: "v4.local",
///     operations: &[Operation::Encrypt, Operation::Decrypt],
///     key_handling: &[KeyHandling::Prepared],
///     ..Offer::NOTHING
/// };
/// assert!(PASETO.algs.is_empty());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Offer {
    /// `jwt`, `jwe`, `v1.local` … `v4.public`, or `bare`.
    pub format: &'static str,
    /// JOSE names. Empty where the format decides.
    pub algs: &'static [&'static str],
    /// The content encryptions of a `jwe`, each combined with each algorithm. Empty elsewhere.
    pub encs: &'static [&'static str],
    /// The operations.
    pub operations: &'static [Operation],
    /// The supported key handling.
    pub key_handling: &'static [KeyHandling],
    /// The forms of key text that the library reads: one `load-key` row each.
    pub key_text: &'static [KeyForm],
}

impl Offer {
    /// An empty line, as a base for struct update syntax.
    pub const NOTHING: Offer = Offer {
        format: "",
        algs: &[],
        encs: &[],
        operations: &[],
        key_handling: &[],
        key_text: &[],
    };

    /// Returns whether this line covers `request`.
    #[must_use]
    pub fn covers(&self, request: &PrepareRequest) -> bool {
        let within = |names: &[&str], name: &Option<String>| match name {
            Some(name) => names.contains(&name.as_str()),
            None => names.is_empty(),
        };
        let handling = match request.operation {
            // Key handling does not apply to a fresh key.
            Operation::GenerateKey => true,
            Operation::LoadKey => {
                (request.key_text.as_ref()).is_some_and(|text| self.key_text.contains(&text.form))
            }
            _ => self.key_handling.contains(&request.key_handling),
        };
        handling
            && self.format == request.format
            && within(self.algs, &request.alg)
            && within(self.encs, &request.enc)
            && self.operations.contains(&request.operation)
    }
}

/// One exactly described unit of timed work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// Typed claims to the complete token.
    Sign,
    /// The complete token to typed, validated claims.
    Verify,
    /// The complete token to yes or no.
    VerifySignature,
    /// As `Sign`, for an encrypted token.
    Encrypt,
    /// As `Verify`, for an encrypted token.
    Decrypt,
    /// `Sign` and then `Verify` of the same token; or `Encrypt` and `Decrypt`.
    RoundTrip,
    /// A new key that is ready to use.
    GenerateKey,
    /// The text of a key to a key that is ready to use.
    LoadKey,
}

impl Operation {
    /// Returns whether the operation makes tokens from claims.
    #[must_use]
    pub fn makes_tokens(self) -> bool {
        matches!(
            self,
            Operation::Sign | Operation::Encrypt | Operation::RoundTrip
        )
    }
}

/// What `verify` must check in addition to the signature, `exp` and `nbf`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Policy {
    /// The value that `iss` must equal.
    #[serde(deserialize_with = "non_empty")]
    pub issuer: Option<String>,
    /// The value that `aud` must contain.
    #[serde(deserialize_with = "non_empty")]
    pub audience: Option<String>,
}

/// How the library is called. Only `lab attack` uses it; it never affects timings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Practice {
    /// The first example of the documentation, without additional checks.
    Defaults,
    /// Every check enabled that the library documents.
    #[default]
    Documented,
}

/// Reads a requirement. Empty text means that nothing is required.
fn non_empty<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let text: Option<String> = Option::deserialize(deserializer)?;
    Ok(text.filter(|text| !text.is_empty()))
}

/// A checked `prepare` request.
#[derive(Debug)]
pub struct PrepareRequest {
    /// The operation.
    pub operation: Operation,
    /// `jwt`, `jwe`, `v1.local` … `v4.public`, or `bare`.
    pub format: String,
    /// The JOSE name, or `None` where the format decides.
    pub alg: Option<String>,
    /// The JOSE name of a content encryption.
    pub enc: Option<String>,
    /// How the key is handled.
    pub key_handling: KeyHandling,
    /// The keys, as text.
    pub keys: Keys,
    /// The same keys as text, for `load-key`.
    pub key_text: Option<KeyText>,
    /// The claims to sign. For `verify`, the type to decode into.
    pub pool: Pool,
    /// The policy of `verify`.
    pub policy: Policy,
    /// How to call the library.
    pub practice: Practice,
    /// The tokens to verify. Empty for operations that make tokens or keys.
    pub tokens: Vec<String>,
    /// Whether the verifier caches verified tokens. Only attacks request it.
    pub caches: bool,
    /// The issuers of the verifier, each with its own keys. Only attacks request them; empty otherwise.
    pub issuers: Vec<Trusted>,
}

/// The keys of a verifier, or of one of its issuers, with the policy.
#[derive(Clone, Debug, Deserialize)]
pub struct Trusted {
    /// The keys, as text.
    pub keys: Keys,
    /// The policy.
    pub policy: Policy,
}

impl PrepareRequest {
    /// Returns the algorithm's name.
    ///
    /// # Errors
    ///
    /// [`DriverError::Invalid`] if the request names none.
    pub fn alg(&self) -> Result<&str, DriverError> {
        self.alg
            .as_deref()
            .ok_or_else(|| DriverError::invalid("this format needs an alg"))
    }

    /// Returns the content encryption's name.
    ///
    /// # Errors
    ///
    /// [`DriverError::Invalid`] if the request names none.
    pub fn enc(&self) -> Result<&str, DriverError> {
        self.enc
            .as_deref()
            .ok_or_else(|| DriverError::invalid("this format needs an enc"))
    }

    /// Returns the text of the key that `load-key` loads.
    ///
    /// # Errors
    ///
    /// [`DriverError::Invalid`] if the request has none.
    pub fn key_text(&self) -> Result<&KeyText, DriverError> {
        self.key_text
            .as_ref()
            .ok_or_else(|| DriverError::invalid("load-key needs a key_text"))
    }
}

/// One request. Unknown members are ignored.
#[derive(Debug, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub(crate) enum Request {
    Hello {
        protocol: u32,
    },
    Prepare(Box<Prepare>),
    Token {
        index: usize,
    },
    Verify {
        token: String,
        #[serde(default)]
        verifier: usize,
    },
    Run(Run),
    Bye,
}

/// Number of operations, number of threads, and whether to count allocations.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Run {
    pub(crate) iterations: u64,
    pub(crate) threads: usize,
    #[serde(default)]
    pub(crate) count: bool,
}

/// A `prepare` request as received.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Prepare {
    #[serde(rename = "contract")]
    operation: String,
    format: String,
    alg: Option<String>,
    enc: Option<String>,
    key_handling: KeyHandling,
    keys: Keys,
    key_text: Option<KeyText>,
    claims: NamedClaims,
    policy: Option<Policy>,
    #[serde(default)]
    practice: Practice,
    tokens: Option<Vec<String>>,
    #[serde(default)]
    cached: Vec<Trusted>,
    #[serde(default)]
    issuers: Vec<Trusted>,
    #[serde(skip)]
    caches: bool,
}

#[derive(Clone, Debug, Deserialize)]
struct NamedClaims {
    name: String,
    #[serde(default)]
    values: Vec<Value>,
}

impl Prepare {
    /// Returns a request for each verifier: usually one.
    pub(crate) fn verifiers(mut self) -> Vec<Self> {
        let cached = std::mem::take(&mut self.cached);
        if cached.is_empty() {
            return vec![self];
        }
        let each = cached.into_iter().map(|one| Self {
            keys: one.keys,
            policy: Some(one.policy),
            caches: true,
            ..self.clone()
        });
        each.collect()
    }

    pub(crate) fn into_request(self) -> Result<PrepareRequest, DriverError> {
        let operation =
            Operation::deserialize(Value::String(self.operation.clone())).map_err(|_| {
                DriverError::unsupported(format!("operation {:?} is not supported", self.operation))
            })?;
        let tokens = self.tokens.unwrap_or_default();
        if operation.makes_tokens() && self.claims.values.is_empty() {
            let reason = format!("{} requires at least one value in claims", self.operation);
            return Err(DriverError::Invalid(reason));
        }
        Ok(PrepareRequest {
            operation,
            pool: Pool::new(&self.claims.name, &self.format, self.claims.values)?,
            format: self.format,
            alg: self.alg,
            enc: self.enc,
            key_handling: self.key_handling,
            keys: self.keys,
            key_text: self.key_text,
            policy: self.policy.unwrap_or_default(),
            practice: self.practice,
            tokens,
            caches: self.caches,
            issuers: self.issuers,
        })
    }
}
