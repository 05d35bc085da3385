//! The token in a text, without what was put around or into it where it was copied.

use std::borrow::Cow;

use super::findings::Section;
use crate::jose;

/// A token as a verifier wants it, and as it stood.
pub(super) struct UnwrappedToken<'t> {
    pub(super) token: Cow<'t, str>,
    /// With the alphabet and the padding that it came with.
    pub(super) as_written: Cow<'t, str>,
}

/// The token in a text. What is taken away is an error: verifiers take a token exactly as it is.
pub(super) fn unwrap<'t>(seen: &mut Section, text: &'t str) -> UnwrappedToken<'t> {
    let mut token = text.trim();
    if token.len() < text.len() {
        seen.wrong(
            "white space stands around it",
            "no verifier takes it away: cut it off where the token is read",
        );
    }
    if let Some((scheme, rest)) = token.split_once(' ')
        && scheme.eq_ignore_ascii_case("Bearer")
    {
        seen.wrong(
            format!("it begins with {scheme}: this is the whole header"),
            "the token is what follows (RFC 6750, section 2.1)",
        );
        token = rest.trim();
    }
    for quote in ['"', '\''] {
        let inner = token
            .strip_prefix(quote)
            .and_then(|rest| rest.strip_suffix(quote));
        if let Some(inner) = inner {
            seen.wrong(
                "it stands in quotes",
                "it was written as JSON, or quoted twice: take what is inside",
            );
            token = inner;
        }
    }
    let as_written = escaped(seen, token);
    UnwrappedToken {
        token: alphabet(seen, as_written.clone()),
        as_written,
    }
}

pub(super) fn is_paseto(token: &str) -> bool {
    matches!(token.as_bytes(), [b'v', b'1'..=b'4', b'.', ..])
}

fn escaped<'t>(seen: &mut Section, token: &'t str) -> Cow<'t, str> {
    let is_escaped = ["%2e", "%2E", "%3d", "%3D"]
        .into_iter()
        .any(|escape| token.contains(escape));
    if !is_escaped {
        return token.into();
    }
    seen.wrong(
        "it is escaped as in an address (%2E is a dot)",
        "it was encoded once too often, or decoded once too little",
    );
    let plain = [("%2e", "."), ("%2E", "."), ("%3d", "="), ("%3D", "=")];
    let token = plain
        .iter()
        .fold(token.to_owned(), |token, (escape, character)| {
            token.replace(escape, character)
        });
    token.into()
}

/// base64 in the place of base64url (RFC 7515, section 2).
fn alphabet<'t>(seen: &mut Section, token: Cow<'t, str>) -> Cow<'t, str> {
    if jose::is_json(&token) || is_paseto(&token) {
        return token;
    }
    let mut token = token;
    if token.contains('=') {
        seen.wrong(
            "it is padded with =",
            "base64url in a token has no padding (RFC 7515, section 2)",
        );
        token = token.replace('=', "").into();
    }
    if token.contains(['+', '/']) {
        seen.wrong(
            "it is base64 and not base64url: it has + or /",
            "the letters 62 and 63 are - and _ (RFC 4648, section 5)",
        );
        token = token.replace('+', "-").replace('/', "_").into();
    }
    if token.contains(|c: char| c.is_ascii_whitespace()) {
        seen.wrong(
            "white space stands in it",
            "it was wrapped into lines, or two came together",
        );
        token = token.split_ascii_whitespace().collect::<String>().into();
    }
    token
}
