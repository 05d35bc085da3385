//! Extracts a token from the text around it, and undoes encodings from copying it.

use std::borrow::Cow;

use super::findings::Section;
use crate::command_result::is_paseto;
use crate::{jose, pasted};

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

/// Returns the token in a text that was passed with --text. Each removed part is an error: verifiers accept a token
/// only as it is.
pub(super) fn unwrap<'t>(findings: &mut Section, text: &'t str) -> UnwrappedToken<'t> {
    let as_written = match pasted::extract(text, None) {
        Ok(found) => {
            for note in found.notes {
                findings.wrong(note, "verifiers accept only the token itself");
            }
            found.token
        }
        // A token is one of several: the form of the text is explained.
        Err(_) => text.into(),
    };
    UnwrappedToken {
        token: alphabet(findings, as_written.clone()),
        as_written,
    }
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
    token
}
