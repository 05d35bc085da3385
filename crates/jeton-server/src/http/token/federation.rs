//! Tokens of outside issuers (workload identity federation): as an assertion (RFC 7523, section 2.1), or as the
//! subject token of an exchange (RFC 8693).
//!
//! The trust entry decides what such a token gives. A workload needs no credentials besides it.

use std::collections::BTreeMap;
use std::time::Duration;

use jeton::__private::UnverifiedJwt;
use jeton::Limits as TokenLimits;
use serde_json::value::RawValue;

use super::{ACCESS_TOKEN, Granted, TokenRequest};
use crate::claim_pattern::{claim, raw_claim};
use crate::failure::Failure;
use crate::named_issuer::named_issuer;
use crate::refusal::{Occasion, Party, Refusal};
use crate::token_rules::{
    check_copied, check_may_act, check_no_actor, check_not_bound, check_not_ended, check_single_use,
};
use crate::traces::in_child_span;
use crate::trusts::{NO_ENTRY, NotAccepted, OutsideToken, TrustEntry};

/// The error code for a token that is not acceptable, and its parameter: of an exchange (RFC 8693, section 2.2.2) and of
/// an assertion (RFC 7521, section 4.1.1).
pub(super) type TokenError = (&'static str, &'static str);
pub(super) const OF_SUBJECT_TOKEN: TokenError = ("invalid_request", "subject_token");
const OF_ASSERTION: TokenError = ("invalid_grant", "assertion");

/// How a request presents the token of an outside issuer.
#[derive(Clone, Copy)]
struct Presented<'p> {
    is_exchange: bool,
    outside: &'p str,
    token: &'p str,
    /// The exchange calls it an access token.
    is_access_token: bool,
}

/// The grant with an assertion.
pub(super) async fn assertion(request: &TokenRequest<'_>) -> Result<Granted, Failure> {
    let assertion = request.form.required("assertion")?;
    let outside = outside_issuer(request, assertion);
    let outside = outside.ok_or_else(|| unknown_issuer(request, OF_ASSERTION, assertion))?;
    let presented = Presented {
        is_exchange: false,
        outside: &outside,
        token: assertion,
        is_access_token: false,
    };
    grant(request, presented).await
}

/// The exchange of an outside token. `typ` is the `subject_token_type`.
pub(super) async fn exchange(
    request: &TokenRequest<'_>,
    outside: &str,
    token: &str,
    typ: &str,
) -> Result<Granted, Failure> {
    let presented = Presented {
        is_exchange: true,
        outside,
        token,
        is_access_token: typ == ACCESS_TOKEN,
    };
    grant(request, presented).await
}

/// The outside issuer that a token names. `None` if no trust entry names it.
pub(super) fn outside_issuer(request: &TokenRequest<'_>, token: &str) -> Option<String> {
    let unverified = UnverifiedJwt::read(token, &TokenLimits::default()).ok()?;
    let issuer = unverified.issuer()?;
    let trusts = request.service.trusts.load();
    trusts.knows(issuer).then(|| issuer.to_owned())
}

/// Logs that no trust entry names the issuer of a token, or that the token is malformed. Returns what the caller learns.
pub(super) fn unknown_issuer(
    request: &TokenRequest<'_>,
    error: TokenError,
    token: &str,
) -> Failure {
    let refusal = match UnverifiedJwt::read(token, &TokenLimits::default()) {
        Err(why) => {
            let refusal = Refusal::of_rejected(&why.into());
            let trusts = request.service.trusts.load();
            let outside = named_issuer(token);
            let entry = outside.and_then(|outside| trusts.first_entry(request.iss, &outside));
            if let Some(entry) = entry {
                log_refusal(request, token, entry, &refusal);
                return not_accepted(request, error, NO_ENTRY).logged();
            }
            refusal
        }
        Ok(_) => Refusal::of_claim("trust", "iss", "is in no trust entry for this issuer"),
    };
    let caller = request.caller.map(|caller| &**caller);
    let service = request.service;
    service.log_refusal_of(caller, request.iss, &refusal, Some(token));
    not_accepted(request, error, NO_ENTRY).logged()
}

/// Tells a caller without credentials no more than if the outside issuer were unknown: which issuers are trusted is not
/// public. The log has the reason.
fn not_accepted(request: &TokenRequest<'_>, (code, parameter): TokenError, what: &str) -> Failure {
    Failure::oauth(
        code,
        match request.caller {
            Some(_) => format!("`{parameter}`: {what}"),
            None => {
                format!("`{parameter}`: {NO_ENTRY}, and the request has no credentials of a client")
            }
        },
    )
}

