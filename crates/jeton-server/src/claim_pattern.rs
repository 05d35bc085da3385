//! Patterns for claims of outside tokens.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// What a claim must be: an exact value, or a pattern.
///
/// `*` matches any characters except `/` and `:`. `**` matches any characters. Outside issuers separate the parts
/// of a subject with these characters, and a caller of theirs may choose one part. So `*` never matches two parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaimPattern {
    /// A text, with `*` and `**`.
    Text(String),
    /// An exact number.
    Number(i64),
    /// An exact truth value.
    Bool(bool),
}

impl ClaimPattern {
    /// Whether the claim of that name matches. A name that begins with `/` is a JSON pointer (RFC 6901).
    ///
    /// Of an array, one element must match. An absent claim does not match.
    pub(crate) fn matches(&self, name: &str, claims: &Value) -> bool {
        match claim(name, claims) {
            Some(Value::Array(values)) => values.iter().any(|value| self.matches_value(value)),
            Some(value) => self.matches_value(value),
            None => false,
        }
    }

    fn matches_value(&self, value: &Value) -> bool {
        match (self, value) {
            (ClaimPattern::Text(pattern), Value::String(text)) => {
                matches_text(pattern.as_bytes(), text.as_bytes())
            }
            (ClaimPattern::Number(number), value) => value.as_i64() == Some(*number),
            (ClaimPattern::Bool(flag), value) => value.as_bool() == Some(*flag),
            _ => false,
        }
    }
}

/// The claim of that name, or at that JSON pointer.
pub(crate) fn claim<'c>(name: &str, claims: &'c Value) -> Option<&'c Value> {
    if name.starts_with('/') {
        claims.pointer(name)
    } else {
        claims.get(name)
    }
}

/// The text of a claim in the JSON of a token.
pub(crate) fn raw_claim<'j>(name: &str, json: &'j str) -> Option<&'j RawValue> {
    let mut raw: &RawValue = serde_json::from_str(json).ok()?;
    let Some(pointer) = name.strip_prefix('/') else {
        return member(raw, name);
    };
    for part in pointer.split('/') {
        raw = member(raw, &part.replace("~1", "/").replace("~0", "~"))?;
    }
    Some(raw)
}

/// A member of an object, or an element of an array.
fn member<'j>(raw: &'j RawValue, name: &str) -> Option<&'j RawValue> {
    if let Ok(members) = serde_json::from_str::<HashMap<Cow<'_, str>, &RawValue>>(raw.get()) {
        return members.get(name).copied();
    }
    let elements: Vec<&RawValue> = serde_json::from_str(raw.get()).ok()?;
    elements.get(name.parse::<usize>().ok()?).copied()
}

/// Why a claim cannot be copied under this name. `None` if it can.
pub(crate) fn check_claim_name(name: &str) -> Option<&'static str> {
    // The service sets these itself, or they give rights (RFC 8693, section 4).
    const SET_BY_SERVICE: [&str; 8] = [
        "active",
        "token_type",
        "client_id",
        "scope",
        "act",
        "may_act",
        "cnf",
        "username",
    ];
    if name.is_empty() {
        return Some("the name of a claim must not be empty");
    }
    let is_registered = jeton::error::Claim::from_name(name).is_some();
    (is_registered || SET_BY_SERVICE.contains(&name))
        .then_some("the service sets one of these claims itself: copy it under another name")
}

/// Takes time in proportion to the product of both lengths at most.
fn matches_text(pattern: &[u8], text: &[u8]) -> bool {
    // reachable[i]: the pattern so far matches the first i bytes.
    let mut reachable = vec![false; text.len() + 1];
    reachable[0] = true;
    let mut rest = pattern;
    while let Some((first, after)) = rest.split_first() {
        if *first == b'*' {
            let any = after.first() == Some(&b'*');
            rest = if any { &after[1..] } else { after };
            for index in 0..text.len() {
                let may_pass = any || !matches!(text[index], b'/' | b':');
                if reachable[index] && may_pass {
                    reachable[index + 1] = true;
                }
            }
        } else {
            rest = after;
            for index in (0..text.len()).rev() {
                reachable[index + 1] = reachable[index] && text[index] == *first;
            }
            reachable[0] = false;
        }
    }
    reachable[text.len()]
}

