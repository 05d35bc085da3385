//! The protocol's messages, as far as a driver has to know them.

use crate::claims::Pool;
use crate::key::Keys;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use std::fmt::Display;

/// The protocol's version.
pub const PROTOCOL: u32 = 1;

/// A row of what a driver can do: every algorithm in it under every operation in it.
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
    /// The content encryptions of a `jwe`, each of which goes with each algorithm. Empty elsewhere.
    pub encs: &'static [&'static str],
    /// What can be done with them.
    pub operations: &'static [Operation],
    /// How the keys can be handled.
    pub key_handling: &'static [KeyHandling],
    /// The forms of key text that the library reads: a `load-key` row each.
    pub key_text: &'static [KeyForm],
}

impl Offer {
    /// An empty row, to set the members of.
    pub const NOTHING: Offer = Offer {
        format: "",
        algs: &[],
        encs: &[],
        operations: &[],
        key_handling: &[],
        key_text: &[],
    };

    /// Whether `order` lies within this row.
    #[must_use]
    pub fn covers(&self, request: &PrepareRequest) -> bool {
        let within = |names: &[&str], name: &Option<String>| match name {
            Some(name) => names.contains(&name.as_str()),
            None => names.is_empty(),
        };
        let handling = match request.operation {
            // A fresh key is not handled in any way.
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

/// One exactly described operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// Typed claims to the complete token.
    Sign,
    /// The complete token to typed, validated claims.
    Verify,
    /// The complete token to yes or no.
    VerifySignature,
    /// What `Sign` is, for a token that nobody else can read.
    Encrypt,
    /// What `Verify` is, for such a token.
    Decrypt,
    /// `Sign` and then `Verify` of the token just made; or `Encrypt` and `Decrypt`.
    RoundTrip,
    /// Nothing to a key that can be used.
    GenerateKey,
    /// A key's text to a key that can be used.
    LoadKey,
}

impl Operation {
    /// Whether it makes tokens of claims.
    #[must_use]
    pub fn makes_tokens(self) -> bool {
        matches!(
            self,
            Operation::Sign | Operation::Encrypt | Operation::RoundTrip
        )
    }
}

/// What happens to the key inside the timed loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeyHandling {
    /// Nothing: all that can be computed once was.
    Prepared,
    /// Its text is parsed, each time.
    ParsedPerCall,
    /// For `load-key`: the JWK is what is loaded.
    Jwk,
    /// For `load-key`: the PEM.
    Pem,
    /// For `load-key`: the PASERK.
    Paserk,
}

/// How a key is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyForm {
    /// A JWK's JSON.
    Jwk,
    /// PKCS#8 and SPKI in PEM.
    Pem,
    /// PASERK.
    Paserk,
}

/// A key as the text of one form, which is then what is loaded.
#[derive(Clone, Debug, Deserialize)]
pub struct KeyText {
    /// Which form.
    pub form: KeyForm,
    /// The private or symmetric key.
    #[serde(default)]
    pub private: Option<String>,
    /// The public key.
    #[serde(default)]
    pub public: Option<String>,
}

impl KeyText {
    /// The private or symmetric key's text.
    ///
    /// # Errors
    ///
    /// [`DriverError::Invalid`] if there is none.
    pub fn private(&self) -> Result<String, DriverError> {
        let text = self.private.clone();
        text.ok_or_else(|| DriverError::invalid("no private key text"))
    }

    /// The public key's text.
    ///
    /// # Errors
    ///
    /// [`DriverError::Invalid`] if there is none.
    pub fn public(&self) -> Result<String, DriverError> {
        let text = self.public.clone();
        text.ok_or_else(|| DriverError::invalid("no public key text"))
    }
}

/// What `verify` must check beside the signature, `exp` and `nbf`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Policy {
    /// What `iss` must equal.
    #[serde(deserialize_with = "non_empty")]
    pub issuer: Option<String>,
    /// What `aud` must contain.
    #[serde(deserialize_with = "non_empty")]
    pub audience: Option<String>,
}

/// How the library is called: a question of `lab attack`, and never of a figure of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Practice {
    /// As the documentation begins, with no demand beyond that.
    Defaults,
    /// With every check on that the library documents.
    #[default]
    Documented,
}

