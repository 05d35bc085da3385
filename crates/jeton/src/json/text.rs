use std::borrow::Cow;
use std::ops::Range;

use super::span::Span;

/// A validated JSON string in its written form.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text<'a> {
    written: Span<'a>,
    has_escapes: bool,
}

impl<'a> Text<'a> {
    /// `written` is the validated text between the quotes.
    pub(super) fn from_checked(written: Span<'a>, has_escapes: bool) -> Self {
        Text {
            written,
            has_escapes,
        }
    }

    /// Returns the text between the quotes.
    pub(crate) fn written(self) -> &'a str {
        self.written.text()
    }

    /// Returns the same as bytes.
    #[inline]
    pub(crate) fn written_bytes(self) -> &'a [u8] {
        self.written.bytes()
    }

    /// Returns the position in the text that was read.
    pub(crate) fn range(self) -> Range<usize> {
        self.written.range()
    }

    pub(crate) fn has_escapes(self) -> bool {
        self.has_escapes
    }

    /// Returns the string, if it has no escapes. Nothing is copied.
    pub(crate) fn plain(self) -> Option<&'a str> {
        (!self.has_escapes).then(|| self.written())
    }

    /// Returns the string. It is copied only if it has escapes.
    pub(crate) fn to_cow(self) -> Cow<'a, str> {
        match self.plain() {
            Some(plain) => Cow::Borrowed(plain),
            None => Cow::Owned(unescape(self.written())),
        }
    }
}

impl PartialEq<str> for Text<'_> {
    fn eq(&self, other: &str) -> bool {
        match self.plain() {
            Some(plain) => plain == other,
            None => unescape(self.written()) == other,
        }
    }
}

fn unescape(escaped: &str) -> String {
    let mut out = String::with_capacity(escaped.len());
    let mut rest = escaped;
    while let Some(backslash) = rest.find('\\') {
        out.push_str(&rest[..backslash]);
        let (character, length) = escape(&rest.as_bytes()[backslash..]);
        out.push(character);
        rest = &rest[backslash + length..];
    }
    out.push_str(rest);
    out
}

/// Decodes an escape. Returns the character and the length. The scanner has validated it.
fn escape(bytes: &[u8]) -> (char, usize) {
    match bytes[1] {
        b'b' => ('\u{8}', 2),
        b'f' => ('\u{c}', 2),
        b'n' => ('\n', 2),
        b'r' => ('\r', 2),
        b't' => ('\t', 2),
        b'u' => {
            let high = hex4(&bytes[2..6]);
            if (0xd800..0xdc00).contains(&high) {
                let low = hex4(&bytes[8..12]);
                let scalar = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                (char::from_u32(scalar).unwrap_or('\u{fffd}'), 12)
            } else {
                (char::from_u32(high).unwrap_or('\u{fffd}'), 6)
            }
        }
        other => (char::from(other), 2),
    }
}

fn hex4(digits: &[u8]) -> u32 {
    digits.iter().fold(0, |value, digit| {
        value * 16 + char::from(*digit).to_digit(16).unwrap_or(0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_escape_is_decoded() {
        let text = |written, has_escapes| {
            Text::from_checked(Span::new(written, 0, written.len()), has_escapes)
        };
        let plain = text("plain", false);
        assert_eq!(plain.plain(), Some("plain"));
        let text = text(r#"a\"\\\/\b\f\n\r\t\u00e9\uD83D\uDE00z"#, true);
        assert_eq!(text.to_cow(), "a\"\\/\u{8}\u{c}\n\r\té😀z");
        assert!(text.plain().is_none());
        assert!(text == *"a\"\\/\u{8}\u{c}\n\r\té😀z");
    }
}
