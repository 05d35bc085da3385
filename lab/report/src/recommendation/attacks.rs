//! Attack results for the recommendation.
//!
//! A library failed if, called as documented, it accepts a token from a party without a key, or such a
//! party can stop it. Findings that require the key, a wrong key at the verifier, or unsafe defaults
//! are reported but do not exclude a library.

use std::collections::BTreeMap;

use jeton_lab_conformance::attack::{Attack, WithoutKey};
use jeton_lab_model::result::{AttackOutcome, AttackRow, Practice};

/// The attack results of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Attacks {
    /// The result has no attack rows.
    NotRun,
    /// The attacked drivers by id, each with its first failure, if any.
    Run(BTreeMap<String, Option<String>>),
}

impl Attacks {
    /// Summarises these rows.
    pub(super) fn of(rows: &[AttackRow]) -> Self {
        if rows.is_empty() {
            return Self::NotRun;
        }
        let mut drivers: BTreeMap<String, Option<String>> = BTreeMap::new();
        // A void row or an unavailable driver gives no information.
        let tried = rows.iter().filter(|row| row.outcome.is_some());
        for row in tried.filter(|row| row.practice == Practice::Documented) {
            let fell_to = drivers.entry(row.subject.driver.clone()).or_default();
            if fell_to.is_none() {
                *fell_to = fall(row);
            }
        }
        Self::Run(drivers)
    }

    /// Returns the failure of a driver.
    pub(super) fn fell_to(&self, driver: &str) -> Option<&str> {
        self.attacked(driver)?.as_deref()
    }

    /// Reports whether a driver was not attacked although others were.
    pub(super) fn left_out(&self, driver: &str) -> bool {
        matches!(self, Self::Run(_)) && self.attacked(driver).is_none()
    }

    /// Finds the result of a driver. What holds on one runtime (`java/a`) holds on another (`java/a@25`).
    fn attacked(&self, driver: &str) -> Option<&Option<String>> {
        let Self::Run(drivers) = self else {
            return None;
        };
        let without_runtime = driver.split('@').next().unwrap_or(driver);
        drivers.get(driver).or_else(|| drivers.get(without_runtime))
    }
}

/// Describes what a party without a key achieved with this attack, if anything.
fn fall(row: &AttackRow) -> Option<String> {
    let attack = Attack::named(&row.attack)?;
    let what = match (row.outcome?, attack.without_key()) {
        (_, WithoutKey::Cannot) => return None,
        (AttackOutcome::Accepted, WithoutKey::GetsPast) => {
            "accepts a token from a party without a key"
        }
        (AttackOutcome::Withheld, _) => "a finding that needs no key is not public yet",
        (AttackOutcome::Crashed, _) => "a party without a key can crash it",
        (AttackOutcome::Hung, _) => "a party without a key can make it hang",
        _ => return None,
    };
    Some(format!(
        "{what}: {} ({}), as documented, with {}",
        attack.id, attack.title, row.format
    ))
}
