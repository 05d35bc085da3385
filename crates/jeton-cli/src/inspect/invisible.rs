//! Finds characters that a reader cannot see or that change the direction of the text around them.
//!
//! Two claims can look the same and differ in such a character. JSON can also contain it as an escape.

use jeton_terminal::escape::is_obeyed;

/// A piece of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece<'t> {
    Visible(&'t str),
    /// The character as it is written, possibly as an escape of JSON.
    Invisible(char, &'t str),
}

/// Splits a text into visible pieces and invisible characters. Every character of the text is in one piece.
pub(super) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut all = Vec::new();
    let (mut begin, mut at) = (0, 0);
    while let Some(c) = text[at..].chars().next() {
        let (found, bytes) = match c {
            '\\' => escape(&text[at..]),
            _ => (is_invisible(c).then_some(c), c.len_utf8()),
        };
        if let Some(found) = found {
            if begin < at {
                all.push(Piece::Visible(&text[begin..at]));
            }
            all.push(Piece::Invisible(found, &text[at..at + bytes]));
            begin = at + bytes;
        }
        at += bytes;
    }
    if begin < text.len() {
        all.push(Piece::Visible(&text[begin..]));
    }
    all
}

/// Returns the different invisible characters of a text, except control characters, in order.
pub(super) fn characters(text: &str) -> Vec<char> {
    let mut all: Vec<char> = Vec::new();
    for piece in pieces(text) {
        if let Piece::Invisible(c, _) = piece
            && !c.is_control()
            && !all.contains(&c)
        {
            all.push(c);
        }
    }
    all
}

/// Returns the code point and the name: `U+200B zero width space`.
pub(super) fn name(c: char) -> String {
    let name = match c {
        '\u{a0}' => "no-break space",
        '\u{ad}' => "soft hyphen",
        '\u{200b}' => "zero width space",
        '\u{200c}' => "zero width non-joiner",
        '\u{200d}' => "zero width joiner",
        '\u{200e}' => "left-to-right mark",
        '\u{200f}' => "right-to-left mark",
        '\u{202a}' => "left-to-right embedding",
        '\u{202b}' => "right-to-left embedding",
        '\u{202c}' => "pop directional formatting",
        '\u{202d}' => "left-to-right override",
        '\u{202e}' => "right-to-left override",
        '\u{2060}' => "word joiner",
        '\u{2066}' => "left-to-right isolate",
        '\u{2067}' => "right-to-left isolate",
        '\u{2068}' => "first strong isolate",
        '\u{2069}' => "pop directional isolate",
        '\u{feff}' => "byte order mark",
        '\u{fe00}'..='\u{fe0f}' => "variation selector",
        '\u{e0000}'..='\u{e007f}' => "tag character",
        c if c.is_control() => "control character",
        c if c.is_whitespace() => "space",
        _ => "invisible character",
    };
    format!("U+{:04X} {name}", u32::from(c))
}

fn is_invisible(c: char) -> bool {
    let is_text_layout = matches!(c, ' ' | '\n' | '\t' | '\r');
    let is_blank = c.is_whitespace() || c == '\u{2800}';
    !is_text_layout && (is_obeyed(c) || is_blank)
}

/// Reads an escape of JSON: the invisible character, if it is one, and its length.
fn escape(text: &str) -> (Option<char>, usize) {
    let unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok()
    };
    let Some(first) = unit(0) else {
        // The backslash, and the character that it escapes.
        return (None, text.chars().take(2).map(char::len_utf8).sum());
    };
    let units = [first, unit(6).unwrap_or_default()];
    match char::decode_utf16(units).next() {
        Some(Ok(c)) => {
            let bytes = 6 * c.len_utf16();
            (is_invisible(c).then_some(c), bytes)
        }
        _ => (None, 6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_find_characters_and_escapes() {
        let text = "a\u{200b}b\\u202E\\\\u200b\\udb40\\udc41\u{a0}é\\";
        let found: Vec<(char, &str)> = pieces(text)
            .iter()
            .filter_map(|piece| match piece {
                Piece::Invisible(c, written) => Some((*c, *written)),
                Piece::Visible(_) => None,
            })
            .collect();
        assert_eq!(
            found,
            [
                ('\u{200b}', "\u{200b}"),
                ('\u{202e}', "\\u202E"),
                ('\u{e0041}', "\\udb40\\udc41"),
                ('\u{a0}', "\u{a0}"),
            ]
        );
        let whole: String = pieces(text)
            .iter()
            .map(|piece| match piece {
                Piece::Visible(text) | Piece::Invisible(_, text) => *text,
            })
            .collect();
        assert_eq!(whole, text);
        assert_eq!(
            pieces("plain\n\ttext é"),
            [Piece::Visible("plain\n\ttext é")]
        );
        for broken in ["\\", "\\u", "\\u12", "\\uzzzz", "\\ud800", "\\é"] {
            assert_eq!(pieces(broken), [Piece::Visible(broken)]);
        }
    }

    #[test]
    fn characters_are_named_once() {
        let names: Vec<String> = characters("\u{200b}\u{200b}\\u000a\u{2028}")
            .into_iter()
            .map(name)
            .collect();
        assert_eq!(names, ["U+200B zero width space", "U+2028 space"]);
    }
}
