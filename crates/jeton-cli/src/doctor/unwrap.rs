//! Extracts a token from the text around it, and undoes encodings from copying it.

use std::borrow::Cow;

use super::findings::Section;
use crate::command_result::is_paseto;
use crate::jose;

/// The finding about padding.
pub(super) const PADDED: &str = "the token has base64 padding (=)";
/// The finding about the alphabet of base64.
pub(super) const BASE64: &str = "the token is base64, not base64url: it contains + or /";

/// A token in the form for verifiers, and as it was written.
pub(super) struct UnwrappedToken<'t> {
    pub(super) token: Cow<'t, str>,
    /// With its original alphabet and padding.
    pub(super) as_written: Cow<'t, str>,
}

/// Returns the token in a text. Each removed part is an error: verifiers accept a token only as it is.
pub(super) fn unwrap<'t>(findings: &mut Section, text: &'t str) -> UnwrappedToken<'t> {
    let mut token = text.trim();
    if token.len() < text.len() {
        findings.wrong(
            "whitespace before or after the token",
            "verifiers do not remove it: remove it where the token is read",
        );
    }
    if let Some((scheme, rest)) = token.split_once(' ')
        && scheme.eq_ignore_ascii_case("Bearer")
    {
        findings.wrong(
            format!("the text is an Authorization header: it begins with {scheme}"),
            "pass only the text after the scheme (RFC 6750, section 2.1)",
        );
        token = rest.trim();
    }
    for quote in ['"', '\''] {
        let inner = token
            .strip_prefix(quote)
            .and_then(|rest| rest.strip_suffix(quote));
        if let Some(inner) = inner {
            findings.wrong(
                "the token is in quotes",
                "it was encoded as JSON or quoted twice: pass the text inside the quotes",
            );
            token = inner;
        }
    }
    let as_written = escaped(findings, token);
    UnwrappedToken {
        token: alphabet(findings, as_written.clone()),
        as_written,
    }
}

fn escaped<'t>(findings: &mut Section, token: &'t str) -> Cow<'t, str> {
    let is_escaped = ["%2e", "%2E", "%3d", "%3D"]
        .into_iter()
        .any(|escape| token.contains(escape));
    if !is_escaped {
        return token.into();
    }
    findings.wrong(
        "the token is percent-encoded (%2E is a dot)",
        "decode it once before verification",
    );
    let plain = [("%2e", "."), ("%2E", "."), ("%3d", "="), ("%3D", "=")];
    let token = plain
        .iter()
        .fold(token.to_owned(), |token, (escape, character)| {
            token.replace(escape, character)
        });
    token.into()
}

/// Converts base64 to base64url (RFC 7515, section 2).
fn alphabet<'t>(findings: &mut Section, token: Cow<'t, str>) -> Cow<'t, str> {
    if jose::is_json(&token) || is_paseto(&token) {
        return token;
    }
    let mut token = token;
    if token.contains('=') {
        findings.wrong(
            PADDED,
            "base64url in a token has no padding (RFC 7515, section 2)",
        );
        token = token.replace('=', "").into();
    }
    if token.contains(['+', '/']) {
        findings.wrong(
            BASE64,
            "base64url has - and _ instead (RFC 4648, section 5)",
        );
        token = token.replace('+', "-").replace('/', "_").into();
    }
    if token.contains(|c: char| c.is_ascii_whitespace()) && jose::tokens_in(&token) < 2 {
        findings.wrong("whitespace inside the token", "it was wrapped into lines");
        token = token.split_ascii_whitespace().collect::<String>().into();
    }
    token
}
