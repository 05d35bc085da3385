//! Parts of a token, made fit for a terminal.
//!
//! JSON is indented and otherwise left as it is: a member that stands twice stands twice, a number
//! keeps its digits.

use crate::printable;

/// Most that is shown of bytes that are not text.
const BYTES_SHOWN: usize = 64;

/// One JSON value that has been checked to be one.
pub(super) fn json(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    let mut indent = 0_usize;
    let mut in_string = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if in_string {
            match c {
                '\\' => {
                    out.push('\\');
                    out.extend(chars.next());
                }
                _ => printable::push(&mut out, c),
            }
            in_string = c != '"';
            continue;
        }
        match c {
            ' ' | '\t' | '\n' | '\r' => {}
            '{' | '[' => {
                out.push(c);
                while chars.next_if(|next| next.is_ascii_whitespace()).is_some() {}
                match chars.next_if(|next| matches!(next, '}' | ']')) {
                    Some(end) => out.push(end),
                    None => {
                        indent += 1;
                        line(&mut out, indent);
                    }
                }
            }
            '}' | ']' => {
                indent = indent.saturating_sub(1);
                line(&mut out, indent);
                out.push(c);
            }
            ',' => {
                out.push(c);
                line(&mut out, indent);
            }
            ':' => out.push_str(": "),
            _ => {
                in_string = c == '"';
                out.push(c);
            }
        }
    }
    out
}

/// The first bytes, in hexadecimal.
pub(super) fn bytes(bytes: &[u8]) -> String {
    match bytes.split_at_checked(BYTES_SHOWN) {
        Some((shown, rest)) if !rest.is_empty() => format!("{} …", all_bytes(shown)),
        _ => all_bytes(bytes),
    }
}

/// Every byte, in hexadecimal.
pub(super) fn all_bytes(bytes: &[u8]) -> String {
    let each: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    each.join(" ")
}

fn line(out: &mut String, indent: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", indent));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_indented_and_nothing_else() {
        assert_eq!(
            json(r#"{"a":[1.10,{}, [ ]],"a":"x,{\"y\":1}\\","b":{"c":null}}"#),
            "{\n  \"a\": [\n    1.10,\n    {},\n    []\n  ],\n  \"a\": \"x,{\\\"y\\\":1}\\\\\",\n  \"b\": {\n    \"c\": null\n  }\n}"
        );
        assert_eq!(json("\"text\""), "\"text\"");
    }

    #[test]
    fn a_stranger_does_not_command_the_terminal() {
        assert_eq!(
            json("\"\u{9b}2J\u{7f}\u{202e}é\""),
            "\"\\u009b2J\\u007f\\u202eé\""
        );
    }
}
