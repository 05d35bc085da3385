//! Forms for a grant of the token endpoint, and their changes.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::attack::trial::FormChange;

/// A grant of the token endpoint, which takes a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grant {
    /// An assertion (RFC 7523, section 2.1).
    JwtBearer,
    /// The subject token of an exchange (RFC 8693, section 2.1).
    TokenExchange,
}

/// A request to the token endpoint.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct GrantRequest {
    pub(super) is_get: bool,
    /// With a question mark, if there is one.
    pub(super) query: String,
    pub(super) content_type: &'static str,
    pub(super) body: String,
    pub(super) authorization: Authorization,
    /// The scope that the form requests.
    pub(super) scope: Option<String>,
}

/// The credentials of a request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Authorization {
    OfOperator,
    Other(String),
    None,
}

/// A parameter. The value is encoded.
type Parameter = (&'static str, String);

impl Grant {
    /// The name of the parameter with the token.
    fn token(self) -> &'static str {
        match self {
            Self::JwtBearer => "assertion",
            Self::TokenExchange => "subject_token",
        }
    }

    fn parameters(self, token: &str) -> Vec<Parameter> {
        let grant_type = match self {
            Self::JwtBearer => "urn:ietf:params:oauth:grant-type:jwt-bearer",
            Self::TokenExchange => "urn:ietf:params:oauth:grant-type:token-exchange",
        };
        let mut parameters = vec![
            ("grant_type", encoded(grant_type)),
            (self.token(), encoded(token)),
        ];
        if self == Self::TokenExchange {
            let typ = encoded("urn:ietf:params:oauth:token-type:jwt");
            parameters.push(("subject_token_type", typ));
        }
        parameters
    }

    /// Returns the request with a token and these changes. `issued` is the token that the endpoint issued last.
    pub(super) fn request(
        self,
        token: &str,
        changes: &[FormChange],
        issued: Option<&str>,
    ) -> GrantRequest {
        let mut parameters = self.parameters(token);
        let mut request = GrantRequest {
            is_get: false,
            query: String::new(),
            content_type: "application/x-www-form-urlencoded",
            body: String::new(),
            authorization: Authorization::OfOperator,
            scope: None,
        };
        let (mut in_address, mut is_json) = (false, false);
        for change in changes {
            match change {
                FormChange::InAddress => in_address = true,
                FormChange::Get => (in_address, request.is_get) = (true, true),
                FormChange::Json => is_json = true,
                FormChange::ContentType(declared) => request.content_type = declared,
                FormChange::Authorization(value) => {
                    request.authorization = Authorization::Other(value.clone());
                }
                FormChange::NoAuthorization => request.authorization = Authorization::None,
                change => self.change(&mut parameters, change, issued),
            }
            if let FormChange::Set("scope", scope) = change {
                request.scope = Some(scope.clone());
            }
        }
        let text = parameters
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect::<Vec<_>>()
            .join("&");
        match (in_address, is_json) {
            (true, _) => request.query = format!("?{text}"),
            (false, true) => {
                request.content_type = "application/json";
                let mut object = Map::new();
                for (name, value) in self.json(token) {
                    object.insert(name.to_owned(), Value::String(value));
                }
                request.body = Value::Object(object).to_string();
            }
            (false, false) => request.body = text,
        }
        request
    }

    /// The parameters as they are, for a JSON object.
    fn json(self, token: &str) -> Vec<Parameter> {
        let mut parameters = self.parameters(token);
        for (name, value) in &mut parameters {
            if *name == self.token() {
                token.clone_into(value);
            } else {
                *value = value.replace("%3A", ":");
            }
        }
        parameters
    }

    fn change(self, parameters: &mut Vec<Parameter>, change: &FormChange, issued: Option<&str>) {
        let own = |name: &'static str| match name {
            FormChange::TOKEN => self.token(),
            name => name,
        };
        let at = |parameters: &[Parameter], name: &'static str| {
            parameters.iter().position(|(known, _)| *known == own(name))
        };
        let mut set = |name: &'static str, new: &dyn Fn(&str) -> String| match at(parameters, name)
        {
            Some(index) => parameters[index].1 = new(&parameters[index].1),
            None => parameters.push((own(name), new(""))),
        };
        match change {
            FormChange::Set(name, value) => set(name, &|_| encoded(value)),
            FormChange::Append(name, text) => {
                set(name, &|before| before.to_owned() + &encoded(text))
            }
            FormChange::UpperCase(name) => set(name, &str::to_ascii_uppercase),
            FormChange::NotUtf8(name) => set(name, &|before| format!("{before}%FF")),
            FormChange::Issued(name) => set(name, &|_| encoded(issued.unwrap_or_default())),
            FormChange::Remove(name) => parameters.retain(|(known, _)| *known != own(name)),
            FormChange::Before(name, value) => {
                let index = at(parameters, name).unwrap_or(parameters.len());
                parameters.insert(index, (own(name), encoded(value)));
            }
            FormChange::After(name, value) => parameters.push((own(name), encoded(value))),
            FormChange::Again(name) => {
                if let Some(index) = at(parameters, name) {
                    parameters.push(parameters[index].clone());
                }
            }
            FormChange::InAddress
            | FormChange::Get
            | FormChange::Json
            | FormChange::ContentType(_)
            | FormChange::Authorization(_)
            | FormChange::NoAuthorization => {}
        }
    }
}