/// Nothing is non_empty by an empty text either.
fn non_empty<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let text: Option<String> = Option::deserialize(deserializer)?;
    Ok(text.filter(|text| !text.is_empty()))
}

/// What a `prepare` request asks for.
#[derive(Debug)]
pub struct PrepareRequest {
    /// What to do.
    pub operation: Operation,
    /// `jwt`, `jwe`, `v1.local` … `v4.public`, or `bare`.
    pub format: String,
    /// The JOSE name, or `None` where the format decides.
    pub alg: Option<String>,
    /// The JOSE name of a content encryption.
    pub enc: Option<String>,
    /// What happens to the key.
    pub key_handling: KeyHandling,
    /// The keys, as text.
    pub keys: Keys,
    /// The same keys as text; there for `load-key`.
    pub key_text: Option<KeyText>,
    /// The claims to sign; for `verify`, the type to decode into.
    pub pool: Pool,
    /// What to check.
    pub policy: Policy,
    /// How to call the library.
    pub practice: Practice,
    /// What to open. Empty for operations that make tokens or keys.
    pub tokens: Vec<String>,
}

impl PrepareRequest {
    /// The algorithm's name.
    ///
    /// # Errors
    ///
    /// [`DriverError::Invalid`] if the order names none.
    pub fn alg(&self) -> Result<&str, DriverError> {
        self.alg
            .as_deref()
            .ok_or_else(|| DriverError::invalid("this format needs an alg"))
    }

    /// The content encryption's name.
    ///
    /// # Errors
    ///
    /// [`DriverError::Invalid`] if the order names none.
    pub fn enc(&self) -> Result<&str, DriverError> {
        self.enc
            .as_deref()
            .ok_or_else(|| DriverError::invalid("this format needs an enc"))
    }

    /// The text of the key that `load-key` loads.
    ///
    /// # Errors
    ///
    /// [`DriverError::Invalid`] if the order has none.
    pub fn key_text(&self) -> Result<&KeyText, DriverError> {
        self.key_text
            .as_ref()
            .ok_or_else(|| DriverError::invalid("load-key needs a key_text"))
    }
}

/// Why a request was not fulfilled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DriverError {
    /// A fact about the library.
    Unsupported(String),
    /// A request that makes no sense.
    Invalid(String),
    /// The library refused what it should take.
    Failed(String),
}

impl DriverError {
    /// A fact about the library.
    pub fn unsupported(reason: impl Display) -> Self {
        Self::Unsupported(reason.to_string())
    }

    /// A request that makes no sense.
    pub fn invalid(reason: impl Display) -> Self {
        Self::Invalid(reason.to_string())
    }

    /// The library refused what it should take.
    pub fn failed(reason: impl Display) -> Self {
        Self::Failed(reason.to_string())
    }
}

/// One request. Members that are not named here are ignored.
#[derive(Debug, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub(crate) enum Request {
    Hello { protocol: u32 },
    Prepare(Box<Prepare>),
    Token { index: usize },
    Verify { token: String },
    Run(Run),
    Bye,
}

/// How often, on how many threads, and whether to count.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Run {
    pub(crate) iterations: u64,
    pub(crate) threads: usize,
    #[serde(default)]
    pub(crate) count: bool,
}

/// A `prepare` request as it arrives.
#[derive(Debug, Deserialize)]
pub(crate) struct Prepare {
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
}

#[derive(Debug, Deserialize)]
struct NamedClaims {
    name: String,
    #[serde(default)]
    values: Vec<Value>,
}

impl Prepare {
    pub(crate) fn into_request(self) -> Result<PrepareRequest, DriverError> {
        let operation =
            Operation::deserialize(Value::String(self.operation.clone())).map_err(|_| {
                DriverError::unsupported(format!("no operation {:?} here", self.operation))
            })?;
        let tokens = self.tokens.unwrap_or_default();
        if operation.makes_tokens() && self.claims.values.is_empty() {
            let reason = format!("{} needs at least one value in claims", self.operation);
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
        })
    }
}
