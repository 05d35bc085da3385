//! The parameters of a form.

use zeroize::Zeroizing;

use crate::failure::Failure;
use crate::limits;

/// The parameters of a form. Each has one value, and an empty value counts as none (RFC 6749, section 3.2).
pub(crate) struct Form {
    parameters: Vec<(String, Zeroizing<String>)>,
}

/// The names that errors may repeat.
const NAMES: [&str; 16] = [
    "actor_token",
    "actor_token_type",
    "assertion",
    "audience",
    "client_assertion",
    "client_assertion_type",
    "client_id",
    "client_secret",
    "grant_type",
    "requested_token_type",
    "resource",
    "scope",
    "subject_token",
    "subject_token_type",
    "token",
    "token_type_hint",
];

impl Form {
    /// Reads the parameters of a form.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Form, Failure> {
        let mut parameters: Vec<(String, Zeroizing<String>)> = Vec::new();
        for (name, value) in form_urlencoded::parse(bytes) {
            let known = NAMES.into_iter().find(|known| *known == name);
            let named = known.unwrap_or("form");
            if parameters.len() >= limits::FORM_PARAMETERS {
                let max = limits::FORM_PARAMETERS;
                let what = format!("more than {max} parameters, maximum {max}");
                return Err(Failure::Field("form", what));
            }
            if parameters.iter().any(|(other, _)| *other == name) {
                // Several targets are valid elsewhere (RFC 8707, RFC 8693), but a token has one audience.
                return Err(Failure::Field(named, "duplicate parameter".to_owned()));
            }
            // The parser replaces what is not UTF-8. Two different values would become one.
            if [&*name, &*value]
                .iter()
                .any(|text| text.contains('\u{fffd}'))
            {
                return Err(Failure::Field(named, "not UTF-8".to_owned()));
            }
            parameters.push((name.into_owned(), Zeroizing::new(value.into_owned())));
        }
        Ok(Form { parameters })
    }

    /// Returns the value of a parameter, if it is there and not empty.
    pub(crate) fn one(&self, name: &'static str) -> Result<Option<&str>, Failure> {
        debug_assert!(NAMES.contains(&name));
        let found = self.parameters.iter().find(|(other, _)| other == name);
        let value = found.map(|(_, value)| value.as_str());
        Ok(value.filter(|value| !value.is_empty()))
    }

    /// Returns the value of a parameter that is required.
    pub(crate) fn required(&self, name: &'static str) -> Result<&str, Failure> {
        let value = self.one(name)?;
        value.ok_or_else(|| Failure::Field(name, "required".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn form_has_each_parameter_once() {
        let form = Form::parse(b"grant_type=a%20b&scope=&x=1").ok().unwrap();
        assert_eq!(form.one("grant_type").unwrap(), Some("a b"));
        assert_eq!(form.one("scope").unwrap(), None);
        assert_eq!(form.one("token").unwrap(), None);
        let many: String = (0..33).map(|i| format!("p{i}=&")).collect();
        for (text, name) in [
            ("scope=a&scope=a", "scope"),
            ("resource=a&resource=b", "resource"),
            ("x=1&x=2", "form"),
            ("scope=%ff", "scope"),
            (many.as_str(), "form"),
        ] {
            let failure = Form::parse(text.as_bytes()).err().unwrap();
            assert!(
                matches!(failure, Failure::Field(of, _) if of == name),
                "{text}"
            );
        }
    }
}