/// Logs why a trust entry refuses a token.
fn log_refusal(request: &TokenRequest<'_>, token: &str, entry: &TrustEntry, refusal: &Refusal) {
    let authenticator = request.service.authenticator.load();
    let log = authenticator.refusals();
    let value = log.value(refusal, token);
    let occasion = Occasion {
        party: Party::Trust(&entry.settings.name),
        issuer: Some(request.iss),
        value: value.as_deref(),
    };
    log.write(Some(&entry.refusals), occasion, refusal);
}

async fn grant(request: &TokenRequest<'_>, presented: Presented<'_>) -> Result<Granted, Failure> {
    let Presented {
        is_exchange,
        outside,
        token,
        is_access_token,
    } = presented;
    let error = if is_exchange {
        OF_SUBJECT_TOKEN
    } else {
        OF_ASSERTION
    };
    let trusts = request.service.trusts.load_full();
    let accepted = trusts.verify(request.iss, outside, token, is_access_token);
    let accepted = accepted.await.map_err(|why| match why {
        NotAccepted::Unavailable => {
            let what = "the keys of the outside issuer cannot be fetched, retry later";
            Failure::oauth("temporarily_unavailable", what)
        }
        NotAccepted::NoEntry => unknown_issuer(request, error, token),
        NotAccepted::Refused {
            entry,
            refusal,
            what,
        } => {
            log_refusal(request, token, entry, &refusal);
            not_accepted(request, error, &what).logged()
        }
    })?;
    // After the verification: the answer says that the issuer is trusted.
    for parameter in ["actor_token", "actor_token_type"] {
        if is_exchange && request.form.one(parameter)?.is_some() {
            let what = "not supported with a token of an outside issuer";
            return Err(Failure::Field(parameter, what.to_owned()));
        }
    }
    let entry = accepted.entry;
    let settings = &entry.settings;
    let refused = |refusal: Refusal| {
        log_refusal(request, token, entry, &refusal);
        let (code, parameter) = error;
        Failure::oauth(code, format!("`{parameter}`: {}", refusal.what())).logged()
    };
    entry.rate.take().map_err(|exceeded| {
        let what = "more requests with its tokens than the limit";
        let refusal = Refusal::of_whole("requests_per_minute", what);
        log_refusal(request, token, entry, &refusal);
        Failure::from(exceeded).logged()
    })?;
    let client = request.caller.filter(|caller| !caller.is_local());
    let now = request.service.node.now();
    check_no_actor(&accepted.claims).map_err(refused)?;
    check_not_bound(&accepted.claims).map_err(refused)?;
    let actor = client.map(|client| client.name());
    check_may_act(&accepted.claims, request.iss, actor).map_err(refused)?;
    check_copied(settings, &accepted.claims).map_err(refused)?;
    let chosen = request.choose(&settings.tokens)?;
    let longest = Duration::from_secs(settings.maximum_lifetime_seconds.unsigned_abs());
    let mut latest = now.saturating_add(longest);
    if let (true, Some(expires_at)) = (is_exchange, accepted.verified.expires_at()) {
        check_not_ended(expires_at, now).map_err(refused)?;
        latest = latest.min(expires_at);
    }
    if settings.single_use {
        let (id, until) = (accepted.verified.token_id(), accepted.verified.expires_at());
        let (id, until) = check_single_use(id, until, now).map_err(refused)?;
        let party = format!("issuer {outside}");
        let used = request
            .service
            .node
            .use_once(request.iss, &party, id, until);
        if !in_child_span("store use once", used).await? {
            let what = "was used before (`jti`)";
            return Err(refused(Refusal::of_claim("single_use", "jti", what)));
        }
    }
    let client_id = client.map_or(settings.name.as_str(), |client| client.name());
    let own = copied(&accepted);
    request.granted(chosen, &accepted.subject, client_id, &own, Some(latest))
}

/// The claims that the trust entry copies, byte for byte.
fn copied<'c>(accepted: &'c OutsideToken<'_>) -> BTreeMap<&'c str, &'c RawValue> {
    let copied = accepted.entry.settings.copy_claims.iter();
    let copied = copied.filter_map(|(name, from)| {
        claim(from, &accepted.claims).filter(|value| !value.is_null())?;
        Some((name.as_str(), raw_claim(from, accepted.verified.json())?))
    });
    copied.collect()
}
