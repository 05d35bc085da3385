//! Checks a token: the result of the command for it, and the explanation.

use jeton::error::Rejection;
use jeton::key::Alg;

use super::command_result::{self, CommandResult, is_local};
use super::findings::Section;
use super::key_check::{CheckResult, KeyCheck};
use super::keys::{reason, shortened};
use super::probe::Format;
use super::signature_checks::{self, Signed};
use super::unwrap::{self, UnwrappedToken, is_paseto};
use super::{Criteria, claims, header};
use crate::exit::Outcome;
use crate::jose::{self, Jwe, Jws, Serialization, Token};
use crate::keyfile::Secret;
use crate::policy_args::any_of;
use crate::source::GivenToken;
use crate::{limit_args, paseto, verification};

/// The size limit of a cookie, with name and attributes (RFC 6265, section 6.1), bytes.
const COOKIE_BYTES: usize = 4096;
/// The usual limit of servers for all request headers, bytes.
const HEADERS_BYTES: usize = 8192;

/// The findings about a token.
pub(super) struct CheckedToken {
    pub(super) section: Section,
    /// One of the keys signed the token, or the command accepts it.
    pub(super) a_key_fits: bool,
    pub(super) is_accepted: bool,
}

/// Checks a token.
pub(super) fn check(token: Outcome<GivenToken>, criteria: &Criteria<'_>) -> Outcome<CheckedToken> {
    let mut findings = Section::new("token");
    let token = match token {
        Ok(given) => {
            findings.set_input_notes(given.input_notes);
            given.token
        }
        Err(failure) => {
            let Some(rejection) = failure.rejection() else {
                return Err(failure);
            };
            let advice = failure.hint_text();
            findings.wrong(
                rejection,
                advice.unwrap_or("a token is ASCII text and not empty"),
            );
            findings.set_code(failure.reason_code());
            return Ok(CheckedToken {
                section: findings,
                a_key_fits: false,
                is_accepted: false,
            });
        }
    };
    let result = command_result::run(&token, criteria);
    if let Err(failure) = limit_args::check(token.len(), criteria.limits) {
        findings.wrong(failure.message(), failure.hint_text().unwrap_or_default());
    } else {
        let plain = unwrap::unwrap(&mut findings, &token);
        explain(&mut findings, &plain, criteria);
        if plain.token != token {
            match command_result::run(&plain.token, criteria) {
                CommandResult::Accepted(command) => {
                    findings.good(format!(
                        "after removing the extra characters, {command} accepts it"
                    ));
                }
                CommandResult::Rejected(command, failure) => findings.wrong(
                    format!(
                        "after removing the extra characters, {command} rejects it: {}",
                        failure.message()
                    ),
                    failure.hint_text().unwrap_or_default(),
                ),
                CommandResult::NotRun => {}
            }
        }
    }
    let mut is_accepted = false;
    match result {
        CommandResult::Accepted(command) => {
            findings.good(format!("verified: {command} accepts it"));
            // The result of the command decides.
            findings.downgrade_errors();
            is_accepted = true;
        }
        CommandResult::Rejected(command, failure) => {
            // The result of the command says it once.
            findings.remove(failure.message());
            findings.set_code(failure.reason_code());
            let hint = failure.hint_text().filter(|hint| !findings.has(hint));
            findings.wrong(
                format!("{command} rejects it: {}", failure.message()),
                hint.unwrap_or_default(),
            );
        }
        CommandResult::NotRun => findings.undetermined(
            "not verified: no keys",
            "pass the verification keys: `--keys FILE` or `--keys https://…`",
        ),
    }
    let a_key_fits = is_accepted || findings.key_checks().iter().any(KeyCheck::is_signed);
    Ok(CheckedToken {
        section: findings,
        a_key_fits,
        is_accepted,
    })
}

/// Checks the parts of a token, independent of the result of the command.
fn explain(findings: &mut Section, plain: &UnwrappedToken<'_>, criteria: &Criteria<'_>) {
    if is_paseto(&plain.token) {
        return of_paseto(findings, &plain.token, criteria);
    }
    if let Some(other) = jose::other_form(&plain.token) {
        return findings.wrong(other, "");
    }
    match Token::read(&plain.token) {
        Some(Token::Jws(jws)) if jws.serialization == Serialization::Compact => {
            size(findings, plain.token.len());
            signed(findings, &jws, plain, criteria);
        }
        Some(Token::Jws(_)) => findings.wrong(
            "a JWS in JSON, and a JWT is always compact",
            "to verify it, run `jeton jws verify`",
        ),
        Some(Token::Jwe(jwe)) => encrypted(findings, &jwe, &plain.token, criteria),
        None => findings.wrong(
            format!("{} parts: a JWT has three", plain.token.split('.').count()),
            "a part is missing, or it has another format: run `jeton inspect TOKEN`",
        ),
    }
}

