//! What is known about attacks: nothing, or who fell to which.
//!
//! A library fell if, called as it documents, it lets somebody without a key past, or somebody without
//! a key ends it. What it takes from who holds the key, what it takes by its defaults alone, and what
//! takes a verifier with a wrong key, is on the page and puts nobody out.

use std::collections::BTreeMap;

use crate::attack::{Attack, WithoutKey};
use crate::result::{AttackOutcome, AttackRow, Practice};

/// What the result says of attacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Attacks {
    /// It has no attack rows.
    NotRun,
    /// Drivers that were attacked, by id, each with what it fell to first, in words.
    Run(BTreeMap<String, Option<String>>),
}

impl Attacks {
    /// What these rows say.
    pub(super) fn of(rows: &[AttackRow]) -> Self {
        if rows.is_empty() {
            return Self::NotRun;
        }
        let mut drivers: BTreeMap<String, Option<String>> = BTreeMap::new();
        // What was not tried, because the twin was refused or the driver could not be had, is not
        // known.
        let tried = rows.iter().filter(|row| row.outcome.is_some());
        for row in tried.filter(|row| row.practice == Practice::Documented) {
            let fell_to = drivers.entry(row.subject.driver.clone()).or_default();
            if fell_to.is_none() {
                *fell_to = fall(row);
            }
        }
        Self::Run(drivers)
    }

    /// What a driver fell to, in words.
    pub(super) fn fell_to(&self, driver: &str) -> Option<&str> {
        match self {
            Self::NotRun => None,
            Self::Run(drivers) => drivers.get(driver)?.as_deref(),
        }
    }

    /// Whether nothing is known of a driver, although others were attacked.
    pub(super) fn left_out(&self, driver: &str) -> bool {
        matches!(self, Self::Run(drivers) if !drivers.contains_key(driver))
    }
}

/// What somebody without a key did by this attack; none if nothing.
fn fall(row: &AttackRow) -> Option<String> {
    let attack = Attack::named(&row.attack)?;
    let what = match (row.outcome?, attack.without_key()) {
        (_, WithoutKey::Cannot) => return None,
        (AttackOutcome::Accepted, WithoutKey::GetsPast) => "somebody without a key gets past it",
        (AttackOutcome::Crashed, _) => "somebody without a key makes it crash",
        (AttackOutcome::Hung, _) => "somebody without a key makes it hang",
        _ => return None,
    };
    Some(format!(
        "{what}: {} ({}), as documented, with {}",
        attack.id, attack.title, row.format
    ))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::recommendation::sample::attacked;

    /// Whether this one row puts its driver out.
    fn falls(attack: &str, practice: Practice, outcome: AttackOutcome) -> bool {
        let row = AttackRow {
            practice,
            ..attacked("go/a", attack, Some(outcome))
        };
        Attacks::of(&[row]).fell_to("go/a").is_some()
    }

    #[test]
    fn who_lets_somebody_without_a_key_past_fell() {
        use AttackOutcome::{Accepted, NotOffered, OverLimit, Refused};
        assert!(falls("alg-none", Practice::Documented, Accepted));
        assert!(falls("expired", Practice::Documented, Accepted));
        for harmless in [Refused, NotOffered, OverLimit] {
            assert!(!falls("alg-none", Practice::Documented, harmless));
        }
    }

    #[test]
    fn what_the_defaults_alone_accept_puts_nobody_out() {
        let accepted = AttackOutcome::Accepted;
        assert!(!falls("alg-none", Practice::Defaults, accepted));
    }

    #[test]
    fn another_spelling_of_a_genuine_token_puts_nobody_out() {
        for attack in ["base64-padding", "eddsa-malleable", "outer-blank"] {
            assert!(!falls(
                attack,
                Practice::Documented,
                AttackOutcome::Accepted
            ));
        }
    }

    #[test]
    fn what_takes_the_key_or_a_wrong_one_puts_nobody_out() {
        for attack in ["crit-unknown", "exp-text", "secret-empty", "curve-unbound"] {
            for outcome in [AttackOutcome::Accepted, AttackOutcome::Crashed] {
                assert!(!falls(attack, Practice::Documented, outcome), "{attack}");
            }
        }
    }

    #[test]
    fn who_can_be_ended_by_anybody_fell() {
        for outcome in [AttackOutcome::Crashed, AttackOutcome::Hung] {
            assert!(falls("dots", Practice::Documented, outcome));
            assert!(falls("alg-none", Practice::Documented, outcome));
            assert!(!falls("deep-claims", Practice::Documented, outcome));
        }
    }

    #[test]
    fn the_words_say_who_did_what() {
        let fell = attacked("go/a", "alg-none", Some(AttackOutcome::Accepted));
        let attacks = Attacks::of(&[fell]);
        assert_eq!(
            attacks.fell_to("go/a").unwrap(),
            "somebody without a key gets past it: alg-none (`alg` is `none`, and nothing is signed), as documented, with jwt"
        );
    }

    #[test]
    fn a_void_row_and_a_driver_that_was_not_there_are_not_known() {
        let attacks = Attacks::of(&[attacked("go/a", "alg-none", None)]);
        assert!(attacks.left_out("go/a"));
        assert!(attacks.left_out("go/b"));
        assert!(!Attacks::of(&[]).left_out("go/a"), "nobody was attacked");
    }
}
