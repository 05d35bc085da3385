//! Detects a key or a token in the place of a file name or a command, so that messages do not repeat it.
//!
//! Without this, a pasted secret would appear on screens and in logs.

use std::fmt;
use std::path::Path;

use crate::escape;

/// What a text looks like that must not be repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Redacted {
    /// A private key, a public key or a secret.
    Key,
    /// A token of any format.
    Token,
    /// For example claims.
    Json,
    /// Too long for the name of a file or a command.
    Long,
}

/// The longest file name, bytes.
const NAME_BYTES: usize = 255;
/// The longest path, bytes.
const PATH_BYTES: usize = 4095;
/// The text of the shortest secret, bytes.
const SECRET_BYTES: usize = 32;
/// The shortest text after the second dot that is taken for the body of a PASERK or PASETO, bytes.
const BODY_BYTES: usize = 16;

impl Redacted {
    /// Classifies a text; returns `None` if it may be repeated.
    pub fn of(text: &str) -> Option<Redacted> {
        let has = |member: &str| text.contains(&format!("\"{member}\""));
        let pieces = || text.split(|c: char| !is_base64url(c) && c != '.');
        let json = text.trim_start_matches('@').trim_start();
        let is_json = json.starts_with('{') || (json.starts_with('[') && json.contains('"'));
        let is_key = text.contains("-----BEGIN ")
            || has("kty")
            || pieces().any(|piece| is_versioned(piece, b'k'))
            || is_random(text);
        let is_token = pieces().any(|piece| piece.starts_with("eyJ") || is_versioned(piece, b'v'))
            || (is_json && ["payload", "signatures", "ciphertext"].into_iter().any(has));
        let is_long =
            text.len() > PATH_BYTES || text.split('/').any(|name| name.len() > NAME_BYTES);
        let looks = [
            (is_key, Redacted::Key),
            (is_token, Redacted::Token),
            (is_json, Redacted::Json),
            (is_long, Redacted::Long),
        ];
        looks.into_iter().find_map(|(is, what)| is.then_some(what))
    }
}

impl fmt::Display for Redacted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Redacted::Key => "the text of a key",
            Redacted::Token => "the text of a token",
            Redacted::Json => "a JSON text",
            Redacted::Long => "a long text",
        })
    }
}

/// Returns the name of a file for messages.
pub fn name_of(path: &Path) -> String {
    let name = path.to_string_lossy();
    match Redacted::of(&name) {
        Some(_) => "the file".to_owned(),
        None => escape::line(&name),
    }
}

/// Returns whether a text has the form `k4.local.…` or `v4.public.…`.
fn is_versioned(text: &str, letter: u8) -> bool {
    let mut parts = text.splitn(3, '.');
    let (version, kind, body) = (parts.next(), parts.next(), parts.next());
    matches!(version.map(str::as_bytes), Some([first, b'1'..=b'4']) if *first == letter)
        && kind.is_some_and(|kind| !kind.is_empty())
        && body.is_some_and(|body| body.len() >= BODY_BYTES)
}

/// Returns whether a text looks like random bytes in hexadecimal, base64 or base64url, or like DER in base64.
pub fn is_random(text: &str) -> bool {
    let has = |kind: fn(&char) -> bool| text.chars().any(|c| kind(&c));
    let mixed = has(char::is_ascii_lowercase) && has(char::is_ascii_uppercase);
    let is_hex = text.chars().all(|c| c.is_ascii_hexdigit());
    let is_base64 = text.chars().all(|c| is_base64url(c) || "+/=".contains(c));
    // A path also has slashes.
    let is_path = text.contains('/') && !text.ends_with('=') && !begins_as_der(text);
    text.len() >= SECRET_BYTES
        && has(char::is_ascii_digit)
        && (is_hex || (mixed && is_base64 && !is_path))
}

/// Returns whether a text begins with a SEQUENCE in base64.
fn begins_as_der(text: &str) -> bool {
    matches!(text.as_bytes(), [b'M', b'A'..=b'P', ..])
}

fn is_base64url(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-' || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redacted_secret_and_file_name_are_distinguished() {
        for (text, expected) in [
            (r#"{"kty":"oct","k":"AQID"}"#, Redacted::Key),
            ("-----BEGIN PRIVATE KEY-----\nMC4C", Redacted::Key),
            (
                "k4.local.cHFyc3R1dnd4eXp7fH1-f4CBgoOEhYaHiImKi4yNjo8",
                Redacted::Key,
            ),
            (
                "--key=k2.secret-pw.cHFyc3R1dnd4eXp7fH1-f4CBg",
                Redacted::Key,
            ),
            ("AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA", Redacted::Key),
            (
                "MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC",
                Redacted::Key,
            ),
            ("000102030405060708090a0b0c0d0e0f", Redacted::Key),
            ("eyJhbGciOiJFUzI1NiJ9.e30.AA", Redacted::Token),
            ("Bearer eyJhbGciOiJFUzI1NiJ9.e30.AA", Redacted::Token),
            ("@v4.public.eyJzdWIiOiJ1c2VyLTcifQ", Redacted::Token),
            (r#"{"payload":"AA","signatures":[]}"#, Redacted::Token),
            (r#"@{"sub":"user-7"}"#, Redacted::Json),
            (&"a".repeat(256), Redacted::Long),
        ] {
            assert_eq!(Redacted::of(text), Some(expected), "{text}");
        }
        for text in [
            "",
            "key.jwk",
            "k4.local",
            "keys/k4.secret",
            "k4.public.old",
            "v4.token",
            "--kid",
            "[PAYLOAD|@FILE|-]",
            "the-key-that-signs-in-production-2026.jwk",
            "/var/lib/0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d/Key.pem",
        ] {
            assert_eq!(Redacted::of(text), None, "{text}");
        }
    }
}
