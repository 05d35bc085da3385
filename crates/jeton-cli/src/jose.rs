//! Splits a JWS or JWE into its parts without verification, for output and for hints. No security decision
//! depends on it.

use std::borrow::Cow;

use clap::ValueEnum;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::json::Members;

/// The serialization of a JWS or JWE (RFC 7515, section 7; RFC 7516, section 7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Serialization {
    /// header.payload.signature, or header.key.nonce.ciphertext.tag
    Compact,
    /// JSON with one signature or recipient
    Flattened,
    /// JSON with any number of signatures or recipients
    General,
}

impl Serialization {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Serialization::Compact => "compact",
            Serialization::Flattened => "flattened",
            Serialization::General => "general",
        }
    }
}

/// Returns whether a token has one of the JSON serializations.
pub(crate) fn is_json(token: &str) -> bool {
    token.trim_start().starts_with('{')
}

/// The parts of a token.
pub(crate) enum Token<'t> {
    Jws(Jws<'t>),
    Jwe(Jwe<'t>),
}

/// The parts of a JWS, in base64url.
pub(crate) struct Jws<'t> {
    pub(crate) serialization: Serialization,
    pub(crate) payload: Option<Cow<'t, str>>,
    pub(crate) signatures: Vec<Signature<'t>>,
}

#[derive(Deserialize)]
pub(crate) struct Signature<'t> {
    #[serde(borrow)]
    pub(crate) protected: Option<Cow<'t, str>>,
    #[serde(borrow)]
    pub(crate) header: Option<&'t RawValue>,
    #[serde(borrow)]
    pub(crate) signature: Cow<'t, str>,
}

/// The parts of a JWE, in base64url.
pub(crate) struct Jwe<'t> {
    pub(crate) serialization: Serialization,
    pub(crate) protected: Option<Cow<'t, str>>,
    pub(crate) unprotected: Option<&'t RawValue>,
    pub(crate) aad: Option<Cow<'t, str>>,
    pub(crate) ciphertext: Cow<'t, str>,
    pub(crate) recipients: Vec<Recipient<'t>>,
}

#[derive(Deserialize)]
pub(crate) struct Recipient<'t> {
    #[serde(borrow)]
    pub(crate) header: Option<&'t RawValue>,
    #[serde(borrow)]
    pub(crate) encrypted_key: Option<Cow<'t, str>>,
}

/// Every top-level member of the JSON serializations.
#[derive(Deserialize)]
struct Document<'t> {
    #[serde(borrow)]
    payload: Option<Cow<'t, str>>,
    #[serde(borrow)]
    signatures: Option<Vec<Signature<'t>>>,
    #[serde(borrow)]
    signature: Option<Cow<'t, str>>,
    #[serde(borrow)]
    protected: Option<Cow<'t, str>>,
    #[serde(borrow)]
    unprotected: Option<&'t RawValue>,
    #[serde(borrow)]
    header: Option<&'t RawValue>,
    #[serde(borrow)]
    recipients: Option<Vec<Recipient<'t>>>,
    #[serde(borrow)]
    encrypted_key: Option<Cow<'t, str>>,
    #[serde(borrow)]
    aad: Option<Cow<'t, str>>,
    #[serde(borrow)]
    ciphertext: Option<Cow<'t, str>>,
}

