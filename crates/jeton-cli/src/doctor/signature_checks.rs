//! Whether a key signed a token: yes, no, or undetermined, with the reason. It explains a verdict and never makes
//! one.

use std::slice;

use jeton::diagnose::{SignatureCheck, check_signature};
use jeton::error::{Part, Rejection};
use jeton::key::{Alg, Keys};
use jeton::{jws, limits};
use serde::Serialize;
use zeroize::Zeroizing;

use super::findings::Section;
use super::keys::{JwkMembers, is_for_another_use, reason, shortened};
use super::unwrap::UnwrappedToken;
use super::{Criteria, header};
use crate::exit::Outcome;
use crate::jose;
use crate::keyfile::{AnyKey, KeyFile};

/// Most undetermined keys that are listed unless the caller asks for all.
const LISTED: usize = 10;

/// Whether a key signed a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum CheckResult {
    /// Computed, and valid.
    Signed,
    /// Computed, and not valid.
    NotSigned,
    /// Not computed: the key cannot be used, a limit was exceeded, the header has an extension that is not known.
    Undetermined,
}

/// What is said of one key.
#[derive(Debug, Serialize)]
pub(super) struct KeyCheck {
    /// How the key is called in findings.
    key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    kid: Option<String>,
    answer: CheckResult,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip)]
    how: How,
}

/// What more there is to an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    Plainly,
    /// Over the parts as they stood, with their padding.
    OverPadding,
    /// Over the parts as they stood, in base64's alphabet.
    OverAnotherAlphabet,
    /// For the algorithm that the token says, as the key says none.
    TakenFor(Alg),
    /// The key is for another algorithm than the token's, or of a kind that is not supported.
    Elsewhere,
}

impl KeyCheck {
    fn new(answer: CheckResult, how: How) -> KeyCheck {
        KeyCheck {
            key: String::new(),
            kid: None,
            answer,
            reason: None,
            how,
        }
    }

    fn undetermined(reason: impl Into<String>) -> KeyCheck {
        KeyCheck {
            reason: Some(reason.into()),
            ..KeyCheck::new(CheckResult::Undetermined, How::Plainly)
        }
    }

    /// Of a key whose own answer is that of the verb that loads it.
    pub(super) fn alone(key: &KeyFile, answer: CheckResult, reason: Option<String>) -> KeyCheck {
        KeyCheck {
            key: key.name().to_owned(),
            reason,
            ..KeyCheck::new(answer, How::Plainly)
        }
    }

    pub(super) fn is_signed(&self) -> bool {
        self.answer == CheckResult::Signed
    }
}

/// A compact JWS whose maker is looked for.
pub(super) struct Signed<'a> {
    pub(super) text: &'a UnwrappedToken<'a>,
    pub(super) alg: &'a str,
    pub(super) kid: Option<&'a str>,
}

/// Asks each key. Keys that are for another use are not asked.
pub(super) fn of(keys: &KeyFile, signed: &Signed<'_>, criteria: &Criteria<'_>) -> Vec<KeyCheck> {
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
            let said = JwkMembers::of(key);
            KeyCheck {
                key: match (&said.kid, set_keys.is_some()) {
                    (Some(kid), _) => format!("the key {}", shortened(kid)),
                    (None, true) => format!("key {} of the set", index + 1),
                    (None, false) => format!("the key of {}", keys.name()),
                },
                kid: said.kid,
                ..one(key, set_keys.is_some(), signed, criteria)
            }
        })
        .collect()
}

