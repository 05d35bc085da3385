//! Cells of Markdown tables.

use super::visible;

/// Escapes foreign text for a table cell: no markup, no HTML, one line.
pub(crate) fn cell(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let words: Vec<&str> = text.split_whitespace().collect();
    for c in visible::text(&words.join(" ")).chars() {
        match c {
            '<' => plain.push_str("&lt;"),
            '>' => plain.push_str("&gt;"),
            '&' => plain.push_str("&amp;"),
            '|' | '*' | '_' | '`' | '[' | ']' | '\\' | '#' | '~' => {
                plain.push('\\');
                plain.push(c);
            }
            _ => plain.push(c),
        }
    }
    plain
}
