//! The error for a rejected token: the reason, and a hint that works in the same command.

use jeton::danger::Pbes2Alg;
use jeton::error::{Claim, Part, Rejection};

use crate::exit::Failure;
use crate::jose::{self, Token};
use crate::keyfile::Skipped;
use crate::limit_args;

/// The command that rejected the token. A hint never names the command that is already running.
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

/// Returns the failure for an error of the library.
pub(crate) fn failure(error: jeton::Error, token: &str, command: Command) -> Failure {
    let Some(rejection) = error.rejection() else {
        return Failure::error(error.to_string());
    };
    let failure = Failure::rejected(rejection.to_string()).with_code(error.code());
    match hint(rejection, token, command) {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// Returns the failure for a token that was verified with a key set.
///
/// If no key of the set fits, the skipped keys are listed first: one of them may be the right one.
pub(crate) fn failure_with_keys(
    error: jeton::Error,
    token: &str,
    command: Command,
    skipped: &Skipped,
) -> Failure {
    let no_key_fits = match error.rejection() {
        Some(Rejection::UnknownKey | Rejection::AlgorithmMismatch) => true,
        // Every fitting key was tried, and the token has no `kid` that names one.
        Some(Rejection::Signature | Rejection::Decryption) => Token::kid_of(token).is_none(),
        _ => false,
    };
    if no_key_fits {
        skipped.note();
    }
    failure(error, token, command)
}

/// Returns what to do about a rejection.
pub(crate) fn hint(rejection: &Rejection, token: &str, command: Command) -> Option<String> {
    let fixed = match rejection {
        Rejection::WrongFormat { .. } | Rejection::Malformed(_) | Rejection::Signature
            if jose::other_form(token).is_some() =>
        {
            return jose::other_form(token);
        }
        Rejection::Expired => {
            "to verify it at an earlier time, add `--at TIME`, for example 2026-11-20T09:00:00Z; if the clocks differ, add `--leeway 60s`"
        }
        Rejection::IssuedInTheFuture => {
            "if the clocks differ by more than a minute, add `--leeway 5m`; to verify it at a later time, add `--at TIME`, for example 2026-11-20T09:00:00Z"
        }
        Rejection::NotYetValid => {
            "if the clocks differ, add `--leeway 60s`; to verify it at a later time, add `--at TIME`, for example 2026-11-20T09:00:00Z"
        }
        Rejection::ClaimMissing(Claim::Expiry) => {
            "to accept tokens without exp, add `--allow no-expiry`"
        }
        Rejection::TypeMismatch if is_jwe(token) => {
            "a nested JWT has cty JWT in its outer header; to see the header, run `jeton inspect TOKEN`"
        }
        Rejection::TypeMismatch => {
            "a JWT has typ JWT or no typ; to require another type, add `--typ at+jwt`; to see the header, run `jeton inspect TOKEN`"
        }
        Rejection::Compressed => "to accept compressed tokens, add `--allow zip`",
        Rejection::UnprotectedAlg | Rejection::UnprotectedEnc => {
            "to accept an alg or enc outside the protected header, add `--allow unprotected-alg`"
        }
        Rejection::AlgorithmMismatch | Rejection::UnknownKey => {
            let inspect = "to see the token's alg and kid, run `jeton inspect TOKEN`";
            return Some(allow_hint(token, command).unwrap_or_else(|| inspect.to_owned()));
        }
        Rejection::EncryptionMismatch => "to see the token's enc, run `jeton inspect TOKEN`",
        Rejection::Signature | Rejection::Malformed(Part::Payload) if has_no_payload(token) => {
            without_payload(command)?
        }
        Rejection::TooLarge { .. } | Rejection::TooManyKeys { .. } => {
            return limit_args::hint(rejection);
        }
        Rejection::WrongFormat { .. } => return another_format(token, command),
        Rejection::Malformed(part) => return another_form(*part, token, command),
        _ => return None,
    };
    Some(fixed.to_owned())
}

/// Names the format of a token of another format, and the command for it.
fn another_format(token: &str, command: Command) -> Option<String> {
    looks_like_jose(token, command)
        .map(str::to_owned)
        .or_else(|| looks_like_paseto(token, command))
}

/// Names what a malformed token may be instead, and the command for it.
fn another_form(part: Part, token: &str, command: Command) -> Option<String> {
    let is_jws = matches!(Token::read(token), Some(Token::Jws(_)));
    let fixed = match (part, command) {
        (Part::Payload, Command::JwtVerify) if token.starts_with("eyJ") => {
            "claims are one JSON object; to verify any other payload, run `jeton jws verify`"
        }
        (Part::Payload, Command::PasetoVerify | Command::PasetoDecrypt) if has_body(token) => {
            "claims are one JSON object; to print any other payload, add `--raw`"
        }
        (Part::Token, Command::JwtVerify) if jose::is_json(token) && is_jws => {
            "this looks like a JWS in JSON, and a JWT is always compact; run `jeton jws verify`"
        }
        (_, Command::JwtDecrypt) if is_jws && Token::alg_of(token).is_some() => {
            "this looks like a JWT or JWS, which is signed and not encrypted; remove `--decrypt-key`"
        }
        (_, Command::JweDecrypt) if is_jws && Token::alg_of(token).is_some() => {
            "this looks like a JWT or JWS, which is signed and not encrypted; run `jeton jwt verify` or `jeton jws verify`"
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

/// Returns whether the body of a PASETO is base64url. If so, its payload is not claims.
fn has_body(token: &str) -> bool {
    let body = token.split('.').nth(2);
    body.is_some_and(|body| jose::decode(body).is_some())
}

/// Returns the hint for a token with a detached payload.
fn without_payload(command: Command) -> Option<&'static str> {
    match command {
        Command::JwsVerify => Some(
            "the token has a detached payload; to pass the bytes that were signed, add `--detached @FILE`",
        ),
        Command::JwtVerify => Some(
            "the token has a detached payload, and a JWT has none; run `jeton jws verify --detached @FILE`",
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

/// Returns the hint for an algorithm that --allow enables.
fn allow_hint(token: &str, command: Command) -> Option<String> {
    let alg = Token::alg_of(token)?;
    let pbes2 = Pbes2Alg::ALL.iter().find(|known| known.name() == alg);
    match (command, pbes2) {
        (Command::JweDecrypt, None) if alg == "RSA1_5" => {
            Some("the token uses RSA1_5; to accept it, add `--alg RSA1_5 --allow rsa1_5`".to_owned())
        }
        (Command::JwtDecrypt, None) if alg == "RSA1_5" => {
            Some("the token uses RSA1_5; to accept it, add `--decrypt-alg RSA1_5 --allow rsa1_5`".to_owned())
        }
        (Command::JweDecrypt, Some(_)) => {
            Some("the token uses a password; instead of --key, pass `--password-file FILE --allow pbes2`".to_owned())
        }
        (Command::JwtDecrypt, Some(alg)) => {
            Some(format!("the token uses a password; pass it as an oct JWK with the alg {}: `--decrypt-key FILE --allow pbes2`", alg.name()))
        }
        _ => None,
    }
}

/// Names the command and the key for a PASETO.
fn looks_like_paseto(token: &str, command: Command) -> Option<String> {
    let (version, rest) = token.strip_prefix('v')?.split_once('.')?;
    let (purpose, _) = rest.split_once('.')?;
    if !["1", "2", "3", "4"].contains(&version) {
        return None;
    }
    let (kind, accepting, name) = match purpose {
        "public" => ("a signed", Command::PasetoVerify, "jeton paseto verify"),
        "local" => (
            "an encrypted",
            Command::PasetoDecrypt,
            "jeton paseto decrypt",
        ),
        _ => return None,
    };
    Some(if command == accepting {
        format!("a v{version}.{purpose} token needs a k{version}.{purpose} key")
    } else {
        format!("this is {kind} PASETO; run `{name}` with a k{version}.{purpose} key")
    })
}

fn looks_like_jose(token: &str, command: Command) -> Option<&'static str> {
    let jws = token.starts_with("eyJ") && token.matches('.').count() == 2;
    jws.then_some("this looks like a JWT or JWS; run `jeton jwt verify` or `jeton jws verify`")
        .or_else(|| looks_like_jwe(token, command))
}

fn looks_like_jwe(token: &str, command: Command) -> Option<&'static str> {
    let decrypts = matches!(command, Command::JweDecrypt | Command::JwtDecrypt);
    (is_jwe(token) && !decrypts).then_some(
        "this looks like a JWE; run `jeton jwe decrypt`; for a nested JWT, run `jeton jwt verify --decrypt-key FILE`",
    )
}

fn is_jwe(token: &str) -> bool {
    let may_be = token.starts_with("eyJ") || jose::is_json(token);
    may_be && matches!(Token::read(token), Some(Token::Jwe(_)))
}
