//! The user's own claims.

use serde_json::{Map, Value, json};

/// The largest accepted claims, in bytes of JSON.
pub const MAX_CLAIMS_BYTES: usize = 1 << 20;

/// The error of larger ones.
pub const TOO_LONG: &str = "larger than 1 MiB, the limit for claims";

/// Claims of the user.
///
/// ```
/// use jeton_lab_model::claims::OwnClaims;
/// let own = OwnClaims::read(br#"{"sub": "me", "roles": ["a", "b"]}"#, 1_760_000_000)?;
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct OwnClaims(Map<String, Value>);

impl OwnClaims {
    /// Reads claims and checks what every verifier checks, at `now_s` in seconds since 1970.
    ///
    /// # Errors
    /// Why the claims cannot be measured.
    pub fn read(json: &[u8], now_s: i64) -> Result<Self, String> {
        const A_DAY_S: i64 = 24 * 60 * 60;
        if json.len() > MAX_CLAIMS_BYTES {
            return Err(TOO_LONG.to_owned());
        }
        let value: Value = serde_json::from_slice(json).map_err(|e| format!("not JSON: {e}"))?;
        let Value::Object(claims) = value else {
            return Err("not a JSON object".to_owned());
        };
        let wrong_type = |claim: &str, wanted: &str| Err(format!("`{claim}` must be {wanted}"));
        for text in ["iss", "sub", "jti"] {
            if claims.get(text).is_some_and(|v| !v.is_string()) {
                return wrong_type(text, "a string");
            }
        }
        for time in ["exp", "nbf", "iat"] {
            if claims.get(time).is_some_and(|v| !v.is_i64()) {
                return wrong_type(time, "an integer number of seconds since 1970");
            }
        }
        let is_text_list = |v: &Value| {
            let list = v.as_array().filter(|list| !list.is_empty());
            v.is_string() || list.is_some_and(|list| list.iter().all(Value::is_string))
        };
        if claims.get("aud").is_some_and(|v| !is_text_list(v)) {
            return wrong_type("aud", "a string or a list of strings");
        }
        let time = |name: &str| claims.get(name).and_then(Value::as_i64);
        if time("exp").is_some_and(|expires| expires <= now_s + A_DAY_S) {
            return Err(
                "`exp` is in the past or within a day: verifiers would reject the tokens; \
                        use a later time, or omit it"
                    .to_owned(),
            );
        }
        if time("nbf").is_some_and(|begins| begins > now_s) {
            return Err(
                "`nbf` is in the future: verifiers would reject the tokens; \
                        use an earlier time, or omit it"
                    .to_owned(),
            );
        }
        Ok(Self(claims))
    }

    /// Returns the value `index`: `jti` ends in another digit, or `exp` is some seconds later, if
    /// present. The length stays the same.
    pub(super) fn value(&self, index: usize) -> Value {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut claims = self.0.clone();
        if let Some(Value::String(jti)) = claims.get_mut("jti")
            && jti.pop().is_some_and(|last| last.is_ascii())
        {
            jti.push(char::from(DIGITS[index % 16]));
        } else if let Some(expires) = claims.get("exp").and_then(Value::as_i64) {
            let later = expires.saturating_add(i64::try_from(index % 16).unwrap_or_default());
            if later.to_string().len() == expires.to_string().len() {
                claims.insert("exp".into(), json!(later));
            }
        }
        Value::Object(claims)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW_S: i64 = 1_760_000_000;

    #[test]
    fn own_claims_invalid_input_is_an_error() {
        let refused = |json: &[u8]| OwnClaims::read(json, NOW_S);
        for (json, sentence) in [
            ("hello", "not JSON: "),
            ("{\"a\":1", "not JSON: "),
            ("[1]", "not a JSON object"),
            ("{\"iss\":1}", "`iss` must be a string"),
            ("{\"exp\":\"soon\"}", "`exp` must be an integer"),
            ("{\"exp\":1.5}", "`exp` must be an integer"),
            ("{\"aud\":[]}", "`aud` must be a string or a list"),
            ("{\"exp\":1760000000}", "`exp` is in the past"),
            ("{\"nbf\":1760000001}", "`nbf` is in the future"),
        ] {
            let said = refused(json.as_bytes()).err().unwrap_or_default();
            assert!(said.starts_with(sentence), "{json}: {said}");
        }
        let long = format!("{{\"a\":\"{}\"}}", "x".repeat(MAX_CLAIMS_BYTES));
        assert_eq!(
            OwnClaims::read(long.as_bytes(), NOW_S),
            Err(TOO_LONG.to_owned())
        );
    }

    #[test]
    fn own_claims_values_differ_and_keep_length() {
        for json in [
            r#"{"jti":"abc","x":1}"#,
            r#"{"exp":1860000000,"x":[1,{"y":null}]}"#,
        ] {
            let own = OwnClaims::read(json.as_bytes(), NOW_S);
            let values = own.map(|own| [own.value(0), own.value(5)]);
            let values = values.unwrap_or_default();
            assert_ne!(values[0], values[1]);
            assert_eq!(values[0].to_string().len(), values[1].to_string().len());
        }
    }
}
