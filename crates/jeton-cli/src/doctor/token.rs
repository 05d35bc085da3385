//! What is wrong with a token: what the verb that it is for says of it, and why.

use jeton::Limits;
use jeton::error::Rejection;
use jeton::key::Alg;

use super::answers::{self, Answer, KeyAnswer, Signed};
use super::findings::Examined;
use super::keys::{reason, shortened};
use super::probe::Format;
use super::text::{self, Plain, is_paseto};
use super::verdict::{self, Verdict, is_local};
use super::{Call, claims, header};
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
    pub(super) examined: Examined,
    /// One of the keys signed it, or the verb accepts it.
    pub(super) a_key_fits: bool,
    pub(super) is_accepted: bool,
}

/// Looks at what stands in the place of a token.
pub(super) fn look(token: Outcome<String>, call: &Call<'_>) -> Outcome<Seen> {
    let mut seen = Examined::new("token");
    let token = match token {
        Ok(token) => token,
        Err(failure) => {
            let Some(rejection) = failure.rejection() else {
                return Err(failure);
            };
            seen.wrong(rejection, "a token is ASCII, and not empty");
            return Ok(Seen {
                examined: seen,
                a_key_fits: false,
                is_accepted: false,
            });
        }
    };
    let verdict = verdict::of(&token, call);
    let limit = Limits::default().token_bytes;
    if token.len() > limit {
        seen.wrong(
            input::too_many(token.len(), limit),
            "no verifier takes it unless it is told to: fewer claims, or what is long sent beside it",
        );
    } else {
        let plain = text::unwrapped(&mut seen, &token);
        explain(&mut seen, &plain, call);
        if plain.token != token {
            match verdict::of(&plain.token, call) {
                Verdict::Accepted(verb) => {
                    seen.good(format!("without what was added {verb} accepts it"));
                }
                Verdict::Rejected(verb, failure) => seen.wrong(
                    format!(
                        "without what was added {verb} rejects it too: {}",
                        failure.message()
                    ),
                    failure.advice().unwrap_or_default(),
                ),
                Verdict::NotAsked => {}
            }
        }
    }
    let mut is_accepted = false;
    match verdict {
        Verdict::Accepted(verb) => {
            seen.good(format!("verified: {verb} accepts it"));
            // No check of ours says more than the verb's own.
            seen.without_errors();
            is_accepted = true;
        }
        Verdict::Rejected(verb, failure) => seen.wrong(
            format!("{verb} rejects it: {}", failure.message()),
            failure.advice().unwrap_or_default(),
        ),
        Verdict::NotAsked => seen.cannot_tell(
            "not verified: no key was given",
            "give the keys that verify it: --keys FILE, or --keys https://…",
        ),
    }
    let a_key_fits = is_accepted || seen.answers().iter().any(KeyAnswer::is_signed);
    Ok(Seen {
        examined: seen,
        a_key_fits,
        is_accepted,
    })
}

/// What there is to see in a token, whatever the verdict.
fn explain(seen: &mut Examined, plain: &Plain<'_>, call: &Call<'_>) {
    if is_paseto(&plain.token) {
        return of_paseto(seen, &plain.token, call);
    }
    match Token::read(&plain.token) {
        Some(Token::Jws(jws)) if jws.serialization == Serialization::Compact => {
            size(seen, plain.token.len());
            signed(seen, &jws, plain, call);
        }
        Some(Token::Jws(_)) => seen.wrong(
            "a JWS in JSON: a JWT is always compact",
            "jeton jws verify says what is wrong with it",
        ),
        Some(Token::Jwe(jwe)) => encrypted(seen, &jwe, &plain.token, call),
        None => seen.wrong(
            format!(
                "it has {} parts, and a JWT has three",
                plain.token.split('.').count()
            ),
            "a part was cut off, or it is something else: jeton inspect TOKEN",
        ),
    }
}

fn size(seen: &mut Examined, bytes: usize) {
    match bytes {
        0..COOKIE_BYTES => seen.good(format!("{bytes} bytes")),
        COOKIE_BYTES..HEADERS_BYTES => seen.cannot_tell(
            format!("{bytes} bytes: too many for a cookie"),
            "a header holds it, as long as the others are short",
        ),
        _ => seen.cannot_tell(
            format!("{bytes} bytes: more than most servers take of all headers"),
            "fewer claims, or a shorter signature: jeton lab run algorithms --quick",
        ),
    }
}

