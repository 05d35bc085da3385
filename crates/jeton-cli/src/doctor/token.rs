//! What is wrong with a token: with its text, with what it says, and with the keys that are to verify it.

use std::borrow::Cow;
use std::slice;

use jeton::key::Alg;
use jeton::{Limits, Timestamp, jws, jwt};
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;
use zeroize::Zeroizing;

use super::findings::Examined;
use super::keys::Said;
use super::times;
use crate::demands::Demands;
use crate::doors::Open;
use crate::input;
use crate::jose::{self, Jws, Serialization, Token};
use crate::json::{Members, Problem};
use crate::keyfile::{AnyKey, Form, KeyFile};
use crate::refusal::{self, Verb};

/// As much as a cookie holds (RFC 6265, section 6.1), its name and attributes included.
const COOKIE_BYTES: usize = 4096;
/// As much as most servers take of all headers together.
const HEADERS_BYTES: usize = 8192;

/// What a token is judged by.
pub(super) struct Call<'a> {
    pub(super) demands: &'a Demands,
    pub(super) typ: Option<&'a str>,
    pub(super) doors: &'a Open,
    pub(super) keys: Option<&'a KeyFile>,
    pub(super) now: Timestamp,
}

/// What is seen of a token.
pub(super) fn look(bytes: &[u8], call: &Call<'_>) -> Examined {
    let mut seen = Examined::new("token");
    let limit = Limits::default().token_bytes;
    if bytes.len() > limit {
        seen.wrong(
            input::too_many(bytes.len(), limit),
            "no verifier takes it unless it is told to: fewer claims, or what is long sent beside it",
        );
        return seen;
    }
    let Ok(text) = std::str::from_utf8(bytes) else {
        seen.wrong("it is no text", "a token is ASCII");
        return seen;
    };
    let token = unwrapped(&mut seen, text);
    if is_paseto(&token) {
        seen.cannot_tell(
            format!("a PASETO of {} bytes: its keys are PASERKs", token.len()),
            "jeton paseto verify, or jeton paseto decrypt, says what is wrong with it",
        );
        return seen;
    }
    match Token::read(&token) {
        Some(Token::Jws(jws)) if jws.serialization == Serialization::Compact => {
            size(&mut seen, token.len());
            signed(&mut seen, &jws, &token, call);
        }
        Some(Token::Jws(_)) => seen.wrong(
            "a JWS in JSON: a JWT is always compact",
            "jeton jws verify says what is wrong with it",
        ),
        Some(Token::Jwe(_)) => seen.cannot_tell(
            "a JWE: it is encrypted, and what it holds cannot be seen",
            "jeton jwe decrypt, or for a JWT inside: jeton jwt verify --decrypt-key FILE",
        ),
        None => seen.wrong(
            format!(
                "it has {} parts, and a JWT has three",
                token.split('.').count()
            ),
            "a part was cut off, or it is something else: jeton inspect TOKEN",
        ),
    }
    seen
}

/// The token in a text, without what it got on its way.
fn unwrapped<'t>(seen: &mut Examined, text: &'t str) -> Cow<'t, str> {
    // One line's end belongs to a file.
    let text = text.strip_suffix('\n').unwrap_or(text);
    let text = text.strip_suffix('\r').unwrap_or(text);
    let mut token = text.trim();
    if token.len() < text.len() {
        seen.wrong(
            "white space stands around it",
            "no verifier takes it away: cut it off where the token is read",
        );
    }
    if let Some((scheme, rest)) = token.split_once(' ')
        && scheme.eq_ignore_ascii_case("Bearer")
    {
        seen.wrong(
            format!("it begins with {scheme}: this is the whole header"),
            "the token is what follows (RFC 6750, section 2.1)",
        );
        token = rest.trim();
    }
    for quote in ['"', '\''] {
        let inner = token
            .strip_prefix(quote)
            .and_then(|rest| rest.strip_suffix(quote));
        if let Some(inner) = inner {
            seen.wrong(
                "it stands in quotes",
                "it was written as JSON, or quoted twice: take what is inside",
            );
            token = inner;
        }
    }
    let token = escaped(seen, token);
    alphabet(seen, token)
}

