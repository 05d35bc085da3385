//! Checks which key signed a token: signed, not signed, or undetermined with the reason. This explains the result of
//! the command and does not change it.

use std::slice;

use jeton::__private::{SignatureCheck, check_signature};
use jeton::error::{Part, Rejection};
use jeton::jws::JwsVerifier;
use jeton::key::{Alg, Keys};

use super::findings::Section;
use super::key_check::{CheckResult, Detail, KeyCheck};
use super::keys::{JwkMembers, is_for_another_use, reason, shortened};
use super::unwrap::{BASE64, PADDED, UnwrappedToken};
use super::{Criteria, header, secrets};
use crate::exit::Outcome;
use crate::jose;
use crate::keyfile::{AnyKey, KeyFile, SecretEncoding};

/// The finding about a token whose signature is empty.
pub(super) const EMPTY_SIGNATURE: &str = "the signature is empty";

/// How many undetermined keys are listed without --verbose.
const LISTED: usize = 10;

/// A compact JWS whose signer is determined.
pub(super) struct Signed<'a> {
    pub(super) text: &'a UnwrappedToken<'a>,
    pub(super) alg: &'a str,
    pub(super) kid: Option<&'a str>,
}

/// Checks each key, except keys for another use.
pub(super) fn check_keys(
    keys: &KeyFile,
    signed: &Signed<'_>,
    criteria: &Criteria<'_>,
) -> Vec<KeyCheck> {
    let Ok(set_keys) = keys.set_keys() else {
        return Vec::new();
    };
    let all = set_keys.as_deref().unwrap_or(slice::from_ref(keys));
    let asked = all
        .iter()
        .enumerate()
        .filter(|(_, key)| set_keys.is_none() || !is_for_another_use(key));
    asked
        .map(|(index, key)| {
            let members = JwkMembers::of(key);
            KeyCheck {
                key: match (&members.kid, set_keys.is_some()) {
                    (Some(kid), _) => format!("the key {}", shortened(kid)),
                    (None, true) if keys.is_several() => format!("the key of {}", key.name()),
                    (None, true) => format!("key {} of the set", index + 1),
                    (None, false) if criteria.secret.is_some() => keys.name().to_owned(),
                    (None, false) => format!("the key of {}", keys.name()),
                },
                kid: members.kid,
                ..one(key, set_keys.is_some(), signed, criteria)
            }
        })
        .collect()
}

fn one(key: &KeyFile, is_in_set: bool, signed: &Signed<'_>, criteria: &Criteria<'_>) -> KeyCheck {
    // For a private key, its public key is checked.
    let public = match key.any_algorithm() {
        Ok(AnyKey::Signing(private)) => {
            let jwk = private.verifying_key().to_jwk();
            KeyFile::of(key.name(), jwk.as_bytes()).ok()
        }
        _ => None,
    };
    let key = public.as_ref().unwrap_or(key);
    let load = |alg: Option<Alg>| -> Outcome<Keys> {
        if is_in_set {
            key.set_key_to_verify(alg, criteria.allowed)
        } else {
            key.to_verify(alg, criteria.allowed)
                .map(|loaded| loaded.keys)
        }
    };
    let token_alg: Option<Alg> = signed.alg.parse().ok();
    let (loaded, detail) = match (load(criteria.alg), token_alg) {
        (Err(_), Some(alg)) if criteria.alg.is_none() && key.needs_algorithm(criteria.allowed) => {
            (load(Some(alg)), Detail::AssumedAlgorithm(alg))
        }
        (loaded, _) => (loaded, Detail::Normal),
    };
    match loaded {
        Err(failure) => KeyCheck {
            detail: match (
                key.load_any_algorithm(),
                other_encoding(key, signed, criteria),
            ) {
                (_, Some(encoding)) => Detail::OtherEncoding(encoding),
                (Err(error), None) if is_in_set && error.is_unsupported() => Detail::OtherAlgorithm,
                _ => Detail::Normal,
            },
            ..KeyCheck::undetermined(reason(key, failure.message()))
        },
        Ok(trusted) => check_signature_of(trusted, key, signed, detail, criteria),
    }
}

/// Returns the encoding, other than that of a symmetric key, in which its secret signed the token.
fn other_encoding(
    key: &KeyFile,
    signed: &Signed<'_>,
    criteria: &Criteria<'_>,
) -> Option<SecretEncoding> {
    secrets::other_encoding(key, criteria.secret, signed.alg, &signed.text.token)
}

