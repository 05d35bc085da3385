//! The claims sets, in the types that a Rust user would give them.

use crate::Map;
use crate::error::DriverError;
use serde::de::{self, DeserializeOwned, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use std::fmt;

/// The claims set `standard`. A JWT writes a time as a number and the audience as a list. See also
/// [`StandardPaseto`].
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound(deserialize = "Time: TimeValue<'de>, Aud: Deserialize<'de>"))]
pub struct Standard<Time = i64, Aud = Audience> {
    /// Issuer.
    pub iss: String,
    /// Subject.
    pub sub: String,
    /// Audience.
    pub aud: Aud,
    /// Expiry.
    #[serde(deserialize_with = "TimeValue::read")]
    pub exp: Time,
    /// Not before. Only the lab's cross-checks set it.
    #[serde(
        default = "none",
        deserialize_with = "some_time",
        skip_serializing_if = "Option::is_none"
    )]
    pub nbf: Option<Time>,
    /// Issued at.
    #[serde(deserialize_with = "TimeValue::read")]
    pub iat: Time,
    /// Token id.
    pub jti: String,
    /// The first custom claim.
    pub name: String,
    /// The second custom claim.
    pub admin: bool,
}

/// A time as a token format writes it.
pub trait TimeValue<'de>: Sized {
    /// Reads a time.
    ///
    /// # Errors
    ///
    /// The value is not a time of this format.
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error>;
}

impl<'de> TimeValue<'de> for String {
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)
    }
}

/// Seconds since 1970. RFC 7519 (section 2) lets a `NumericDate` have a fraction, and josekit
/// writes every `iat` as `1700000000.0`.
impl<'de> TimeValue<'de> for i64 {
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Seconds)
    }
}

fn some_time<'de, D: Deserializer<'de>, T: TimeValue<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::read(deserializer).map(Some)
}

struct Seconds;

impl Visitor<'_> for Seconds {
    type Value = i64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("seconds since 1970")
    }

    fn visit_i64<E: de::Error>(self, seconds: i64) -> Result<i64, E> {
        Ok(seconds)
    }

    fn visit_u64<E: de::Error>(self, seconds: u64) -> Result<i64, E> {
        i64::try_from(seconds).map_err(E::custom)
    }

    #[allow(
        clippy::cast_possible_truncation,
        reason = "the range was checked above"
    )]
    fn visit_f64<E: de::Error>(self, seconds: f64) -> Result<i64, E> {
        // Whole numbers up to 2^53 are exact in a double.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        if seconds.abs() < EXACT {
            Ok(seconds.floor() as i64)
        } else {
            Err(E::custom("the time is out of range"))
        }
    }
}

/// The claims set `standard` as PASETO writes it: times are RFC 3339 text, and `aud` is one string.
pub type StandardPaseto = Standard<String, String>;

/// `aud` in a JWT. It is written as a list, and read as a list or as the single string that RFC
/// 7519 (section 4.1.3) allows.
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

/// What the harness needs from verified claims.
pub trait Claims: Serialize {
    /// Returns the claim `jti`, if there is one.
    fn jti(&self) -> Option<&str>;
}

/// Reads verified claims of any type while they are borrowed from the verifier.
pub trait ClaimsVisitor {
    /// What the visitor returns.
    type Output;
    /// Reads the claims.
    fn visit<C: Claims>(self, claims: &C) -> Self::Output;
}

/// The claims values of a `prepare` request, in the type of their claims set.
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
    pub(crate) fn new(name: &str, format: &str, values: Vec<Value>) -> Result<Self, DriverError> {
        Ok(match name {
            "standard" if format.starts_with('v') => Self::StandardPaseto(typed(values)?),
            "standard" => Self::Standard(typed(values)?),
            _ => Self::Map(typed(values)?),
        })
    }

    /// Returns whether a verifier that knows these claims requires `exp`: every value has one.
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

/// For operations that decode no claims.
impl Claims for () {
    #[inline]
    fn jti(&self) -> Option<&str> {
        None
    }
}

fn none<T>() -> Option<T> {
    None
}

fn typed<T: DeserializeOwned>(values: Vec<Value>) -> Result<Vec<T>, DriverError> {
    let typed = values.into_iter().map(serde_json::from_value);
    typed
        .collect::<Result<_, _>>()
        .map_err(|error| DriverError::invalid(format!("claims: {error}")))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn time_with_zero_fraction_is_read() {
        let read = |iat: &str| {
            let text = format!(
                r#"{{"iss":"i","sub":"s","aud":"a","exp":5,"iat":{iat},"jti":"j","name":"n","admin":true}}"#
            );
            serde_json::from_str::<Standard>(&text).map(|claims| (claims.iat, claims.nbf))
        };
        assert_eq!(read("1700000000.0").unwrap(), (1_700_000_000, None));
        assert_eq!(read("1700000000").unwrap(), (1_700_000_000, None));
        assert!(read("1e300").is_err());
        assert!(read("\"1700000000\"").is_err());
    }
}