/// Percent-encodes all but the unreserved characters (RFC 3986, section 2.3).
fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(byte.into());
            }
            // Writing to a string cannot fail.
            _ => drop(write!(encoded, "%{byte:02X}")),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(changes: &[FormChange]) -> String {
        Grant::JwtBearer.request("t", changes, Some("issued")).body
    }

    #[test]
    fn change_of_a_form_changes_one_parameter() {
        let grant = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer";
        let text = str::to_owned;
        for (change, expected) in [
            (
                FormChange::Set("scope", text("a b")),
                format!("{grant}&assertion=t&scope=a%20b"),
            ),
            (
                FormChange::Append("grant_type", text("\0")),
                format!("{grant}%00&assertion=t"),
            ),
            (
                FormChange::NotUtf8(FormChange::TOKEN),
                format!("{grant}&assertion=t%FF"),
            ),
            (FormChange::Remove("grant_type"), text("assertion=t")),
            (
                FormChange::Before(FormChange::TOKEN, text("u")),
                format!("{grant}&assertion=u&assertion=t"),
            ),
            (
                FormChange::After(FormChange::TOKEN, text("u")),
                format!("{grant}&assertion=t&assertion=u"),
            ),
            (
                FormChange::Again(FormChange::TOKEN),
                format!("{grant}&assertion=t&assertion=t"),
            ),
            (
                FormChange::Issued(FormChange::TOKEN),
                format!("{grant}&assertion=issued"),
            ),
            (
                FormChange::ContentType("text/plain"),
                format!("{grant}&assertion=t"),
            ),
            (FormChange::InAddress, String::new()),
        ] {
            assert_eq!(body(&[change]), expected);
        }
        let upper = body(&[FormChange::UpperCase("grant_type")]);
        assert!(upper.starts_with("grant_type=URN%3AIETF%3A"), "{upper}");
        let json = body(&[FormChange::Json]);
        let expected =
            r#"{"assertion":"t","grant_type":"urn:ietf:params:oauth:grant-type:jwt-bearer"}"#;
        assert_eq!(json, expected);
    }

    #[test]
    fn exchange_names_the_type_of_its_token() {
        let request = Grant::TokenExchange.request("t", &[FormChange::Get], None);
        assert!(request.is_get && request.body.is_empty());
        assert!(request.query.starts_with("?grant_type=urn"));
        assert!(
            request
                .query
                .contains("&subject_token=t&subject_token_type=urn%3A")
        );
    }
}
