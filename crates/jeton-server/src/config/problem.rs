//! What is wrong in a configuration.

/// A key whose value is out of range or contradicts another key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Problem {
    /// For example `limits.calls_per_connection` or `client[1].may`.
    pub(super) key: String,
    /// The problem and the expected value.
    pub(super) what: String,
}

impl Problem {
    pub(super) fn new(key: impl Into<String>, what: impl Into<String>) -> Problem {
        Problem {
            key: key.into(),
            what: what.into(),
        }
    }
}
