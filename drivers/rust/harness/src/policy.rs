//! The policy check, for libraries that decode claims and check none of them.

use crate::Map;
use crate::claims::{Audience, Standard};
use crate::protocol::Policy;
use crate::work::Rejection;
use serde_json::Value;

/// The claims that a policy needs, with times as numbers.
pub trait Registered {
    /// Returns the issuer.
    fn issuer(&self) -> Option<&str>;
    /// Returns whether the token is for this audience.
    fn is_for(&self, audience: &str) -> bool;
    /// Returns the expiry, seconds since 1970.
    fn expires_s(&self) -> Option<f64>;
    /// Returns the start of validity, seconds since 1970.
    fn not_before_s(&self) -> Option<f64>;
}

impl Policy {
    /// Checks the claims at `now_s`, seconds since 1970, without leeway.
    ///
    /// # Errors
    ///
    /// The first check that failed.
    pub fn check(&self, claims: &impl Registered, now_s: f64) -> Result<(), Rejection> {
        if claims.expires_s().is_some_and(|expires| expires <= now_s) {
            return Err("token is expired".to_owned());
        }
        if claims.not_before_s().is_some_and(|begins| begins > now_s) {
            return Err("token is not valid yet".to_owned());
        }
        if let Some(issuer) = &self.issuer
            && claims.issuer() != Some(issuer)
        {
            return Err("issuer does not match".to_owned());
        }
        match &self.audience {
            Some(audience) if !claims.is_for(audience) => Err("audience does not match".to_owned()),
            _ => Ok(()),
        }
    }
}

impl Registered for Standard<i64, Audience> {
    #[inline]
    fn issuer(&self) -> Option<&str> {
        Some(&self.iss)
    }

    #[inline]
    fn is_for(&self, audience: &str) -> bool {
        self.aud.0.iter().any(|one| one == audience)
    }

    #[inline]
    #[allow(clippy::cast_precision_loss, reason = "seconds are far below 2^53")]
    fn expires_s(&self) -> Option<f64> {
        Some(self.exp as f64)
    }

    #[inline]
    #[allow(clippy::cast_precision_loss, reason = "seconds are far below 2^53")]
    fn not_before_s(&self) -> Option<f64> {
        self.nbf.map(|begins| begins as f64)
    }
}

impl Registered for Map {
    fn issuer(&self) -> Option<&str> {
        self.get("iss")?.as_str()
    }

    fn is_for(&self, audience: &str) -> bool {
        match self.get("aud") {
            Some(Value::String(one)) => one == audience,
            Some(Value::Array(list)) => list.iter().any(|one| one == audience),
            _ => false,
        }
    }

    fn expires_s(&self) -> Option<f64> {
        self.get("exp")?.as_f64()
    }

    fn not_before_s(&self) -> Option<f64> {
        self.get("nbf")?.as_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn policy_checks_exactly_what_is_required() {
        let claims = |value: Value| value.as_object().cloned().unwrap_or_default();
        let policy = Policy {
            issuer: Some("i".to_owned()),
            audience: Some("a".to_owned()),
        };
        let good = json!({"iss": "i", "aud": ["b", "a"], "exp": 11, "nbf": 10});
        assert_eq!(policy.check(&claims(good.clone()), 10.0), Ok(()));
        for (member, value) in [
            ("iss", json!("j")),
            ("aud", json!("b")),
            ("exp", json!(10)),
            ("nbf", json!(10.5)),
        ] {
            let mut bad = good.clone();
            bad[member] = value;
            assert!(policy.check(&claims(bad), 10.0).is_err(), "{member}");
        }
        assert!(policy.check(&claims(json!({})), 10.0).is_err());
        assert_eq!(Policy::default().check(&claims(json!({})), 10.0), Ok(()));
    }
}
