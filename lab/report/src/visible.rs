//! Escapes control characters in foreign text: names and reasons come from libraries, and a result file
//! may come from anyone.

use std::borrow::Cow;
use std::cell::Cell;
use std::io;

use jeton_lab_model::result::RunResult;
use jeton_terminal::escape::is_obeyed;
use serde::Serialize as _;
use serde_json::Serializer;
use serde_json::ser::{CharEscape, CompactFormatter, Formatter};

/// Replaces every control character in the result's texts by `[U+001B]`, and line ends by spaces.
#[must_use]
pub fn result(result: &RunResult) -> Cow<'_, RunResult> {
    let (mut json, changed) = (Vec::new(), Cell::new(false));
    // A tree of values would take ten times the memory.
    let mut writer = Serializer::with_formatter(&mut json, Visible(&changed));
    if result.serialize(&mut writer).is_err() || !changed.get() {
        return Cow::Borrowed(result);
    }
    // NaN does not exist in JSON: such a result never comes from a file.
    serde_json::from_slice(&json).map_or(Cow::Borrowed(result), Cow::Owned)
}

/// Writes the texts of JSON with [`text`], and notes whether one changes.
struct Visible<'a>(&'a Cell<bool>);

impl Formatter for Visible<'_> {
    fn write_string_fragment<W>(&mut self, out: &mut W, fragment: &str) -> io::Result<()>
    where
        W: ?Sized + io::Write,
    {
        let visible = text(fragment);
        self.0.set(self.0.get() || matches!(visible, Cow::Owned(_)));
        out.write_all(visible.as_bytes())
    }

    fn write_char_escape<W>(&mut self, out: &mut W, escape: CharEscape) -> io::Result<()>
    where
        W: ?Sized + io::Write,
    {
        let byte = match escape {
            CharEscape::Backspace => 0x08,
            CharEscape::FormFeed => 0x0c,
            CharEscape::LineFeed | CharEscape::CarriageReturn | CharEscape::Tab => b' ',
            CharEscape::AsciiControl(byte) => byte,
            visible => return CompactFormatter.write_char_escape(out, visible),
        };
        self.0.set(true);
        out.write_all(text(char::from(byte).encode_utf8(&mut [0; 4])).as_bytes())
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
