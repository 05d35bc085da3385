//! Strict reading of JSON claims, used by the service and the command line.

use std::borrow::Cow;
use std::fmt;

use super::scanner::Scanner;
use super::span::Span;
use super::{DEPTH_MAX, ScanError, Text, Value};

/// A member of an object.
#[derive(Debug, Clone, Copy)]
pub struct Member<'t> {
    text: &'t str,
    name: Text<'t>,
    value: Value<'t>,
}

/// Why a text is not a single, unambiguous JSON object.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum JsonError {
    /// Not JSON. Lines and columns start at 1, columns count bytes. The position is that of the invalid byte
    /// or the one before.
    Syntax {
        /// The line.
        line: usize,
        /// The column.
        column: usize,
    },
    /// JSON, but not an object.
    NotAnObject,
    /// A duplicate member.
    Duplicate {
        /// The name, without escapes.
        name: String,
        /// The line of the second name.
        line: usize,
        /// The column after the second name.
        column: usize,
    },
    /// Nested deeper than the limit.
    TooDeep {
        /// The actual depth.
        depth: usize,
        /// The limit.
        limit: u32,
    },
}

/// Reads one JSON object (RFC 8259). Duplicate names are rejected at any level, and objects and arrays may
/// be nested at most `depth` deep, at most 127. `member` is called for each member of the object.
///
/// # Errors
///
/// [`JsonError`], and the first error of `member`.
pub fn read_members<'t, E: From<JsonError>>(
    text: &'t str,
    depth: u32,
    mut member: impl FnMut(Member<'t>) -> Result<(), E>,
) -> Result<(), E> {
    let limit = depth.min(DEPTH_MAX);
    let mut scanner = Scanner::new(text, limit.into());
    let read = scanner.outer_object(|name, value| {
        member(Member { text, name, value }).map_err(ReadError::Callback)
    });
    match read {
        Ok(()) => Ok(()),
        Err(ReadError::Callback(error)) => Err(error),
        Err(ReadError::Json(error)) => Err(explain(text, limit, scanner.position(), error).into()),
    }
}

impl<'t> Member<'t> {
    /// Returns the name, without escapes.
    pub fn name(&self) -> Cow<'t, str> {
        self.name.to_cow()
    }

    /// Returns the name and the value.
    #[inline]
    pub(crate) fn parts(&self) -> (Text<'t>, Value<'t>) {
        (self.name, self.value)
    }

    /// Returns the name as written, with its quotes.
    pub fn written_name(&self) -> &'t str {
        let range = self.name.range();
        &self.text[range.start - 1..range.end + 1]
    }

    /// Returns the value as written.
    pub fn value(&self) -> &'t str {
        &self.text[self.value.range_with_quotes()]
    }

    /// Returns the value without escapes, if it is a string.
    pub fn string(&self) -> Option<Cow<'t, str>> {
        self.value.string().map(Text::to_cow)
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JsonError::Syntax { line, column } => {
                write!(f, "not valid JSON near line {line}, column {column}")
            }
            JsonError::NotAnObject => f.write_str("not a JSON object"),
            // The name comes from the sender, so the message does not contain it.
            JsonError::Duplicate { line, column, .. } => write!(
                f,
                "duplicate member: the second name ends at line {line}, column {column}"
            ),
            JsonError::TooDeep { depth, limit } => {
                write!(f, "nested {depth} levels, the limit is {limit}")
            }
        }
    }
}

impl std::error::Error for JsonError {}

/// Why the reading stopped.
enum ReadError<E> {
    Json(ScanError),
    Callback(E),
}

impl<E> From<ScanError> for ReadError<E> {
    fn from(error: ScanError) -> Self {
        ReadError::Json(error)
    }
}

