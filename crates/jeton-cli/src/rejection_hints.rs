//! What is said of a token that is refused: the reason, and what can be done about it from here.

use jeton::error::{Claim, Part, Rejection};

use crate::exit::Failure;
use crate::jose::{self, Token};
use crate::keyfile::Skipped;

/// Who refused the token. To be sent back to where one comes from is no advice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Command {
    JwtVerify,
    /// `jwt verify --decrypt-key`.
    JwtDecrypt,
    JwsVerify,
    JweDecrypt,
    PasetoVerify,
    PasetoDecrypt,
}

/// The failure to end with.
pub(crate) fn of(error: jeton::Error, token: &str, command: Command) -> Failure {
    let Some(rejection) = error.rejection() else {
        return Failure::error(error.to_string());
    };
    let failure = Failure::rejected(rejection.to_string());
    match advice(rejection, token, command) {
        Some(advice) => failure.hint(advice),
        None => failure,
    }
}

/// The same of a token that was verified with a set. The keys of the set that were skipped are listed first if no
/// other fits: one of them may be the right one.
pub(crate) fn of_keys(error: jeton::Error, token: &str, command: Command, skipped: &Skipped) -> Failure {
    let no_key_fits = match error.rejection() {
        Some(Rejection::UnknownKey | Rejection::AlgorithmMismatch) => true,
        // All that fit were tried, and the token does not say which it is.
        Some(Rejection::Signature | Rejection::Decryption) => Token::kid_of(token).is_none(),
        _ => false,
    };
    if no_key_fits {
        skipped.note();
    }
    of(error, token, command)
}

fn advice(rejection: Rejection, token: &str, command: Command) -> Option<String> {
    let fixed = match rejection {
        Rejection::Expired => {
            "to check it as of another moment: --at 2026-11-20T09:00:00Z; for clocks that differ: --leeway 60s"
        }
        Rejection::NotYetValid | Rejection::IssuedInTheFuture => {
            "for clocks that differ: --leeway 60s; to check it as of another moment: --at 2026-11-20T09:00:00Z"
        }
        Rejection::ClaimMissing(Claim::Expiry) => {
            "to take tokens that never expire: --allow no-expiry"
        }
        Rejection::TypeMismatch if is_jwe(token) => {
            "a JWT that was signed and then encrypted has cty JWT; what this one has: jeton inspect TOKEN"
        }
        Rejection::TypeMismatch => {
            "a JWT has typ JWT or none unless you demand another: --typ at+jwt; what it has: jeton inspect TOKEN"
        }
        Rejection::Compressed => "to take compressed tokens knowingly: --allow zip",
        Rejection::UnprotectedAlg | Rejection::UnprotectedEnc => {
            "to accept an alg or enc that is not protected: --allow unprotected-alg"
        }
        Rejection::AlgorithmMismatch | Rejection::UnknownKey => {
            shut_door(token, command).unwrap_or("to see the token's alg and kid: jeton inspect TOKEN")
        }
        Rejection::EncryptionMismatch => "to see the token's enc: jeton inspect TOKEN",
        Rejection::Signature | Rejection::Malformed(Part::Payload) if has_no_payload(token) => {
            without_payload(command)?
        }
        Rejection::WrongFormat => return another_format(token, command),
        Rejection::Malformed(part) => return another_form(part, token, command),
        _ => return None,
    };
    Some(fixed.to_owned())
}

/// What a token of another format is, and who takes it.
fn another_format(token: &str, command: Command) -> Option<String> {
    looks_like_jose(token, command)
        .map(str::to_owned)
        .or_else(|| looks_like_paseto(token, command))
}

/// What a text that does not have the form wanted may be, and who takes that.
fn another_form(part: Part, token: &str, command: Command) -> Option<String> {
    let is_jws = matches!(Token::read(token), Some(Token::Jws(_)));
    let fixed = match (part, command) {
        (Part::Payload, Command::JwtVerify) if token.starts_with("eyJ") => {
            "claims are one JSON object; for a payload that is something else: jeton jws verify"
        }
        (Part::Payload, Command::PasetoVerify | Command::PasetoDecrypt) if has_body(token) => {
            "claims are one JSON object; for a payload that is something else: --raw"
        }
        (Part::Token, Command::JwtVerify) if jose::is_json(token) && is_jws => {
            "this looks like a JWS in JSON: jeton jws verify; a JWT is always compact"
        }
        (_, Command::JwtDecrypt) if is_jws && Token::alg_of(token).is_some() => {
            "this looks like a JWT or JWS, which is signed and not encrypted: leave out --decrypt-key"
        }
        (_, Command::JweDecrypt) if is_jws && Token::alg_of(token).is_some() => {
            "this looks like a JWT or JWS, which is signed and not encrypted: jeton jwt verify, or jeton jws verify"
        }
        // The key is the right one: the token is broken.
        (_, Command::PasetoVerify | Command::PasetoDecrypt) => return None,
        _ => match looks_like_jwe(token, command) {
            Some(fixed) => fixed,
            None => return looks_like_paseto(token, command),
        },
    };
    Some(fixed.to_owned())
}

