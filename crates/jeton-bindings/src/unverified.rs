//! Tokens that are read and not verified.

use jeton::__private::{UnverifiedJwt, UnverifiedPaseto, read_unverified_header};
use jeton::Limits;
use jeton::error::{Part, Rejection};

use crate::fault::Fault;

/// Reads a compact token without keys, and returns what it says, as JSON text. Anyone can write such a token, so the
/// result serves to select keys, and for logs.
///
/// The text is an object with four members:
///
/// - `format`: `jwt`, `jwe` or `paseto`,
/// - `header`: the protected header, an object; null for a PASETO,
/// - `claims`: an object; null if they are encrypted,
/// - `footer`: the footer of a PASETO, a text; null if the token has none.
///
/// The limits are the defaults of a verifier. Header and claims are as in the token.
///
/// # Errors
///
/// The token is too large or malformed, its header has a private key, or its footer is not UTF-8.
///
/// ```
/// # use jeton_bindings::{Fault, unverified};
/// let read = unverified("eyJhbGciOiJub25lIn0.e30.")?;
/// assert_eq!(read, r#"{"format":"jwt","header":{"alg":"none"},"claims":{},"footer":null}"#);
/// # Ok::<(), Fault>(())
/// ```
pub fn unverified(token: &str) -> Result<String, Fault> {
    let limits = Limits::default();
    // A longer token is rejected below. Nothing decodes a signature or a ciphertext.
    if token.len() <= limits.token_bytes && !token.bytes().all(is_of_token) {
        return Err(Rejection::Malformed(Part::Token).into());
    }
    if let Some(paseto) = UnverifiedPaseto::read(token, &limits) {
        let paseto = paseto?;
        let claims = paseto.claims.as_deref().unwrap_or("null");
        let footer =
            String::from_utf8(paseto.footer).map_err(|_| Rejection::Malformed(Part::Footer))?;
        let footer = Some(footer).filter(|footer| !footer.is_empty());
        return Ok(object("paseto", "null", claims, footer));
    }
    // The cost does not depend on the number of dots.
    if token.splitn(JWE_PARTS + 1, '.').count() == JWE_PARTS {
        let header = read_unverified_header(token, &limits)?;
        return Ok(object("jwe", &header, "null", None));
    }
    let jwt = UnverifiedJwt::read(token, &limits)?;
    let header = read_unverified_header(token, &limits)?;
    Ok(object("jwt", &header, jwt.json(), None))
}

/// Whether a byte is base64url or a dot.
fn is_of_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')
}

/// The parts of a compact JWE (RFC 7516, section 7.1).
const JWE_PARTS: usize = 5;

fn object(format: &str, header: &str, claims: &str, footer: Option<String>) -> String {
    let footer = serde_json::Value::from(footer);
    format!(r#"{{"format":"{format}","header":{header},"claims":{claims},"footer":{footer}}}"#)
}