impl<'t> Token<'t> {
    /// Splits a text that has the form of a JWS or JWE.
    pub(crate) fn read(text: &'t str) -> Option<Token<'t>> {
        if is_json(text) {
            return Document::read(text);
        }
        if sd_jwt(text).is_some() {
            return None;
        }
        // No token has more than five parts; the sixth part bounds the work for untrusted text.
        let parts: Vec<&str> = text.splitn(6, '.').collect();
        match *parts {
            [protected, payload, signature] => Some(Token::Jws(Jws {
                serialization: Serialization::Compact,
                payload: Some(payload.into()),
                signatures: vec![Signature {
                    protected: Some(protected.into()),
                    header: None,
                    signature: signature.into(),
                }],
            })),
            [protected, encrypted_key, _iv, ciphertext, _tag] if !is_without_enc(protected) => {
                Some(Token::Jwe(Jwe {
                    serialization: Serialization::Compact,
                    protected: Some(protected.into()),
                    unprotected: None,
                    aad: None,
                    ciphertext: ciphertext.into(),
                    recipients: vec![Recipient {
                        header: None,
                        encrypted_key: Some(encrypted_key.into()),
                    }],
                }))
            }
            _ => None,
        }
    }

    /// Returns the `alg` of the only signature or recipient.
    pub(crate) fn alg_of(text: &'t str) -> Option<String> {
        Token::member_of(text, "alg")
    }

    /// Returns the `kid` of the only signature or recipient.
    pub(crate) fn kid_of(text: &'t str) -> Option<String> {
        Token::member_of(text, "kid")
    }

    fn member_of(text: &'t str, name: &str) -> Option<String> {
        let headers = match Token::read(text)? {
            Token::Jws(jws) => match &jws.signatures[..] {
                [only] => only.headers(),
                _ => return None,
            },
            Token::Jwe(jwe) => match &jwe.recipients[..] {
                [only] => jwe.headers(only),
                _ => return None,
            },
        };
        headers.text(name)
    }
}

impl<'t> Document<'t> {
    fn read(text: &'t str) -> Option<Token<'t>> {
        let document: Document<'t> = serde_json::from_str(text).ok()?;
        if let Some(ciphertext) = document.ciphertext {
            let (serialization, recipients) = match document.recipients {
                Some(recipients) => (Serialization::General, recipients),
                None => (
                    Serialization::Flattened,
                    vec![Recipient {
                        header: document.header,
                        encrypted_key: document.encrypted_key,
                    }],
                ),
            };
            return Some(Token::Jwe(Jwe {
                serialization,
                protected: document.protected,
                unprotected: document.unprotected,
                aad: document.aad,
                ciphertext,
                recipients,
            }));
        }
        let (serialization, signatures) = match (document.signatures, document.signature) {
            (Some(signatures), _) => (Serialization::General, signatures),
            (None, Some(signature)) => (
                Serialization::Flattened,
                vec![Signature {
                    protected: document.protected,
                    header: document.header,
                    signature,
                }],
            ),
            (None, None) => return None,
        };
        Some(Token::Jws(Jws {
            serialization,
            payload: document.payload,
            signatures,
        }))
    }
}

/// Returns whether a header is readable and has no `enc`, which the header of a JWE has.
fn is_without_enc(protected: &str) -> bool {
    Headers::of_protected(protected).is_some_and(|headers| !headers.has("enc"))
}

/// Returns the JWT of an SD-JWT, with or without key binding.
pub(crate) fn sd_jwt(text: &str) -> Option<&str> {
    let (jwt, _) = text.split_once('~')?;
    (!is_json(text) && jwt.matches('.').count() == 2).then_some(jwt)
}

/// Says what a text is that looks like a token but is not one, and what to do.
pub(crate) fn other_form(text: &str) -> Option<String> {
    if is_json(text) {
        let Members(members) = Members::loose(text)?;
        let is_key = members
            .iter()
            .any(|(name, _)| name == "kty" || name == "keys");
        return is_key.then(|| "this is a key (JWK), not a token".to_owned());
    }
    if matches!(text.as_bytes(), [b'k', b'1'..=b'4', b'.', ..]) {
        return Some("this is a PASERK, which is a key, not a token".to_owned());
    }
    let count = tokens_in(text);
    if count > 1 {
        return Some(format!("these are {count} tokens: pass one of them"));
    }
    if sd_jwt(text).is_some() {
        return Some("this is an SD-JWT: the JWT is the part before the first ~".to_owned());
    }
    if text.contains("...") || text.contains('…') {
        let what = "the token was shortened: the part at the dots is missing";
        return text.starts_with("eyJ").then(|| what.to_owned());
    }
    let (protected, rest) = text.split_once('.')?;
    let is_not_jwe = rest.matches('.').count() == 3 && is_without_enc(protected);
    is_not_jwe.then(|| "five parts as in a JWE, but the header has no enc".to_owned())
}

/// Counts the compact JWS and JWE in a text, which are separated by white space or commas.
pub(crate) fn tokens_in(text: &str) -> usize {
    let words = text.split(|c: char| c.is_whitespace() || c == ',');
    let is_token = |word: &&str| word.starts_with("eyJ") && word.matches('.').count() >= 2;
    words.filter(is_token).count()
}

/// The headers of one signature or recipient, the protected header first.
pub(crate) struct Headers(Vec<Box<RawValue>>);

impl Signature<'_> {
    pub(crate) fn headers(&self) -> Headers {
        Headers::of(self.protected.as_deref(), [self.header, None])
    }
}

impl Jwe<'_> {
    pub(crate) fn headers(&self, recipient: &Recipient<'_>) -> Headers {
        Headers::of(
            self.protected.as_deref(),
            [self.unprotected, recipient.header],
        )
    }
}

