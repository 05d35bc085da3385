//! `--header NAME=VALUE`: members that a command adds to the header of a token.

use std::str::FromStr;

use serde_json::Value;

/// A member. A value that begins with `[` or `{` is JSON, for example the certificates of `x5c`. Others are text.
#[derive(Debug, Clone)]
pub(crate) struct HeaderMember {
    pub(crate) name: String,
    pub(crate) value: Value,
}

impl FromStr for HeaderMember {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<HeaderMember, &'static str> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) if !name.is_empty() => (name, value),
            _ => return Err("expected NAME=VALUE"),
        };
        let value = if value.starts_with(['[', '{']) {
            let why = "the value begins with [ or {, and is not JSON";
            serde_json::from_str(value).map_err(|_| why)?
        } else {
            Value::from(value)
        };
        Ok(HeaderMember {
            name: name.to_owned(),
            value,
        })
    }
}