fn signed(seen: &mut Examined, jws: &Jws<'_>, plain: &Plain<'_>, call: &Call<'_>) {
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
    match call.probe.header(&plain.token) {
        Some(rejection) => {
            let (what, advice) = header::explained(rejection, &plain.token);
            seen.wrong(what, advice);
        }
        None => kind(seen, headers.text("typ").as_deref(), call),
    }
    let payload = jws.payload.as_deref().and_then(jose::decode);
    match payload {
        Some(payload) => {
            let demands = call.policy.demands;
            claims::look(seen, &payload, Format::Jwt, demands, call.probe);
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
    if let (Some(keys), Some(alg)) = (call.keys, alg.as_deref()) {
        let signed = Signed {
            text: plain,
            alg,
            kid: kid.as_deref(),
        };
        let answers = answers::of(keys, &signed, call);
        // Of what nobody signed there is nobody to look for.
        if !alg.eq_ignore_ascii_case("none") {
            answers::tell(seen, &answers, &signed, call);
        }
        seen.answered(answers);
    }
}

/// What the header says of its key.
fn says(seen: &mut Examined, alg: Option<&str>, kid: Option<&str>) {
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
fn kind(seen: &mut Examined, typ: Option<&str>, call: &Call<'_>) {
    let json = typ.map(|typ| serde_json::Value::from(typ).to_string());
    let policy = call.policy.policy();
    if !call.probe.accepts_typ(json.as_deref(), policy) {
        let wanted = call.policy.typ.unwrap_or("JWT or none");
        seen.wrong(
            format!(
                "its typ is {}, and {wanted} is demanded",
                typ.unwrap_or("missing")
            ),
            "a token of another kind, as an ID token where an access token is wanted: --typ TYPE",
        );
    }
}

fn encrypted(seen: &mut Examined, jwe: &Jwe<'_>, token: &str, call: &Call<'_>) {
    let Some(decrypter) = call.decrypter() else {
        seen.cannot_tell(
            "a JWE: it is encrypted, and what it holds cannot be seen",
            match decrypts(token, call) {
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
            seen.cannot_tell(format!("a JWE, and not decrypted: {why}"), "");
            return;
        }
    };
    let form = jwe.serialization.name();
    seen.good(format!("a JWE, {form}, decrypted with --decrypt-key"));
    if call.keys.is_none() {
        seen.cannot_tell(
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
        let plain = Plain {
            token: inner.into(),
            as_written: inner.into(),
        };
        signed(seen, &jws, &plain, call);
    }
}

/// Whether the key that is to verify decrypts.
fn decrypts(token: &str, call: &Call<'_>) -> bool {
    let keys = call.keys.filter(|keys| keys.holds_a_secret());
    let loaded = keys.and_then(|keys| call.decryption.load(keys, call.doors).ok());
    loaded.is_some_and(|loaded| {
        let decrypter = verification::decrypter(loaded.keys, None, call.doors);
        verification::decrypt(&decrypter, token).is_ok()
    })
}

fn of_paseto(seen: &mut Examined, token: &str, call: &Call<'_>) {
    let kind: Vec<&str> = token.splitn(3, '.').take(2).collect();
    let kind = kind.join(".");
    seen.good(format!("{} bytes, a PASETO: {kind}", token.len()));
    let Some(keys) = call.keys else {
        return;
    };
    let (done, loaded) = match is_local(token) {
        true => ("encrypted with", paseto::decrypting(keys, call.doors)),
        false => ("signed by", paseto::verifying(keys, call.doors)),
    };
    let opened = match loaded {
        Ok(key) => key.open(token, call.implicit),
        Err(failure) => {
            let why = reason(keys, failure.message());
            undetermined(seen, call, why, failure.advice().unwrap_or_default());
            return;
        }
    };
    let name = keys.name();
    match opened {
        Ok(opened) => {
            seen.good(format!("{done} the key of {name}"));
            seen.answered(vec![KeyAnswer::alone(keys, Answer::Signed, None)]);
            let demands = call.policy.demands;
            claims::look(seen, opened.message(), Format::Paseto, demands, call.probe);
        }
        Err(error) => match error.rejection() {
            Some(Rejection::Signature | Rejection::Decryption) => {
                seen.wrong(
                    format!("not {done} the key of {name}, or not for this implicit assertion"),
                    "it was changed on the way, or its issuer has another key; an implicit assertion: --implicit TEXT",
                );
                seen.answered(vec![KeyAnswer::alone(keys, Answer::NotSigned, None)]);
            }
            _ => undetermined(seen, call, &error.to_string(), ""),
        },
    }
}

fn undetermined(seen: &mut Examined, call: &Call<'_>, why: &str, advice: &str) {
    let Some(keys) = call.keys else {
        return;
    };
    seen.cannot_tell(
        format!(
            "undetermined whether it is of the key of {}: {why}",
            keys.name()
        ),
        advice,
    );
    let answer = KeyAnswer::alone(keys, Answer::Undetermined, Some(why.to_owned()));
    seen.answered(vec![answer]);
}
