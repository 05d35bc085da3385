//! Parses the serializations (RFC 7516, section 7) into the same parts.

use std::borrow::Cow;

use crate::error::{Measure, Part, Rejection};
use crate::json::{self, Kind, ScanError, Value};
use crate::limits;
use crate::token_limits::Limits;

const MALFORMED: Rejection = Rejection::Malformed(Part::Token);

/// The parts of a JWE before decoding: base64url texts and JSON headers.
#[derive(Default)]
pub(super) struct Parts<'t> {
    pub(super) protected: Cow<'t, str>,
    pub(super) unprotected: Option<&'t str>,
    pub(super) recipients: Vec<Recipient<'t>>,
    pub(super) aad: Option<Cow<'t, str>>,
    pub(super) iv: Cow<'t, str>,
    pub(super) ciphertext: Cow<'t, str>,
    pub(super) tag: Cow<'t, str>,
}

/// The parts of one recipient.
#[derive(Default)]
pub(super) struct Recipient<'t> {
    pub(super) header: Option<&'t str>,
    pub(super) encrypted_key: Cow<'t, str>,
}

struct Rejected(Rejection);

impl From<ScanError> for Rejected {
    fn from(error: ScanError) -> Self {
        Rejected(Rejection::of_json(Part::Token, error))
    }
}

impl<'t> Parts<'t> {
    /// Splits the compact serialization into five parts. The cost does not depend on the number of dots.
    pub(super) fn compact(token: &'t str, limits: &Limits) -> Result<Parts<'t>, Rejection> {
        if token.len() > limits.token_bytes {
            return Err(Rejection::too_large(
                Part::Token,
                token.len(),
                limits.token_bytes,
            ));
        }
        let mut parts = token.splitn(6, '.');
        let mut next = || parts.next().map(Cow::Borrowed).ok_or(MALFORMED);
        let protected = next()?;
        let encrypted_key = next()?;
        let (iv, ciphertext, tag) = (next()?, next()?, next()?);
        if parts.next().is_some() {
            return Err(MALFORMED);
        }
        Ok(Parts {
            protected,
            recipients: vec![Recipient {
                header: None,
                encrypted_key,
            }],
            iv,
            ciphertext,
            tag,
            ..Parts::default()
        })
    }

    /// Parses the general or flattened JSON serialization. A document that mixes both is rejected.
    pub(super) fn json(text: &'t str, limits: &Limits) -> Result<Parts<'t>, Rejection> {
        if text.len() > limits.token_bytes {
            return Err(Rejection::too_large(
                Part::Token,
                text.len(),
                limits.token_bytes,
            ));
        }
        let mut parts = Parts::default();
        let mut flattened = None;
        let mut array = None;
        let (mut has_iv, mut has_ciphertext, mut has_tag) = (false, false, false);
        json::read_object(text, limits.document(), |name, value| {
            match &*name.to_cow() {
                "protected" => parts.protected = present(value)?,
                "unprotected" => parts.unprotected = Some(object(value)?),
                "recipients" => array = Some(value),
                "aad" => parts.aad = Some(present(value)?),
                "iv" => (parts.iv, has_iv) = (present(value)?, true),
                "ciphertext" => (parts.ciphertext, has_ciphertext) = (string(value)?, true),
                "tag" => (parts.tag, has_tag) = (present(value)?, true),
                other => (flattened.get_or_insert_with(Recipient::default)).take(other, value)?,
            }
            Ok(())
        })
        .map_err(|Rejected(rejection)| rejection)?;
        if !(has_iv && has_ciphertext && has_tag) {
            return Err(MALFORMED);
        }
        parts.recipients = match array {
            None => vec![flattened.unwrap_or_default()],
            Some(array) if flattened.as_ref().is_none_or(Recipient::is_empty) => {
                recipients(array, limits)?
            }
            Some(_) => return Err(MALFORMED),
        };
        Ok(parts)
    }
}

impl<'t> Recipient<'t> {
    /// Ignores members with other names.
    fn take(&mut self, name: &str, value: Value<'t>) -> Result<(), Rejected> {
        match name {
            "header" => self.header = Some(object(value)?),
            "encrypted_key" => self.encrypted_key = present(value)?,
            _ => {}
        }
        Ok(())
    }

    fn is_empty(&self) -> bool {
        self.header.is_none() && self.encrypted_key.is_empty()
    }
}

fn recipients<'t>(array: Value<'t>, limits: &Limits) -> Result<Vec<Recipient<'t>>, Rejection> {
    let mut all = Vec::new();
    for element in array.elements().ok_or(MALFORMED)? {
        if all.len() == limits::RECIPIENTS {
            return Err(Rejection::more_than(
                Part::Token,
                Measure::Recipients,
                limits::RECIPIENTS,
            ));
        }
        let mut recipient = Recipient::default();
        json::read_object(element.raw(), limits.depth(), |name, value| {
            recipient.take(&name.to_cow(), value)
        })
        .map_err(|Rejected(rejection)| rejection)?;
        all.push(recipient);
    }
    if all.is_empty() {
        return Err(MALFORMED);
    }
    Ok(all)
}

fn string<'t>(value: Value<'t>) -> Result<Cow<'t, str>, Rejected> {
    let text = value.string().ok_or(Rejected(MALFORMED))?;
    Ok(text.to_cow())
}

/// Reads a member that must be absent instead of empty (RFC 7516, section 7.2.1).
fn present<'t>(value: Value<'t>) -> Result<Cow<'t, str>, Rejected> {
    let text = string(value)?;
    if text.is_empty() {
        return Err(Rejected(MALFORMED));
    }
    Ok(text)
}

fn object<'t>(value: Value<'t>) -> Result<&'t str, Rejected> {
    match value.kind() {
        Kind::Object => Ok(value.raw()),
        _ => Err(Rejected(MALFORMED)),
    }
}