/// Checks the signature with a usable key.
fn check_signature_of(
    trusted: Keys,
    key: &KeyFile,
    signed: &Signed<'_>,
    detail: Detail,
    criteria: &Criteria<'_>,
) -> KeyCheck {
    let as_written = check_as_written(&trusted, &signed.text.as_written);
    let verifier = JwsVerifier::new(trusted).limits(criteria.limits);
    let verified = verifier.verify(&signed.text.token);
    let rejection = match verified.map(drop) {
        Ok(()) => return KeyCheck::new(CheckResult::Signed, detail),
        Err(error) => match error.rejection() {
            Some(rejection) => rejection.clone(),
            None => return KeyCheck::undetermined(error.to_string()),
        },
    };
    match (rejection, as_written) {
        // The signature is valid, and the payload is not base64url.
        (Rejection::Malformed(Part::Payload), Some(SignatureCheck::Valid)) => {
            KeyCheck::new(CheckResult::Signed, detail)
        }
        (Rejection::Signature, Some(SignatureCheck::Valid)) => {
            let detail = if signed.text.as_written.contains('=') {
                Detail::OverPadding
            } else {
                Detail::OverAnotherAlphabet
            };
            KeyCheck::new(CheckResult::Signed, detail)
        }
        (Rejection::Signature, Some(SignatureCheck::Invalid)) => {
            let encoding = other_encoding(key, signed, criteria);
            let detail = encoding.map_or(detail, Detail::OtherEncoding);
            KeyCheck::new(CheckResult::NotSigned, detail)
        }
        (_, Some(SignatureCheck::WrongLength { bytes: 0, .. })) => {
            KeyCheck::undetermined(EMPTY_SIGNATURE)
        }
        (Rejection::Signature, Some(SignatureCheck::WrongLength { bytes, wanted })) => {
            let alg = signed.alg;
            KeyCheck::undetermined(format!(
                "the signature has {bytes} bytes, {alg} requires {wanted}"
            ))
        }
        (Rejection::Signature, None) => KeyCheck::undetermined("the signature is not base64url"),
        (Rejection::AlgorithmMismatch, _) => KeyCheck {
            detail: Detail::OtherAlgorithm,
            ..KeyCheck::undetermined(format!(
                "the key is for {}, the token has {}",
                algorithm(key, criteria),
                signed.alg
            ))
        },
        (rejection, _) => KeyCheck::undetermined(header::explain(&rejection, &signed.text.token).0),
    }
}

/// Checks the signature over the parts as they were written, regardless of the header.
fn check_as_written(trusted: &Keys, token: &str) -> Option<SignatureCheck> {
    let (input, signature) = token.rsplit_once('.')?;
    let signature = signature
        .trim_end_matches('=')
        .replace('+', "-")
        .replace('/', "_");
    check_signature(trusted, input.as_bytes(), &jose::decode(&signature)?)
}

/// Returns the algorithm of a usable key.
fn algorithm(key: &KeyFile, criteria: &Criteria<'_>) -> String {
    let key_alg = JwkMembers::of(key).alg;
    let requested = criteria.alg.map(|alg| alg.name().to_owned());
    key_alg
        .or(requested)
        .unwrap_or_else(|| match key.any_algorithm() {
            Ok(AnyKey::Verifying(key)) => key.alg().name().to_owned(),
            Ok(AnyKey::Mac(key)) => key.alg().name().to_owned(),
            _ => "another algorithm".to_owned(),
        })
}

