//! Short, unambiguous names of subjects for sentences, charts and tables.

use std::collections::BTreeMap;

use crate::result::Subject;

/// Returns the algorithm, for example `HS256`, `RSA-OAEP-256+A256GCM` or `v4.local`; with an unusual RSA
/// key size, and a warning if the key is weak.
pub fn algorithm(subject: &Subject) -> String {
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

/// Returns format and algorithm: `JWT HS256`, `PASETO v4.local`.
pub fn token(subject: &Subject) -> String {
    match subject.format.as_str() {
        "jwt" => format!("JWT {}", algorithm(subject)),
        "jwe" => format!("JWE {}", algorithm(subject)),
        format if subject.alg.is_none() && format.starts_with('v') => format!("PASETO {format}"),
        format => format!("{format} {}", algorithm(subject)),
    }
}

/// Returns the primitive of a format and algorithm, which matches subjects with their bare primitive:
/// `EdDSA` and `v4.public` use Ed25519.
pub fn primitive(subject: &Subject) -> String {
    match algorithm(subject).as_str() {
        "EdDSA" | "Ed25519" | "v4.public" => "Ed25519".to_owned(),
        other => other.to_owned(),
    }
}

/// Returns the language's usual spelling.
pub fn language(subject: &Subject) -> &str {
    language_of(&subject.language)
}

/// Returns the usual spelling of a language name from a result.
pub fn language_of(language: &str) -> &str {
    match language {
        "rust" => "Rust",
        "go" => "Go",
        "node" => "Node",
        "java" => "Java",
        "python" => "Python",
        other => other,
    }
}

/// Returns one name per subject: the library, and what distinguishes it from the others.
pub fn distinct(subjects: &[&Subject]) -> Vec<String> {
    let mut names: Vec<String> = subjects.iter().map(|s| s.library.clone()).collect();
    // Parts that vary within the comparison belong to every name.
    for part in [algorithm, |s: &Subject| s.key_handling.clone()] {
        if varies(subjects.iter().map(|s| part(s))) {
            for (name, subject) in names.iter_mut().zip(subjects) {
                name.push(' ');
                name.push_str(&part(subject));
            }
        }
    }
    // Equal names are distinguished by language, then version, runtime and format.
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

/// Returns a unique HTML id: the number makes it unique, the words make it readable.
pub fn anchor(number: usize, words: &str) -> String {
    let mut anchor = format!("c{number}");
    for word in words
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|w| !w.is_empty())
    {
        // Long titles still give short links.
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
    fn distinct_equal_names_get_language() {
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
    fn distinct_different_algorithms_are_named() {
        let subjects = [subject("a", "go", "HS256"), subject("b", "go", "EdDSA")];
        assert_eq!(
            distinct(&subjects.iter().collect::<Vec<_>>()),
            ["a HS256", "b EdDSA"]
        );
    }

    #[test]
    fn anchor_has_no_markup() {
        let anchor = anchor(3, "sign \"><script>HS256 & é");
        assert_eq!(anchor, "c3-sign-script-hs256");
    }
}
