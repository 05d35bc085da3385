//! Token exchange (RFC 8693): a client exchanges a token that it received for one with which it calls others.
//!
//! The result has the subject of the exchanged token, and names the client in `act`. It never lives longer and
//! never has more scope.

use std::borrow::Cow;
use std::collections::HashMap;

use jeton::{RawClaims, Timestamp, Verified};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use super::{ACCESS_TOKEN, Granted, ID_TOKEN, JWT, NewClaims, TokenRequest};
use crate::config::Grant;
use crate::failure::Failure;
use crate::limits::ACTORS;
use crate::permissions::Caller;
use crate::token_rights::parse_scope;

/// Reads the token to exchange, and checks the types of the request.
pub(super) fn subject_token<'r>(request: &TokenRequest<'r>) -> Result<&'r str, Failure> {
    let form = request.form;
    let token = form.required("subject_token")?;
    check_type("subject_token_type", form.required("subject_token_type")?)?;
    match form.one("requested_token_type")? {
        None | Some(ACCESS_TOKEN | JWT) => {}
        Some(_) => {
            let what = format!("expected {ACCESS_TOKEN} or {JWT}");
            return Err(Failure::Field("requested_token_type", what));
        }
    }
    Ok(token)
}

/// Exchanges a token of this issuer.
pub(super) async fn exchange(
    request: &TokenRequest<'_>,
    caller: &Caller,
    token: &str,
) -> Result<Value, Failure> {
    let subject_token = verify(request, caller, "subject_token", token)?;
    let actor = actor(request, caller)?;
    let claims = claims_of(&subject_token)?;
    check_may_act(&claims, request.iss, Some(&actor))?;
    let subject = subject_token.subject();
    let subject = subject.ok_or_else(|| rejected("subject_token", "has no `sub`"))?;
    let mut chosen = request.choose(caller.token_rights().tokens())?;
    narrow(&mut chosen.scopes, request.form.one("scope")?, &claims)?;
    let mut new_claims = NewClaims::new();
    new_claims.insert(
        "act".to_owned(),
        nest_actor(&actor, &claims, &subject_token)?,
    );
    let granted = Granted {
        chosen,
        subject: subject.to_owned(),
        client_id: caller.name().to_owned(),
        claims: new_claims,
        expires_no_later_than: subject_token.expires_at(),
        issued_token_type: Some(ACCESS_TOKEN),
    };
    request.issue(Grant::TokenExchange, granted).await
}

fn check_type(parameter: &'static str, typ: &str) -> Result<(), Failure> {
    if [ACCESS_TOKEN, JWT, ID_TOKEN].contains(&typ) {
        Ok(())
    } else {
        let what = format!("expected {ACCESS_TOKEN}, {JWT} or {ID_TOKEN}");
        Err(Failure::Field(parameter, what))
    }
}

/// Verifies a token of this issuer that the client may exchange.
///
/// The token must be meant for the client. Otherwise a server that receives tokens of its users could exchange
/// tokens that were meant for another one.
fn verify(
    request: &TokenRequest<'_>,
    caller: &Caller,
    parameter: &'static str,
    token: &str,
) -> Result<Verified<RawClaims>, Failure> {
    let verified = request.service.node.introspect(request.iss, token);
    let verified = verified.map_err(|error| {
        if error.is_rejection() {
            rejected(parameter, "rejected")
        } else {
            error.into()
        }
    })?;
    if let Some(expires_at) = verified.expires_at() {
        check_not_ended(parameter, expires_at, request.service.node.now())?;
    }
    check_not_bound(parameter, &verified)?;
    let audiences: Vec<_> = verified.audiences().collect();
    let audiences = audiences.iter().map(|audience| &**audience);
    if caller.token_rights().may_exchange(audiences) {
        Ok(verified)
    } else {
        Err(rejected(parameter, "is not meant for this client (`aud`)"))
    }
}

/// The acting party: the subject of the actor token, or else the client.
fn actor(request: &TokenRequest<'_>, caller: &Caller) -> Result<String, Failure> {
    let form = request.form;
    let typ = form.one("actor_token_type")?;
    let Some(token) = form.one("actor_token")? else {
        return match typ {
            None => Ok(caller.name().to_owned()),
            Some(_) => Err(Failure::Field("actor_token", "required".to_owned())),
        };
    };
    check_type("actor_token_type", form.required("actor_token_type")?)?;
    let actor = verify(request, caller, "actor_token", token)?;
    let subject = actor.subject().map(str::to_owned);
    subject.ok_or_else(|| rejected("actor_token", "has no `sub`"))
}

/// Checks `may_act` (RFC 8693, section 4.4): if the subject names a party that may act, no other party may.
///
/// Every member must match. A member that is not known could restrict the party further.
pub(super) fn check_may_act(claims: &Value, iss: &str, actor: Option<&str>) -> Result<(), Failure> {
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
        Err(rejected("subject_token", "`may_act` names another party"))
    }
}

/// Checks that a token has not expired. It is verified with a leeway, and the new token has none.
pub(super) fn check_not_ended(
    parameter: &str,
    expires_at: Timestamp,
    now: Timestamp,
) -> Result<(), Failure> {
    if expires_at > now {
        Ok(())
    } else {
        Err(rejected(parameter, "has expired"))
    }
}