/// Whether what stands in a PASETO is base64url, and so it is what that holds which is no claims.
fn has_body(token: &str) -> bool {
    let body = token.split('.').nth(2);
    body.is_some_and(|body| jose::decode(body).is_some())
}

/// What can be done with a token that travels without its payload.
fn without_payload(command: Command) -> Option<&'static str> {
    match command {
        Command::JwsVerify => Some(
            "the token has no payload of its own; it is valid for exactly the bytes that were signed: --detached @FILE",
        ),
        Command::JwtVerify => Some(
            "the token has no payload of its own, and a JWT has its claims; with the bytes that were signed: jeton jws verify --detached @FILE",
        ),
        _ => None,
    }
}

fn has_no_payload(token: &str) -> bool {
    match Token::read(token) {
        Some(Token::Jws(jws)) => jws.payload.is_none_or(|payload| payload.is_empty()),
        _ => false,
    }
}

/// The door behind which the token's algorithm is.
fn shut_door(token: &str, command: Command) -> Option<&'static str> {
    let alg = Token::alg_of(token)?;
    let is_password = alg.starts_with("PBES2-");
    Some(match command {
        Command::JweDecrypt if alg == "RSA1_5" => {
            "the token asks for RSA1_5: to take that knowingly: --alg RSA1_5 --allow rsa1_5"
        }
        Command::JwtDecrypt if alg == "RSA1_5" => {
            "the token asks for RSA1_5: to take that knowingly: --decrypt-alg RSA1_5 --allow rsa1_5"
        }
        Command::JweDecrypt if is_password => {
            "the token asks for a password: to take one knowingly: --password-file FILE --allow pbes2"
        }
        Command::JwtDecrypt if is_password => {
            "the token asks for a password: to take one knowingly, as an oct JWK: --decrypt-key FILE --allow pbes2"
        }
        _ => return None,
    })
}

/// A PASETO, and who takes it: another command, or this one with another key.
fn looks_like_paseto(token: &str, command: Command) -> Option<String> {
    let (version, rest) = token.strip_prefix('v')?.split_once('.')?;
    let (purpose, _) = rest.split_once('.')?;
    if !["1", "2", "3", "4"].contains(&version) {
        return None;
    }
    let (done, taker, command) = match purpose {
        "public" => ("signed", Command::PasetoVerify, "jeton paseto verify"),
        "local" => ("encrypted", Command::PasetoDecrypt, "jeton paseto decrypt"),
        _ => return None,
    };
    Some(match command == taker {
        true => format!("a v{version}.{purpose} token takes a k{version}.{purpose}"),
        false => format!("this is a PASETO that is {done}: {command}, with a k{version}.{purpose}"),
    })
}

fn looks_like_jose(token: &str, command: Command) -> Option<&'static str> {
    let jws = token.starts_with("eyJ") && token.matches('.').count() == 2;
    jws.then_some("this looks like a JWT or JWS: jeton jwt verify, or jeton jws verify")
        .or_else(|| looks_like_jwe(token, command))
}

fn looks_like_jwe(token: &str, command: Command) -> Option<&'static str> {
    let decrypts = matches!(command, Command::JweDecrypt | Command::JwtDecrypt);
    (is_jwe(token) && !decrypts).then_some(
        "this looks like a JWE: jeton jwe decrypt; for a JWT that was signed and then encrypted: jeton jwt verify --decrypt-key FILE",
    )
}

fn is_jwe(token: &str) -> bool {
    let is_compact = token.starts_with("eyJ") && token.matches('.').count() == 4;
    is_compact || (jose::is_json(token) && matches!(Token::read(token), Some(Token::Jwe(_))))
}
