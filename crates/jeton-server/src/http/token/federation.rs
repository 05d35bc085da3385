//! Tokens of outside issuers (workload identity federation): as an assertion (RFC 7523, section 2.1), or as the
//! subject token of an exchange (RFC 8693).
//!
//! The trust entry decides what such a token gives. A workload needs no credentials besides it.

use std::time::Duration;

use jeton::__private::UnverifiedJwt;
use jeton::Limits as TokenLimits;
use jeton_issuer::limits::NAME_BYTES;
use serde_json::Value;

use super::exchange::{check_may_act, check_not_bound, check_not_ended};
use super::{ACCESS_TOKEN, Granted, NewClaims, TokenRequest};
use crate::claim_pattern::{claim, raw_claim};
use crate::config::Grant;
use crate::failure::Failure;
use crate::limits::SINGLE_USE_SECONDS;
use crate::traces::in_child_span;
use crate::trusts::OutsideToken;

/// The grant with an assertion.
pub(super) async fn assertion(request: &TokenRequest<'_>) -> Result<Value, Failure> {
    let assertion = request.form.required("assertion")?;
    let outside = outside_issuer(request, assertion).ok_or_else(|| match request.caller {
        None => unknown_to_anyone(OF_ASSERTION),
        Some(_) => Failure::oauth(
            "invalid_grant",
            "`assertion`: no trust entry accepts the token",
        ),
    })?;
    issue(request, Grant::JwtBearer, &outside, assertion).await
}

/// The exchange of an outside token.
pub(super) async fn exchange(
    request: &TokenRequest<'_>,
    outside: &str,
    token: &str,
) -> Result<Value, Failure> {
    issue(request, Grant::TokenExchange, outside, token).await
}

/// The outside issuer that a token names. `None` if no trust entry names it.
pub(super) fn outside_issuer(request: &TokenRequest<'_>, token: &str) -> Option<String> {
    let unverified = UnverifiedJwt::read(token, &TokenLimits::default()).ok()?;
    let issuer = unverified.issuer()?;
    let trusts = request.service.trusts.load();
    trusts.knows(issuer).then(|| issuer.to_owned())
}

/// Tells a caller without credentials no more than if the outside issuer were unknown: which issuers are trusted is not
/// public. The log has the reason.
fn hide_trust(request: &TokenRequest<'_>, error: TokenError, failure: Failure) -> Failure {
    match &failure {
        Failure::OAuth(found)
            if request.caller.is_none() && found.code != "temporarily_unavailable" =>
        {
            tracing::debug!(
                issuer = request.iss,
                reason = found.what,
                "outside token refused"
            );
            unknown_to_anyone(error)
        }
        _ => failure,
    }
}

/// The error for a token that no trust entry accepts, of a request without credentials.
pub(super) fn unknown_to_anyone((code, parameter): TokenError) -> Failure {
    let what = format!(
        "`{parameter}`: no trust entry accepts the token, and the request has no credentials of a client"
    );
    Failure::oauth(code, what)
}

/// The error code for a token that is not acceptable, and its parameter: of an exchange (RFC 8693, section 2.2.2) and of
/// an assertion (RFC 7521, section 4.1.1).
pub(super) type TokenError = (&'static str, &'static str);
pub(super) const OF_SUBJECT_TOKEN: TokenError = ("invalid_request", "subject_token");
const OF_ASSERTION: TokenError = ("invalid_grant", "assertion");

