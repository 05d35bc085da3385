//! Words as a POSIX shell takes them.

/// A word that a POSIX shell gives on as it is.
pub(crate) fn quoted(word: &str) -> String {
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
    fn a_word_comes_through_a_shell_as_it_is() {
        for (word, said) in [
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
            assert_eq!(quoted(word), said);
        }
    }
}
