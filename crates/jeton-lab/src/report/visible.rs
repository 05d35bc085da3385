//! Text from elsewhere where a reader's terminal would obey it: libraries have names and give reasons, and
//! a file may come from anybody.

use std::borrow::Cow;

use serde_json::Value;

use crate::result::RunResult;

/// The result with every control character in its texts as signs, `[U+001B]`, and line ends as blanks.
///
/// # Examples
/// ```
/// # fn demo(result: &jeton_lab::result::RunResult) {
/// let shown = jeton_lab::report::visible::result(result);
/// assert!(!shown.command.contains('\u{1b}'));
/// # }
/// ```
#[must_use]
pub fn result(result: &RunResult) -> Cow<'_, RunResult> {
    let Ok(mut value) = serde_json::to_value(result) else {
        return Cow::Borrowed(result);
    };
    if !make_visible(&mut value) {
        return Cow::Borrowed(result);
    }
    match serde_json::from_value(value) {
        Ok(visible) => Cow::Owned(visible),
        // A figure that is no number is none in JSON: such a result was never written to a file.
        Err(_) => Cow::Borrowed(result),
    }
}

/// One text, as [`result()`] has all of them.
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

/// Whether a terminal does something at this character where it should show one: control characters, the
/// marks and isolates that reorder text (Unicode, Bidi_Control), and separators of lines.
///
/// ```
/// use jeton_lab::report::visible::is_obeyed;
/// assert!(is_obeyed('\u{1b}') && is_obeyed('\u{202e}') && !is_obeyed('ü'));
/// ```
#[must_use]
pub fn is_obeyed(c: char) -> bool {
    let turns = matches!(
        c,
        '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    c.is_control() || turns
}

/// Whether there was anything to change.
fn make_visible(value: &mut Value) -> bool {
    match value {
        Value::String(own) => match text(own) {
            Cow::Borrowed(_) => false,
            Cow::Owned(visible) => {
                *own = visible;
                true
            }
        },
        Value::Array(items) => items
            .iter_mut()
            .fold(false, |any, item| make_visible(item) | any),
        Value::Object(members) => {
            let names: Vec<String> = members
                .keys()
                .filter(|name| name.contains(is_obeyed))
                .cloned()
                .collect();
            for name in &names {
                if let Some(member) = members.remove(name) {
                    members.insert(text(name).into_owned(), member);
                }
            }
            let values = members.values_mut();
            values.fold(!names.is_empty(), |any, member| make_visible(member) | any)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_signs() {
        assert_eq!(
            text("a\u{1b}[2Jb\u{9b}\u{7}\u{202e}c"),
            "a[U+001B][2Jb[U+009B][U+0007][U+202E]c"
        );
        assert_eq!(text("two\nlines"), "two lines");
        assert!(matches!(text("± 1 µs, ünï"), Cow::Borrowed(_)));
    }
}