impl<'de> Deserialize<'de> for ClaimPattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ClaimPattern, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = ClaimPattern;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string, an integer or a boolean")
            }

            fn visit_str<E>(self, text: &str) -> Result<ClaimPattern, E> {
                Ok(ClaimPattern::Text(text.to_owned()))
            }

            fn visit_i64<E>(self, number: i64) -> Result<ClaimPattern, E> {
                Ok(ClaimPattern::Number(number))
            }

            fn visit_bool<E>(self, flag: bool) -> Result<ClaimPattern, E> {
                Ok(ClaimPattern::Bool(flag))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn matches(pattern: &str, text: &str) -> bool {
        ClaimPattern::Text(pattern.to_owned()).matches("sub", &json!({ "sub": text }))
    }

    #[test]
    fn star_matches_one_part_and_two_stars_match_all() {
        let pattern = "repo:acme/*:ref:refs/heads/main";
        assert!(matches(pattern, "repo:acme/app:ref:refs/heads/main"));
        assert!(matches(pattern, "repo:acme/:ref:refs/heads/main"));
        for text in [
            "repo:acme/app:ref:refs/heads/main2",
            "repo:acme/app:ref:refs/heads/dev",
            "repo:acmeX/app:ref:refs/heads/main",
            "repo:acme/app/x:ref:refs/heads/main",
            "repo:acme/app:environment:x:ref:refs/heads/main",
            "xrepo:acme/app:ref:refs/heads/main",
            "",
        ] {
            assert!(!matches(pattern, text), "{text}");
        }
        assert!(matches("repo:acme/**", "repo:acme/app:ref:refs/heads/main"));
        assert!(!matches("repo:acme/**", "repo:acme"));
        assert!(matches("**", "") && matches("", "") && !matches("", "a"));
        assert!(matches("a*b*c", "aXbYc") && !matches("a*b*c", "aXbY"));
        assert!(matches("***", "a/b"));
        // Not exponential.
        assert!(!matches(&"*a".repeat(500), &"a".repeat(499)));
    }

    #[test]
    fn raw_claim_is_the_text_of_the_claim() {
        let json = r#"{"n":1.0,"a/b":[1E2,{"x":12345678901234567890123}],"s":"é"}"#;
        let raw = |name| raw_claim(name, json).map(|raw| raw.get().to_owned());
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(raw("n"), text("1.0"));
        assert_eq!(raw("/a~1b/0"), text("1E2"));
        assert_eq!(raw("/a~1b/1/x"), text("12345678901234567890123"));
        assert_eq!(raw("s"), text("\"é\""));
        assert_eq!((raw("x"), raw("/a~1b/2"), raw("/n/x")), (None, None, None));
    }

    #[test]
    fn pattern_compares_types_and_elements() {
        let claims = json!({
            "run": 7, "ok": true, "groups": ["a", "b"], "text": "7", "null": null,
            "kubernetes.io": {"namespace": "prod"}, "nested": {"a/b": "c"},
        });
        let text = |text: &str| ClaimPattern::Text(text.to_owned());
        assert!(ClaimPattern::Number(7).matches("run", &claims));
        assert!(!ClaimPattern::Number(7).matches("text", &claims));
        assert!(!text("7").matches("run", &claims));
        assert!(ClaimPattern::Bool(true).matches("ok", &claims));
        assert!(!text("true").matches("ok", &claims));
        assert!(text("b").matches("groups", &claims) && !text("c").matches("groups", &claims));
        assert!(text("prod").matches("/kubernetes.io/namespace", &claims));
        assert!(text("c").matches("/nested/a~1b", &claims));
        for absent in ["absent", "null", "/kubernetes.io", "/kubernetes.io/x"] {
            assert!(!text("**").matches(absent, &claims), "{absent}");
        }
    }
}
