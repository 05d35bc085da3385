//! Prints verified claims, or the reason for a rejection.

use jeton::Verified;
use serde::Serialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use crate::exit::{Failure, Outcome};
use crate::output;
use crate::policy_args::PolicyArgs;
use crate::token_argument::Checked;

/// How verified claims are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// The payload as text, followed by a line break.
    Line,
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
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    input_notes: &'a [String],
}

#[derive(Serialize)]
struct Rejected<'a> {
    valid: bool,
    /// One of [`jeton::error::codes`].
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    reason: &'a str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    input_notes: &'a [String],
}

/// Prints the claims of a verified token.
pub(crate) fn show(
    checked: Checked<Verified<IgnoredAny>>,
    policy_args: &PolicyArgs,
    format: Format,
) -> Outcome {
    let Checked {
        result,
        input_notes,
        ..
    } = checked;
    let verified = match format {
        Format::Json => print_rejection(result, &input_notes)?,
        Format::Line => result?,
    };
    match format {
        Format::Line => output::json_line(verified.json())?,
        Format::Json => output::json(&accepted(&verified, &input_notes)?)?,
    }
    policy_args.note_unchecked();
    Ok(())
}

/// Prints the reason as JSON if the token is rejected, and returns the result.
pub(crate) fn print_rejection<T>(result: Outcome<T>, input_notes: &[String]) -> Outcome<T> {
    if let Err(failure) = &result
        && let Some(reason) = failure.rejection()
    {
        output::json(&Rejected {
            valid: false,
            code: failure.reason_code(),
            reason,
            input_notes,
        })?;
    }
    result
}

fn accepted<'a>(
    verified: &'a Verified<IgnoredAny>,
    input_notes: &'a [String],
) -> Outcome<Accepted<'a>> {
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
        input_notes,
    })
}
