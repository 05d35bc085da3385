//! The issuer that a malformed token names. It serves for the log only: to name the client or the trust entry.

use base64ct::{Base64UrlUnpadded, Encoding as _};
use serde::Deserialize;

#[derive(Deserialize)]
struct NamedIssuer {
    iss: Option<String>,
}

/// Returns `iss` of a compact JWS, also if its other claims are malformed. `None` if it has no `iss`, several, or one
/// that is not a string.
pub(crate) fn named_issuer(token: &str) -> Option<String> {
    let payload = token.split('.').nth(1)?;
    let payload = Base64UrlUnpadded::decode_vec(payload).ok()?;
    // Serde reads a struct from an array, too.
    let object = payload.trim_ascii_start().starts_with(b"{");
    let claims: NamedIssuer = serde_json::from_slice(&payload).ok()?;
    claims.iss.filter(|_| object)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn issuer_is_read_from_malformed_claims() {
        for (claims, expected) in [
            (r#"{"iss":"a"}"#, Some("a")),
            (r#"{"iss":"\u0061"}"#, Some("a")),
            (r#"{"iss":"a","exp":1e99,"aud":5,"sub":7}"#, Some("a")),
            (r#"{"jti":"1","iss":"a","jti":"2"}"#, Some("a")),
            (r#"{"iss":"a","iss":"b"}"#, None),
            (r#"{"iss":7}"#, None),
            (r#"{"sub":"a"}"#, None),
            (r#"["a"]"#, None),
            (r#"{"iss":"a"} {}"#, None),
            ("", None),
        ] {
            let payload = Base64UrlUnpadded::encode_string(claims.as_bytes());
            let found = named_issuer(&format!("e30.{payload}.AA"));
            assert_eq!(found.as_deref(), expected, "{claims}");
        }
        assert_eq!(named_issuer("abc"), None);
        assert_eq!(named_issuer("e30.%.AA"), None);
    }
}