fn size(findings: &mut Section, bytes: usize) {
    match bytes {
        0..COOKIE_BYTES => findings.good(format!("{bytes} bytes")),
        COOKIE_BYTES..HEADERS_BYTES => findings.undetermined(
            format!("{bytes} bytes: too large for a cookie"),
            "it fits into a header if the other headers are short",
        ),
        _ => findings.undetermined(
            format!("{bytes} bytes: larger than the header limit of most servers"),
            "use fewer claims, or a shorter signature: run `jeton lab run algorithms --quick`",
        ),
    }
}

fn signed(
    findings: &mut Section,
    jws: &Jws<'_>,
    plain: &UnwrappedToken<'_>,
    criteria: &Criteria<'_>,
) {
    let Some(signature) = jws.signatures.first() else {
        return;
    };
    let json = signature.protected.as_deref().and_then(jose::decode_json);
    let Some(json) = json else {
        findings.wrong(
            "the header is not JSON in base64url",
            "the token is truncated, or not a token",
        );
        return;
    };
    let headers = signature.headers();
    let (alg, kid) = (headers.text("alg"), headers.text("kid"));
    check_alg(findings, alg.as_deref(), kid.as_deref());
    let ignored = header::ignored_members(&json);
    if !ignored.is_empty() {
        findings.good(format!(
            "{} in the header: ignored, because the sender of the token chooses it",
            ignored.join(", ")
        ));
    }
    match criteria.probe.header(&plain.token) {
        Some(rejection) => {
            let (what, advice) = header::explain(rejection, &plain.token);
            findings.wrong(what, &advice);
        }
        None => check_typ(findings, headers.text("typ").as_deref(), criteria),
    }
    let payload = jws.payload.as_deref().and_then(jose::decode);
    match payload {
        Some(payload) => {
            let policy_args = criteria.policy.policy_args;
            claims::check(findings, &payload, Format::Jwt, policy_args, criteria.probe);
        }
        None => findings.wrong(
            "the payload is not base64url",
            "the token is truncated, or not a JWT",
        ),
    }
    if jose::decode(&signature.signature).is_none() {
        findings.wrong(
            "the signature is not base64url",
            "the token is truncated or changed",
        );
    }
    if let (Some(keys), Some(alg)) = (criteria.keys, alg.as_deref()) {
        let signed = Signed {
            text: plain,
            alg,
            kid: kid.as_deref(),
        };
        let answers = signature_checks::check_keys(keys, &signed, criteria);
        let is_signed = answers.iter().any(KeyCheck::is_signed);
        let other = match (is_signed, criteria.secret) {
            (true, _) => None,
            (false, Some(secret)) => {
                let found = signature_checks::find_encoding(secret, &signed, criteria);
                found.map(|encoding| (encoding, "add"))
            }
            (false, None) => Secret::of_jwk(keys).iter().find_map(|secret| {
                let found = signature_checks::find_encoding(secret, &signed, criteria);
                found.map(|encoding| (encoding, "make the JWK again with `jeton key import` and"))
            }),
        };
        if let Some((encoding, advice)) = other {
            let encoding = encoding.name();
            findings.wrong(
                format!("signed by the secret, if its encoding is {encoding}"),
                &format!("{advice} `--secret-encoding {encoding}`"),
            );
        } else if !alg.eq_ignore_ascii_case("none") {
            // A token with alg none has no signer.
            signature_checks::report(findings, &answers, &signed, criteria);
        }
        findings.set_key_checks(answers);
    }
}

/// Checks `alg` and `kid` of the header.
fn check_alg(findings: &mut Section, alg: Option<&str>, kid: Option<&str>) {
    let known = alg.is_some_and(|alg| alg.parse::<Alg>().is_ok());
    match alg {
        None => findings.wrong(
            "the header has no alg",
            "a JWS requires it (RFC 7515, section 4.1.1)",
        ),
        Some(alg) if alg.eq_ignore_ascii_case("none") => findings.wrong(
            "alg is none: the token is not signed",
            "no verifier should accept it; the issuer must sign it",
        ),
        Some(alg) if !known => {
            findings.wrong(format!("alg is {alg}, which is not supported"), "");
        }
        Some(alg) => findings.good(match kid {
            Some(kid) => format!("alg {alg}, kid {}", shortened(kid)),
            None => format!("alg {alg}, no kid"),
        }),
    }
}

