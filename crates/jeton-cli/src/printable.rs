//! What a stranger wrote, made fit for a terminal.
//!
//! Characters that would command the terminal or turn the text's direction are written as escapes, so
//! that what is seen is what is there.

use jeton_lab::report::visible::is_obeyed;

/// Any text, with its lines.
pub(crate) fn text(text: &str) -> String {
    shown(text, |c| matches!(c, '\n' | '\t'))
}

/// What is to stay within a line: a name.
pub(crate) fn line(text: &str) -> String {
    shown(text, |_| false)
}

fn shown(text: &str, kept: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match kept(c) {
            true => out.push(c),
            false => push(&mut out, c),
        }
    }
    out
}

/// Appends a character, or its escape.
pub(crate) fn push(out: &mut String, c: char) {
    if is_obeyed(c) {
        out.push_str(&format!("\\u{:04x}", u32::from(c)));
    } else {
        out.push(c);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stranger_does_not_command_the_terminal() {
        assert_eq!(text("a\u{1b}[2Jb\nc"), "a\\u001b[2Jb\nc");
        assert_eq!(line("a\nrejected: no"), "a\\u000arejected: no");
    }
}
