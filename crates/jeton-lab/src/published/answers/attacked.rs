//! The rules for what was concluded about security: what attacks on both libraries of report 1 came to.

use super::evidence::{Evidence, Finding, Missing};
use crate::result::{Answer, AttackOutcome, AttackRow, Practice};

/// A library and the format that it was compared with.
#[derive(Debug, Clone, Copy)]
struct Library {
    driver: &'static str,
    name: &'static str,
    format: &'static str,
}

const GOLANG_JWT: Library = Library {
    driver: "go/golang-jwt",
    name: "golang-jwt",
    format: "jwt",
};
const GO_PASETO: Library = Library {
    driver: "go/go-paseto",
    name: "go-paseto",
    format: "v4.public",
};

/// By which a token chooses how it is checked.
const CHOOSES_ALGORITHM: [&str; 5] = [
    "alg-none",
    "alg-absent",
    "alg-case",
    "alg-sibling",
    "public-key-as-secret",
];
/// The same of PASETO, whose tokens name a version and a purpose.
const CHOOSES_VERSION: [&str; 3] = [
    "paseto-other-version",
    "paseto-other-purpose",
    "paseto-sibling-version",
];

/// What some attacks on a library came to.
struct Tally {
    /// How many tokens were tried.
    tried: u32,
    /// The attacks that were not refused, each with what it came to.
    fell_to: Vec<String>,
}

/// What was said of both, that they refuse all of these.
pub(super) fn both_refuse(e: &Evidence<'_>, attacks: &[&str]) -> Result<Finding, Missing> {
    let mut words = Vec::new();
    let mut holds = true;
    for library in [GOLANG_JWT, GO_PASETO] {
        let tally = tally(e, library, Practice::Documented, attacks)?;
        holds &= tally.fell_to.is_empty();
        words.push(tally.words(library));
    }
    let measured = format!("called as documented, {}", words.join("; "));
    Ok(if holds {
        let why = "each wrong token stood beside a twin without the fault, which was accepted";
        Finding::new(Answer::Holds, measured, why, Vec::new())
    } else {
        let why = "one of the two took what it must refuse";
        Finding::new(Answer::DoesNotHold, measured, why, Vec::new())
    })
}

/// Whether a token of the one can choose how it is checked, and one of the other cannot.
pub(super) fn algorithm_is_chosen(e: &Evidence<'_>) -> Result<Finding, Missing> {
    let jwt = |practice| tally(e, GOLANG_JWT, practice, &CHOOSES_ALGORITHM);
    let documented = jwt(Practice::Documented)?;
    let defaults = jwt(Practice::Defaults).ok();
    let paseto = tally(e, GO_PASETO, Practice::Documented, &CHOOSES_VERSION)?;
    let mut measured = format!(
        "called as documented, {}; {}",
        documented.words(GOLANG_JWT),
        paseto.words(GO_PASETO)
    );
    if let Some(defaults) = &defaults {
        measured.push_str(&format!(
            "; by its defaults, {}",
            defaults.words(GOLANG_JWT)
        ));
    }
    let by_defaults = defaults.is_some_and(|tally| !tally.fell_to.is_empty());
    let (answer, why) = if !paseto.fell_to.is_empty() {
        (
            Answer::DoesNotHold,
            "a PASETO was not checked as what it must be",
        )
    } else if !documented.fell_to.is_empty() {
        (Answer::Holds, "the token chose, and PASETO's could not")
    } else if by_defaults {
        (
            Answer::Holds,
            "for who calls golang-jwt by its defaults; called as documented, the token chooses nothing there either",
        )
    } else {
        (
            Answer::DoesNotHold,
            "the token chose nothing with either of the two: the key decides",
        )
    };
    Ok(Finding::new(answer, measured, why, Vec::new()))
}

/// What these attacks on a library came to; what is missing if none of them was tried.
fn tally(
    e: &Evidence<'_>,
    library: Library,
    practice: Practice,
    attacks: &[&str],
) -> Result<Tally, Missing> {
    let mut tally = Tally {
        tried: 0,
        fell_to: Vec::new(),
    };
    let own = |row: &&AttackRow| {
        row.subject.driver == library.driver
            && row.format == library.format
            && row.practice == practice
            && attacks.contains(&row.attack.as_str())
    };
    for row in e.attacks.iter().filter(own) {
        tally.tried += row.tried;
        if let Some(outcome) = row.outcome.filter(|o| *o > AttackOutcome::OverLimit) {
            tally
                .fell_to
                .push(format!("{} {}", row.attack, outcome.name()));
        }
    }
    if tally.tried == 0 {
        return Err(format!(
            "{} of {} ({})",
            attacks.join(", "),
            library.name,
            practice.name()
        ));
    }
    Ok(tally)
}

impl Tally {
    fn words(&self, library: Library) -> String {
        if self.fell_to.is_empty() {
            return format!("{} refused all of {} tokens", library.name, self.tried);
        }
        format!("{}: {}", library.name, self.fell_to.join(", "))
    }
}
