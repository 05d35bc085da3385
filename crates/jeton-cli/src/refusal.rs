//! What is said of a token that is refused: the reason, and what can be done about it from here.

use jeton::error::{Claim, Part, Rejection};

use crate::exit::Failure;
use crate::jose::{self, Token};

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

/// The same, where a token that is encrypted was wanted.
pub(crate) fn of_encrypted(error: jeton::Error, token: &str) -> Failure {
    let failure = of(error, token);
    let is_signed = matches!(Token::read(token), Some(Token::Jws(_)));
    match error.rejection() {
        Some(Rejection::Malformed(_)) if is_signed && Token::alg_of(token).is_some() => failure.hint(
            "this looks like a JWT or JWS, which is signed and not encrypted: jeton jwt verify, or jeton jws verify",
        ),
        _ => failure,
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
        Rejection::TypeMismatch if looks_like_jwe(token).is_some() => {
            "a JWT that was signed and then encrypted has cty JWT; what this one has: jeton inspect TOKEN"
        }
        Rejection::TypeMismatch => {
            "a JWT has typ JWT or none unless you demand another: --typ at+jwt; what it has: jeton inspect TOKEN"
        }
        Rejection::Compressed => "to take compressed tokens knowingly: --allow zip",
        Rejection::AlgorithmMismatch | Rejection::UnknownKey => {
            shut_door(token).unwrap_or("to see the token's alg and kid: jeton inspect TOKEN")
        }
        Rejection::EncryptionMismatch => "to see the token's enc: jeton inspect TOKEN",
        Rejection::Signature | Rejection::Malformed(Part::Payload) if has_no_payload(token) => {
            "the token has no payload of its own; it is valid for exactly the bytes that were signed: --detached @FILE"
        }
        Rejection::WrongFormat => looks_like_jose(token).or_else(|| looks_like_paseto(token))?,
        Rejection::Malformed(Part::Payload) if token.starts_with("eyJ") => {
            "claims are one JSON object; for a payload that is something else: jeton jws verify"
        }
        Rejection::Malformed(Part::Token) if looks_like_json(token).is_some() => {
            looks_like_json(token)?
        }
        Rejection::Malformed(_) => looks_like_jwe(token).or_else(|| looks_like_paseto(token))?,
        _ => return None,
    })
}

fn has_no_payload(token: &str) -> bool {
    match Token::read(token) {
        Some(Token::Jws(jws)) => jws.payload.is_none_or(|payload| payload.is_empty()),
        _ => false,
    }
}

/// The door behind which the token's algorithm is.
fn shut_door(token: &str) -> Option<&'static str> {
    let alg = Token::alg_of(token)?;
    if alg == "RSA1_5" {
        Some("the token asks for RSA1_5: to take that knowingly: --alg RSA1_5 --allow rsa1_5")
    } else if alg.starts_with("PBES2-") {
        Some(
            "the token asks for a password: to take one knowingly: --password-file FILE --allow pbes2",
        )
    } else {
        None
    }
}

/// A token of another format, given to the wrong verb.
fn looks_like_paseto(token: &str) -> Option<&'static str> {
    let is = |purpose: &str| {
        let versions = ["v1.", "v2.", "v3.", "v4."].into_iter();
        let mut rests = versions.filter_map(|version| token.strip_prefix(version));
        rests.any(|rest| rest.starts_with(purpose))
    };
    if is("public.") {
        Some("this is a PASETO that is signed: jeton paseto verify, with a k4.public for v4.public")
    } else if is("local.") {
        Some(
            "this is a PASETO that is encrypted: jeton paseto decrypt, with a k4.local for v4.local",
        )
    } else {
        None
    }
}

fn looks_like_jose(token: &str) -> Option<&'static str> {
    let jws = token.starts_with("eyJ") && token.matches('.').count() == 2;
    jws.then_some("this looks like a JWT or JWS: jeton jwt verify, or jeton jws verify")
        .or_else(|| looks_like_jwe(token))
}

fn looks_like_jwe(token: &str) -> Option<&'static str> {
    let is_compact = token.starts_with("eyJ") && token.matches('.').count() == 4;
    (is_compact || is_json_jwe(token)).then_some(
        "this looks like a JWE: jeton jwe decrypt; for a JWT that was signed and then encrypted: jeton jwt verify --decrypt-key FILE",
    )
}

fn is_json_jwe(token: &str) -> bool {
    jose::is_json(token) && matches!(Token::read(token), Some(Token::Jwe(_)))
}

fn looks_like_json(token: &str) -> Option<&'static str> {
    let jws = jose::is_json(token) && matches!(Token::read(token), Some(Token::Jws(_)));
    jws.then_some("this looks like a JWS in JSON: jeton jws verify; a JWT is always compact")
}