impl Headers {
    /// Reads a protected header; `None` if it is not a JSON object.
    pub(crate) fn of_protected(protected: &str) -> Option<Headers> {
        let header = decode_json(protected)?;
        Members::loose(header.get())?;
        Some(Headers(vec![header]))
    }

    fn of(protected: Option<&str>, others: [Option<&RawValue>; 2]) -> Headers {
        let protected = protected.and_then(decode_json);
        let others = others.into_iter().flatten().map(ToOwned::to_owned);
        Headers(protected.into_iter().chain(others).collect())
    }

    /// Returns whether a member is `false`.
    pub(crate) fn is_false(&self, name: &str) -> bool {
        let headers = self.0.iter();
        headers
            .flat_map(|header| values(header, name))
            .any(|value| value.get() == "false")
    }

    /// Returns a member that is a string.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.0.iter().find_map(|header| {
            let value = values(header, name).into_iter().next()?;
            serde_json::from_str(value.get()).ok()
        })
    }

    fn has(&self, name: &str) -> bool {
        self.0.iter().any(|header| !values(header, name).is_empty())
    }
}

/// Returns the values of the members of this name.
fn values<'h>(header: &'h RawValue, name: &str) -> Vec<&'h RawValue> {
    let members = Members::loose(header.get()).map_or(Vec::new(), |Members(all)| all);
    let named = members.into_iter().filter(|(member, _)| member == name);
    named.map(|(_, value)| value).collect()
}

/// Decodes base64url.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    base64_simd::URL_SAFE_NO_PAD.decode_to_vec(text).ok()
}

/// Decodes base64url to JSON.
pub(crate) fn decode_json(text: &str) -> Option<Box<RawValue>> {
    serde_json::from_str(&String::from_utf8(decode(text)?).ok()?).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn alg_is_found_in_every_serialization() {
        for text in [
            "eyJhbGciOiJFUzI1NiJ9.AA.AA",
            r#"{"payload":"AA","protected":"eyJhbGciOiJFUzI1NiJ9","signature":"AA"}"#,
            r#" {"payload":"AA","signatures":[{"header":{"alg":"ES256"},"signature":"AA"}]}"#,
            "eyJhbGciOiJFUzI1NiIsImVuYyI6IkExMjhHQ00ifQ.AA.AA.AA.AA",
            r#"{"unprotected":{"alg":"ES256"},"iv":"","ciphertext":"AA","tag":"AA"}"#,
            r#"{"recipients":[{"header":{"alg":"ES256"}}],"ciphertext":"AA"}"#,
        ] {
            assert_eq!(Token::alg_of(text).unwrap(), "ES256", "{text}");
        }
        for text in ["", "a.b", "{}", "{", r#"{"signatures":[]}"#, "a.b.c"] {
            assert_eq!(Token::alg_of(text), None, "{text}");
        }
    }
}
