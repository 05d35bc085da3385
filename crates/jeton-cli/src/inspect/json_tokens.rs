//! Splits JSON into its tokens, as they are written.
//!
//! The library's reader rejects duplicate members and deep nesting. Here they are shown, and so is a text that ends early.

use std::ops::Range;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// `{` or `[`.
    Begin,
    /// `}` or `]`.
    End,
    Comma,
    Colon,
    /// A name or a value, with its quotes.
    String,
    /// A number, `true`, `false` or `null`, or a string without its end.
    Other,
}

/// A token and its place in the text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) range: Range<usize>,
}

/// Returns the tokens of a text. White space is in none.
pub(super) fn json_tokens(text: &str) -> impl Iterator<Item = Token> + '_ {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        at += bytes.get(at..)?.iter().position(|byte| !is_space(*byte))?;
        let begin = at;
        let (kind, length) = token(&bytes[begin..]);
        at += length;
        let range = begin..at;
        Some(Token { kind, range })
    })
}

/// Returns the kind and the length of the token at the beginning of a text that is not empty.
fn token(rest: &[u8]) -> (Kind, usize) {
    match rest[0] {
        b'{' | b'[' => (Kind::Begin, 1),
        b'}' | b']' => (Kind::End, 1),
        b',' => (Kind::Comma, 1),
        b':' => (Kind::Colon, 1),
        b'"' => match end_of_string(rest) {
            Some(end) => (Kind::String, end),
            None => (Kind::Other, rest.len()),
        },
        _ => {
            let is_end = |byte: &u8| is_space(*byte) || b",:{}[]\"".contains(byte);
            let end = rest.iter().position(is_end);
            (Kind::Other, end.unwrap_or(rest.len()))
        }
    }
}

/// Returns the position after the closing quotation mark.
fn end_of_string(string: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        match string.get(at)? {
            b'\\' => at += 2,
            b'"' => return Some(at + 1),
            _ => at += 1,
        }
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> Vec<(Kind, &str)> {
        let all = json_tokens(text);
        all.map(|token| (token.kind, &text[token.range])).collect()
    }

    #[test]
    fn tokens_are_as_written() {
        assert_eq!(
            written(" {\"a\\\"}\" :[-1.0e2,\tnull]}\n"),
            [
                (Kind::Begin, "{"),
                (Kind::String, "\"a\\\"}\""),
                (Kind::Colon, ":"),
                (Kind::Begin, "["),
                (Kind::Other, "-1.0e2"),
                (Kind::Comma, ","),
                (Kind::Other, "null"),
                (Kind::End, "]"),
                (Kind::End, "}"),
            ]
        );
        assert_eq!(written(" "), []);
    }

    #[test]
    fn string_without_end_is_the_last_token() {
        for text in ["\"", "\"a", "\"a\\", "\"a\\\"", "\"é, \\u00"] {
            assert_eq!(written(text), [(Kind::Other, text)]);
        }
    }
}
