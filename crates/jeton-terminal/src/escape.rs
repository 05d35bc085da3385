//! Escapes untrusted text for a terminal.
//!
//! Control characters, bidirectional controls and invisible characters are written as escapes of JSON (RFC
//! 8259, section 7). So the terminal shows what the text contains, and the text cannot control the terminal.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Escapes a text and keeps its line breaks and tabs.
pub fn text(text: &str) -> String {
    escaped(text, |c| matches!(c, '\n' | '\t'))
}

/// Escapes a text that must stay on one line, for example a name.
pub fn line(text: &str) -> String {
    escaped(text, |_| false)
}

/// Escapes bytes that may be text and keeps line breaks; a byte that is not UTF-8 becomes `\x9b`.
pub fn bytes(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        push_lines(&mut out, chunk.valid());
        for byte in chunk.invalid() {
            push_byte(&mut out, *byte);
        }
    }
    out
}

/// Escapes one JSON value, so that its meaning stays the same. Only its strings change; a carriage return
/// between them becomes a space.
pub fn json(text: &str) -> Cow<'_, str> {
    if !text.contains(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => out.push(c),
            // JSON has none inside a string.
            '\r' => out.push(' '),
            _ => push(&mut out, c),
        }
    }
    Cow::Owned(out)
}

fn push_lines(out: &mut String, text: &str) {
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' | '\t' => out.push(c),
            // Many files end their lines with \r\n.
            '\r' if chars.peek() == Some(&'\n') => {}
            _ => push(out, c),
        }
    }
}

fn push_byte(out: &mut String, byte: u8) {
    // Writing to a String cannot fail.
    let _ = write!(out, "\\x{byte:02x}");
}

fn escaped(text: &str, kept: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if kept(c) {
            out.push(c)
        } else {
            push(&mut out, c)
        }
    }
    out
}

/// Appends a character or its escape.
pub fn push(out: &mut String, c: char) {
    if !is_obeyed(c) {
        out.push(c);
        return;
    }
    for unit in c.encode_utf16(&mut [0; 2]) {
        let _ = write!(out, "\\u{unit:04x}");
    }
}

/// Reports whether a character can mislead a reader: control characters, bidirectional controls (Unicode,
/// Bidi_Control), line separators, and invisible characters (Unicode, Default_Ignorable_Code_Point).
///
/// ```
/// use jeton_terminal::escape::is_obeyed;
/// assert!(is_obeyed('\u{1b}') && is_obeyed('\u{202e}') && is_obeyed('\u{feff}') && !is_obeyed('ü'));
/// ```
#[must_use]
pub fn is_obeyed(c: char) -> bool {
    let turns = matches!(
        c,
        '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    c.is_control() || turns || is_shapeless(c)
}

/// Format characters, joiners, fillers, variation selectors and tags.
fn is_shapeless(c: char) -> bool {
    matches!(
        c,
        '\u{00ad}'
            | '\u{034f}'
            | '\u{115f}' | '\u{1160}'
            | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200d}'
            | '\u{2060}'..='\u{2065}'
            | '\u{206a}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_control_characters_are_written_as_escapes() {
        assert_eq!(text("a\u{1b}[2Jb\nc"), "a\\u001b[2Jb\nc");
        assert_eq!(line("a\nrejected: no"), "a\\u000arejected: no");
        assert_eq!(
            bytes(b"a\r\nb\r\x9b2J\xc2\x9b"),
            "a\nb\\u000d\\x9b2J\\u009b"
        );
    }

    #[test]
    fn escape_json_keeps_its_meaning() {
        let hostile = "{\"a\u{202e}\":\r\n[\"\\\\\u{9b}\u{e0001}\u{feff}ü\"]}";
        let shown = json(hostile);
        assert_eq!(
            shown,
            "{\"a\\u202e\": \n[\"\\\\\\u009b\\udb40\\udc01\\ufeffü\"]}"
        );
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
        assert_eq!(value(&shown), value(hostile));
    }
}