#[cold]
fn explain(text: &str, limit: u32, at: usize, error: ScanError) -> JsonError {
    let read = &text.as_bytes()[..at.min(text.len())];
    let line_start = read.iter().rposition(|byte| *byte == b'\n');
    let line = 1 + read.iter().filter(|byte| **byte == b'\n').count();
    let column = (read.len() - line_start.map_or(0, |newline| newline + 1)).max(1);
    match error {
        ScanError::Depth { .. } => JsonError::TooDeep {
            depth: nesting(text),
            limit,
        },
        ScanError::Duplicate => JsonError::Duplicate {
            name: name_before(text, read.len()),
            line,
            column,
        },
        // This reader does not limit the number of values.
        ScanError::Syntax | ScanError::TooMany => {
            if Scanner::new(text, limit.into()).is_other_value() {
                JsonError::NotAnObject
            } else {
                JsonError::Syntax { line, column }
            }
        }
    }
}

/// Returns the name whose closing quote is just before `end`.
fn name_before(text: &str, end: usize) -> String {
    let bytes = text.as_bytes();
    let end = end.saturating_sub(1);
    let is_bare = |quote: &usize| {
        let backslashes = bytes[..*quote].iter().rev();
        backslashes.take_while(|byte| **byte == b'\\').count() % 2 == 0
    };
    let mut quotes = (0..end).rev().filter(|at| bytes[*at] == b'"');
    let start = quotes.find(is_bare).map_or(end, |quote| quote + 1);
    let has_escapes = bytes[start..end].contains(&b'\\');
    let name = Text::from_checked(Span::new(text, start, end), has_escapes);
    name.to_cow().into_owned()
}

/// Returns the nesting depth of a text, which may be invalid JSON.
fn nesting(text: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                while let Some(inside) = bytes.next() {
                    match inside {
                        b'"' => break,
                        b'\\' => drop(bytes.next()),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
        deepest = depth.max(deepest);
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<(String, String, String)>, JsonError> {
        let mut all = Vec::new();
        read_members(text, 4, |member| {
            all.push((
                member.name().into_owned(),
                member.written_name().to_owned(),
                member.value().to_owned(),
            ));
            Ok::<_, JsonError>(())
        })?;
        Ok(all)
    }

    #[test]
    fn members_are_returned_verbatim() {
        let all = read(r#" {"\u0061" : 1.10, "b":"\u00e9" ,"c":[ 1 ,{"x":-0}] } "#);
        let expected = [
            ("a", r#""\u0061""#, "1.10"),
            ("b", "\"b\"", r#""\u00e9""#),
            ("c", "\"c\"", r#"[ 1 ,{"x":-0}]"#),
        ]
        .map(|(name, written, value)| (name.to_owned(), written.to_owned(), value.to_owned()));
        assert_eq!(all.as_deref(), Ok(&expected[..]));
    }

    #[test]
    fn errors_contain_position_and_limit() {
        let duplicate = |name: &str, line, column| {
            Err(JsonError::Duplicate {
                name: name.to_owned(),
                line,
                column,
            })
        };
        assert_eq!(read(r#"{"a":1,"a":2}"#), duplicate("a", 1, 10));
        assert_eq!(
            read("{\"b\":[{\"\\u0061\\\"\":1,\n\"a\\\"\":1}]}"),
            duplicate("a\"", 2, 5)
        );
        assert_eq!(read(r#"{"":1,"":2}"#), duplicate("", 1, 8));
        let deep = |levels: usize| {
            let inner = levels - 1;
            format!("{{\"[\\\"\":{}{}}}", "[".repeat(inner), "]".repeat(inner))
        };
        assert!(read(&deep(4)).is_ok());
        for depth in [5, 100_000] {
            assert_eq!(
                read(&deep(depth)),
                Err(JsonError::TooDeep { depth, limit: 4 })
            );
        }
        for text in ["[]", "\"a\"", "1", "null", " [{\"a\":1}] "] {
            assert_eq!(read(text), Err(JsonError::NotAnObject), "{text}");
        }
        for text in [
            "",
            "{",
            "no",
            "{\"a\":1,}",
            "{\"a\":01}",
            "[] {}",
            "{\"a\":\"\u{1}\"}",
        ] {
            let result = read(text);
            assert!(
                matches!(result, Err(JsonError::Syntax { line: 1, .. })),
                "{text}: {result:?}"
            );
        }
    }
}
