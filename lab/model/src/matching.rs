//! Matches patterns, and suggests names for unknown ones.

use std::fmt;

/// Reports whether `id` contains `pattern`; `*` matches anything between its parts.
#[must_use]
pub fn matches(pattern: &str, id: &str) -> bool {
    let mut rest = id;
    pattern.split('*').all(|part| match rest.find(part) {
        Some(at) => {
            rest = &rest[at + part.len()..];
            true
        }
        None => false,
    })
}

/// A suggestion for an unknown name, formatted for the end of an error; empty if no known name is
/// similar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nearest(Option<String>);

/// Finds the most similar known name, if any is similar.
#[must_use]
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Nearest {
    /// The Jaro-Winkler threshold: accepts swapped letters or a missing ending, and little more.
    const LIKE: f64 = 0.75;
    let closest = known
        .map(|word| (strsim::jaro_winkler(name, word), word))
        .max_by(|(a, _), (b, _)| a.total_cmp(b));
    Nearest(
        closest
            .filter(|(like, _)| *like >= LIKE)
            .map(|(_, word)| word.to_owned()),
    )
}

impl fmt::Display for Nearest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(word) => write!(f, "; did you mean `{word}`?"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_requires_similar_name() {
        let meant = |name: &str, known: &[&str]| nearest(name, known.iter().copied()).to_string();
        let known = ["go/golang-jwt", "python/joserfc", "rust/jeton"];
        assert_eq!(meant("nosuch", &["joserfc", "jeton"]), "");
        assert_eq!(meant("nosuch", &known), "");
        assert_eq!(
            meant("joserfx", &["joserfc", "jeton"]),
            "; did you mean `joserfc`?"
        );
        assert_eq!(meant("x", &[]), "");
    }

    #[test]
    fn matches_star_and_substring() {
        let id = "go/golang-jwt:jwt:HS256:prepared";
        assert!(matches("golang-jwt", id));
        assert!(matches("go/*:HS256", id));
        assert!(!matches("HS256*golang", id));
        assert!(!matches("node/*", id));
    }
}
