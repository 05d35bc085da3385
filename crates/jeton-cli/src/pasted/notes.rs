//! Says what was removed around a token, without the token.

use super::scan::{Candidate, is_break, is_quote};
use crate::redact::Redacted;

pub(super) const DECODED: &str = "percent-encoding or JSON escapes were decoded";

/// The longest name that is repeated, characters.
const NAME_CHARS: usize = 40;

/// The schemes of an Authorization header that precede a token.
const SCHEMES: [&str; 4] = ["Bearer", "DPoP", "Token", "JWT"];

/// The text directly before a token: `"access_token": "`, `Authorization: Bearer `.
struct Before<'t> {
    is_quoted: bool,
    scheme: Option<&'t str>,
    /// The name of the member, parameter, cookie or header, and the separator after it.
    name: Option<(&'t str, char)>,
    /// The text before all of them.
    rest: &'t str,
}

impl<'t> Before<'t> {
    fn of(text: &'t str) -> Before<'t> {
        let is_quoted = text.chars().next_back().is_some_and(is_quote);
        let bare = without_quotes(text);
        let scheme = SCHEMES.into_iter().find_map(|scheme| {
            let at = bare.len().checked_sub(scheme.len())?;
            let (before, last) = (bare.get(..at)?, bare.get(at..)?);
            let is_word = before.is_empty() || !before.ends_with(is_name_char);
            let has_break = text[bare.len()..].starts_with(|c| is_break(c) || c == '\\');
            (is_word && has_break && last.eq_ignore_ascii_case(scheme)).then_some(last)
        });
        let rest = &bare[..bare.len() - scheme.map_or(0, str::len)];
        let bare = without_quotes(rest);
        let named = bare.chars().next_back().filter(|c| "=:".contains(*c));
        let name = named.and_then(|separator| {
            let label = without_quotes(&bare[..bare.len() - 1]);
            let start = label.trim_end_matches(is_name_char).len();
            let name = &label[start..];
            let is_plain = !name.is_empty() && name.len() <= NAME_CHARS;
            (is_plain && Redacted::of(name).is_none()).then_some((name, separator, start))
        });
        match name {
            Some((name, separator, start)) => Before {
                is_quoted,
                scheme,
                name: Some((name, separator)),
                rest: &bare[..start],
            },
            None => Before {
                is_quoted,
                scheme,
                name: None,
                rest: bare,
            },
        }
    }

    /// Returns the name and the scheme as they are usually written.
    fn label(&self) -> String {
        let name = match self.name {
            Some((name, ':')) => format!("{name}: "),
            Some((name, separator)) => format!("{name}{separator}"),
            None => String::new(),
        };
        format!("{name}{}", self.scheme.unwrap_or_default())
            .trim_end()
            .to_owned()
    }
}

fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_-.".contains(c)
}

/// Removes quotes, white space and the backslashes of escaped quotes at the end.
fn without_quotes(text: &str) -> &str {
    text.trim_end_matches(|c| is_quote(c) || is_break(c) || c == '\\')
}

/// Returns the name of the member, parameter, cookie or header that has the token.
pub(super) fn name<'t>(text: &'t str, candidate: &Candidate) -> Option<&'t str> {
    let (name, _) = Before::of(&text[..candidate.start()]).name?;
    Some(name)
}

/// Returns what is removed.
pub(super) fn notes(text: &str, candidate: &Candidate) -> Vec<String> {
    let (before, after) = (&text[..candidate.start()], &text[candidate.end()..]);
    let mut notes = around(before, after);
    let breaks = || candidate.breaks(text);
    if breaks().any(|between| between.contains(['\n', '\r'])) {
        notes.push("line breaks inside the token were removed".to_owned());
    } else if breaks().any(|between| between.contains(is_break)) {
        notes.push("white space inside the token was removed".to_owned());
    }
    if breaks().any(|between| between.contains('\\')) {
        notes.push("backslashes inside the token were removed".to_owned());
    }
    notes
}

fn around(before: &str, after: &str) -> Vec<String> {
    let mut notes = Vec::new();
    let found = Before::of(before);
    let from = |kind: &str, text: &str| match found.name {
        Some((name, _)) => format!("the token was taken from the {kind} `{name}` of {text}"),
        None => format!("the token was taken from {text}"),
    };
    if before
        .trim_start()
        .trim_start_matches(is_quote)
        .starts_with(['{', '['])
    {
        return vec![from("member", "JSON text")];
    }
    if found.rest.contains("://") {
        return vec![from("parameter", "a URL")];
    }
    let label = found.label();
    if !found.rest.trim().is_empty() {
        notes.push("text before the token was removed".to_owned());
    } else if !label.is_empty() {
        notes.push(format!("`{label}` before the token was removed"));
    }
    let rest = after.replace("\\n", "\n").replace("\\r", "\r");
    let rest = rest.trim_matches(|c| is_quote(c) || is_break(c) || c == '\\');
    if found.is_quoted && after.starts_with(|c| is_quote(c) || c == '\\') {
        notes.push("quotes around the token were removed".to_owned());
    }
    match rest {
        "" if notes.is_empty() && !(before.is_empty() && after.is_empty()) => {
            notes.push("white space around the token was removed".to_owned());
        }
        "" => {}
        "," => notes.push("a comma after the token was removed".to_owned()),
        _ => notes.push("text after the token was removed".to_owned()),
    }
    notes
}