/// Checks the type.
fn check_typ(findings: &mut Section, typ: Option<&str>, criteria: &Criteria<'_>) {
    let json = typ.map(|typ| serde_json::Value::from(typ).to_string());
    let policy = criteria.policy.policy();
    if !criteria.probe.accepts_typ(json.as_deref(), policy) {
        let wanted = any_of(criteria.policy.typ);
        let wanted = wanted.as_deref().unwrap_or("JWT or no typ");
        findings.wrong(
            format!(
                "typ is {}, expected {wanted}",
                typ.unwrap_or("missing")
            ),
            "the token has another type, for example an ID token instead of an access token; to expect another type, add `--typ TYPE`",
        );
    }
}

fn encrypted(findings: &mut Section, jwe: &Jwe<'_>, token: &str, criteria: &Criteria<'_>) {
    let Some(decrypter) = criteria.decrypter() else {
        findings.undetermined(
            "a JWE: the content is encrypted",
            match decrypts(token, criteria) {
                true => "the key of --keys decrypts it: pass it as `--decrypt-key FILE`",
                false => {
                    "pass the decryption key with `--decrypt-key FILE`, and the keys of the signer with `--keys`"
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
            findings.undetermined(format!("a JWE, not decrypted: {why}"), "");
            return;
        }
    };
    let form = jwe.serialization.name();
    findings.good(format!("a JWE, {form}, decrypted with --decrypt-key"));
    if criteria.keys.is_none() {
        findings.undetermined(
            "the content was not verified",
            "if it is a signed JWT, pass the keys of its signer: `--keys FILE`",
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
        signed(findings, &jws, &plain, criteria);
    }
}

/// Returns whether the key of --keys decrypts the token.
fn decrypts(token: &str, criteria: &Criteria<'_>) -> bool {
    let keys = criteria.keys.filter(|keys| keys.has_secret());
    let loaded = keys.and_then(|keys| criteria.decryption.load(keys, criteria.allowed).ok());
    loaded.is_some_and(|loaded| {
        let decrypter =
            verification::decrypter(loaded.keys, None, criteria.limits, criteria.allowed);
        verification::decrypt(&decrypter, token).is_ok()
    })
}

fn of_paseto(findings: &mut Section, token: &str, criteria: &Criteria<'_>) {
    let kind: Vec<&str> = token.splitn(3, '.').take(2).collect();
    let kind = kind.join(".");
    findings.good(format!("{} bytes, PASETO {kind}", token.len()));
    let Some(keys) = criteria.keys else {
        return;
    };
    let (done, loaded) = match is_local(token) {
        true => ("encrypted with", paseto::decrypting(keys, criteria.allowed)),
        false => ("signed by", paseto::verifying(keys, criteria.allowed)),
    };
    let opened = match loaded {
        Ok(key) => key.open(token, criteria.implicit, criteria.limits),
        Err(failure) => {
            let why = reason(keys, failure.message());
            undetermined(
                findings,
                criteria,
                why,
                failure.hint_text().unwrap_or_default(),
            );
            return;
        }
    };
    let name = keys.name();
    match opened {
        Ok(opened) => {
            findings.good(format!("{done} the key of {name}"));
            findings.set_key_checks(vec![KeyCheck::for_only_key(
                keys,
                CheckResult::Signed,
                None,
            )]);
            let policy_args = criteria.policy.policy_args;
            claims::check(
                findings,
                opened.message(),
                Format::Paseto,
                policy_args,
                criteria.probe,
            );
        }
        Err(error) => match error.rejection() {
            Some(Rejection::Signature | Rejection::Decryption) => {
                findings.wrong(
                    format!("not {done} the key of {name}, or another implicit assertion"),
                    "the token was changed, or the issuer uses another key; to set an implicit assertion, add `--implicit TEXT`",
                );
                findings.set_key_checks(vec![KeyCheck::for_only_key(
                    keys,
                    CheckResult::NotSigned,
                    None,
                )]);
            }
            _ => undetermined(findings, criteria, &error.to_string(), ""),
        },
    }
}

fn undetermined(findings: &mut Section, criteria: &Criteria<'_>, why: &str, advice: &str) {
    let Some(keys) = criteria.keys else {
        return;
    };
    findings.undetermined(
        format!("undetermined: the key of {}: {why}", keys.name()),
        advice,
    );
    let answer = KeyCheck::for_only_key(keys, CheckResult::Undetermined, Some(why.to_owned()));
    findings.set_key_checks(vec![answer]);
}