/// Refuses a token that is bound to a key: the request does not prove that key, and the new token would be bound to none.
pub(super) fn check_not_bound(parameter: &str, token: &Verified<RawClaims>) -> Result<(), Failure> {
    if raw_claims(token).is_some_and(|claims| !claims.contains_key("cnf")) {
        Ok(())
    } else {
        Err(rejected(
            parameter,
            "is bound to a key (`cnf`), which is not accepted",
        ))
    }
}

/// The claims of a token, each as its text.
fn raw_claims(token: &Verified<RawClaims>) -> Option<HashMap<Cow<'_, str>, &RawValue>> {
    serde_json::from_str(token.json()).ok()
}

/// Limits the scope to that of the subject token.
fn narrow(scopes: &mut Vec<&str>, requested: Option<&str>, claims: &Value) -> Result<(), Failure> {
    let held = claims.get("scope").and_then(Value::as_str);
    let held = held.map_or(Ok(Vec::new()), parse_scope);
    let held = held.map_err(|_| rejected("subject_token", "has a malformed `scope`"))?;
    let before = scopes.len();
    scopes.retain(|scope| held.contains(scope));
    if requested.is_some() && scopes.len() < before {
        Err(Failure::oauth(
            "invalid_scope",
            "`scope`: more than that of the subject token",
        ))
    } else {
        Ok(())
    }
}

/// `act` of the new token: the actor, and inside it the actors before (RFC 8693, section 4.1), byte for byte.
fn nest_actor(
    actor: &str,
    claims: &Value,
    token: &Verified<RawClaims>,
) -> Result<Box<RawValue>, Failure> {
    let before = raw_claims(token).and_then(|claims| claims.get("act").copied());
    nest(actor, claims, before)
}

fn nest(actor: &str, claims: &Value, raw: Option<&RawValue>) -> Result<Box<RawValue>, Failure> {
    #[derive(Serialize)]
    struct Act<'a> {
        sub: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        act: Option<&'a RawValue>,
    }
    if let Some(before) = claims.get("act") {
        let depth =
            actors(before).ok_or_else(|| rejected("subject_token", "has a malformed `act`"))?;
        if depth >= ACTORS {
            let what = format!(
                "`act` has {depth} actors, the limit is {} before an exchange",
                ACTORS - 1
            );
            return Err(rejected("subject_token", &what));
        }
    }
    let nested = to_raw_value(&Act {
        sub: actor,
        act: raw,
    });
    nested.map_err(|_| rejected("subject_token", "claims cannot be read"))
}

/// The number of nested actors. `None` if one is not an object.
fn actors(act: &Value) -> Option<usize> {
    let mut count = 1;
    let mut members = act.as_object()?;
    while let Some(next) = members.get("act") {
        count += 1;
        members = next.as_object()?;
    }
    Some(count)
}

pub(super) fn claims_of(verified: &Verified<RawClaims>) -> Result<Value, Failure> {
    let claims = serde_json::from_str(verified.json());
    claims.map_err(|_| rejected("subject_token", "claims cannot be read"))
}

/// RFC 8693, section 2.2.2: a token that is not acceptable is an invalid request.
fn rejected(parameter: &str, what: &str) -> Failure {
    Failure::oauth("invalid_request", format!("`{parameter}`: {what}"))
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

    #[test]
    fn scope_is_never_more_than_that_of_the_subject_token() {
        let narrow = |scopes: &[&'static str], requested, held: Value| {
            let mut scopes = scopes.to_vec();
            narrow(&mut scopes, requested, &held).map(|()| scopes)
        };
        let held = || json!({"scope": "read list"});
        assert_eq!(narrow(&["read"], Some("read"), held()).unwrap(), ["read"]);
        assert_eq!(narrow(&["read", "write"], None, held()).unwrap(), ["read"]);
        assert!(narrow(&["write"], Some("write"), held()).is_err());
        assert!(narrow(&["read"], Some("read"), json!({})).is_err());
        assert!(narrow(&["read"], None, json!({})).unwrap().is_empty());
        assert!(narrow(&["read"], None, json!({"scope": "read  list"})).is_err());
        assert!(narrow(&["read"], Some("read"), json!({"scope": ["read"]})).is_err());
    }

    #[test]
    fn actors_are_nested_up_to_the_limit() {
        let nest = |actor: &str, claims: &Value| {
            let before = claims.get("act").map(|act| to_raw_value(act).unwrap());
            nest(actor, claims, before.as_deref())
                .map(|act| serde_json::from_str::<Value>(act.get()).unwrap())
        };
        let mut claims = json!({});
        for depth in 1..=ACTORS {
            let act = nest(&format!("a{depth}"), &claims).unwrap();
            assert_eq!(actors(&act), Some(depth));
            claims = json!({ "act": act });
        }
        assert!(nest("b", &claims).is_err());
        assert!(nest("b", &json!({"act": "a"})).is_err());
        assert!(nest("b", &json!({"act": {"sub": "a", "act": 1}})).is_err());
    }

    #[test]
    fn former_actor_is_copied_byte_for_byte() {
        let text = r#"{"sub":"a","n":1.0,"m":12345678901234567890123,"e":1E2}"#;
        let before: Box<RawValue> = serde_json::from_str(text).unwrap();
        let claims = json!({"act": {"sub": "a"}});
        let nested = nest("b", &claims, Some(&before)).unwrap();
        assert_eq!(nested.get(), format!(r#"{{"sub":"b","act":{text}}}"#));
    }
}
