//! Findings that are not public yet.

use jiff::civil::{Date, date};

use jeton_lab_model::result::{AttackOutcome, AttackRow, Status};

/// Findings in a library for which no public report was found.
struct Withheld {
    library: &'static str,
    attacks: &'static [&'static str],
    /// The first day on which they are shown: 90 days after they were found.
    until: Date,
}

/// What results and pages leave out, so that its authors can read it first. A program that calls the library so
/// is open to others until then.
const WITHHELD: &[Withheld] = &[
    Withheld {
        library: "jsonwebtoken",
        attacks: &[
            "option-issuer-empty",
            "option-issuer-type",
            "option-audience-empty",
            "option-audience-type",
            "option-max-age",
            "option-subject",
            "option-token-id",
        ],
        until: date(2027, 2, 28),
    },
    Withheld {
        library: "pyjwt",
        attacks: &["option-leeway"],
        until: date(2027, 2, 28),
    },
];

/// Replaces findings that are withheld today. A library that rejects the attack is shown.
pub fn withhold(rows: &mut [AttackRow], today: Date) {
    apply(WITHHELD, rows, today);
}

fn apply(all: &[Withheld], rows: &mut [AttackRow], today: Date) {
    let is_finding = |row: &&mut AttackRow| row.outcome.is_some_and(AttackOutcome::is_finding);
    for row in rows.iter_mut().filter(is_finding) {
        let own = |one: &&Withheld| {
            one.library == row.subject.library
                && one.attacks.contains(&&*row.attack)
                && today < one.until
        };
        if let Some(one) = all.iter().find(own) {
            (row.status, row.outcome) = (Status::Ok, Some(AttackOutcome::Withheld));
            row.reason = Some(format!("withheld until {}", one.until));
            (row.tried, row.found) = (0, 0);
            row.evidence.clear();
            row.also.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attack::Attack;
    use jeton_lab_model::result::{Evidence, Party, Practice};

    fn row(library: &str, outcome: AttackOutcome) -> AttackRow {
        AttackRow {
            status: Status::Ok,
            reason: None,
            attack: "alg-none".into(),
            family: "header".into(),
            subject: Party {
                driver: format!("go/{library}"),
                library: library.into(),
                version: "1.0.0".into(),
                language: "go".into(),
            },
            format: "jwt".into(),
            practice: Practice::Documented,
            outcome: Some(outcome),
            tried: 2,
            void: 0,
            algs: Vec::new(),
            found: 1,
            evidence: vec![Evidence {
                alg: None,
                spelling: "unsigned".into(),
                outcome,
                token: Some("e30.e30.".into()),
                key: None,
                seen: Some("accepted".into()),
            }],
            also: vec!["another".into()],
        }
    }

    #[test]
    fn withheld_list_names_attacks() {
        let mut names = WITHHELD.iter().flat_map(|one| one.attacks);
        assert!(names.all(|name| Attack::named(name).is_some()));
    }

    #[test]
    fn withheld_finding_is_named_without_evidence() {
        let all = [Withheld {
            library: "a",
            attacks: &["alg-none"],
            until: date(2027, 2, 28),
        }];
        let rows = |day| {
            let mut rows = [
                row("a", AttackOutcome::Accepted),
                row("a", AttackOutcome::Refused),
                row("b", AttackOutcome::Accepted),
            ];
            apply(&all, &mut rows, day);
            rows
        };
        let [withheld, rejected, other] = rows(date(2027, 2, 27));
        assert_eq!(withheld.outcome, Some(AttackOutcome::Withheld));
        assert_eq!(
            withheld.reason.as_deref(),
            Some("withheld until 2027-02-28")
        );
        assert_eq!((withheld.tried, withheld.found), (0, 0));
        assert!(withheld.evidence.is_empty() && withheld.also.is_empty());
        assert_eq!(rejected, row("a", AttackOutcome::Refused));
        assert_eq!(other, row("b", AttackOutcome::Accepted));
        let [shown, ..] = rows(date(2027, 2, 28));
        assert_eq!(shown, row("a", AttackOutcome::Accepted));
    }
}
