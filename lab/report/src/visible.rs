//! Escapes control characters in foreign text: names and reasons come from libraries, and a result file
//! may come from anyone.

use std::borrow::Cow;

use jeton_lab_model::result::RunResult;
use jeton_terminal::escape::is_obeyed;

/// Replaces every control character in the result's texts by `[U+001B]`, and line ends by spaces.
#[must_use]
pub fn result(result: &RunResult) -> Cow<'_, RunResult> {
    let Ok(json) = serde_json::to_string(result) else {
        return Cow::Borrowed(result);
    };
    let Some(visible) = made_visible(&json) else {
        return Cow::Borrowed(result);
    };
    match serde_json::from_str(&visible) {
        Ok(visible) => Cow::Owned(visible),
        // NaN does not exist in JSON: such a result never comes from a file.
        Err(_) => Cow::Borrowed(result),
    }
}

/// Replaces control characters in one text, as [`result()`] does.
#[must_use]
pub fn text(text: &str) -> Cow<'_, str> {
    if !text.contains(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let one = |c: char| match c {
        '\n' | '\r' | '\t' => " ".to_owned(),
        c if is_obeyed(c) => format!("[U+{:04X}]", u32::from(c)),
        c => c.to_string(),
    };
    Cow::Owned(text.chars().map(one).collect())
}

/// Applies [`text`] to all strings of JSON from `serde_json`; returns `None` if nothing changes. It works
/// on the text, because a tree of values would take ten times the memory.
fn made_visible(json: &str) -> Option<String> {
    let is_escape = |pair: &[u8]| pair[0] == b'\\' && !matches!(pair[1], b'"' | b'\\');
    // Text after `\\` may look like an escape; the loop below then changes nothing.
    if !json.as_bytes().windows(2).any(is_escape) && !json.contains(is_obeyed) {
        return None;
    }
    let mut out = String::with_capacity(json.len());
    let mut chars = json.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            push(&mut out, c);
            continue;
        }
        match chars.next() {
            Some('b') => push(&mut out, '\u{8}'),
            Some('f') => push(&mut out, '\u{c}'),
            Some('n' | 'r' | 't') => out.push(' '),
            Some('u') => {
                let digits: String = chars.by_ref().take(4).collect();
                let unit = u32::from_str_radix(&digits, 16).unwrap_or_default();
                push(&mut out, char::from_u32(unit).unwrap_or_default());
            }
            other => {
                out.push('\\');
                out.extend(other);
            }
        }
    }
    Some(out)
}

fn push(out: &mut String, c: char) {
    if is_obeyed(c) {
        out.push_str(&text(c.encode_utf8(&mut [0; 4])))
    } else {
        out.push(c)
    }
}

/// Escapes foreign text for Markdown: no markup, no HTML, one line.
pub(crate) fn cell(foreign: &str) -> String {
    let mut plain = String::with_capacity(foreign.len());
    let words: Vec<&str> = foreign.split_whitespace().collect();
    for c in text(&words.join(" ")).chars() {
        match c {
            '<' => plain.push_str("&lt;"),
            '>' => plain.push_str("&gt;"),
            '&' => plain.push_str("&amp;"),
            '|' | '*' | '_' | '`' | '[' | ']' | '\\' | '#' | '~' => plain.extend(['\\', c]),
            _ => plain.push(c),
        }
    }
    plain
}
