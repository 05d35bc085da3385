//! Quoting for a POSIX shell.

/// Quotes a word so that a POSIX shell passes it on unchanged.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn quoted_word_is_one_shell_word() {
        for (word, expected) in [
            ("--out", "--out"),
            (
                "cookie-budget=4096,languages=go+node",
                "cookie-budget=4096,languages=go+node",
            ),
            ("", "''"),
            ("my folder", "'my folder'"),
            ("go/*:jwt", "'go/*:jwt'"),
            (r#"{"sub":"o'neill"}"#, r#"'{"sub":"o'\''neill"}'"#),
            ("$(reboot)", "'$(reboot)'"),
            ("~/x", "'~/x'"),
        ] {
            assert_eq!(quoted(word), expected);
        }
    }
}
