//! A part of a file that contradicts the rest.

/// One figure of a file that does not follow from its rounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contradiction {
    /// The row, pair, verdict or other part.
    pub about: String,
    /// The member, what the file says, and what follows from the rounds.
    pub what: String,
}

impl Contradiction {
    pub(super) fn new(about: impl Into<String>, what: impl Into<String>) -> Self {
        Self {
            about: about.into(),
            what: what.into(),
        }
    }
}
