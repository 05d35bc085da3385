//! What is wrong with a token: what the verb that it is for says of it, and why.

use jeton::Limits;
use jeton::error::Rejection;
use jeton::key::Alg;

use super::signature_checks::{self, CheckResult, KeyCheck, Signed};
use super::findings::Section;
use super::keys::{reason, shortened};
use super::probe::Format;
use super::unwrap::{self, UnwrappedToken, is_paseto};
use super::command_result::{self, CommandResult, is_local};
use super::{Criteria, claims, header};
use crate::exit::Outcome;
use crate::input;
use crate::jose::{self, Jwe, Jws, Serialization, Token};
use crate::{paseto, verification};

/// As much as a cookie holds (RFC 6265, section 6.1), its name and attributes included.
const COOKIE_BYTES: usize = 4096;
/// As much as most servers take of all headers together.
const HEADERS_BYTES: usize = 8192;

/// What is seen of a token.
pub(super) struct Seen {
    pub(super) section: Section,
    /// One of the keys signed it, or the verb accepts it.
    pub(super) a_key_fits: bool,
    pub(super) is_accepted: bool,
}

/// Looks at what stands in the place of a token.
pub(super) fn look(token: Outcome<String>, criteria: &Criteria<'_>) -> Outcome<Seen> {
    let mut seen = Section::new("token");
    let token = match token {
        Ok(token) => token,
        Err(failure) => {
            let Some(rejection) = failure.rejection() else {
                return Err(failure);
            };
            seen.wrong(rejection, "a token is ASCII, and not empty");
            return Ok(Seen {
                section: seen,
                a_key_fits: false,
                is_accepted: false,
            });
        }
    };
    let verdict = command_result::of(&token, criteria);
    let limit = Limits::default().token_bytes;
    if token.len() > limit {
        seen.wrong(
            input::too_many(token.len(), limit),
            "no verifier takes it unless it is told to: fewer claims, or what is long sent beside it",
        );
    } else {
        let plain = unwrap::unwrap(&mut seen, &token);
        explain(&mut seen, &plain, criteria);
        if plain.token != token {
            match command_result::of(&plain.token, criteria) {
                CommandResult::Accepted(verb) => {
                    seen.good(format!("without what was added {verb} accepts it"));
                }
                CommandResult::Rejected(verb, failure) => seen.wrong(
                    format!(
                        "without what was added {verb} rejects it too: {}",
                        failure.message()
                    ),
                    failure.hint_text().unwrap_or_default(),
                ),
                CommandResult::NotRun => {}
            }
        }
    }
    let mut is_accepted = false;
    match verdict {
        CommandResult::Accepted(verb) => {
            seen.good(format!("verified: {verb} accepts it"));
            // No check of ours says more than the verb's own.
            seen.without_errors();
            is_accepted = true;
        }
        CommandResult::Rejected(verb, failure) => seen.wrong(
            format!("{verb} rejects it: {}", failure.message()),
            failure.hint_text().unwrap_or_default(),
        ),
        CommandResult::NotRun => seen.undetermined(
            "not verified: no key was given",
            "give the keys that verify it: --keys FILE, or --keys https://…",
        ),
    }
    let a_key_fits = is_accepted || seen.answers().iter().any(KeyCheck::is_signed);
    Ok(Seen {
        section: seen,
        a_key_fits,
        is_accepted,
    })
}

/// What there is to see in a token, whatever the verdict.
fn explain(seen: &mut Section, plain: &UnwrappedToken<'_>, criteria: &Criteria<'_>) {
    if is_paseto(&plain.token) {
        return of_paseto(seen, &plain.token, criteria);
    }
    match Token::read(&plain.token) {
        Some(Token::Jws(jws)) if jws.serialization == Serialization::Compact => {
            size(seen, plain.token.len());
            signed(seen, &jws, plain, criteria);
        }
        Some(Token::Jws(_)) => seen.wrong(
            "a JWS in JSON: a JWT is always compact",
            "jeton jws verify says what is wrong with it",
        ),
        Some(Token::Jwe(jwe)) => encrypted(seen, &jwe, &plain.token, criteria),
        None => seen.wrong(
            format!(
                "it has {} parts, and a JWT has three",
                plain.token.split('.').count()
            ),
            "a part was cut off, or it is something else: jeton inspect TOKEN",
        ),
    }
}

