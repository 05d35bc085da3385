//! Answers about security, from synthetic attacks on both libraries of report 1.

use super::super::attacked::{GO_PASETO, GOLANG_JWT};
use super::Run;
use jeton_lab_model::result::{Answer, AttackOutcome, Practice};

/// Every attack that the answers use, on both libraries: rejected, called as documented.
fn all_refused() -> Run {
    let mut run = Run::default();
    let both = [
        "key-isolation",
        "other-key",
        "every-byte-changed",
        "every-length",
        "expired",
        "expiry-border",
        "types-other",
        "types-missing",
    ];
    for attack in both.into_iter().chain(["alg-none", "alg-sibling"]) {
        run.attacks.push(GOLANG_JWT.refuses(attack));
    }
    for attack in both.into_iter().chain(["paseto-other-version"]) {
        run.attacks.push(GO_PASETO.refuses(attack));
    }
    run
}

/// The same with another outcome of one attack on golang-jwt.
fn with(attack: &str, practice: Practice, outcome: AttackOutcome) -> Run {
    let mut run = all_refused();
    let mut changed = GOLANG_JWT.refuses(attack);
    (changed.practice, changed.outcome) = (practice, Some(outcome));
    run.attacks.retain(|r| {
        (&r.attack, &r.subject, r.practice) != (&changed.attack, &changed.subject, practice)
    });
    run.attacks.push(changed);
    run
}

#[test]
fn answer_both_reject_holds() {
    let run = all_refused();
    for id in ["1.10a", "1.10b", "1.10c", "1.10d", "1.10e", "1.11d"] {
        let said = run.says(id);
        assert_eq!(said.answer, Answer::Holds, "{id}");
        assert!(said.measured.contains("golang-jwt rejected all of"), "{id}");
        assert!(said.measured.contains("go-paseto rejected all of"), "{id}");
    }
}

#[test]
fn answer_one_accepts_does_not_hold() {
    for (id, attack) in [
        ("1.10a", "key-isolation"),
        ("1.10b", "every-byte-changed"),
        ("1.10c", "every-length"),
        ("1.10d", "expiry-border"),
        ("1.10e", "types-missing"),
    ] {
        let said = with(attack, Practice::Documented, AttackOutcome::Accepted).says(id);
        assert_eq!(said.answer, Answer::DoesNotHold, "{id}");
        assert!(
            said.measured.contains(&format!("{attack} accepted")),
            "{id}"
        );
    }
}

#[test]
fn answer_algorithm_choice_depends_on_practice() {
    let neither = all_refused().says("1.11a");
    assert_eq!(neither.answer, Answer::DoesNotHold);
    let accepted = AttackOutcome::Accepted;
    let documented = with("alg-none", Practice::Documented, accepted).says("1.11a");
    assert_eq!(documented.answer, Answer::Holds);
    let defaults = with("alg-none", Practice::Defaults, accepted).says("1.11a");
    assert_eq!(defaults.answer, Answer::Holds);
    assert!(
        defaults.why.contains("with its defaults"),
        "{}",
        defaults.why
    );
}

#[test]
fn answer_without_attacks_is_not_measured() {
    let mut run = all_refused();
    run.attacks
        .retain(|row| row.subject.driver != "go/go-paseto");
    for id in ["1.10a", "1.10c", "1.11a"] {
        let said = run.says(id);
        assert_eq!(said.answer, Answer::NotMeasured, "{id}");
        assert!(said.measured.contains("go-paseto"), "{}", said.measured);
    }
    let none = Run::default().says("1.10c");
    assert_eq!(none.answer, Answer::NotMeasured);
    assert!(
        none.measured.contains("jeton-lab attack"),
        "{}",
        none.measured
    );
}
