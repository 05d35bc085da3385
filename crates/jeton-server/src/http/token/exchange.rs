//! Token exchange (RFC 8693): a client exchanges a token that it received for one with which it calls others.
//!
//! The result has the subject of the exchanged token, and names the client in `act`. It never lives longer and
//! never has more scope.

use std::collections::BTreeMap;

use jeton::{RawClaims, Verified};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{ACCESS_TOKEN, Granted, ID_TOKEN, JWT, TokenRequest, federation};
use crate::claim_pattern::raw_claim;
use crate::failure::Failure;
use crate::limits::ACTORS;
use crate::permissions::Caller;
use crate::refusal::Refusal;
use crate::token_rights::parse_scope;
use crate::token_rules::{check_may_act, check_not_bound, check_not_ended};

/// Exchanges a token of this issuer or of an outside one.
pub(super) async fn grant(request: &TokenRequest<'_>) -> Result<Granted, Failure> {
    let (token, typ) = subject_token(request)?;
    match (federation::outside_issuer(request, token), request.caller) {
        (Some(outside), _) => federation::exchange(request, &outside, token, typ).await,
        (None, Some(caller)) => exchange(request, caller, token),
        (None, None) => {
            let error = federation::OF_SUBJECT_TOKEN;
            Err(federation::unknown_issuer(request, error, token))
        }
    }
}

/// Reads the token to exchange and its type, and checks the types of the request.
fn subject_token<'r>(request: &TokenRequest<'r>) -> Result<(&'r str, &'r str), Failure> {
    let form = request.form;
    let token = form.required("subject_token")?;
    let typ = form.required("subject_token_type")?;
    check_type("subject_token_type", typ)?;
    match form.one("requested_token_type")? {
        None | Some(ACCESS_TOKEN | JWT) => {}
        Some(_) => {
            let what = format!("expected {ACCESS_TOKEN} or {JWT}");
            return Err(Failure::Field("requested_token_type", what));
        }
    }
    Ok((token, typ))
}

/// Exchanges a token of this issuer.
fn exchange(request: &TokenRequest<'_>, caller: &Caller, token: &str) -> Result<Granted, Failure> {
    let presented = Presented {
        request,
        caller,
        parameter: "subject_token",
        token,
    };
    let (subject_token, claims) = presented.verify()?;
    let actor = actor(request, caller)?;
    let refused = |refusal| presented.refused(&refusal);
    check_may_act(&claims, request.iss, Some(&actor)).map_err(refused)?;
    let subject = subject_token
        .subject()
        .ok_or_else(|| refused(no_subject()))?;
    let mut chosen = request.choose(caller.token_rights().tokens())?;
    narrow(&mut chosen.scopes, request.form.one("scope")?, &claims)?;
    let before = raw_claim("act", subject_token.json());
    let own = BTreeMap::from([("act", nest(&actor, &claims, before)?)]);
    let latest = subject_token.expires_at();
    request.granted(chosen, subject, caller.name(), &own, latest)
}

fn check_type(parameter: &'static str, typ: &str) -> Result<(), Failure> {
    if [ACCESS_TOKEN, JWT, ID_TOKEN].contains(&typ) {
        Ok(())
    } else {
        let what = format!("expected {ACCESS_TOKEN}, {JWT} or {ID_TOKEN}");
        Err(Failure::Field(parameter, what))
    }
}

/// A token of this issuer that a client presents.
struct Presented<'p, 'r> {
    request: &'p TokenRequest<'r>,
    caller: &'p Caller,
    parameter: &'static str,
    token: &'p str,
}

impl Presented<'_, '_> {
    /// Verifies the token, and checks that the client may exchange it. Returns its claims too.
    ///
    /// The token must be meant for the client. Otherwise a server that receives tokens of its users could exchange
    /// tokens that were meant for another one.
    fn verify(&self) -> Result<(Verified<RawClaims>, Value), Failure> {
        let node = &self.request.service.node;
        let verified = node.introspect(self.request.iss, self.token);
        let verified = verified.map_err(|error| {
            if !error.is_rejection() {
                return error.into();
            }
            let refusal = Refusal::of_own(&error);
            self.log(&refusal);
            // The client is known, so that it may learn the code.
            rejected(self.parameter, &format!("rejected ({})", refusal.rule())).logged()
        })?;
        let refused = |refusal| self.refused(&refusal);
        if let Some(expires_at) = verified.expires_at() {
            check_not_ended(expires_at, node.now()).map_err(refused)?;
        }
        let claims = claims_of(self.parameter, &verified)?;
        check_not_bound(&claims).map_err(refused)?;
        let audiences: Vec<_> = verified.audiences().collect();
        let audiences = audiences.iter().map(|audience| &**audience);
        if self.caller.token_rights().may_exchange(audiences) {
            Ok((verified, claims))
        } else {
            let what = "is not meant for this client (`aud`)";
            Err(refused(Refusal::of_claim(
                "exchange_audiences",
                "aud",
                what,
            )))
        }
    }

    fn log(&self, refusal: &Refusal) {
        let (service, iss) = (self.request.service, self.request.iss);
        service.log_refusal_of(Some(self.caller), iss, refusal, Some(self.token));
    }

    /// Logs a refusal, and returns what the client learns.
    fn refused(&self, refusal: &Refusal) -> Failure {
        self.log(refusal);
        rejected(self.parameter, refusal.what()).logged()
    }
}

fn no_subject() -> Refusal {
    Refusal::of_claim("subject", "sub", "has no `sub`")
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
    let presented = Presented {
        request,
        caller,
        parameter: "actor_token",
        token,
    };
    let (actor, _) = presented.verify()?;
    let subject = actor.subject().map(str::to_owned);
    subject.ok_or_else(|| presented.refused(&no_subject()))
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
#[derive(Serialize)]
struct Act<'a> {
    sub: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    act: Option<&'a RawValue>,
}

/// Adds an actor to those before, of which `raw` is the text.
fn nest<'a>(actor: &'a str, claims: &Value, raw: Option<&'a RawValue>) -> Result<Act<'a>, Failure> {
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
    Ok(Act {
        sub: actor,
        act: raw,
    })
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

fn claims_of(parameter: &str, verified: &Verified<RawClaims>) -> Result<Value, Failure> {
    let claims = serde_json::from_str(verified.json());
    claims.map_err(|_| rejected(parameter, "claims cannot be read"))
}

/// RFC 8693, section 2.2.2: a token that is not acceptable is an invalid request.
fn rejected(parameter: &str, what: &str) -> Failure {
    Failure::oauth("invalid_request", format!("`{parameter}`: {what}"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::json;
    use serde_json::value::to_raw_value;

    use super::*;

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
            nest(actor, claims, before.as_deref()).map(|act| serde_json::to_value(act).unwrap())
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
        let nested = serde_json::to_string(&nested).unwrap();
        assert_eq!(nested, format!(r#"{{"sub":"b","act":{text}}}"#));
    }
}
