//! A JSON object that is being written.

use serde::Serialize;

use super::buffer::{Buffer, Sink};
use super::registered::Dates;
#[cfg(feature = "paseto")]
use super::rfc3339;
use crate::clock::Timestamp;
use crate::error::{Claim, InvalidUse, Result};

/// The comma, the name with its quotes, and the colon of a registered claim, bytes.
pub(super) const MEMBER_START_BYTES: usize = 7;

/// The longest number of seconds until the year 9999, bytes.
pub(super) const NUMERIC_DATE_BYTES: usize = 12;

/// A JSON object that is being written.
pub struct Object<'b> {
    pub(super) out: Sink<'b>,
    first: bool,
}

/// A position in an object between two members.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    position: usize,
    first: bool,
}

impl<'b> Object<'b> {
    pub(super) fn open(buffer: &'b mut Buffer) -> Object<'b> {
        let mut out = Sink::after(buffer);
        out.bytes(b"{");
        Object { out, first: true }
    }

    /// Continues an object that another writer started. `empty` means that it has no member yet.
    pub(super) fn resume(buffer: &'b mut Buffer, empty: bool) -> Object<'b> {
        Object {
            out: Sink::after(buffer),
            first: empty,
        }
    }

    /// Ends writing without the closing brace. Returns whether the object has no member yet.
    pub(super) fn suspend(self) -> bool {
        self.out.finish();
        self.first
    }

    pub(super) fn close(mut self) {
        self.out.bytes(b"}");
        self.out.finish();
    }

    pub(super) fn mark(&self) -> Mark {
        Mark {
            position: self.out.position(),
            first: self.first,
        }
    }

    /// Drops the members that were written since.
    pub(super) fn rewind(&mut self, mark: Mark) {
        self.out.rewind(mark.position);
        self.first = mark.first;
    }

    pub(super) fn json(&mut self, value: &(impl Serialize + ?Sized)) -> Result<()> {
        serde_json::to_writer(&mut self.out, value)
            .map_err(|_| InvalidUse::ClaimsNotSerializable.into())
    }

    pub(super) fn separate(&mut self) {
        if !std::mem::replace(&mut self.first, false) {
            self.out.bytes(b",");
        }
    }

    /// Writes members that are already JSON.
    pub(super) fn members(&mut self, text: &str) {
        if !text.is_empty() {
            self.separate();
            self.out.bytes(text.as_bytes());
        }
    }

    pub(super) fn registered(
        &mut self,
        claim: Claim,
        value: &(impl Serialize + ?Sized),
    ) -> Result<()> {
        self.registered_name(claim);
        self.json(value)
    }

    /// Writes a registered claim that is a string. Few strings need escaping, and a fast check finds those;
    /// serde_json looks at each byte separately.
    pub(super) fn text(&mut self, claim: Claim, value: &str) -> Result<()> {
        if !is_plain(value) {
            return self.registered(claim, value);
        }
        self.registered_name(claim);
        self.out.quoted(value);
        Ok(())
    }

    pub(super) fn date(&mut self, claim: Claim, moment: Timestamp, dates: Dates) -> Result<()> {
        match dates {
            Dates::Numeric => self.registered(claim, &moment.unix_seconds()),
            #[cfg(feature = "paseto")]
            Dates::Rfc3339 => {
                self.registered_name(claim);
                self.out.bytes(&rfc3339::quoted(moment));
                Ok(())
            }
        }
    }

    /// Writes the comma, if needed, the name and the colon.
    fn registered_name(&mut self, claim: Claim) {
        let start: &[u8; MEMBER_START_BYTES] = match claim {
            Claim::Issuer => b",\"iss\":",
            Claim::Subject => b",\"sub\":",
            Claim::Audience => b",\"aud\":",
            Claim::Expiry => b",\"exp\":",
            Claim::NotBefore => b",\"nbf\":",
            Claim::IssuedAt => b",\"iat\":",
            Claim::TokenId => b",\"jti\":",
        };
        let first = std::mem::replace(&mut self.first, false);
        self.out.bytes(&start[usize::from(first)..]);
    }
}

/// Whether JSON needs no escape for this text (RFC 8259, section 7). The loop does not stop early, so that
/// the compiler can vectorize it.
fn is_plain(text: &str) -> bool {
    text.bytes().fold(true, |plain, byte| {
        plain & (byte >= b' ') & (byte != b'"') & (byte != b'\\')
    })
}

/// Returns an upper bound for the length of a JSON string.
pub(super) fn string_bound(text: &str) -> usize {
    // The longest escape is `\u` and four digits.
    let escaped = if is_plain(text) { 1 } else { 6 };
    2 + text.len() * escaped
}
