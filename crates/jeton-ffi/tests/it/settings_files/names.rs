//! The names of settings in each language.

use jeton_bindings::settings::{
    GENERATED_KEY, IMPORTED_KEY, ISSUER, KEY_SET, LIMITS, Name, REMOTE_KEYS, Setting, VERIFIER,
};

/// The tables, with the heading on the reference page.
pub(super) const TABLES: &[(&str, &[Setting])] = &[
    ("Issuer", ISSUER),
    ("Verifier", VERIFIER),
    ("Limits of a verifier", LIMITS),
    ("Generated key", GENERATED_KEY),
    ("Imported key", IMPORTED_KEY),
    ("Imported key set", KEY_SET),
    ("Remote key set", REMOTE_KEYS),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    /// JSON names.
    C,
    Go,
    Node,
    Java,
    Python,
}

impl Language {
    pub(super) const ALL: [Language; 5] = [
        Language::C,
        Language::Go,
        Language::Node,
        Language::Java,
        Language::Python,
    ];
}

fn column(row: &Setting, language: Language) -> Name {
    match language {
        Language::C => Name::Derived,
        Language::Go => row.go,
        Language::Node => row.node,
        Language::Java => row.java,
        Language::Python => row.python,
    }
}

/// Returns the name in a language, or nothing if the language has no option.
pub(super) fn name(row: &Setting, language: Language) -> Option<String> {
    Some(match column(row, language) {
        Name::Derived => match language {
            Language::C | Language::Python => row.name.to_owned(),
            Language::Go => format!("With{}", pascal(row.name)),
            Language::Node | Language::Java => camel(row.name),
        },
        Name::Is(name) | Name::ByHand(name) => name.to_owned(),
        Name::Absent => return None,
    })
}

/// Returns whether the code of the option is written from the table.
pub(super) fn is_written(row: &Setting, language: Language) -> bool {
    matches!(column(row, language), Name::Derived | Name::Is(_))
}

/// Returns a reference to a setting in the documentation of another.
pub(super) fn reference(row: &Setting, language: Language) -> String {
    let name = super::name_of(row, language);
    match language {
        Language::Go => format!("[{name}]"),
        Language::Java => format!("{{@link #{name}}}"),
        Language::C | Language::Node | Language::Python => format!("`{name}`"),
    }
}

/// `max_age` as `MaxAge`.
fn pascal(name: &str) -> String {
    let words = name.split('_');
    words
        .map(|word| format!("{}{}", word[..1].to_ascii_uppercase(), &word[1..]))
        .collect()
}

/// `max_age` as `maxAge`.
pub(super) fn camel(name: &str) -> String {
    super::lower_first(&pascal(name))
}
