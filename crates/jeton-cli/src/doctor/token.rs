//! Checks a token: the result of the command for it, and the explanation.

use jeton::error::{Part, Rejection};
use jeton::key::Alg;

use super::findings::{EVERYTHING, Section};
use super::key_check::{CheckResult, KeyCheck};
use super::keys::{reason, shortened};
use super::probe::Format;
use super::signature_checks::{self, EMPTY_SIGNATURE, Signed};
use super::unwrap::{self, UnwrappedToken};
use super::{Criteria, claims, graph, header, typ};
use crate::command_result::{self, CommandResult, is_local, is_paseto};
use crate::exit::{Failure, Outcome};
use crate::jose::{self, Jwe, Jws, Serialization, Token};
use crate::token_argument::GivenToken;
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
    /// The command does not read the token, because no key can be used.
    pub(super) key_failure: Option<KeyFailure>,
}

/// Why the command cannot use the keys. The reason is a finding about the keys, or else one about the token.
pub(super) struct KeyFailure {
    command: &'static str,
    failure: Failure,
}

impl KeyFailure {
    /// Lists it under the finding about the keys that is the reason, or adds it to the findings about the token.
    pub(super) fn list(&self, of_keys: &mut [Section], of_token: &mut Section) {
        let (message, hint) = (self.failure.message(), self.failure.hint_text());
        let result = format!("{} rejects it", self.command);
        let mut of_keys = of_keys.iter_mut();
        if !of_keys.any(|of_keys| of_keys.list_result(&result, message, hint)) {
            of_token.wrong(format!("{result}: {message}"), hint.unwrap_or_default());
        }
    }
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
                key_failure: None,
            });
        }
    };
    let result = command_result::run(&token, criteria);
    let mut has_extra_text = false;
    if let Err(failure) = limit_args::check(token.len(), criteria.limits) {
        let advice = failure.hint_text().unwrap_or_default();
        findings.wrong_for(failure.message(), failure.message(), advice);
    } else {
        let plain = unwrap::unwrap(&mut findings, &token);
        has_extra_text = findings.error_count() > 0;
        explain(&mut findings, &plain, criteria);
        if plain.token != token {
            let plain_result = command_result::run(&plain.token, criteria);
            report_plain(&mut findings, plain_result);
        }
    }
    let mut is_accepted = false;
    let mut key_failure = None;
    match result {
        CommandResult::Accepted(command) => {
            findings.good(format!("verified: {command} accepts it"));
            // The result of the command decides.
            findings.downgrade_errors();
            is_accepted = true;
        }
        CommandResult::Rejected(command, failure) if failure.rejection().is_none() => {
            key_failure = Some(KeyFailure { command, failure });
        }
        CommandResult::Rejected(command, failure) => {
            let message = failure.message();
            let result = format!("{command} rejects it");
            let is_listed = if has_extra_text {
                findings.list_under_first_error(format!("{result}: {message}"))
            } else {
                findings.list_result(&result, message, failure.hint_text())
            };
            if !is_listed {
                let hint = failure.hint_text().unwrap_or_default();
                findings.wrong(format!("{result}: {message}"), hint);
            }
            findings.set_code(failure.reason_code());
        }
        CommandResult::NotRun if criteria.keys_failed => {
            findings.undetermined("not verified: the keys cannot be used", "");
        }
        CommandResult::NotRun => findings.undetermined(
            "not verified: no keys",
            "pass the verification keys: `--key FILE` or `--key https://…`",
        ),
    }
    let a_key_fits = is_accepted || findings.key_checks().iter().any(KeyCheck::is_signed);
    Ok(CheckedToken {
        section: findings,
        a_key_fits,
        is_accepted,
        key_failure,
    })
}

/// Reports the result of the command for the token without the text around it.
fn report_plain(findings: &mut Section, result: CommandResult) {
    match result {
        CommandResult::Accepted(command) => findings.good(format!(
            "after removing the extra characters, {command} accepts it"
        )),
        // A finding is the reason, or the reason is a finding about the keys.
        CommandResult::Rejected(_, failure)
            if failure.rejection().is_none() || findings.explains(failure.message()) => {}
        CommandResult::Rejected(command, failure) => {
            let message = failure.message();
            findings.wrong(
                format!("after removing the extra characters, {command} rejects it: {message}"),
                failure.hint_text().unwrap_or_default(),
            );
        }
        CommandResult::NotRun => {}
    }
}

