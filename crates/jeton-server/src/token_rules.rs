//! The rules for a verified token that is exchanged, or presented as an assertion. They read nothing but its claims.

use jeton::__private::same_type;
use jeton::Timestamp;
use jeton_issuer::limits::NAME_BYTES;
use serde_json::Value;

use crate::claim_pattern::claim;
use crate::config::Trust;
use crate::limits::SINGLE_USE_SECONDS;
use crate::refusal::Refusal;

/// The type of access tokens (RFC 9068, section 2.1).
pub(crate) const ACCESS_TOKEN_TYPE: &str = "at+jwt";

/// Checks what a trust entry requires of a token. Returns how many rules passed before the refusal too.
///
/// `is_access_token`: the request presents it as an access token, which may have the type `at+jwt`.
pub(crate) fn check_entry(
    trust: &Trust,
    typ: Option<&str>,
    is_access_token: bool,
    claims: &Value,
) -> Result<(), (usize, Refusal)> {
    check_type(trust, typ, is_access_token).map_err(|refusal| (0, refusal))?;
    let is_for_us = match claims.get("aud") {
        Some(Value::Array(all)) => all.iter().any(|one| one == trust.audience.as_str()),
        audience => audience.and_then(Value::as_str) == Some(&trust.audience),
    };
    if !is_for_us {
        let what = match claims.get("aud") {
            Some(_) => "does not contain the audience of the entry",
            None => "is missing",
        };
        return Err((1, Refusal::of_claim("audience", "aud", what)));
    }
    for (index, (name, pattern)) in trust.claims.iter().enumerate() {
        if !pattern.matches(name, claims) {
            let what = match claim(name, claims) {
                Some(_) => "does not match `claims` of the entry",
                None => "is missing",
            };
            let refusal = Refusal::of_claim("claims", name.clone(), what);
            return Err((2 + index, refusal));
        }
    }
    Ok(())
}

fn check_type(trust: &Trust, typ: Option<&str>, is_access_token: bool) -> Result<(), Refusal> {
    let is_accepted = match (&trust.types, typ) {
        (Some(types), Some(typ)) => types.iter().any(|accepted| same_type(accepted, typ)),
        (Some(_), None) => false,
        (None, None) => true,
        (None, Some(typ)) => {
            same_type(typ, "JWT") || is_access_token && same_type(typ, ACCESS_TOKEN_TYPE)
        }
    };
    if is_accepted {
        return Ok(());
    }
    let is_access_token_elsewhere = typ.is_some_and(|typ| same_type(typ, ACCESS_TOKEN_TYPE));
    let what = match &trust.types {
        Some(_) => "is not in `types` of the entry",
        None if is_access_token_elsewhere => {
            "at+jwt is accepted in an exchange with the `subject_token_type` access_token only, or with `types` of the entry"
        }
        None => "is neither JWT nor absent, and the entry has no `types`",
    };
    Err(Refusal::of_header("types", "typ", what))
}

/// Checks `may_act` (RFC 8693, section 4.4): if the subject names a party that may act, no other party may.
///
/// Every member must match. A member that is not known could restrict the party further.
pub(crate) fn check_may_act(claims: &Value, iss: &str, actor: Option<&str>) -> Result<(), Refusal> {
    let Some(may_act) = claims.get("may_act") else {
        return Ok(());
    };
    let is_actor = |value: &Value| actor.is_some() && value.as_str() == actor;
    let is_named = may_act.as_object().is_some_and(|members| {
        members.contains_key("sub")
            && members.iter().all(|(name, value)| match name.as_str() {
                "sub" => is_actor(value),
                "iss" => value.as_str() == Some(iss),
                _ => false,
            })
    });
    if is_named {
        Ok(())
    } else {
        let what = "`may_act` names another party";
        Err(Refusal::of_claim("may_act", "may_act", what))
    }
}

/// Checks that a token has not expired. It is verified with a leeway, and the new token has none.
pub(crate) fn check_not_ended(expires_at: Timestamp, now: Timestamp) -> Result<(), Refusal> {
    if expires_at > now {
        Ok(())
    } else {
        Err(Refusal::of_claim("lifetime", "exp", "has expired"))
    }
}

/// Refuses a token that is bound to a key: the request does not prove that key, and the new token would be bound to none.
pub(crate) fn check_not_bound(claims: &Value) -> Result<(), Refusal> {
    match claims.get("cnf") {
        None => Ok(()),
        Some(_) => {
            let what = "is bound to a key (`cnf`), which is not accepted";
            Err(Refusal::of_claim("cnf", "cnf", what))
        }
    }
}

/// Refuses an outside token with an actor. The new token would hide it: an actor of an outside issuer has no name here.
pub(crate) fn check_no_actor(claims: &Value) -> Result<(), Refusal> {
    match claims.get("act") {
        None => Ok(()),
        Some(_) => {
            let what = "has an actor (`act`), which is not accepted";
            Err(Refusal::of_claim("act", "act", what))
        }
    }
}

/// Checks a token that is accepted once. Returns its id and its end, in seconds since 1970, until which the id is stored.
pub(crate) fn check_single_use(
    id: Option<&str>,
    expires_at: Option<Timestamp>,
    now: Timestamp,
) -> Result<(&str, i64), Refusal> {
    let refused = |claim: &'static str, what: String| Refusal::of_claim("single_use", claim, what);
    let id = id.filter(|id| id.len() <= NAME_BYTES);
    let id =
        id.ok_or_else(|| refused("jti", "has no `jti`, or one that is too long".to_owned()))?;
    let expires_at = expires_at.ok_or_else(|| refused("exp", "has no `exp`".to_owned()))?;
    let expires_at = expires_at.unix_seconds();
    if expires_at > now.unix_seconds() + SINGLE_USE_SECONDS {
        let what = format!("is valid for more than {SINGLE_USE_SECONDS} s (`exp`)");
        return Err(refused("exp", what));
    }
    Ok((id, expires_at))
}

/// Checks the claims that a trust entry copies. Only single values: a structure could be very large.
pub(crate) fn check_copied(trust: &Trust, claims: &Value) -> Result<(), Refusal> {
    let is_structure = |from: &&String| {
        let value = claim(from, claims);
        value.is_some_and(|value| value.is_array() || value.is_object())
    };
    match trust.copy_claims.values().find(is_structure) {
        None => Ok(()),
        Some(from) => {
            let what = "a copied claim is not a single value";
            Err(Refusal::of_claim("copy_claims", from.clone(), what))
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::json;

    use super::*;

    #[test]
    fn may_act_names_the_only_party_that_may_act() {
        let check = |claims: Value, actor| check_may_act(&claims, "i", actor).is_ok();
        assert!(check(json!({}), Some("a")) && check(json!({}), None));
        assert!(check(json!({"may_act": {"sub": "a"}}), Some("a")));
        assert!(check(
            json!({"may_act": {"sub": "a", "iss": "i"}}),
            Some("a")
        ));
        for may_act in [
            json!({"sub": "b"}),
            json!({"sub": "a", "iss": "j"}),
            json!({"sub": "a", "client_id": "a"}),
            json!({"iss": "i"}),
            json!({"sub": ["a"]}),
            json!({}),
            json!("a"),
            json!(null),
            json!([{"sub": "a"}]),
        ] {
            assert!(
                !check(json!({ "may_act": may_act }), Some("a")),
                "{may_act}"
            );
        }
        assert!(!check(json!({"may_act": {"sub": null}}), None));
    }
}