fn escaped<'t>(seen: &mut Examined, token: &'t str) -> Cow<'t, str> {
    let is_escaped = ["%2e", "%2E", "%3d", "%3D"]
        .into_iter()
        .any(|escape| token.contains(escape));
    if !is_escaped {
        return token.into();
    }
    seen.wrong(
        "it is escaped as in an address (%2E is a dot)",
        "it was encoded once too often, or decoded once too little",
    );
    let plain = [("%2e", "."), ("%2E", "."), ("%3d", "="), ("%3D", "=")];
    let token = plain
        .iter()
        .fold(token.to_owned(), |token, (escape, character)| {
            token.replace(escape, character)
        });
    token.into()
}

/// base64 in the place of base64url (RFC 7515, section 2).
fn alphabet<'t>(seen: &mut Examined, token: Cow<'t, str>) -> Cow<'t, str> {
    if jose::is_json(&token) || is_paseto(&token) {
        return token;
    }
    let mut token = token;
    if token.contains('=') {
        seen.wrong(
            "it is padded with =",
            "base64url in a token has no padding (RFC 7515, section 2)",
        );
        token = token.replace('=', "").into();
    }
    if token.contains(['+', '/']) {
        seen.wrong(
            "it is base64 and not base64url: it has + or /",
            "the letters 62 and 63 are - and _ (RFC 4648, section 5)",
        );
        token = token.replace('+', "-").replace('/', "_").into();
    }
    if token.contains(|c: char| c.is_ascii_whitespace()) {
        seen.wrong(
            "white space stands in it",
            "it was wrapped into lines, or two came together",
        );
        token = token.split_ascii_whitespace().collect::<String>().into();
    }
    token
}

fn is_paseto(token: &str) -> bool {
    matches!(token.as_bytes(), [b'v', b'1'..=b'4', b'.', ..])
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

fn signed(seen: &mut Examined, jws: &Jws<'_>, token: &str, call: &Call<'_>) {
    let Some(signature) = jws.signatures.first() else {
        return;
    };
    let header = signature.protected.as_deref().and_then(jose::decode_json);
    let Some(header) = header else {
        seen.wrong(
            "its header is no JSON in base64url",
            "the token is cut, or is none",
        );
        return;
    };
    twice(seen, "header", &header);
    let headers = signature.headers();
    let (alg, kid) = (headers.text("alg"), headers.text("kid"));
    says(
        seen,
        alg.as_deref(),
        kid.as_deref(),
        headers.text("typ").as_deref(),
        call.typ,
    );
    let payload = jws.payload.as_deref();
    match payload.and_then(jose::decode_json) {
        Some(claims) => {
            twice(seen, "payload", &claims);
            times::look(seen, &claims, call);
        }
        None => seen.wrong(
            "its payload is no JSON in base64url",
            "the token is cut, or no JWT",
        ),
    }
    if let Some(keys) = call.keys {
        verified(seen, keys, token, alg.as_deref(), kid.as_deref(), call);
    } else {
        seen.cannot_tell(
            "nobody looked whether it was changed",
            "give the keys that verify it: --keys FILE, or --keys https://…",
        );
    }
}

fn twice(seen: &mut Examined, part: &str, json: &RawValue) {
    if let Err(Problem::Twice(name)) = Members::strict(json.get(), 127) {
        seen.wrong(
            format!("{part}: the member {name:?} stands twice"),
            "one reader takes the first and another the last: its issuer writes each once",
        );
    }
}

/// What the header says.
fn says(
    seen: &mut Examined,
    alg: Option<&str>,
    kid: Option<&str>,
    typ: Option<&str>,
    wanted: Option<&str>,
) {
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
            Some(kid) => format!("signed with {alg}, it says, by the key {kid}"),
            None => format!("signed with {alg}, it says, and not by which key"),
        }),
    }
    if let Some(wanted) = wanted
        && !typ.is_some_and(|typ| typ.eq_ignore_ascii_case(wanted))
    {
        seen.wrong(
            format!(
                "its typ is {}, and {wanted} is demanded",
                typ.unwrap_or("missing")
            ),
            "a token of another kind, as an ID token where an access token is wanted",
        );
    }
}

