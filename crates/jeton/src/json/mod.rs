//! A strict JSON reader for headers, keys and registered claims.
//!
//! One pass validates the whole text (RFC 8259) and passes each member of the outermost object to the caller.
//! It limits the depth and builds no tree. It rejects duplicate member names at every level. RFC 7515, section
//! 5.2, allows accepting them; rejecting them is the only safe choice.

mod duplicates;
mod scanner;
mod span;
mod strict;
mod text;

pub use strict::{JsonError, Member, read_members};
pub(crate) use text::Text;

use std::fmt;
use std::ops::Range;

use scanner::Scanner;
use span::Span;

/// The limit of serde_json. A higher limit here would have no effect.
pub(crate) const DEPTH_MAX: u32 = 127;

/// Why a text is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScanError {
    /// Not JSON, not UTF-8, or not an object.
    Syntax,
    /// Nested too deeply.
    Depth {
        /// The limit, levels.
        limit: u32,
    },
    /// A duplicate member.
    Duplicate,
    /// More values than the limit, over all objects and arrays.
    TooMany,
}

/// The limits for a text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) depth: u32,
    /// Members of all objects plus elements of all arrays. Detecting duplicates makes members expensive.
    pub(crate) values: usize,
}

impl From<u32> for Bounds {
    /// Limits only the depth, for a text that is short or that comes from an authenticated sender.
    fn from(depth: u32) -> Self {
        Bounds {
            depth,
            values: usize::MAX,
        }
    }
}

/// The type of a JSON value (RFC 8259, section 3). `Display` writes it with its article: `a number`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool,
    /// A number.
    Number,
    /// A string.
    String,
    /// A list of values.
    Array,
    /// An object.
    Object,
}

impl Kind {
    /// Returns the type of the value that starts with this byte.
    pub(crate) const fn of_first_byte(first: u8) -> Kind {
        match first {
            b'n' => Kind::Null,
            b't' | b'f' => Kind::Bool,
            b'"' => Kind::String,
            b'[' => Kind::Array,
            b'{' => Kind::Object,
            _ => Kind::Number,
        }
    }

    /// Returns the type for a message.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Kind::Null => "null",
            Kind::Bool => "a boolean",
            Kind::Number => "a number",
            Kind::String => "a string",
            Kind::Array => "a list",
            Kind::Object => "an object",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A validated value: its type and its text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Value<'a>(Checked<'a>);

#[derive(Debug, Clone, Copy)]
enum Checked<'a> {
    String(Text<'a>),
    Other(Kind, Span<'a>),
}

impl<'a> Value<'a> {
    fn of_string(text: Text<'a>) -> Self {
        Value(Checked::String(text))
    }

    fn other(kind: Kind, span: Span<'a>) -> Self {
        Value(Checked::Other(kind, span))
    }

    pub(crate) fn kind(self) -> Kind {
        match self.0 {
            Checked::String(_) => Kind::String,
            Checked::Other(kind, _) => kind,
        }
    }

    /// Returns the text of the value; for a string, without its quotes.
    pub(crate) fn raw(self) -> &'a str {
        match self.0 {
            Checked::String(text) => text.written(),
            Checked::Other(_, span) => span.text(),
        }
    }

    /// Returns the position of [`raw`](Value::raw) in the text.
    pub(crate) fn range(self) -> Range<usize> {
        match self.0 {
            Checked::String(text) => text.range(),
            Checked::Other(_, span) => span.range(),
        }
    }

    /// Returns the position of the whole value in the text; for a string, with its quotes.
    #[inline]
    pub(crate) fn range_with_quotes(self) -> Range<usize> {
        let range = self.range();
        match self.0 {
            Checked::String(_) => range.start - 1..range.end + 1,
            Checked::Other(..) => range,
        }
    }

    /// Returns the elements, or `None` if the value is not an array.
    pub(crate) fn elements(self) -> Option<Elements<'a>> {
        match self.0 {
            Checked::Other(Kind::Array, span) => {
                let (text, start) = span.text_and_start();
                Some(Elements::from(Scanner::at(text, start)))
            }
            _ => None,
        }
    }

    /// Returns the string, or `None` if the value has another type.
    pub(crate) fn string(self) -> Option<Text<'a>> {
        match self.0 {
            Checked::String(text) => Some(text),
            Checked::Other(..) => None,
        }
    }
}

/// Reads an object and calls `member` with the name and value of each member.
///
/// An error of `member` stops the reading. Inner objects are validated, but not passed to `member`.
pub(crate) fn read_object<'a, E: From<ScanError>>(
    text: &'a str,
    bounds: impl Into<Bounds>,
    member: impl FnMut(Text<'a>, Value<'a>) -> Result<(), E>,
) -> Result<(), E> {
    Scanner::new(text, bounds.into()).outer_object(member)
}

/// Reads a text that is exactly one value, nested at most `depth` deep.
pub(crate) fn read_value(text: &str, depth: u32) -> Result<Value<'_>, ScanError> {
    Scanner::new(text, depth.into()).only_value()
}

/// Converts bytes to text: JSON is UTF-8 (RFC 8259, section 8.1).
pub(crate) fn text(bytes: &[u8]) -> Result<&str, ScanError> {
    std::str::from_utf8(bytes).map_err(|_| ScanError::Syntax)
}

