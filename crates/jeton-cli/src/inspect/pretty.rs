//! Formats the parts of a token for a terminal.
//!
//! JSON is indented and otherwise unchanged: duplicate members and the digits of numbers are kept.

use std::fmt::Write as _;

use super::hidden::Hidden;
use super::json_tokens::{Kind, json_tokens};
use crate::escape;

/// How many bytes of binary data are shown.
const BYTES_SHOWN: usize = 64;

/// Indents a valid JSON value, with a placeholder for each hidden value.
pub(super) fn json(text: &str, hidden: &Hidden) -> String {
    let mut written = Written::default();
    for (shown, why) in hidden.pieces(text) {
        written.text(shown);
        if let Some(why) = why {
            written.placeholder(why.placeholder());
        }
    }
    written.out
}

/// The indented JSON.
#[derive(Default)]
struct Written {
    out: String,
    indent: usize,
    /// An object or array was opened, and no element has been written yet.
    is_opened: bool,
}

impl Written {
    /// Writes text that begins and ends outside of a string.
    fn text(&mut self, text: &str) {
        for token in json_tokens(text) {
            let written = &text[token.range];
            if token.kind == Kind::End {
                self.indent = self.indent.saturating_sub(1);
                if !std::mem::take(&mut self.is_opened) {
                    self.line();
                }
            } else {
                self.begin();
            }
            for c in written.chars() {
                escape::push(&mut self.out, c);
            }
            match token.kind {
                Kind::Begin => {
                    self.indent += 1;
                    self.is_opened = true;
                }
                Kind::Comma => self.line(),
                Kind::Colon => self.out.push(' '),
                Kind::End | Kind::String | Kind::Other => {}
            }
        }
    }

    /// Writes a placeholder.
    fn placeholder(&mut self, words: &str) {
        self.begin();
        self.out.push_str(words);
    }

    /// Starts an element of the object or array.
    fn begin(&mut self) {
        if std::mem::take(&mut self.is_opened) {
            self.line();
        }
    }

    fn line(&mut self) {
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n("  ", self.indent));
    }
}

/// Formats the first bytes in hexadecimal.
pub(super) fn bytes(bytes: &[u8]) -> String {
    match bytes.split_at_checked(BYTES_SHOWN) {
        Some((shown, rest)) if !rest.is_empty() => format!("{} …", all_bytes(shown)),
        _ => all_bytes(bytes),
    }
}

/// Formats every byte in hexadecimal.
pub(super) fn all_bytes(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() * 3);
    for (index, byte) in bytes.iter().enumerate() {
        let space = if index == 0 { "" } else { " " };
        // Writing to a String cannot fail.
        let _ = write!(out, "{space}{byte:02x}");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::hidden::LEVELS;
    use super::*;

    fn json(text: &str) -> String {
        super::json(text, &Hidden::of(text))
    }

    #[test]
    fn pretty_json_keeps_values_unchanged() {
        assert_eq!(
            json(r#"{"a":[1.10,{}, [ ]],"a":"x,{\"y\":1}\\","b":{"c":null}}"#),
            "{\n  \"a\": [\n    1.10,\n    {},\n    []\n  ],\n  \"a\": \"x,{\\\"y\\\":1}\\\\\",\n  \"b\": {\n    \"c\": null\n  }\n}"
        );
        assert_eq!(json("\"text\""), "\"text\"");
    }

    #[test]
    fn pretty_hidden_value_has_a_placeholder() {
        assert_eq!(
            json(r#"{"jwk":{"kty":"oct","k":"AA"},"a":[]}"#),
            "{\n  \"jwk\": {\n    \"kty\": \"oct\",\n    \"k\": (not shown: private key)\n  },\n  \"a\": []\n}"
        );
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        let shown = json(&nested(100_000));
        assert!(
            shown.contains("(not shown: nested deeper than 32 levels)"),
            "{shown}"
        );
        assert_eq!(shown.lines().count(), 2 * LEVELS + 1);
    }

    #[test]
    fn pretty_control_characters_are_escaped() {
        assert_eq!(
            json("\"\u{9b}2J\u{7f}\u{202e}é\""),
            "\"\\u009b2J\\u007f\\u202eé\""
        );
    }
}