/// Whether jeton takes it, and if it does not, whose it is.
fn verified(
    seen: &mut Examined,
    keys: &KeyFile,
    token: &str,
    alg: Option<&str>,
    kid: Option<&str>,
    call: &Call<'_>,
) {
    let alg: Option<Alg> = alg.and_then(|alg| alg.parse().ok());
    // A key that says no algorithm could have made it with that of the token: it is only looked at.
    let told = alg.filter(|_| !matches!(keys.form(), Form::Set(_)));
    let trusted = keys
        .to_verify(None, call.doors)
        .or_else(|failure| match told {
            Some(alg) => keys.to_verify(Some(alg), call.doors),
            None => Err(failure),
        });
    match trusted {
        Err(failure) => {
            let advice = match keys.holds_a_secret() {
                true => "verifiers have its public half: jeton key public FILE",
                false => "",
            };
            seen.wrong(
                format!("no key can verify it: {}", failure.message()),
                advice,
            );
        }
        Ok(trusted) => {
            let mut policy = call.demands.policy();
            if let Some(typ) = call.typ {
                policy = policy.typ(typ.to_owned());
            }
            let verifier = jwt::Verifier::new(trusted, policy).clock(jeton::FixedClock(call.now));
            match verifier.verify::<IgnoredAny>(token) {
                Ok(_) => {
                    seen.good("jeton jwt verify takes it");
                    return;
                }
                Err(error) => {
                    let failure = refusal::of(error, token, Verb::JwtVerify);
                    seen.wrong(
                        format!("jeton jwt verify does not take it: {}", failure.message()),
                        "",
                    );
                }
            }
        }
    }
    if let Some(alg) = alg {
        maker(seen, keys, token, alg, kid);
    }
}

/// Which key made it, whatever it is called.
fn maker(seen: &mut Examined, keys: &KeyFile, token: &str, alg: Alg, kid: Option<&str>) {
    let Ok(of_set) = keys.of_set() else {
        return;
    };
    let all = of_set.as_deref().unwrap_or(slice::from_ref(keys));
    let called = |key: &&KeyFile| kid.is_some() && Said::by(key).kid.as_deref() == kid;
    let named = all.iter().find(called);
    let made = all.iter().find(|key| made(key, token, alg));
    let name = |key: &KeyFile| match Said::by(key).kid {
        Some(kid) => format!("the key {kid}"),
        None => "a key without kid".to_owned(),
    };
    match (made, named, kid) {
        (Some(key), _, _) if Said::by(key).kid.as_deref() == kid || kid.is_none() => {
            seen.good(format!("it was made by {}", name(key)));
        }
        (Some(key), _, Some(kid)) => seen.wrong(
            format!("it was made by {}, and says {kid}", name(key)),
            "its issuer signs with one key and names another, or the set calls it otherwise",
        ),
        (None, Some(key), Some(kid)) => match Said::by(key).alg {
            Some(own) if own != alg.name() => seen.wrong(
                format!("the key {kid} is for {own}, and the token says {}", alg.name()),
                "its issuer's key and the published one differ, or somebody tries another algorithm",
            ),
            _ => seen.wrong(
                format!("the key {kid} did not make it"),
                "it was changed on the way, or its issuer has another key of that name",
            ),
        },
        (None, None, Some(kid)) => seen.wrong(
            format!("there is no key {kid}, and none of the others made it"),
            "the set is old, or of another issuer; a new key is published before it signs",
        ),
        (None, _, None) | (Some(_), _, None) => seen.wrong(
            "none of the keys made it",
            "it was changed on the way, or its issuer has other keys",
        ),
    }
}

/// Whether that key alone, under no name, made it. It is only to find a mistake: nothing is taken for it.
fn made(key: &KeyFile, token: &str, alg: Alg) -> bool {
    let public = match key.any_algorithm() {
        Ok(AnyKey::Signing(private)) => Some(Zeroizing::new(private.verifying_key().to_jwk())),
        _ => match key.form() {
            Form::Jwk(text) => Some(text.clone()),
            _ => None,
        },
    };
    let nameless = public.and_then(|text| without_name(&text));
    let nameless = nameless.and_then(|text| KeyFile::of("the key", text));
    let key = nameless.as_ref().unwrap_or(key);
    let doors = Open::default();
    let trusted = key.to_verify(None, &doors);
    let trusted = trusted.or_else(|_| key.to_verify(Some(alg), &doors));
    trusted.is_ok_and(|trusted| jws::Verifier::new(trusted).verify(token).is_ok())
}

fn without_name(jwk: &str) -> Option<Zeroizing<Vec<u8>>> {
    let mut key: serde_json::Map<String, Value> = serde_json::from_str(jwk).ok()?;
    key.remove("kid");
    serde_json::to_vec(&key).ok().map(Zeroizing::new)
}
