//! The claims sets, as the types that a Rust user would give them.

use crate::Map;
use crate::protocol::Refusal;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The claims set `standard`. `T` is how the format writes a time: a number in a JWT, text
/// (RFC 3339) in PASETO.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Standard<T = i64> {
    /// Issuer.
    pub iss: String,
    /// Subject.
    pub sub: String,
    /// Audience.
    pub aud: Vec<String>,
    /// Expiry.
    pub exp: T,
    /// Not before. Only the lab's cross-checks set it.
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    pub nbf: Option<T>,
    /// Issued at.
    pub iat: T,
    /// Token id.
    pub jti: String,
    /// The first claim of the caller's own.
    pub name: String,
    /// The second.
    pub admin: bool,
}

/// What the harness asks of claims that were verified.
pub trait Claims: Serialize {
    /// The claim `jti`, if there is one.
    fn jti(&self) -> Option<&str>;
}

/// Something that looks at verified claims, whatever their type and however briefly they live.
pub trait Look {
    /// What it takes away.
    type Seen;
    /// Looks.
    fn look<C: Claims>(self, claims: &C) -> Self::Seen;
}

/// The values of an order, in the type that its claims set has.
#[derive(Clone, Debug)]
pub enum Pool {
    /// `standard` in a JWT.
    Standard(Vec<Standard>),
    /// `standard` in PASETO.
    StandardPaseto(Vec<Standard<String>>),
    /// Any other set.
    Map(Vec<Map>),
}

impl Pool {
    pub(crate) fn new(name: &str, format: &str, values: Vec<Value>) -> Result<Self, Refusal> {
        Ok(match name {
            "standard" if format.starts_with('v') => Self::StandardPaseto(typed(values)?),
            "standard" => Self::Standard(typed(values)?),
            _ => Self::Map(typed(values)?),
        })
    }

    /// Whether a verifier that knows these claims would demand `exp`: every value has one.
    #[must_use]
    pub fn has_exp(&self) -> bool {
        match self {
            Self::Standard(_) | Self::StandardPaseto(_) => true,
            Self::Map(values) => values.iter().all(|value| value.contains_key("exp")),
        }
    }
}

impl<T: Serialize> Claims for Standard<T> {
    #[inline]
    fn jti(&self) -> Option<&str> {
        Some(&self.jti)
    }
}

impl Claims for Map {
    #[inline]
    fn jti(&self) -> Option<&str> {
        self.get("jti")?.as_str()
    }
}

fn none<T>() -> Option<T> {
    None
}

fn typed<T: DeserializeOwned>(values: Vec<Value>) -> Result<Vec<T>, Refusal> {
    let typed = values.into_iter().map(serde_json::from_value);
    typed
        .collect::<Result<_, _>>()
        .map_err(|error| Refusal::invalid(format!("claims: {error}")))
}
