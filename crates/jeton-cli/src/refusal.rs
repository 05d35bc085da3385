//! What is said of a token that is refused: the reason, and what can be done about it from here.

use jeton::error::{Claim, Rejection};

use crate::exit::Failure;

/// The failure to end with.
pub(crate) fn of(error: jeton::Error, token: &str) -> Failure {
    let Some(rejection) = error.rejection() else {
        return Failure::wrong(error.to_string());
    };
    let failure = Failure::rejected(rejection.to_string());
    match advice(rejection, token) {
        Some(advice) => failure.hint(advice),
        None => failure,
    }
}

fn advice(rejection: Rejection, token: &str) -> Option<&'static str> {
    Some(match rejection {
        Rejection::Expired => {
            "to check it as of another moment: --at 2026-11-20T09:00:00Z; for clocks that differ: --leeway 60s"
        }
        Rejection::NotYetValid | Rejection::IssuedInTheFuture => {
            "for clocks that differ: --leeway 60s; to check it as of another moment: --at 2026-11-20T09:00:00Z"
        }
        Rejection::ClaimMissing(Claim::Expiry) => {
            "to take tokens that never expire: --allow no-expiry"
        }
        Rejection::TypeMismatch => {
            "a JWT has typ JWT or none unless you demand another: --typ at+jwt; what it has: jeton inspect TOKEN"
        }
        Rejection::AlgorithmMismatch | Rejection::UnknownKey => {
            "to see the token's alg and kid: jeton inspect TOKEN"
        }
        Rejection::WrongFormat | Rejection::Malformed(_) => looks_like(token)?,
        _ => return None,
    })
}

/// What a token is that was given to the wrong verb.
fn looks_like(token: &str) -> Option<&'static str> {
    let version = |purpose: &str| {
        ["v1.", "v2.", "v3.", "v4."].iter().any(|version| {
            token
                .strip_prefix(version)
                .is_some_and(|rest| rest.starts_with(purpose))
        })
    };
    if version("public.") {
        Some("this is a PASETO that is signed: jeton paseto verify, with a k4.public for v4.public")
    } else if version("local.") {
        Some(
            "this is a PASETO that is encrypted: jeton paseto decrypt, with a k4.local for v4.local",
        )
    } else if token.starts_with("eyJ") && token.matches('.').count() == 4 {
        Some("this is a JWE: it is encrypted, and jeton cannot decrypt it yet")
    } else if token.starts_with("eyJ") && token.matches('.').count() == 2 {
        Some("this looks like a JWT or JWS: jeton jwt verify, or jeton jws verify")
    } else {
        None
    }
}
