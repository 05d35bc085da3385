//! Answers to conclusions about security, from attacks on both libraries of report 1.

use std::collections::BTreeSet;

use super::evidence::{Evidence, Finding, NONE, Open};
use crate::report_1::{JWT, PASETO};
use crate::work;
use jeton_lab_model::result::{Answer, AttackOutcome, AttackRow, Party, Practice, Status};

/// A library, and the format of the comparison.
#[derive(Debug, Clone, Copy)]
pub(super) struct Library {
    driver: &'static str,
    name: &'static str,
    format: &'static str,
}

pub(super) const GOLANG_JWT: Library = Library {
    driver: "go/golang-jwt",
    name: "golang-jwt",
    format: "jwt",
};
pub(super) const GO_PASETO: Library = Library {
    driver: "go/go-paseto",
    name: "go-paseto",
    format: "v4.public",
};

/// Attacks in which the token chooses how it is verified.
const CHOOSES_ALGORITHM: [&str; 5] = [
    "alg-none",
    "alg-absent",
    "alg-case",
    "alg-sibling",
    "public-key-as-secret",
];
/// The same for PASETO, whose tokens name a version and a purpose.
const CHOOSES_VERSION: [&str; 3] = [
    "paseto-other-version",
    "paseto-other-purpose",
    "paseto-sibling-version",
];

/// Attacks that both libraries must reject: keys, tampering, truncation, expiry, types.
pub(super) const KEYS: [&str; 2] = ["key-isolation", "other-key"];
pub(super) const TAMPERING: [&str; 1] = ["every-byte-changed"];
pub(super) const TRUNCATION: [&str; 1] = ["every-length"];
pub(super) const EXPIRY: [&str; 2] = ["expired", "expiry-border"];
pub(super) const TYPES: [&str; 2] = ["types-other", "types-missing"];

/// Returns the attacks that conclusions are decided by, and the subjects: `go/golang-jwt:jwt`.
pub(super) fn deciding() -> (Vec<&'static str>, Vec<String>) {
    let of_both = [&KEYS[..], &TAMPERING, &TRUNCATION, &EXPIRY, &TYPES].concat();
    let attacks = [&of_both[..], &CHOOSES_ALGORITHM, &CHOOSES_VERSION].concat();
    let subjects = [GOLANG_JWT, GO_PASETO];
    let subjects = subjects.map(|library| format!("{}:{}", library.driver, library.format));
    (attacks, subjects.to_vec())
}

/// Returns a row of each of these on both libraries, which reject all.
pub(super) fn refused() -> Vec<AttackRow> {
    let (attacks, _) = deciding();
    let rows = attacks
        .into_iter()
        .flat_map(|attack| [GOLANG_JWT, GO_PASETO].map(|library| library.refuses(attack)));
    rows.collect()
}

impl Library {
    /// A row in which it rejects an attack, called as documented.
    pub(super) fn refuses(self, attack: &str) -> AttackRow {
        AttackRow {
            status: Status::Ok,
            reason: None,
            attack: attack.to_owned(),
            family: String::new(),
            subject: Party {
                driver: self.driver.to_owned(),
                library: self.name.to_owned(),
                version: String::new(),
                language: "go".to_owned(),
            },
            format: self.format.to_owned(),
            practice: Practice::Documented,
            outcome: Some(AttackOutcome::Refused),
            tried: 300,
            void: 0,
            algs: Vec::new(),
            found: 0,
            evidence: Vec::new(),
            also: Vec::new(),
        }
    }
}

/// The outcomes of some attacks on a library.
struct Tally {
    /// The number of tested tokens.
    tried: u32,
    /// The attacks that were not rejected, with their outcomes.
    fell_to: Vec<String>,
}

/// What the conclusions need without rows.
const ATTACKS: &str = "rows of `jeton-lab attack`, merged with this run (`jeton-lab merge`)";

/// Answers a conclusion that both libraries reject all of these; without attack rows, from the preflight, if that tests
/// it.
pub(super) fn answer(
    e: &Evidence<'_>,
    attacks: &[&str],
    before_timing: Option<&str>,
) -> Result<Finding, Open> {
    if e.attacks.is_empty() {
        let what = before_timing.ok_or(ATTACKS)?;
        let rows = [JWT, PASETO].map(|subject| work(subject, "verify", "report1-string", 1));
        let measured = format!("golang-jwt and go-paseto both rejected {what}");
        let why = "a library that accepts it in the preflight is not timed, and both were timed";
        return e.preflight(&rows, measured, why);
    }
    let mut words = Vec::new();
    let mut holds = true;
    for library in [GOLANG_JWT, GO_PASETO] {
        let tally = tally(e, library, Practice::Documented, attacks)?;
        holds &= tally.fell_to.is_empty();
        words.push(tally.words(library));
    }
    let measured = format!("called as documented, {}", words.join("; "));
    let whys = [
        "each negative control had a positive control, which was accepted",
        "one of the two accepted a token that it must reject",
    ];
    Ok(Finding::judged(holds, measured, whys, NONE))
}

