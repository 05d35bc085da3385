//! Matches patterns, and suggests names for unknown ones.

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

/// Suggests the most similar known name, formatted for the end of an error; empty if none is similar.
#[must_use]
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    /// The Jaro-Winkler threshold: accepts swapped letters or a missing ending, and little more.
    const LIKE: f64 = 0.75;
    let all = known.map(|word| (strsim::jaro_winkler(name, word), word));
    let closest = all.max_by(|(a, _), (b, _)| a.total_cmp(b));
    closest
        .filter(|(like, _)| *like >= LIKE)
        .map_or_else(String::new, |(_, word)| format!("; did you mean `{word}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_requires_similar_name() {
        let meant = |name: &str, known: &[&str]| nearest(name, known.iter().copied());
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
