//! The claims sets, as the types that a Rust user would give them.

use crate::Map;
use crate::protocol::Refusal;
use serde::de::{self, DeserializeOwned, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use std::fmt;

/// The claims set `standard`. A JWT writes a time as a number and the audience as a list; see
/// [`StandardPaseto`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Standard<Time = i64, Aud = Audience> {
    /// Issuer.
    pub iss: String,
    /// Subject.
    pub sub: String,
    /// Audience.
    pub aud: Aud,
    /// Expiry.
    pub exp: Time,
    /// Not before. Only the lab's cross-checks set it.
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    pub nbf: Option<Time>,
    /// Issued at.
    pub iat: Time,
    /// Token id.
    pub jti: String,
    /// The first claim of the caller's own.
    pub name: String,
    /// The second.
    pub admin: bool,
}

/// The claims set `standard` as PASETO writes it: times are RFC 3339 text, the audience is one.
pub type StandardPaseto = Standard<String, String>;

/// `aud` in a JWT: written as a list, read as a list or as the one text that RFC 7519 (section
/// 4.1.3) allows instead.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct Audience(pub Vec<String>);

impl<'de> Deserialize<'de> for Audience {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AudienceVisitor)
    }
}

struct AudienceVisitor;

impl<'de> Visitor<'de> for AudienceVisitor {
    type Value = Audience;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an audience, or a list of them")
    }

    fn visit_str<E: de::Error>(self, one: &str) -> Result<Audience, E> {
        Ok(Audience(vec![one.to_owned()]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Audience, A::Error> {
        let mut audiences = Vec::new();
        while let Some(one) = list.next_element()? {
            audiences.push(one);
        }
        Ok(Audience(audiences))
    }
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
    StandardPaseto(Vec<StandardPaseto>),
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

impl<Time: Serialize, Aud: Serialize> Claims for Standard<Time, Aud> {
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

/// Where a contract decodes no claims.
impl Claims for () {
    #[inline]
    fn jti(&self) -> Option<&str> {
        None
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