/// Checks the parts of a token, independent of the result of the command.
fn explain(findings: &mut Section, plain: &UnwrappedToken<'_>, criteria: &Criteria<'_>) {
    if is_paseto(&plain.token) {
        return of_paseto(findings, &plain.token, criteria);
    }
    if let Some(other) = jose::other_form(&plain.token) {
        return findings.wrong_for(EVERYTHING, other, "");
    }
    match Token::read(&plain.token) {
        Some(Token::Jws(jws)) if jws.serialization == Serialization::Compact => {
            size(findings, plain.token.len());
            signed(findings, &jws, plain, criteria);
        }
        Some(Token::Jws(_)) => findings.wrong_for(
            EVERYTHING,
            "a JWS in JSON, and a JWT is always compact",
            "to verify it, run `jeton jws verify`",
        ),
        Some(Token::Jwe(jwe)) => encrypted(findings, &jwe, &plain.token, criteria),
        None => findings.wrong_for(
            EVERYTHING,
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
            "use fewer claims, or a shorter signature: run `jeton-lab run algorithms --quick`",
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
        findings.wrong_for(
            EVERYTHING,
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
    let typ = headers.text("typ");
    match criteria.probe.header(&plain.token) {
        Some(rejection) if findings.explains(&rejection) => {}
        Some(rejection) => {
            let (what, advice) = header::explain(&rejection, &plain.token);
            findings.wrong_for(rejection, what, &advice);
        }
        None => typ::check(findings, typ.as_deref(), criteria),
    }
    let payload = jws.payload.as_deref().and_then(jose::decode);
    match payload {
        Some(payload) => {
            let policy_args = criteria.policy.policy_args;
            claims::check(findings, &payload, Format::Jwt, policy_args, criteria.probe);
            typ::check_claims(findings, typ.as_deref(), &payload);
        }
        None => findings.wrong_for(
            Rejection::Malformed(Part::Payload),
            "the payload is not base64url",
            "the token is truncated, or not a JWT",
        ),
    }
    let is_unsigned = alg.as_deref().is_none_or(is_none);
    if signature.signature.is_empty() && !is_unsigned {
        findings.wrong_for(
            Rejection::Signature,
            EMPTY_SIGNATURE,
            "the token was never signed, or its signature was removed, for example in a log: get the token from its issuer",
        );
        findings.explaining(Rejection::Malformed(Part::Signature));
    } else if jose::decode(&signature.signature).is_none() {
        findings.wrong_for(
            Rejection::Malformed(Part::Signature),
            "the signature is not base64url",
            "the token is truncated or changed",
        );
        findings.explaining(Rejection::Malformed(Part::Token));
    }
    let has_nonce = headers.text("nonce").is_some();
    match (criteria.keys, alg.as_deref()) {
        (Some(keys), Some(alg)) => {
            let signed = Signed {
                text: plain,
                alg,
                kid: kid.as_deref(),
            };
            let mut answers = signature_checks::check_keys(keys, &signed, criteria);
            if has_nonce {
                graph::check(findings, &mut answers);
            }
            // A token with alg none has no signer.
            if !is_unsigned {
                signature_checks::report(findings, &answers, &signed, criteria);
            }
            findings.set_key_checks(answers);
        }
        (None, _) if has_nonce => findings.undetermined(graph::WHAT, graph::ADVICE),
        _ => {}
    }
}

fn is_none(alg: &str) -> bool {
    alg.eq_ignore_ascii_case("none")
}

/// Checks `alg` and `kid` of the header.
fn check_alg(findings: &mut Section, alg: Option<&str>, kid: Option<&str>) {
    let known = alg.is_some_and(|alg| alg.parse::<Alg>().is_ok());
    match alg {
        None => findings.wrong_for(
            Rejection::Malformed(Part::Header),
            "the header has no alg",
            "a JWS requires it (RFC 7515, section 4.1.1)",
        ),
        Some(alg) if is_none(alg) => findings.wrong_for(
            EVERYTHING,
            "alg is none: the token is not signed",
            "no verifier should accept it; the issuer must sign it",
        ),
        Some(alg) if !known => {
            let what = format!("alg is {alg}, which is not supported");
            findings.wrong_for(Rejection::AlgorithmMismatch, what, "");
        }
        Some(alg) => findings.good(match kid {
            Some(kid) => format!("alg {alg}, kid {}", shortened(kid)),
            None => format!("alg {alg}, no kid"),
        }),
    }
}

fn encrypted(findings: &mut Section, jwe: &Jwe<'_>, token: &str, criteria: &Criteria<'_>) {
    let Some(decrypter) = criteria.decrypter() else {
        let what_to_do = if decrypts(token, criteria) {
            "the key of --key decrypts it: pass it as `--decrypt-key FILE`"
        } else {
            "pass the decryption key with `--decrypt-key FILE`, and the keys of the signer with `--key`"
        };
        findings.undetermined("a JWE: the content is encrypted", what_to_do);
        findings.explaining(EVERYTHING);
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
            findings.explaining(EVERYTHING);
            return;
        }
    };
    let form = jwe.serialization.name();
    findings.good(format!("a JWE, {form}, decrypted with --decrypt-key"));
    if criteria.keys.is_none() {
        findings.undetermined(
            "the content was not verified",
            "if it is a signed JWT, pass the keys of its signer: `--key FILE`",
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

/// Returns whether the key of --key decrypts the token.
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
    let (done, loaded) = if is_local(token) {
        ("encrypted with", paseto::decrypting(keys, criteria.allowed))
    } else {
        ("signed by", paseto::verifying(keys, criteria.allowed))
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
                findings.explaining(EVERYTHING);
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
    findings.explaining(why);
    let answer = KeyCheck::for_only_key(keys, CheckResult::Undetermined, Some(why.to_owned()));
    findings.set_key_checks(vec![answer]);
}
