//! What a verifier found, as it is shown.

use jeton::Verified;
use serde::Serialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use crate::policy_args::PolicyArgs;
use crate::exit::{Failure, Outcome};
use crate::output;

/// How verified claims are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    /// The payload's text, and the end of its line.
    Line,
    /// The payload's bytes and no more.
    Exact,
    /// The verdict, for machines; also that of a token that is rejected.
    Json,
}

#[derive(Serialize)]
struct Accepted<'a> {
    valid: bool,
    claims: &'a RawValue,
    key_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    footer: Option<&'a str>,
    /// A footer that is not text.
    #[serde(skip_serializing_if = "Option::is_none")]
    footer_base64url: Option<String>,
}

#[derive(Serialize)]
struct Rejected<'a> {
    valid: bool,
    reason: &'a str,
}

/// Shows the claims of a token, or why it has none.
pub(crate) fn show(
    verdict: Outcome<Verified<IgnoredAny>>,
    policy_args: &PolicyArgs,
    shown: Shown,
) -> Outcome {
    let verified = match shown {
        Shown::Json => print_rejection(verdict)?,
        Shown::Line | Shown::Exact => verdict?,
    };
    match shown {
        Shown::Line => output::json_line(verified.json())?,
        Shown::Exact => output::payload(verified.json().as_bytes())?,
        Shown::Json => output::json(&accepted(&verified)?)?,
    }
    policy_args.note_unchecked();
    Ok(())
}

/// What was found, or as JSON why the token is rejected.
pub(crate) fn print_rejection<T>(verdict: Outcome<T>) -> Outcome<T> {
    if let Err(failure) = &verdict
        && let Some(reason) = failure.rejection()
    {
        let valid = false;
        output::json(&Rejected { valid, reason })?;
    }
    verdict
}

fn accepted(verified: &Verified<IgnoredAny>) -> Outcome<Accepted<'_>> {
    let footer = verified.footer();
    let text = footer.and_then(|footer| std::str::from_utf8(footer).ok());
    Ok(Accepted {
        valid: true,
        claims: serde_json::from_str(verified.json())
            .map_err(|_| Failure::rejected("the payload is malformed"))?,
        key_id: verified.key_id(),
        footer: text,
        footer_base64url: match (footer, text) {
            (Some(bytes), None) => Some(base64_simd::URL_SAFE_NO_PAD.encode_to_string(bytes)),
            _ => None,
        },
    })
}
