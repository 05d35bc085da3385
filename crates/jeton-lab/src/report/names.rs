//! What subjects are called in sentences, charts and tables: as short as stays unambiguous.

use std::collections::BTreeMap;

use crate::result::Subject;

/// The algorithm as a reader looks for it: `HS256`, `RSA-OAEP-256+A256GCM`, `v4.local`; with the size
/// of an RSA key that is not the usual, and a warning if it is under today's minimum.
pub(crate) fn algorithm(subject: &Subject) -> String {
    let mut name = match (&subject.alg, &subject.enc) {
        (Some(alg), Some(enc)) => format!("{alg}+{enc}"),
        (Some(alg), None) => alg.clone(),
        (None, _) => subject.format.clone(),
    };
    if let Some(bits) = subject.key_bits {
        let weak = if subject.is_weak() { ", weak" } else { "" };
        name.push_str(&format!(" ({bits} bits{weak})"));
    }
    name
}

/// Format and algorithm together: `JWT HS256`, `PASETO v4.local`.
pub(crate) fn token(subject: &Subject) -> String {
    match subject.format.as_str() {
        "jwt" => format!("JWT {}", algorithm(subject)),
        "jwe" => format!("JWE {}", algorithm(subject)),
        format if subject.alg.is_none() && format.starts_with('v') => format!("PASETO {format}"),
        format => format!("{format} {}", algorithm(subject)),
    }
}

/// The primitive below the format, so that a bare reference finds the comparisons it is the
/// floor of: Ed25519 is under `EdDSA` and under `v4.public`.
pub(crate) fn primitive(subject: &Subject) -> String {
    match algorithm(subject).as_str() {
        "EdDSA" | "Ed25519" | "v4.public" => "Ed25519".to_owned(),
        other => other.to_owned(),
    }
}

/// The language as its community writes it.
pub(crate) fn language(subject: &Subject) -> &str {
    language_of(&subject.language)
}

/// A language's own spelling, from the word that a result has for it.
pub(crate) fn language_of(language: &str) -> &str {
    match language {
        "rust" => "Rust",
        "go" => "Go",
        "node" => "Node",
        "java" => "Java",
        "python" => "Python",
        other => other,
    }
}

/// One name per subject: the library, and whatever else tells it from the others.
pub(crate) fn distinct(subjects: &[&Subject]) -> Vec<String> {
    let mut names: Vec<String> = subjects.iter().map(|s| s.library.clone()).collect();
    // What varies over the whole comparison belongs to every name.
    for part in [algorithm, |s: &Subject| s.key_handling.clone()] {
        if varies(subjects.iter().map(|s| part(s))) {
            for (name, subject) in names.iter_mut().zip(subjects) {
                name.push(' ');
                name.push_str(&part(subject));
            }
        }
    }
    // Namesakes are told apart by language, then version, then runtime, then format.
    let parts: [fn(&Subject) -> String; 4] = [
        |s| language(s).to_owned(),
        |s| s.version.clone(),
        |s| s.runtime.clone().unwrap_or_default(),
        |s| s.format.clone(),
    ];
    for part in parts {
        let mut namesakes: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (index, name) in names.iter().enumerate() {
            namesakes.entry(name.clone()).or_default().push(index);
        }
        for indices in namesakes.into_values().filter(|indices| indices.len() > 1) {
            if varies(indices.iter().map(|i| part(subjects[*i]))) {
                for index in indices {
                    names[index] = format!("{} ({})", names[index], part(subjects[index]));
                }
            }
        }
    }
    names
}

fn varies(mut values: impl Iterator<Item = String>) -> bool {
    let first = values.next();
    values.any(|value| Some(value) != first)
}

/// A page-unique HTML id: the number makes it unique, the words make it readable in a link.
pub(crate) fn anchor(number: usize, words: &str) -> String {
    let mut anchor = format!("c{number}");
    for word in words
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|w| !w.is_empty())
    {
        // Links stay short whatever a title holds.
        if anchor.len() + word.len() > 60 {
            break;
        }
        anchor.push('-');
        anchor.push_str(&word.to_ascii_lowercase());
    }
    anchor
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(library: &str, language: &str, alg: &str) -> Subject {
        Subject {
            id: format!("{language}/{library}:jwt:{alg}:prepared"),
            library: library.to_owned(),
            version: "1".to_owned(),
            language: language.to_owned(),
            format: "jwt".to_owned(),
            alg: Some(alg.to_owned()),
            enc: None,
            key_bits: None,
            runtime: None,
            released: None,
            superseded_by: None,
            key_handling: "prepared".to_owned(),
        }
    }

    #[test]
    fn only_namesakes_carry_their_language() {
        let subjects = [
            subject("jsonwebtoken", "rust", "HS256"),
            subject("jsonwebtoken", "node", "HS256"),
            subject("jeton", "rust", "HS256"),
        ];
        let names = distinct(&subjects.iter().collect::<Vec<_>>());
        assert_eq!(
            names,
            ["jsonwebtoken (Rust)", "jsonwebtoken (Node)", "jeton"]
        );
    }

    #[test]
    fn algorithms_are_named_only_where_they_differ() {
        let subjects = [subject("a", "go", "HS256"), subject("b", "go", "EdDSA")];
        assert_eq!(
            distinct(&subjects.iter().collect::<Vec<_>>()),
            ["a HS256", "b EdDSA"]
        );
    }

    #[test]
    fn anchors_hold_no_markup_and_stay_short() {
        let anchor = anchor(3, "sign \"><script>HS256 & é");
        assert_eq!(anchor, "c3-sign-script-hs256");
    }
}
