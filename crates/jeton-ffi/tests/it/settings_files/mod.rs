//! The options of other languages, written from the table of settings. `JETON_WRITE=1` writes them: `cargo xtask sdk
//! settings`.

use std::path::PathBuf;

use jeton_bindings::settings::Setting;

use crate::codes::assert_written;
use names::{Language, name, reference};

mod go;
mod java;
mod names;
mod node;
mod page;
mod python;

const NOTE: &str = "Written from crates/jeton-bindings/src/settings/rows.rs by `cargo xtask sdk settings`. Do not change it here.";

/// The maximum width of a line of text.
const WIDTH: usize = 120;

#[test]
fn options_of_other_languages_match_the_table() {
    let mut files = vec![
        ("docs/reference/settings.md", page::page()),
        ("sdk/go/settings.go", go::options()),
        ("sdk/node/src/settings.ts", node::options()),
    ];
    files.extend(java::files());
    files.extend(python::files());
    assert_written("settings", &files);
}

#[test]
fn settings_name_only_settings_of_their_table() {
    for (table, rows) in names::TABLES {
        for row in *rows {
            let is_row = |name: &str| rows.iter().any(|other| other.name == name);
            if let Some(other) = row.excludes {
                assert!(is_row(other), "{table}: {} excludes {other}", row.name);
            }
            assert!(!row.formats.is_empty(), "{table}: {}", row.name);
            let first = row.about.chars().next().unwrap();
            let is_sentence = first.is_ascii_uppercase() && row.about.ends_with('.');
            assert!(is_sentence, "{table}: {}: {}", row.name, row.about);
            for language in Language::ALL {
                sentences(row, rows, language);
            }
        }
    }
}

/// Returns the documentation of a setting. A code has backticks, in each language.
fn sentences(row: &Setting, rows: &[Setting], language: Language) -> String {
    let mut text = row.about.to_owned();
    for other in rows {
        let place = format!("{{{}}}", other.name);
        if text.contains(&place) {
            text = text.replace(&place, &reference(other, language));
        }
    }
    let rest = text.replace("{@link", "").replace("{@code", "");
    assert!(!rest.contains('{'), "{}: {text}", row.name);
    if !row.default.is_empty() {
        text += &format!(" The default is {}.", row.default);
    }
    if !row.with_remote_keys {
        text += " It cannot be used with a remote key set.";
    }
    text
}

/// `Sets the type.` as `sets the type.`
fn lower_first(text: &str) -> String {
    let (first, rest) = text.split_at(1);
    first.to_ascii_lowercase() + rest
}

/// Breaks a text into lines. `first` is before the first line, `next` before the others.
fn wrapped(text: &str, first: &str, next: &str, width: usize) -> String {
    let mut lines = Vec::new();
    let mut line = first.to_owned();
    let mut is_empty = true;
    for word in words(text) {
        if !is_empty && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(line);
            line = next.to_owned();
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line += &word;
        is_empty = false;
    }
    lines.push(line);
    lines.join("\n")
}

/// The words of a text. A tag of Javadoc is one word.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut is_open = false;
    for word in text.split(' ') {
        match words.last_mut() {
            Some(last) if is_open => *last += &format!(" {word}"),
            _ => words.push(word.to_owned()),
        }
        let word = words.last().map(String::as_str).unwrap_or_default();
        is_open = word.matches('{').count() > word.matches('}').count();
    }
    words
}

/// A part of a file that the table determines, between two texts.
struct Section {
    begin: &'static str,
    end: &'static str,
    text: String,
}

/// Returns a file with new sections.
fn with_sections(path: &str, sections: &[Section]) -> String {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path);
    let mut text = std::fs::read_to_string(&file).unwrap();
    for section in sections {
        assert_eq!(
            text.matches(section.begin).count(),
            1,
            "{path}: {}",
            section.begin
        );
        let from = text.find(section.begin).unwrap() + section.begin.len();
        let to = text[from..].find(section.end).map(|at| from + at);
        let to = to.unwrap_or_else(|| panic!("{path}: no {} after {}", section.end, section.begin));
        text.replace_range(from..to, &section.text);
    }
    text
}

/// The rows whose code is written in a language.
fn written(rows: &'static [Setting], language: Language) -> impl Iterator<Item = &'static Setting> {
    rows.iter()
        .filter(move |row| names::is_written(row, language))
}

/// The name of a setting, which the language must have.
fn name_of(row: &Setting, language: Language) -> String {
    name(row, language).unwrap_or_else(|| panic!("{}: no name in {language:?}", row.name))
}