fn size(seen: &mut Section, bytes: usize) {
    match bytes {
        0..COOKIE_BYTES => seen.good(format!("{bytes} bytes")),
        COOKIE_BYTES..HEADERS_BYTES => seen.undetermined(
            format!("{bytes} bytes: too many for a cookie"),
            "a header holds it, as long as the others are short",
        ),
        _ => seen.undetermined(
            format!("{bytes} bytes: more than most servers take of all headers"),
            "fewer claims, or a shorter signature: jeton lab run algorithms --quick",
        ),
    }
}

fn signed(seen: &mut Section, jws: &Jws<'_>, plain: &UnwrappedToken<'_>, criteria: &Criteria<'_>) {
    let Some(signature) = jws.signatures.first() else {
        return;
    };
    let json = signature.protected.as_deref().and_then(jose::decode_json);
    if json.is_none() {
        seen.wrong(
            "its header is no JSON in base64url",
            "the token is cut, or is none",
        );
        return;
    }
    let headers = signature.headers();
    let (alg, kid) = (headers.text("alg"), headers.text("kid"));
    says(seen, alg.as_deref(), kid.as_deref());
    match criteria.probe.header(&plain.token) {
        Some(rejection) => {
            let (what, advice) = header::explained(rejection, &plain.token);
            seen.wrong(what, advice);
        }
        None => kind(seen, headers.text("typ").as_deref(), criteria),
    }
    let payload = jws.payload.as_deref().and_then(jose::decode);
    match payload {
        Some(payload) => {
            let policy_args = criteria.policy.policy_args;
            claims::look(seen, &payload, Format::Jwt, policy_args, criteria.probe);
        }
        None => seen.wrong(
            "its payload is not base64url",
            "the token is cut, or no JWT",
        ),
    }
    if jose::decode(&signature.signature).is_none() {
        seen.wrong(
            "its signature is not base64url",
            "the token is cut, or something was written into it",
        );
    }
    if let (Some(keys), Some(alg)) = (criteria.keys, alg.as_deref()) {
        let signed = Signed {
            text: plain,
            alg,
            kid: kid.as_deref(),
        };
        let answers = signature_checks::of(keys, &signed, criteria);
        // Of what nobody signed there is nobody to look for.
        if !alg.eq_ignore_ascii_case("none") {
            signature_checks::tell(seen, &answers, &signed, criteria);
        }
        seen.answered(answers);
    }
}

/// What the header says of its key.
fn says(seen: &mut Section, alg: Option<&str>, kid: Option<&str>) {
    let known = alg.is_some_and(|alg| alg.parse::<Alg>().is_ok());
    match alg {
        None => seen.wrong(
            "its header has no alg",
            "it is no JWS (RFC 7515, section 4.1.1)",
        ),
        Some(alg) if alg.eq_ignore_ascii_case("none") => seen.wrong(
            "its alg is none: anybody can have written it",
            "no verifier should take it; its issuer must sign",
        ),
        Some(alg) if !known => {
            seen.wrong(format!("its alg is {alg}, which jeton does not know"), "");
        }
        Some(alg) => seen.good(match kid {
            Some(kid) => format!("its header says {alg}, by the key {}", shortened(kid)),
            None => format!("its header says {alg}, and not by which key"),
        }),
    }
}

/// Whether it is of the type that is demanded.
fn kind(seen: &mut Section, typ: Option<&str>, criteria: &Criteria<'_>) {
    let json = typ.map(|typ| serde_json::Value::from(typ).to_string());
    let policy = criteria.policy.policy();
    if !criteria.probe.accepts_typ(json.as_deref(), policy) {
        let wanted = criteria.policy.typ.unwrap_or("JWT or none");
        seen.wrong(
            format!(
                "its typ is {}, and {wanted} is demanded",
                typ.unwrap_or("missing")
            ),
            "a token of another kind, as an ID token where an access token is wanted: --typ TYPE",
        );
    }
}