fn one(key: &KeyFile, is_in_set: bool, signed: &Signed<'_>, criteria: &Criteria<'_>) -> KeyCheck {
    // Who signs has the private key at hand; its public half answers.
    let public = match key.any_algorithm() {
        Ok(AnyKey::Signing(private)) => {
            let jwk = private.verifying_key().to_jwk();
            KeyFile::of(key.name(), Zeroizing::new(jwk.into_bytes()))
        }
        _ => None,
    };
    let key = public.as_ref().unwrap_or(key);
    let load = |alg: Option<Alg>| -> Outcome<Keys> {
        match is_in_set {
            true => key.set_key_to_verify(alg, criteria.allowed),
            false => key.to_verify(alg, criteria.allowed).map(|loaded| loaded.keys),
        }
    };
    let said: Option<Alg> = signed.alg.parse().ok();
    let (loaded, how) = match (load(criteria.alg), said) {
        (Err(_), Some(alg)) if criteria.alg.is_none() && key.needs_algorithm(criteria.allowed) => {
            (load(Some(alg)), How::TakenFor(alg))
        }
        (loaded, _) => (loaded, How::Plainly),
    };
    match loaded {
        Err(failure) => KeyCheck {
            how: match key.load_any_algorithm() {
                // A kind that is not supported.
                Err(error) if is_in_set && refused.is_unsupported() => How::Elsewhere,
                _ => How::Plainly,
            },
            ..KeyCheck::undetermined(reason(key, failure.message()))
        },
        Ok(trusted) => asked(trusted, key, signed, how, criteria),
    }
}

/// What a key that can be used says.
fn asked(
    trusted: Keys,
    key: &KeyFile,
    signed: &Signed<'_>,
    how: How,
    criteria: &Criteria<'_>,
) -> KeyCheck {
    let as_it_stood = as_it_stood(&trusted, &signed.text.as_written);
    let verified = jws::Verifier::new(trusted).verify(&signed.text.token);
    let rejection = match verified.map(drop) {
        Ok(()) => return KeyCheck::new(CheckResult::Signed, how),
        Err(error) => match error.rejection() {
            Some(rejection) => rejection,
            None => return KeyCheck::undetermined(error.to_string()),
        },
    };
    match (rejection, as_it_stood) {
        // Only what was signed is not base64url.
        (Rejection::Malformed(Part::Payload), Some(SignatureCheck::Valid)) => {
            KeyCheck::new(CheckResult::Signed, how)
        }
        (Rejection::Signature, Some(SignatureCheck::Valid)) => {
            let how = match signed.text.as_written.contains('=') {
                true => How::OverPadding,
                false => How::OverAnotherAlphabet,
            };
            KeyCheck::new(CheckResult::Signed, how)
        }
        (Rejection::Signature, Some(SignatureCheck::Invalid)) => {
            KeyCheck::new(CheckResult::NotSigned, how)
        }
        (Rejection::Signature, Some(SignatureCheck::WrongLength { bytes, wanted })) => {
            let alg = signed.alg;
            KeyCheck::undetermined(format!(
                "the signature has {bytes} bytes, {alg} has {wanted}"
            ))
        }
        (Rejection::Signature, None) => KeyCheck::undetermined("the signature is not base64url"),
        (Rejection::AlgorithmMismatch, _) => KeyCheck {
            how: How::Elsewhere,
            ..KeyCheck::undetermined(format!(
                "the key is for {}, and the token says {}",
                algorithm(key, criteria),
                signed.alg
            ))
        },
        (rejection, _) => {
            KeyCheck::undetermined(header::explained(rejection, &signed.text.token).0)
        }
    }
}

/// The signature over the parts with their padding and in their alphabet, whatever the header says.
fn as_it_stood(trusted: &Keys, token: &str) -> Option<SignatureCheck> {
    let (input, signature) = token.rsplit_once('.')?;
    let signature = signature
        .trim_end_matches('=')
        .replace('+', "-")
        .replace('/', "_");
    check_signature(trusted, input.as_bytes(), &jose::decode(&signature)?)
}

/// What a usable key is for.
fn algorithm(key: &KeyFile, criteria: &Criteria<'_>) -> String {
    let said = JwkMembers::of(key).alg;
    let called = criteria.alg.map(|alg| alg.name().to_owned());
    said.or(called)
        .unwrap_or_else(|| match key.any_algorithm() {
            Ok(AnyKey::Verifying(key)) => key.alg().name().to_owned(),
            Ok(AnyKey::Mac(key)) => key.alg().name().to_owned(),
            _ => "another algorithm".to_owned(),
        })
}

