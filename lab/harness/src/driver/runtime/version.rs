//! Parses the version that a runtime prints.

use std::cmp::Ordering;

/// A version number: `25.0.3` of `openjdk 25.0.3 2026-04-21 LTS`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// The numbers, the major one first.
    pub numbers: Vec<u32>,
    /// The suffix without a space: `rc1`, `-ea`. Build numbers, as in `17.0.15+6`, are ignored.
    pub pre_release: String,
}

impl Version {
    /// Finds the first version in a line of text.
    #[must_use]
    pub fn in_text(text: &str) -> Option<Self> {
        let words = text.split([' ', '\t', '"', '/', '(', ')']);
        let with_prefix = |word: &str| {
            let word = word.strip_prefix("go").unwrap_or(word);
            let word = word.strip_prefix('v').unwrap_or(word);
            Self::of(word)
        };
        words.into_iter().find_map(with_prefix)
    }

    fn of(word: &str) -> Option<Self> {
        let end = word
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(word.len());
        let (numbers, behind) = word.split_at(end);
        let numbers: Option<Vec<u32>> = numbers
            .trim_end_matches('.')
            .split('.')
            .map(|n| n.parse().ok())
            .collect();
        // The text is used in ids and folder names.
        let is_plain = |c: &char| c.is_ascii_alphanumeric() || "-._".contains(*c);
        Some(Self {
            numbers: numbers?,
            pre_release: behind.chars().take_while(is_plain).collect(),
        })
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let numbers: Vec<String> = self.numbers.iter().map(u32::to_string).collect();
        write!(f, "{}{}", numbers.join("."), self.pre_release)
    }
}

impl Ord for Version {
    /// Orders by number; a pre-release comes before its release.
    fn cmp(&self, other: &Self) -> Ordering {
        let released = |v: &Self| v.pre_release.is_empty();
        self.numbers
            .cmp(&other.numbers)
            .then(released(self).cmp(&released(other)))
            .then_with(|| self.pre_release.cmp(&other.pre_release))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn version_is_found_in_output_of_each_runtime() {
        for (printed, version) in [
            ("go version go1.27.4 linux/amd64", "1.27.4"),
            ("go version go1.28rc1 linux/amd64", "1.28rc1"),
            ("v26.10.0", "26.10.0"),
            ("v27.0.0-nightly20261101", "27.0.0-nightly20261101"),
            ("openjdk 25.0.3 2026-04-21 LTS", "25.0.3"),
            ("openjdk 28-ea 2027-03-16", "28-ea"),
            ("openjdk version \"17.0.15\" 2025-04-15", "17.0.15"),
            ("Python 3.14.0", "3.14.0"),
        ] {
            assert_eq!(Version::in_text(printed).unwrap().to_string(), version);
        }
        assert_eq!(Version::in_text("command not found"), None);
        assert_eq!(Version::in_text(""), None);
    }

    #[test]
    fn version_order_is_numeric_and_release_is_last() {
        let version = |text: &str| Version::in_text(text).unwrap();
        assert!(version("1.9.2") < version("1.26.0"));
        assert!(version("go1.28rc1") < version("go1.28"));
        assert!(version("go1.27.4") < version("go1.28rc1"));
    }
}
