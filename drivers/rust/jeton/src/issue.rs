//! Issuing: from claims to tokens.

use jeton::key::{MacKey, SigningKey};
use jeton::paseto::{LocalKey, SecretKey, Version};
use jeton::{Claims, Timestamp};
use jeton_driver_harness::{DriverError, KeySource, Map, Pool, Signer, Work, work};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;

/// The custom claims of the claims set `standard`. The registered claims are separate.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CustomClaims<'a> {
    #[serde(borrow)]
    pub(crate) name: Cow<'a, str>,
    pub(crate) admin: bool,
}

/// A key that issues tokens.
pub(crate) trait Issue: Send + Sync + 'static {
    fn issue<T: Serialize>(&self, claims: &Claims<'_, T>) -> jeton::Result<String>;
}

/// Builds jeton's typed claims from the pool. A caller of jeton has them ready, as callers of other
/// libraries have a struct.
pub(crate) fn prepare(
    key: KeySource<impl Issue>,
    pool: Pool,
) -> Result<Box<dyn Work>, DriverError> {
    Ok(match pool {
        Pool::Standard(pool) => work::sign(typed(key, pool)?),
        Pool::StandardPaseto(pool) => work::sign(typed(key, pool)?),
        Pool::Map(pool) => work::sign(untyped(key, pool)?),
    })
}

/// Returns a signer of the claims set `standard`.
pub(crate) fn typed<K: Issue>(
    key: KeySource<K>,
    pool: Vec<impl Serialize>,
) -> Result<TokenSigner<K, CustomClaims<'static>>, DriverError> {
    let claims = pool.into_iter().map(|values| {
        let values = serde_json::to_value(values).map_err(DriverError::failed)?;
        let mut values: Map = serde_json::from_value(values).map_err(DriverError::failed)?;
        let registered = take_registered(&mut values);
        // Only the custom claims are left.
        let (Some(Value::String(name)), Some(Value::Bool(admin))) =
            (values.remove("name"), values.remove("admin"))
        else {
            return Err(DriverError::invalid(
                "standard claims have a name and an admin",
            ));
        };
        let name = Cow::Owned(name);
        claims(CustomClaims { name, admin }, registered)
    });
    let claims = claims.collect::<Result<Vec<_>, _>>()?;
    Ok(TokenSigner { key, claims })
}

/// Returns a signer of any other claims set.
pub(crate) fn untyped<K: Issue>(
    key: KeySource<K>,
    pool: Vec<Map>,
) -> Result<TokenSigner<K, Map>, DriverError> {
    let claims = pool.into_iter().map(|mut custom| {
        let registered = take_registered(&mut custom);
        claims(custom, registered)
    });
    let claims = claims.collect::<Result<Vec<_>, _>>()?;
    Ok(TokenSigner { key, claims })
}

/// A key, and the claims that it issues.
pub(crate) struct TokenSigner<K, T> {
    key: KeySource<K>,
    claims: Vec<Claims<'static, T>>,
}

impl<K: Issue, T: Serialize + Send + Sync> Signer for TokenSigner<K, T> {
    type Scratch = ();
    type Token = String;

    fn pool(&self) -> usize {
        self.claims.len()
    }

    fn sign(&self, _: &mut (), index: usize) -> Result<String, String> {
        self.key.with(|key| {
            let token = key.issue(&self.claims[index]);
            token.map_err(|error| error.to_string())
        })
    }
}

macro_rules! issue {
    ($($key:ty),*) => {$(
        impl Issue for $key {
            #[inline]
            fn issue<T: Serialize>(&self, claims: &Claims<'_, T>) -> jeton::Result<String> {
                <$key>::issue(self, claims)
            }
        }
    )*};
}

issue!(MacKey, SigningKey);

impl<V: Version> Issue for LocalKey<V> {
    #[inline]
    fn issue<T: Serialize>(&self, claims: &Claims<'_, T>) -> jeton::Result<String> {
        LocalKey::issue(self, claims)
    }
}

impl<V: Version> Issue for SecretKey<V> {
    #[inline]
    fn issue<T: Serialize>(&self, claims: &Claims<'_, T>) -> jeton::Result<String> {
        SecretKey::issue(self, claims)
    }
}

const REGISTERED: [&str; 7] = ["iss", "sub", "aud", "exp", "nbf", "iat", "jti"];

fn take_registered(values: &mut Map) -> Map {
    let taken = REGISTERED
        .iter()
        .filter_map(|name| values.remove_entry(*name));
    taken.collect()
}

fn claims<T>(custom: T, registered: Map) -> Result<Claims<'static, T>, DriverError> {
    // Exactly the claims of the request, without times of the library's own.
    let mut claims = Claims::new(custom).without_issued_at().without_expiry();
    for (name, value) in registered {
        claims = match (name.as_str(), value) {
            ("iss", Value::String(issuer)) => claims.issuer(issuer),
            ("sub", Value::String(subject)) => claims.subject(subject),
            ("jti", Value::String(token_id)) => claims.token_id(token_id),
            ("aud", Value::String(audience)) => claims.audience(audience),
            ("aud", list @ Value::Array(_)) => {
                let list: Vec<String> =
                    serde_json::from_value(list).map_err(DriverError::unsupported)?;
                claims.audiences(list.into_iter().map(Cow::Owned).collect::<Vec<_>>())
            }
            ("exp", value) => claims.expires_at(timestamp(&value)?),
            ("nbf", value) => claims.not_before(timestamp(&value)?),
            ("iat", value) => claims.issued_at(timestamp(&value)?),
            (name, _) => {
                let reason = format!("jeton cannot issue {name:?} with a value of this type");
                return Err(DriverError::Unsupported(reason));
            }
        };
    }
    Ok(claims)
}

/// Reads a time of the request: a number in a JWT, text in PASETO.
fn timestamp(value: &Value) -> Result<Timestamp, DriverError> {
    let seconds = match value {
        Value::String(text) => text.parse().ok().map(jiff::Timestamp::as_second),
        value => value.as_i64(),
    };
    let moment = seconds.and_then(Timestamp::from_unix_seconds);
    moment.ok_or_else(|| {
        DriverError::unsupported("jeton issues only whole seconds from 1970 to 9999")
    })
}
