//! JSON objects with their members in order, as they are written, including duplicate members.

use std::fmt;

use jeton::__private::{JsonError, read_members};
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The members of an object: unescaped names, and values as they are written.
pub struct Members<'a>(pub Vec<(String, &'a RawValue)>);

/// Why a text is not an unambiguous JSON object.
#[derive(Debug, PartialEq, Eq)]
pub enum Problem {
    /// It is not JSON; the message of the parser.
    Syntax(String),
    /// It is JSON, but not an object.
    NotAnObject,
    /// An object has two members of this name.
    Duplicate(String),
    /// It is nested too deep: the depth, and the limit.
    TooDeep(usize, u32),
}

impl<'a> Members<'a> {
    /// Returns the members of an object without duplicate members at any depth and without trailing text.
    /// `depth_max` limits the nesting, as a verifier does.
    pub fn strict(text: &'a str, depth_max: u32) -> Result<Members<'a>, Problem> {
        check(text, depth_max)?;
        Members::loose(text).ok_or(Problem::NotAnObject)
    }

    /// Returns the members of any object.
    pub fn loose(text: &'a str) -> Option<Members<'a>> {
        serde_json::from_str(text).ok()
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Syntax(reason) => write!(f, "not valid JSON: {reason}"),
            Problem::NotAnObject => f.write_str("not a JSON object"),
            Problem::Duplicate(name) => write!(f, "duplicate member {name:?}"),
            Problem::TooDeep(depth, limit) => {
                write!(f, "nested {depth} levels, the limit is {limit}")
            }
        }
    }
}

/// Checks a text with the library's strict reader.
pub fn check(text: &str, depth_max: u32) -> Result<(), Problem> {
    let read = read_members(text, depth_max, |_| Ok::<_, JsonError>(()));
    read.map_err(|error| Problem::of(error, text))
}

/// Returns the type of a JSON value.
pub fn type_name(json: &str) -> &'static str {
    match json.as_bytes() {
        [b'"', ..] => "a string",
        [b'{', ..] => "an object",
        [b'[', ..] => "a list",
        [b't' | b'f', ..] => "true or false",
        [b'n', ..] => "null",
        _ => "a number",
    }
}

impl Problem {
    /// Converts an error of the strict reader.
    pub fn of(error: JsonError, text: &str) -> Problem {
        match error {
            JsonError::Duplicate { name, .. } => Problem::Duplicate(name),
            JsonError::TooDeep { depth, limit } => Problem::TooDeep(depth, limit),
            JsonError::NotAnObject => Problem::NotAnObject,
            // The message of serde_json says what was expected.
            error => Problem::Syntax(match serde_json::from_str::<IgnoredAny>(text) {
                Err(reason) => reason.to_string(),
                // serde_json accepts half of a surrogate pair here.
                Ok(_) => match error {
                    JsonError::Syntax { line, column } => {
                        format!("invalid escape at line {line} column {column}")
                    }
                    error => error.to_string(),
                },
            }),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Each;

        impl<'de> Visitor<'de> for Each {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(members)
            }
        }

        deserializer.deserialize_map(Each).map(Members)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> Option<Problem> {
        Members::strict(text, 32).err()
    }

    #[test]
    fn strict_ambiguous_text_is_rejected() {
        let duplicate = || Some(Problem::Duplicate("a".to_owned()));
        assert_eq!(problem(r#"{"a":1,"a":2}"#), duplicate());
        assert_eq!(problem(r#"{"a":1,"\u0061":2}"#), duplicate());
        assert_eq!(problem(r#"{"b":[{"a":1,"a":1}]}"#), duplicate());
        for text in ["[]", "\"a\"", "1", "null"] {
            assert_eq!(problem(text), Some(Problem::NotAnObject), "{text}");
        }
        for text in [
            "",
            r#"{"a":1} {}"#,
            r#"{"a":1,}"#,
            "{'a':1}",
            r#"{"a":01}"#,
            r#"{"a":"\ud800"}"#,
        ] {
            assert!(matches!(problem(text), Some(Problem::Syntax(_))), "{text}");
        }
        let half = problem(r#"{"a":"\ud800"}"#).map(|problem| problem.to_string());
        let expected = "not valid JSON: invalid escape at line 1 column 12";
        assert_eq!(half.as_deref(), Some(expected));
        assert_eq!(problem(" {\"a\":{\"b\":1},\"b\":1}\n"), None);
    }

    #[test]
    fn strict_nesting_above_limit_is_rejected() {
        let nested =
            |depth: usize| format!("{}{{{}", "{\"a\":".repeat(depth - 1), "}".repeat(depth));
        assert_eq!(problem(&nested(32)), None);
        assert_eq!(problem(&nested(33)), Some(Problem::TooDeep(33, 32)));
        let deep = Some(Problem::TooDeep(100_000, 32));
        assert_eq!(problem(&nested(100_000)), deep);
    }
}