fn encrypted(seen: &mut Section, jwe: &Jwe<'_>, token: &str, criteria: &Criteria<'_>) {
    let Some(decrypter) = criteria.decrypter() else {
        seen.undetermined(
            "a JWE: it is encrypted, and what it holds cannot be seen",
            match decrypts(token, criteria) {
                true => "the key of --keys decrypts it: give it as --decrypt-key FILE",
                false => {
                    "with the key that decrypts it: --decrypt-key FILE, and --keys for who signed what is inside"
                }
            },
        );
        return;
    };
    let decrypted = decrypter.map_err(|failure| failure.message().to_owned());
    let decrypted = decrypted.and_then(|decrypter| {
        let decrypted = verification::decrypt(&decrypter, token);
        decrypted.map_err(|error| error.to_string())
    });
    let decrypted = match decrypted {
        Ok(decrypted) => decrypted,
        Err(why) => {
            seen.undetermined(format!("a JWE, and not decrypted: {why}"), "");
            return;
        }
    };
    let form = jwe.serialization.name();
    seen.good(format!("a JWE, {form}, decrypted with --decrypt-key"));
    if criteria.keys.is_none() {
        seen.undetermined(
            "what it holds was not verified",
            "if that is a signed JWT, give the keys of its signer: --keys FILE",
        );
        return;
    }
    let Ok(inner) = std::str::from_utf8(decrypted.plaintext()) else {
        return;
    };
    if let Some(Token::Jws(jws)) = Token::read(inner)
        && jws.serialization == Serialization::Compact
    {
        let plain = UnwrappedToken {
            token: inner.into(),
            as_written: inner.into(),
        };
        signed(seen, &jws, &plain, criteria);
    }
}

/// Whether the key that is to verify decrypts.
fn decrypts(token: &str, criteria: &Criteria<'_>) -> bool {
    let keys = criteria.keys.filter(|keys| keys.holds_a_secret());
    let loaded = keys.and_then(|keys| criteria.decryption.load(keys, criteria.allowed).ok());
    loaded.is_some_and(|loaded| {
        let decrypter = verification::decrypter(loaded.keys, None, criteria.allowed);
        verification::decrypt(&decrypter, token).is_ok()
    })
}

fn of_paseto(seen: &mut Section, token: &str, criteria: &Criteria<'_>) {
    let kind: Vec<&str> = token.splitn(3, '.').take(2).collect();
    let kind = kind.join(".");
    seen.good(format!("{} bytes, a PASETO: {kind}", token.len()));
    let Some(keys) = criteria.keys else {
        return;
    };
    let (done, loaded) = match is_local(token) {
        true => ("encrypted with", paseto::decrypting(keys, criteria.allowed)),
        false => ("signed by", paseto::verifying(keys, criteria.allowed)),
    };
    let opened = match loaded {
        Ok(key) => key.open(token, criteria.implicit),
        Err(failure) => {
            let why = reason(keys, failure.message());
            undetermined(seen, criteria, why, failure.hint_text().unwrap_or_default());
            return;
        }
    };
    let name = keys.name();
    match opened {
        Ok(opened) => {
            seen.good(format!("{done} the key of {name}"));
            seen.answered(vec![KeyCheck::alone(keys, CheckResult::Signed, None)]);
            let policy_args = criteria.policy.policy_args;
            claims::look(seen, opened.message(), Format::Paseto, policy_args, criteria.probe);
        }
        Err(error) => match error.rejection() {
            Some(Rejection::Signature | Rejection::Decryption) => {
                seen.wrong(
                    format!("not {done} the key of {name}, or not for this implicit assertion"),
                    "it was changed on the way, or its issuer has another key; an implicit assertion: --implicit TEXT",
                );
                seen.answered(vec![KeyCheck::alone(keys, CheckResult::NotSigned, None)]);
            }
            _ => undetermined(seen, criteria, &error.to_string(), ""),
        },
    }
}

fn undetermined(seen: &mut Section, criteria: &Criteria<'_>, why: &str, advice: &str) {
    let Some(keys) = criteria.keys else {
        return;
    };
    seen.undetermined(
        format!(
            "undetermined whether it is of the key of {}: {why}",
            keys.name()
        ),
        advice,
    );
    let answer = KeyCheck::alone(keys, CheckResult::Undetermined, Some(why.to_owned()));
    seen.answered(vec![answer]);
}
