//! `sdk/node/src/settings.ts`: the types of options, and tables that convert them to settings.

use std::fmt::Write as _;

use jeton_bindings::settings::{
    GENERATED_KEY, IMPORTED_KEY, ISSUER, KEY_SET, Kind, LIMITS, REMOTE_KEYS, Setting, VERIFIER,
};

use super::names::{Language, name};
use super::{NOTE, WIDTH, sentences, wrapped, written};

pub(super) fn options() -> String {
    let mut text = format!(
        "// {NOTE}\n\
         import type {{ Algorithm, ContentEncryption, SignatureAlgorithm }} from './algorithms.js'\n\
         import type {{ Serialization }} from './issuer.js'\n\
         import type {{ Duration }} from './options.js'\n\n\
         /** How the value of an option is read. */\n\
         export type Kind = 'flag' | 'text' | 'texts' | 'list' | 'object' | 'seconds' | 'count' | 'limits'\n\n\
         /** Option names of this library, with the name in the core and the kind. */\n\
         export type Settings = Readonly<Record<string, readonly [name: string, kind: Kind]>>\n"
    );
    for (name, table, about, rows) in [
        (
            "IssuerSettings",
            "ofIssuer",
            "Options of an issuer.",
            ISSUER,
        ),
        (
            "VerifierSettings",
            "ofVerifier",
            "Options of a verifier.",
            VERIFIER,
        ),
        ("Limits", "ofLimits", "Limits for tokens.", LIMITS),
        (
            "GenerateOptions",
            "ofGeneratedKey",
            "Options of {@link Key.generate}.",
            GENERATED_KEY,
        ),
        ("", "ofImportedKey", "", IMPORTED_KEY),
        (
            "KeySetOptions",
            "ofKeySet",
            "Options of {@link KeySet.import}.",
            KEY_SET,
        ),
        (
            "RemoteKeySetSettings",
            "ofRemoteKeySet",
            "Options of a remote key set.",
            REMOTE_KEYS,
        ),
    ] {
        if !name.is_empty() {
            text += &interface(name, about, rows);
        }
        text += &entries(table, rows);
    }
    text
}

fn interface(name: &str, about: &str, rows: &'static [Setting]) -> String {
    let mut text = format!("\n/** {about} */\nexport interface {name} {{\n");
    for row in written(rows, Language::Node) {
        let about = sentences(row, rows, Language::Node);
        let comment = format!("  /** {about} */");
        if comment.chars().count() <= WIDTH {
            text += &comment;
        } else {
            let lines = wrapped(&about, "   * ", "   * ", WIDTH);
            text += &format!("  /**\n{lines}\n   */");
        }
        let name = super::name_of(row, Language::Node);
        writeln!(text, "\n  {name}?: {}", type_of(row.kind)).unwrap();
    }
    text + "}\n"
}

fn entries(table: &str, rows: &'static [Setting]) -> String {
    let entries = rows.iter().filter_map(|row| {
        let name = name(row, Language::Node)?;
        Some(format!(
            "  {name}: ['{}', '{}']",
            row.name,
            reader(row.kind)
        ))
    });
    let entries: Vec<String> = entries.collect();
    format!(
        "\nexport const {table} = {{\n{}\n}} satisfies Settings\n",
        entries.join(",\n")
    )
}

fn type_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Flag => "boolean",
        Kind::Text => "string",
        Kind::Texts => "string | readonly string[]",
        Kind::List => "readonly string[]",
        Kind::Object => "Readonly<Record<string, unknown>>",
        Kind::Seconds => "Duration",
        Kind::Count => "number",
        Kind::Algorithm => "Algorithm",
        Kind::SignatureAlgorithm => "SignatureAlgorithm",
        Kind::Encryption => "ContentEncryption",
        Kind::Encryptions => "ContentEncryption | readonly ContentEncryption[]",
        Kind::Serialization => "Serialization",
        Kind::Limits => "Limits",
        Kind::Format | Kind::Key => panic!("{kind:?}: write it by hand"),
    }
}

fn reader(kind: Kind) -> &'static str {
    match kind {
        Kind::Flag => "flag",
        Kind::Text
        | Kind::Algorithm
        | Kind::SignatureAlgorithm
        | Kind::Encryption
        | Kind::Format
        | Kind::Serialization => "text",
        Kind::Texts | Kind::Encryptions => "texts",
        Kind::List => "list",
        Kind::Object => "object",
        Kind::Seconds => "seconds",
        Kind::Count => "count",
        Kind::Limits => "limits",
        Kind::Key => panic!("a key is not a setting"),
    }
}