async fn issue(
    request: &TokenRequest<'_>,
    grant: Grant,
    outside: &str,
    token: &str,
) -> Result<Value, Failure> {
    let is_exchange = grant == Grant::TokenExchange;
    let error = if is_exchange {
        OF_SUBJECT_TOKEN
    } else {
        OF_ASSERTION
    };
    let trusts = request.service.trusts.load_full();
    let accepted = trusts.verify(request.iss, outside, token, error).await;
    let accepted = accepted.map_err(|failure| hide_trust(request, error, failure))?;
    // After the verification: the answer says that the issuer is trusted.
    for parameter in ["actor_token", "actor_token_type"] {
        if is_exchange && request.form.one(parameter)?.is_some() {
            let what = "not supported with a token of an outside issuer";
            return Err(Failure::Field(parameter, what.to_owned()));
        }
    }
    let settings = &accepted.entry.settings;
    accepted.entry.rate.take()?;
    if accepted.claims.get("act").is_some() {
        // The new token would hide the actor. An actor of an outside issuer has no name here.
        let (code, parameter) = error;
        let what = format!("`{parameter}`: has an actor (`act`), which is not accepted");
        return Err(Failure::oauth(code, what));
    }
    check_not_bound(error.1, &accepted.verified)?;
    let client = request.caller.filter(|caller| !caller.is_local());
    check_may_act(
        &accepted.claims,
        request.iss,
        client.map(|client| client.name()),
    )?;
    let chosen = request.choose(&settings.tokens)?;
    let now = request.service.node.now();
    let longest = Duration::from_secs(settings.maximum_lifetime_seconds.unsigned_abs());
    let mut latest = now.saturating_add(longest);
    if let (true, Some(expires_at)) = (is_exchange, accepted.verified.expires_at()) {
        check_not_ended("subject_token", expires_at, now)?;
        latest = latest.min(expires_at);
    }
    if settings.single_use {
        let used = use_once(request, outside, &accepted, error);
        in_child_span("store use once", used).await?;
    }
    let client_id = client.map_or(settings.name.as_str(), |client| client.name());
    let granted = Granted {
        chosen,
        client_id: client_id.to_owned(),
        claims: copied(&accepted, error)?,
        subject: accepted.subject,
        expires_no_later_than: Some(latest),
        issued_token_type: is_exchange.then_some(ACCESS_TOKEN),
    };
    request.issue(grant, granted).await
}

/// Copies the claims of the trust entry, byte for byte. Only single values: a structure could be very large.
fn copied(
    accepted: &OutsideToken<'_>,
    (code, parameter): TokenError,
) -> Result<NewClaims, Failure> {
    let mut copied = NewClaims::new();
    let json = accepted.verified.json();
    for (name, from) in &accepted.entry.settings.copy_claims {
        match claim(from, &accepted.claims) {
            Some(Value::String(_) | Value::Number(_) | Value::Bool(_)) => {
                if let Some(value) = raw_claim(from, json) {
                    copied.insert(name.clone(), value);
                }
            }
            Some(Value::Null) | None => {}
            Some(Value::Array(_) | Value::Object(_)) => {
                let what = format!("`{parameter}`: a copied claim is not a single value");
                return Err(Failure::oauth(code, what));
            }
        }
    }
    Ok(copied)
}

/// Accepts a token once, by its `jti`.
async fn use_once(
    request: &TokenRequest<'_>,
    outside: &str,
    accepted: &OutsideToken<'_>,
    (code, parameter): TokenError,
) -> Result<(), Failure> {
    let rejected = |what: &str| Failure::oauth(code, format!("`{parameter}`: {what}"));
    let token = &accepted.verified;
    let id = token.token_id().filter(|id| id.len() <= NAME_BYTES);
    let id = id.ok_or_else(|| rejected("has no `jti`, or one that is too long"))?;
    let expires_at = token.expires_at().ok_or_else(|| rejected("has no `exp`"))?;
    let node = &request.service.node;
    // The id is stored until then.
    let longest = node.now().unix_seconds() + SINGLE_USE_SECONDS;
    if expires_at.unix_seconds() > longest {
        let what = format!("is valid for more than {SINGLE_USE_SECONDS} s (`exp`)");
        return Err(rejected(&what));
    }
    let party = format!("issuer {outside}");
    let unused = node.use_once(request.iss, &party, id, expires_at.unix_seconds());
    if unused.await? {
        Ok(())
    } else {
        Err(rejected("was used before (`jti`)"))
    }
}