/// Answers whether a JWT can choose how it is verified, and a PASETO cannot.
pub(super) fn algorithm_is_chosen(e: &Evidence<'_>) -> Result<Finding, Open> {
    if e.attacks.is_empty() {
        return Err(ATTACKS.into());
    }
    let jwt = |practice| tally(e, GOLANG_JWT, practice, &CHOOSES_ALGORITHM);
    let documented = jwt(Practice::Documented)?;
    let paseto = tally(e, GO_PASETO, Practice::Documented, &CHOOSES_VERSION)?;
    let defaults = jwt(Practice::Defaults).ok();
    let by_defaults = defaults.as_ref().map_or_else(String::new, |defaults| {
        format!("; by its defaults, {}", defaults.words(GOLANG_JWT))
    });
    let measured = format!(
        "called as documented, {}; {}{by_defaults}",
        documented.words(GOLANG_JWT),
        paseto.words(GO_PASETO)
    );
    let (answer, why) = if !paseto.fell_to.is_empty() {
        let why = "a PASETO was verified with the wrong version or purpose";
        (Answer::DoesNotHold, why)
    } else if !documented.fell_to.is_empty() {
        let why = "the JWT chose its algorithm, and the PASETO could not";
        (Answer::Holds, why)
    } else if defaults.is_some_and(|tally| !tally.fell_to.is_empty()) {
        let why = "only if golang-jwt is called with its defaults; called as documented, its token cannot choose either";
        (Answer::Holds, why)
    } else {
        let why = "the token cannot choose with either library: the key decides";
        (Answer::DoesNotHold, why)
    };
    Ok(Finding::new(answer, measured, why, NONE))
}

/// What libraries accepted that they must reject, called as documented.
pub(super) fn accepted(e: &Evidence<'_>) -> String {
    let of = |is_it: fn(&AttackRow) -> bool| {
        let documented = e
            .attacks
            .iter()
            .filter(|row| row.practice == Practice::Documented);
        let drivers = documented
            .filter(|row| is_it(row))
            .map(|row| &*row.subject.driver);
        drivers.collect::<BTreeSet<&str>>().len()
    };
    let fell = of(|row| row.outcome == Some(AttackOutcome::Accepted));
    match of(|_| true) {
        0 => "`jeton-lab attack` shows what each library accepts that it must reject".to_owned(),
        all => format!(
            "called as documented, {fell} of {all} attacked libraries accepted a token that they must reject"
        ),
    }
}

/// Returns the outcomes of these attacks on a library; an error if none was run.
fn tally(
    e: &Evidence<'_>,
    library: Library,
    practice: Practice,
    attacks: &[&str],
) -> Result<Tally, Open> {
    let (mut tried, mut fell_to) = (0, Vec::new());
    let own = |row: &&AttackRow| {
        row.subject.driver == library.driver
            && row.format == library.format
            && row.practice == practice
            && attacks.contains(&row.attack.as_str())
    };
    for row in e.attacks.iter().filter(own) {
        if row.outcome == Some(AttackOutcome::Withheld) {
            let until = row.reason.as_deref().unwrap_or_default();
            return Err(format!("{} of {}, {until}", row.attack, library.name).into());
        }
        tried += row.tried;
        let finding = row
            .outcome
            .filter(|outcome| *outcome > AttackOutcome::OverLimit);
        fell_to.extend(finding.map(|outcome| format!("{} {}", row.attack, outcome.name())));
    }
    if tried > 0 {
        return Ok(Tally { tried, fell_to });
    }
    let (attacks, practice) = (attacks.join(", "), practice.name());
    Err(format!("{attacks} of {} ({practice})", library.name).into())
}

impl Tally {
    fn words(&self, library: Library) -> String {
        if self.fell_to.is_empty() {
            return format!("{} rejected all of {} tokens", library.name, self.tried);
        }
        format!("{}: {}", library.name, self.fell_to.join(", "))
    }
}
