//! Prints verified claims, or the reason for a rejection.

use jeton::Verified;
use serde::Serialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use crate::exit::{Failure, Outcome};
use crate::output;
use crate::policy_args::PolicyArgs;

/// How verified claims are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// The payload as text, followed by a line break.
    Line,
    /// Exactly the bytes of the payload.
    Exact,
    /// The result as JSON, also for a rejected token.
    Json,
}

#[derive(Serialize)]
struct Accepted<'a> {
    valid: bool,
    claims: &'a RawValue,
    key_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    footer: Option<&'a str>,
    /// The footer, if it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    footer_base64url: Option<String>,
}

#[derive(Serialize)]
struct Rejected<'a> {
    valid: bool,
    reason: &'a str,
}

/// Prints the claims of a verified token.
pub(crate) fn show(
    result: Outcome<Verified<IgnoredAny>>,
    policy_args: &PolicyArgs,
    format: Format,
) -> Outcome {
    let verified = match format {
        Format::Json => print_rejection(result)?,
        Format::Line | Format::Exact => result?,
    };
    match format {
        Format::Line => output::json_line(verified.json())?,
        Format::Exact => output::payload(verified.json().as_bytes())?,
        Format::Json => output::json(&accepted(&verified)?)?,
    }
    policy_args.note_unchecked();
    Ok(())
}

/// Prints the reason as JSON if the token is rejected, and returns the result.
pub(crate) fn print_rejection<T>(result: Outcome<T>) -> Outcome<T> {
    if let Err(failure) = &result
        && let Some(reason) = failure.rejection()
    {
        let valid = false;
        output::json(&Rejected { valid, reason })?;
    }
    result
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
