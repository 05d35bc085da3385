//! `--header-style report`: headers as report 2's library wrote them.

use clap::ValueEnum;

/// How a protected header is spelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum HeaderStyle {
    /// No space, as everybody does
    #[default]
    Compact,
    /// With spaces, as the report did whose sizes jeton repeats to the byte
    Report,
}

/// The header of a signed token in the report's spelling.
pub(crate) fn signed(alg: &str) -> String {
    format!(r#"{{ "typ": "JWT", "alg": "{alg}" }}"#)
}

/// The header of an encrypted one.
pub(crate) fn encrypted(alg: &str, enc: &str) -> String {
    format!(r#"{{ "typ": "JWT", "enc": "{enc}", "alg": "{alg}" }}"#)
}