/// Reports the results of the keys.
pub(super) fn report(
    findings: &mut Section,
    answers: &[KeyCheck],
    signed: &Signed<'_>,
    criteria: &Criteria<'_>,
) {
    let is_named = |answer: &KeyCheck| signed.kid.is_some() && answer.kid.as_deref() == signed.kid;
    let is_only = answers.len() == 1;
    let is_signer_known = answers.iter().any(KeyCheck::is_signed);
    let (mut others, mut unlisted, mut listed) = (0, 0, 0);
    for answer in answers {
        let key = &answer.key;
        match answer.answer {
            CheckResult::Signed => report_signer(findings, answer, signed),
            CheckResult::NotSigned if is_only || is_named(answer) => {
                let (what, advice) = not_signed(answer, criteria);
                findings.wrong_for(Rejection::Signature, what, &advice);
            }
            CheckResult::NotSigned => others += 1,
            CheckResult::Undetermined if let Detail::OtherEncoding(encoding) = answer.detail => {
                let (what, advice) = signed_if_encoded(answer, encoding, criteria);
                findings.undetermined(what, &advice);
            }
            CheckResult::Undetermined => {
                let matters = !is_signer_known && answer.detail != Detail::OtherAlgorithm;
                if !(is_only || is_named(answer) || matters || criteria.verbose) {
                    continue;
                }
                if listed == LISTED && !criteria.verbose {
                    unlisted += 1;
                    continue;
                }
                listed += 1;
                let why = answer.reason.as_deref().unwrap_or("the key cannot be used");
                // The reason is a finding already.
                if findings.list_under(why, format!("undetermined whether {key} signed it")) {
                    continue;
                }
                findings.undetermined(format!("undetermined: {key}: {why}"), "");
                if answer.detail == Detail::OtherAlgorithm {
                    findings.explaining(Rejection::AlgorithmMismatch);
                }
            }
        }
    }
    if unlisted > 0 {
        findings.undetermined(
            format!("undetermined: {unlisted} more keys"),
            "to list all, add `-v`",
        );
    }
    if answers.is_empty() {
        findings.undetermined("undetermined: no key to check", "");
    }
    if is_signer_known || is_only || answers.is_empty() {
        return;
    }
    let kid = signed.kid.filter(|_| !answers.iter().any(is_named));
    let which = match others {
        1 => "the other key".to_owned(),
        count => format!("any of the {count} other keys"),
    };
    if let Some(kid) = kid {
        findings.wrong_for(
            Rejection::UnknownKey,
            format!("no key has the kid {}", shortened(kid)),
            "the key set is outdated or belongs to another issuer",
        );
        findings.explaining(Rejection::AlgorithmMismatch);
        if others > 0 {
            findings.list_under_last(format!("not signed by {which}"));
        }
    } else if others > 0 && signed.kid.is_none() {
        findings.wrong_for(
            Rejection::Signature,
            format!("not signed by {which}: the signature was computed and is not valid"),
            "the token was changed, or the issuer uses other keys",
        );
    }
}

/// Describes that a key did not sign the token.
fn not_signed(answer: &KeyCheck, criteria: &Criteria<'_>) -> (String, String) {
    match answer.detail {
        Detail::OtherEncoding(encoding) => signed_if_encoded(answer, encoding, criteria),
        _ => (
            format!(
                "not signed by {}: the signature was computed and is not valid",
                answer.key
            ),
            "another key signed the token, or the token was changed".to_owned(),
        ),
    }
}

/// Describes that the secret of a key signed the token in another encoding, and what to do.
fn signed_if_encoded(
    answer: &KeyCheck,
    encoding: SecretEncoding,
    criteria: &Criteria<'_>,
) -> (String, String) {
    let (key, encoding) = (&answer.key, encoding.name());
    match criteria.secret {
        Some(_) => (
            format!("signed by {key}, if its encoding is {encoding}"),
            format!("add `--secret-encoding {encoding}`"),
        ),
        None => (
            format!("signed by the secret of {key}, if its encoding is {encoding}"),
            format!(
                "make the JWK again with `jeton key import` and `--secret-encoding {encoding}`"
            ),
        ),
    }
}

/// Reports the key that signed the token.
fn report_signer(findings: &mut Section, answer: &KeyCheck, signed: &Signed<'_>) {
    let key = &answer.key;
    match answer.detail {
        Detail::OverPadding => findings.replace(
            PADDED,
            Rejection::Signature,
            format!("signed by {key}, over padded base64, as AWS load balancers do"),
            "verifiers reject padding (RFC 7515, section 2); the AWS documentation describes how to verify this token",
        ),
        Detail::OverAnotherAlphabet => findings.replace(
            BASE64,
            Rejection::Signature,
            format!("signed by {key}, over base64 instead of base64url"),
            "verifiers reject this (RFC 7515, section 2)",
        ),
        Detail::AssumedAlgorithm(alg) => findings.undetermined(
            format!("signed by {key}, if its algorithm is {alg}: the key has no alg"),
            &format!("if you expect this algorithm, add `--alg {alg}`"),
        ),
        Detail::Normal | Detail::OtherAlgorithm | Detail::OtherEncoding(_) => match (signed.kid, &answer.kid) {
            (Some(kid), Some(own)) if kid != own => findings.wrong_for(
                Rejection::UnknownKey,
                format!("signed by {key}, and the header has the kid {}", shortened(kid)),
                "the issuer sets the kid of another key, or the key set has another kid for this key",
            ),
            _ => findings.good(format!("signed by {key}")),
        },
    }
}
