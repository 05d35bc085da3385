//! The subject of a token that is issued for an outside token.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;

use crate::claim_pattern::claim;

/// A text in which `{claim}` is replaced by a claim of the outside token. A claim that begins with `/` is a JSON
/// pointer.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct SubjectTemplate(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Claim(String),
}

impl SubjectTemplate {
    /// The name of a trust entry, and `sub`. So no outside issuer can name a subject of this server.
    pub(crate) fn default_of(name: &str) -> SubjectTemplate {
        SubjectTemplate(vec![
            Part::Text(format!("{name}:")),
            Part::Claim("sub".to_owned()),
        ])
    }

    /// Returns the name of the first claim that cannot be filled in.
    pub(crate) fn first_missing(&self, claims: &Value) -> Option<&str> {
        self.0.iter().find_map(|part| match part {
            Part::Text(_) => None,
            Part::Claim(name) => {
                let text = claim(name, claims).and_then(text_of);
                text.is_none().then_some(name.as_str())
            }
        })
    }

    /// Returns the subject. `None` if a claim is absent, empty, or neither text nor an integer.
    pub(crate) fn fill(&self, claims: &Value) -> Option<String> {
        let mut subject = String::new();
        for part in &self.0 {
            match part {
                Part::Text(text) => subject.push_str(text),
                Part::Claim(name) => subject.push_str(&text_of(claim(name, claims)?)?),
            }
        }
        Some(subject)
    }
}

/// The text of a claim. `None` if it is empty, or neither text nor an integer.
fn text_of(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::String(text) if !text.is_empty() => Some(Cow::Borrowed(text)),
        Value::Number(number) if number.is_i64() || number.is_u64() => {
            Some(Cow::Owned(number.to_string()))
        }
        _ => None,
    }
}

impl TryFrom<String> for SubjectTemplate {
    type Error = &'static str;

    fn try_from(text: String) -> Result<SubjectTemplate, &'static str> {
        let mut parts = Vec::new();
        let mut rest = text.as_str();
        while let Some((before, after)) = rest.split_once('{') {
            let Some((name, behind)) = after.split_once('}') else {
                return Err("`{` without `}`");
            };
            if name.is_empty() || name.contains('{') || before.contains('}') {
                return Err("expected the name of a claim between `{` and `}`");
            }
            if !before.is_empty() {
                parts.push(Part::Text(before.to_owned()));
            }
            parts.push(Part::Claim(name.to_owned()));
            rest = behind;
        }
        if rest.contains('}') {
            return Err("`}` without `{`");
        }
        if !rest.is_empty() {
            parts.push(Part::Text(rest.to_owned()));
        }
        if parts.is_empty() {
            Err("must not be empty")
        } else {
            Ok(SubjectTemplate(parts))
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::json;

    use super::*;

    fn template(text: &str) -> Result<SubjectTemplate, &'static str> {
        text.to_owned().try_into()
    }

    #[test]
    fn template_is_filled_with_claims() {
        let claims = json!({"sub": "a", "id": 7, "x": {"y": "z"}, "empty": "", "list": ["a"]});
        let fill = |text: &str| template(text).unwrap().fill(&claims);
        assert_eq!(fill("ci:{sub}:{id}").unwrap(), "ci:a:7");
        assert_eq!(fill("{/x/y}").unwrap(), "z");
        assert_eq!(fill("fixed").unwrap(), "fixed");
        for absent in ["{none}", "{empty}", "{list}", "{x}"] {
            assert_eq!(fill(absent), None, "{absent}");
        }
        let default = SubjectTemplate::default_of("github");
        assert_eq!(default.fill(&claims).unwrap(), "github:a");
    }

    #[test]
    fn malformed_template_is_an_error() {
        for text in ["", "{", "}", "a}", "{}", "{{a}}", "a}{b}"] {
            assert!(template(text).is_err(), "{text}");
        }
    }
}
