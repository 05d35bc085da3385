//! `docs/reference/settings.md`.

use std::fmt::Write as _;

use jeton_bindings::settings::{DECRYPTION, ENCRYPTION, Format, Kind, Setting};

use super::names::{Language, TABLES, name};
use super::sentences;

pub(super) fn page() -> String {
    let mut text = "# Settings\n\n\
        The settings of issuers, verifiers and keys, with their names in each language. A test, \
        `crates/jeton-ffi/tests/it/settings_files`, writes this page from the table in \
        `crates/jeton-bindings/src/settings/rows.rs`.\n\n\
        - C passes settings as JSON text. Python uses the same names, except where its column has another.\n\
        - A setting has an effect, or it is an error: an unknown setting, a setting for another format and a \
        contradiction have the code `INVALID_OPTION`.\n\
        - The formats are those of the token: claims in a JWT or a PASETO, bytes in a JWS, a JWE or a PASETO.\n\
        - In Go, Node and Java, limits are members of one option or methods of the builder.\n"
        .to_owned();
    for (heading, rows) in TABLES {
        let argument = match *heading {
            "Issuer" => Some(&ENCRYPTION),
            "Verifier" => Some(&DECRYPTION),
            _ => None,
        };
        let has_formats = argument.is_some();
        let formats = if has_formats { " formats |" } else { "" };
        let rule = if has_formats { "---|" } else { "" };
        write!(
            text,
            "\n## {heading}\n\n| setting | meaning | value |{formats} Go | Node | Java | Python |\n|---|---|---|{rule}---|---|---|---|\n"
        )
        .unwrap();
        for row in rows.iter().chain(argument) {
            text += &line(row, rows, has_formats);
        }
    }
    text
}

fn line(row: &Setting, rows: &[Setting], has_formats: bool) -> String {
    let mut about = sentences(row, rows, Language::C);
    if let Some(other) = row.excludes {
        write!(about, " Excludes `{other}`.").unwrap();
    }
    if row.required {
        let other = rows.iter().find(|other| other.excludes == Some(row.name));
        let other = other.map(|other| format!(", unless `{}` is set", other.name));
        write!(about, " Required for claims{}.", other.unwrap_or_default()).unwrap();
    }
    let value = match row.range {
        "" => kind(row.kind).to_owned(),
        range if row.kind == Kind::Count => format!("{}: {range}", kind(row.kind)),
        range => range.to_owned(),
    };
    let formats = if has_formats {
        format!(" {} |", formats(row))
    } else {
        String::new()
    };
    let name_in =
        |language| name(row, language).map_or_else(String::new, |name| format!("`{name}`"));
    format!(
        "| `{}` | {about} | {value} |{formats} {} | {} | {} | {} |\n",
        row.name,
        name_in(Language::Go),
        name_in(Language::Node),
        name_in(Language::Java),
        name_in(Language::Python),
    )
}

fn formats(row: &Setting) -> String {
    if row.formats.len() == Format::ALL.len() {
        return "all".to_owned();
    }
    let names = row.formats.iter().map(|format| {
        let phrase = format.phrase();
        phrase.strip_prefix("a ").unwrap_or(phrase).to_owned()
    });
    names.collect::<Vec<_>>().join(", ")
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Flag => "true or false",
        Kind::Text => "text",
        Kind::Texts => "text or list of texts",
        Kind::List => "list of texts",
        Kind::Object => "object",
        Kind::Seconds => "seconds",
        Kind::Count => "number",
        Kind::Algorithm => "algorithm",
        Kind::SignatureAlgorithm => "signature algorithm",
        Kind::Encryption => "content encryption",
        Kind::Encryptions => "content encryption, or a list",
        Kind::Format => "name of a format",
        Kind::Serialization => "name of a serialization",
        Kind::Limits => "object of limits",
        Kind::Key => "key or key set",
    }
}
