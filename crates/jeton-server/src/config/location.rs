//! Finds the line of a key in a TOML file.

use crate::error::ConfigError;

/// Maximum length of a key that an error message repeats. No key of the configuration is longer.
const KEY_BYTES: usize = 40;

/// Converts a parser error into an error with line and key.
///
/// The parser's own message repeats the line, whose value may be a secret. This error has no value.
pub(super) fn locate(text: &str, error: &toml::de::Error) -> ConfigError {
    let line = error
        .span()
        .map(|span| 1 + text[..span.start.min(text.len())].matches('\n').count());
    let key = line
        .and_then(|line| text.lines().nth(line - 1))
        .map(key_on)
        .unwrap_or_default();
    let what = error.message().lines().next().unwrap_or_default();
    // The error already names the key.
    let what = what.replace(&format!("unknown field `{key}`"), "unknown field");
    ConfigError {
        file: None,
        line,
        key,
        what: without_value(&what),
    }
}

/// The line of a key such as `tls.certificate` or `client[1].may`. `None` if no line has the key.
pub(super) fn line_of(text: &str, key: &str) -> Option<usize> {
    let (table, name) = key.rsplit_once('.').unwrap_or(("", key));
    let (table, wanted) = match table.split_once('[') {
        Some((table, index)) => (table, index.trim_end_matches(']').parse().unwrap_or(0)),
        None => (table, 0usize),
    };
    let mut here = String::new();
    let mut seen = 0usize;
    let mut header = None;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(rest) = line.strip_prefix('[') {
            let opened = rest.trim_start_matches('[').split(']').next();
            opened.unwrap_or_default().trim().clone_into(&mut here);
            if here == table {
                seen += 1;
                if seen == wanted + 1 {
                    header = Some(index + 1);
                }
            }
        } else if here == table && (table.is_empty() || seen == wanted + 1) && key_on(line) == name
        {
            return Some(index + 1);
        }
    }
    header
}

/// The key or the table name on a line.
///
/// Empty for any other line: the file may be a private key or a token that was passed by mistake.
fn key_on(line: &str) -> String {
    let line = line.trim();
    let key = match line.split_once('=') {
        Some((key, _)) => key,
        None if line.starts_with('[') => line,
        None => "",
    };
    let key = key.trim().trim_matches(['"', '\'', '[', ']']);
    let is_key = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    if key.len() <= KEY_BYTES && key.chars().all(is_key) {
        key.to_owned()
    } else {
        String::new()
    }
}

/// Removes the value that serde quotes, because it may be a secret.
fn without_value(what: &str) -> String {
    let quotes = ["invalid type: ", "invalid value: ", "unknown variant "];
    match what.rsplit_once(", expected ") {
        Some((found, expected)) if quotes.into_iter().any(|begin| found.starts_with(begin)) => {
            let found = found.split(['"', '`']).next().unwrap_or_default();
            format!("{}, expected {expected}", found.trim_end())
        }
        _ => what.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn parse_error_repeats_no_value() {
        const SECRET: &str = "c2VjcmV0LXNlY3JldA";
        for text in [
            format!("workers = \"{SECRET}\""),
            format!("when_stale = '{SECRET}'"),
            format!("listen = \"{SECRET}, expected \""),
            format!("{{\"kty\":\"oct\",\"k\":\"{SECRET}\"}}"),
            format!("-----BEGIN PRIVATE KEY-----\n{SECRET}\n"),
            format!("{SECRET}\n"),
            format!("{SECRET}{SECRET}{SECRET}==\n"),
        ] {
            let error = crate::Config::from_toml(&text).unwrap_err().to_string();
            assert!(!error.contains("c2VjcmV0"), "{error}");
        }
        let error = crate::Config::from_toml("workers = \"two\"").unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 1: `workers`: invalid type: string, expected usize"
        );
    }

    #[test]
    fn line_of_searches_the_table_of_the_key() {
        let text = "a = 1\n[tls]\na = 2\n[[client]]\nmay = 1\n[[client]]\nname = 2\nmay = 3\n";
        assert_eq!(line_of(text, "a"), Some(1));
        assert_eq!(line_of(text, "tls.a"), Some(3));
        assert_eq!(line_of(text, "client[1].may"), Some(8));
        assert_eq!(line_of(text, "client[0].name"), Some(4));
        assert_eq!(line_of(text, "limits.calls_per_connection"), None);
    }
}