/// Returns the string in the validated text of a value, or `None` if the value is not a string.
#[inline]
pub(crate) fn checked_string(value: &str) -> Option<Text<'_>> {
    let written = value.strip_prefix('"')?.strip_suffix('"')?;
    let has_escapes = written.as_bytes().contains(&b'\\');
    let span = Span::new(written, 0, written.len());
    Some(Text::from_checked(span, has_escapes))
}

/// Returns the elements of a validated array.
pub(crate) fn checked_elements(array: &str) -> Elements<'_> {
    Scanner::at(array, 0).into()
}

/// Iterates over a validated array.
pub(crate) struct Elements<'a> {
    scanner: Scanner<'a>,
    started: bool,
}

impl<'a> From<Scanner<'a>> for Elements<'a> {
    fn from(scanner: Scanner<'a>) -> Self {
        Elements {
            scanner,
            started: false,
        }
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = Value<'a>;

    fn next(&mut self) -> Option<Value<'a>> {
        let first = !std::mem::replace(&mut self.started, true);
        self.scanner.next_element(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(text: &str) -> Result<Vec<(String, Kind, String)>, ScanError> {
        let mut all = Vec::new();
        read_object(text, 8, |name, value| {
            all.push((
                name.to_cow().into_owned(),
                value.kind(),
                value.raw().to_owned(),
            ));
            Ok::<_, ScanError>(())
        })?;
        Ok(all)
    }

    #[test]
    fn members_are_passed_in_order_with_their_text() {
        let all = members(
            r#" {"a":1, "b" : [ "x" ,{}],"c":"\u0041","d":null,"e":true,"f":{"g":-0.5e3}} "#,
        );
        let expected = [
            ("a", Kind::Number, "1"),
            ("b", Kind::Array, r#"[ "x" ,{}]"#),
            ("c", Kind::String, r#"\u0041"#),
            ("d", Kind::Null, "null"),
            ("e", Kind::Bool, "true"),
            ("f", Kind::Object, r#"{"g":-0.5e3}"#),
        ]
        .map(|(name, kind, raw)| (name.to_owned(), kind, raw.to_owned()));
        assert_eq!(all.as_deref(), Ok(&expected[..]));
    }

    #[test]
    fn duplicate_names_are_rejected_at_every_level() {
        for text in [
            r#"{"a":1,"a":1}"#,
            r#"{"a":1,"\u0061":1}"#,
            r#"{"\u0061":1,"a":1}"#,
            r#"{"x":{"a":1,"b":2,"a":3}}"#,
            r#"{"x":[0,[{"a":1,"a":3}]]}"#,
            r#"{"":1,"":2}"#,
        ] {
            assert_eq!(members(text), Err(ScanError::Duplicate), "{text}");
        }
        let many: Vec<String> = (0..100).map(|i| format!("\"m{i}\":{i}")).collect();
        assert!(members(&format!("{{{}}}", many.join(","))).is_ok());
        assert_eq!(
            members(&format!("{{{},\"m7\":0}}", many.join(","))),
            Err(ScanError::Duplicate)
        );
    }

    #[test]
    fn depth_over_limit_is_rejected_without_recursion() {
        let deep = |n: usize| format!("{{\"a\":{}{}}}", "[".repeat(n), "]".repeat(n));
        assert!(members(&deep(7)).is_ok());
        assert_eq!(members(&deep(8)), Err(ScanError::Depth { limit: 8 }));
        assert_eq!(members(&deep(100_000)), Err(ScanError::Depth { limit: 8 }));
    }

    #[test]
    fn value_limit_counts_all_objects_and_arrays() {
        let text = r#"{"a":{"b":0,"c":[{"d":0}]},"e":0}"#;
        let read = |values| {
            let bounds = Bounds { depth: 8, values };
            read_object(text, bounds, |_, _| Ok::<_, ScanError>(()))
        };
        assert_eq!(read(6), Ok(()));
        assert_eq!(read(5), Err(ScanError::TooMany));
        assert_eq!(read(0), Err(ScanError::TooMany));
    }

    #[test]
    fn text_that_is_not_an_object_is_rejected() {
        for text in [
            "",
            " ",
            "[]",
            "1",
            "null",
            "\"a\"",
            "{",
            "{}x",
            "{} {}",
            "{,}",
            "{\"a\"}",
            "{\"a\":1,}",
            "\u{feff}{}",
        ] {
            assert_eq!(members(text), Err(ScanError::Syntax), "{text:?}");
        }
        assert_eq!(text(b"{\"\xff\":1}"), Err(ScanError::Syntax));
    }

    #[test]
    fn only_value_is_read_with_its_kind() {
        let kind = |text| read_value(text, 1).map(Value::kind);
        assert_eq!(kind(" 1 "), Ok(Kind::Number));
        assert_eq!(kind("[\"a\"]"), Ok(Kind::Array));
        assert_eq!(kind("[[]]"), Err(ScanError::Depth { limit: 1 }));
        for text in ["", "1 1", "[1", "01"] {
            assert_eq!(kind(text), Err(ScanError::Syntax), "{text}");
        }
    }

    #[test]
    fn array_elements_are_iterated_in_order() {
        let raw: Vec<&str> = checked_elements(r#"[ "a", 1 ,[2,3], {"b":[]} ]"#)
            .map(Value::raw)
            .collect();
        assert_eq!(raw, ["a", "1", "[2,3]", r#"{"b":[]}"#]);
        assert_eq!(checked_elements("[ ]").count(), 0);
    }
}