/// Says what the keys say.
pub(super) fn tell(
    seen: &mut Section,
    answers: &[KeyCheck],
    signed: &Signed<'_>,
    criteria: &Criteria<'_>,
) {
    let is_named = |answer: &KeyCheck| signed.kid.is_some() && answer.kid.as_deref() == signed.kid;
    let is_only = answers.len() == 1;
    let has_maker = answers.iter().any(KeyCheck::is_signed);
    let (mut others, mut unlisted, mut listed) = (0, 0, 0);
    for answer in answers {
        let key = &answer.key;
        match answer.answer {
            CheckResult::Signed => maker(seen, answer, signed),
            CheckResult::NotSigned if is_only || is_named(answer) => seen.wrong(
                format!("not signed by {key}: the signature was computed, and is not valid"),
                "it was signed by another key, or changed on the way",
            ),
            CheckResult::NotSigned => others += 1,
            CheckResult::Undetermined => {
                let matters = !has_maker && answer.how != How::Elsewhere;
                if !(is_only || is_named(answer) || matters || criteria.verbose) {
                    continue;
                }
                if listed == LISTED && !criteria.verbose {
                    unlisted += 1;
                    continue;
                }
                listed += 1;
                let why = answer.reason.as_deref().unwrap_or("the key cannot be used");
                seen.undetermined(format!("undetermined whether {key} signed it: {why}"), "");
            }
        }
    }
    if unlisted > 0 {
        seen.undetermined(format!("undetermined of {unlisted} more keys"), "all: -v");
    }
    if signed.kid.is_none() {
        too_many(seen, answers);
    }
    if answers.is_empty() {
        seen.undetermined("undetermined who signed it: there is no key to ask", "");
    }
    if has_maker || is_only || answers.is_empty() {
        return;
    }
    let kid = signed.kid.filter(|_| !answers.iter().any(is_named));
    if let Some(kid) = kid {
        seen.wrong(
            format!("no key is called {}", shortened(kid)),
            "the set is old, or of another issuer; a new key is published before it signs",
        );
    }
    if others > 0 {
        let which = match others {
            1 => "the one other key".to_owned(),
            count => format!("any of {count} other keys"),
        };
        seen.wrong(
            format!("not signed by {which}: the signature was computed, and is not valid"),
            "it was changed on the way, or its issuer has other keys",
        );
    }
}

/// Of a token without `kid`: that a verifier does not get as far as the key that signed it.
fn too_many(seen: &mut Section, answers: &[KeyCheck]) {
    let computed = || {
        answers
            .iter()
            .filter(|answer| answer.answer != CheckResult::Undetermined)
    };
    let (count, limit) = (computed().count(), limits::KEYS_TRIED);
    let is_tried = computed().take(limit).any(KeyCheck::is_signed);
    if count > limit && !is_tried {
        seen.wrong(
            format!("it has no kid, and {count} keys could have signed it, limit {limit}"),
            "its issuer writes the key's kid into the header",
        );
    }
}

/// Says which key signed it.
fn maker(seen: &mut Section, answer: &KeyCheck, signed: &Signed<'_>) {
    let key = &answer.key;
    match answer.how {
        How::OverPadding => seen.wrong(
            format!("signed by {key}, over padded parts, as AWS load balancers do"),
            "RFC 7515, section 2, has no padding, and verifiers reject it; AWS documents how such a token is verified",
        ),
        How::OverAnotherAlphabet => seen.wrong(
            format!("signed by {key}, over parts in base64's alphabet"),
            "RFC 7515, section 2, has base64url, and verifiers reject anything else",
        ),
        How::TakenFor(alg) => seen.undetermined(
            format!("signed by {key}, if it is for {alg}: the key does not say"),
            &format!("if that is the algorithm that you expect: --alg {alg}"),
        ),
        How::Plainly | How::Elsewhere => match (signed.kid, &answer.kid) {
            (Some(kid), Some(own)) if kid != own => seen.wrong(
                format!("signed by {key}, and its header names the key {}", shortened(kid)),
                "its issuer signs with one key and names another, or the set calls it otherwise",
            ),
            _ => seen.good(format!("signed by {key}")),
        },
    }
}
