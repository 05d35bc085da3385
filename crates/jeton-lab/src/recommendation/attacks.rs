//! What is known about attacks: nothing, or who fell to which.

use std::collections::BTreeMap;

use crate::result::RunResult;

/// What the result says of attacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Attacks {
    /// It has no attack rows.
    NotRun,
    #[cfg_attr(not(test), expect(dead_code, reason = "no row kind says so yet"))]
    /// Drivers that fell, by id, each with the first attack that it fell to.
    Run(BTreeMap<String, String>),
}

impl Attacks {
    /// What this result says.
    pub(super) fn of(_result: &RunResult) -> Self {
        Self::NotRun
    }

    /// The attack that a driver fell to.
    pub(super) fn fell_to(&self, driver: &str) -> Option<&str> {
        match self {
            Self::NotRun => None,
            Self::Run(fallen) => fallen.get(driver).map(String::as_str),
        }
    }
}
