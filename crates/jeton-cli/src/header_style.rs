//! `--header-style report`: headers with the bytes of the library in a published report.

use clap::ValueEnum;

/// How a protected header is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum HeaderStyle {
    /// Without spaces, as usual
    #[default]
    Compact,
    /// With spaces, for token sizes that equal those of the published report
    Report,
}

/// Returns the header of a signed token in the style of the report.
pub(crate) fn signed(alg: &str) -> String {
    format!(r#"{{ "typ": "JWT", "alg": "{alg}" }}"#)
}

/// Returns the header of an encrypted token in the style of the report.
pub(crate) fn encrypted(alg: &str, enc: &str) -> String {
    format!(r#"{{ "typ": "JWT", "enc": "{enc}", "alg": "{alg}" }}"#)
}
