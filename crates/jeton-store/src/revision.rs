use std::fmt;

/// A revision of a store. Each transaction that changed something has its own, greater than those before.
/// The number has no other meaning: engines may leave gaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Revision(u64);

impl Revision {
    /// The revision before the first transaction.
    pub const START: Revision = Revision(0);

    /// Creates the revision with this number, which a store returned earlier.
    pub const fn from_number(number: u64) -> Revision {
        Revision(number)
    }

    /// Returns the number, for example to send or store it.
    pub const fn number(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
