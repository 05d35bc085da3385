//! The protocol's messages, as far as a driver has to know them.

use crate::claims::Pool;
use crate::key::Keys;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use std::fmt::Display;

/// The protocol's version.
pub const PROTOCOL: u32 = 1;

/// A row of what a driver can do: every algorithm in it under every contract in it.
#[derive(Clone, Copy, Debug)]
pub struct Offer {
    /// `jwt`, `v4.local`, `v4.public` or `bare`.
    pub format: &'static str,
    /// JOSE names. Empty where the format decides.
    pub algs: &'static [&'static str],
    /// What can be done with them.
    pub contracts: &'static [Contract],
    /// How the keys can be handled.
    pub key_handling: &'static [KeyHandling],
}

impl Offer {
    /// Whether `order` lies within this row.
    #[must_use]
    pub fn covers(&self, order: &Order) -> bool {
        let alg = match &order.alg {
            Some(alg) => self.algs.contains(&alg.as_str()),
            None => self.algs.is_empty(),
        };
        alg && self.format == order.format
            && order.enc.is_none()
            && self.contracts.contains(&order.contract)
            && self.key_handling.contains(&order.key_handling)
    }
}

/// One exactly described operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Contract {
    /// Typed claims to the complete token.
    Sign,
    /// The complete token to typed, validated claims.
    Verify,
    /// The complete token to yes or no.
    VerifySignature,
}

/// What happens to the key inside the timed loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeyHandling {
    /// Nothing: all that can be computed once was.
    Prepared,
    /// Its text is parsed, each time.
    ParsedPerCall,
}

/// What `verify` must check beside the signature, `exp` and `nbf`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Policy {
    /// What `iss` must equal.
    #[serde(deserialize_with = "demanded")]
    pub issuer: Option<String>,
    /// What `aud` must contain.
    #[serde(deserialize_with = "demanded")]
    pub audience: Option<String>,
}

/// Nothing is demanded by an empty text either.
fn demanded<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let text: Option<String> = Option::deserialize(deserializer)?;
    Ok(text.filter(|text| !text.is_empty()))
}

/// What a `prepare` request asks for.
#[derive(Debug)]
pub struct Order {
    /// What to do.
    pub contract: Contract,
    /// `jwt`, `v4.local`, `v4.public` or `bare`.
    pub format: String,
    /// The JOSE name, or `None` where the format decides.
    pub alg: Option<String>,
    /// The JOSE name of a content encryption.
    pub enc: Option<String>,
    /// What happens to the key.
    pub key_handling: KeyHandling,
    /// The keys, as text.
    pub keys: Keys,
    /// The claims to sign; for `verify`, the type to decode into.
    pub pool: Pool,
    /// What to check.
    pub policy: Policy,
    /// What to verify. Empty for `sign`.
    pub tokens: Vec<String>,
}

impl Order {
    /// The algorithm's name.
    ///
    /// # Errors
    ///
    /// [`Refusal::Invalid`] if the order names none.
    pub fn alg(&self) -> Result<&str, Refusal> {
        self.alg
            .as_deref()
            .ok_or_else(|| Refusal::invalid("this format needs an alg"))
    }
}

/// Why a request was not fulfilled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A fact about the library.
    Unsupported(String),
    /// A request that makes no sense.
    Invalid(String),
    /// The library refused what it should take.
    Failed(String),
}

impl Refusal {
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
    contract: String,
    format: String,
    alg: Option<String>,
    enc: Option<String>,
    key_handling: KeyHandling,
    keys: Keys,
    claims: NamedClaims,
    policy: Option<Policy>,
    tokens: Option<Vec<String>>,
}

#[derive(Debug, Deserialize)]
struct NamedClaims {
    name: String,
    #[serde(default)]
    values: Vec<Value>,
}

impl Prepare {
    pub(crate) fn into_order(self) -> Result<Order, Refusal> {
        let contract = Contract::deserialize(Value::String(self.contract.clone()))
            .map_err(|_| Refusal::unsupported(format!("no contract {:?} here", self.contract)))?;
        let tokens = self.tokens.unwrap_or_default();
        if contract == Contract::Sign && self.claims.values.is_empty() {
            return Err(Refusal::invalid("sign needs at least one value in claims"));
        }
        Ok(Order {
            contract,
            pool: Pool::new(&self.claims.name, &self.format, self.claims.values)?,
            format: self.format,
            alg: self.alg,
            enc: self.enc,
            key_handling: self.key_handling,
            keys: self.keys,
            policy: self.policy.unwrap_or_default(),
            tokens,
        })
    }
}
