//! Options of jsonwebtoken and PyJWT that are ignored or misread. `sdk/testdata/traps.json` has them: the tests of jeton's
//! layers with the interface of these libraries use the same file.

use serde_json::{Value, json};

use super::{Attack, Family};
use crate::attack::fixtures::Stage;
use crate::attack::trial::{Setup, Step, Trial};
use jeton_lab_model::protocol::Extra;

const FAMILY: Family = Family::Options;

const TRAPS: &str = include_str!("../../../../../sdk/testdata/traps.json");

/// The languages of the file.
const LANGUAGES: [&str; 2] = ["node", "python"];

macro_rules! trap {
    ($id:literal, $title:literal, $defeats:literal) => {
        FAMILY.attack($id, $title, $defeats, "jsonwebtoken 9; PyJWT 2", |s| {
            traps(s, $id)
        })
    };
}

pub(super) const ATTACKS: &[Attack] = &[
    trap!(
        "option-leeway",
        "an expired token; the leeway is not a finite number",
        "a leeway that is not a finite number is rejected"
    ),
    trap!(
        "option-ignore-expiry",
        "an expired token; the option that ignores expiry is the text `false`",
        "an option for expiry is a boolean"
    ),
    trap!(
        "option-ignore-not-before",
        "a token before its time; the option that ignores `nbf` is not a boolean",
        "an option for `nbf` is a boolean"
    ),
    trap!(
        "option-issuer-empty",
        "a token of another issuer; the required issuer is empty",
        "an empty issuer in the options is not the same as none"
    ),
    trap!(
        "option-issuer-type",
        "a token of another issuer; the required issuer is not a string",
        "an issuer in the options has the type that is compared"
    ),
    trap!(
        "option-issuer-name",
        "a token of another issuer; the option for the issuer is misspelled",
        "an unknown option beside the issuer is rejected"
    ),
    trap!(
        "option-audience-empty",
        "a token for another audience; the required audience is empty",
        "an empty audience in the options is not the same as none"
    ),
    trap!(
        "option-audience-type",
        "a token for another audience; the required audience is not a string",
        "an audience in the options has the type that is compared"
    ),
    trap!(
        "option-audience-name",
        "a token without an audience; the option for the audience is misspelled",
        "an unknown option beside the audience is rejected"
    ),
    trap!(
        "option-max-age",
        "an old token; the maximum age is zero, negative, or not a time",
        "a maximum age is a positive time"
    ),
    trap!(
        "option-max-age-name",
        "an old token; the option for the maximum age is misspelled",
        "an unknown option for the age is rejected"
    ),
    trap!(
        "option-subject",
        "a token of another subject; the required subject is empty or zero",
        "an empty subject in the options is not the same as none"
    ),
    trap!(
        "option-token-id",
        "a token with another `jti`; the required one is empty, or its option misspelled",
        "an empty `jti` in the options is not the same as none"
    ),
    trap!(
        "option-algorithms",
        "an authentic token; the list of algorithms is empty, or names only `none`",
        "an empty list of algorithms allows none"
    ),
    trap!(
        "option-required",
        "a token without `exp`; the option that requires `exp` is misspelled or misread",
        "an unknown option that requires a claim is rejected"
    ),
];

/// Returns the rows of the file for this attack: one trial for each language.
fn traps(stage: &Stage, attack: &str) -> Vec<Trial> {
    if stage.alg != "HS256" {
        return Vec::new();
    }
    let all: Value = serde_json::from_str(TRAPS).expect("traps.json is JSON");
    let rows = |list: &str| {
        let rows = all[list].as_array().into_iter().flatten();
        let of_attack = rows.filter(|row| row["attack"] == *attack).cloned();
        of_attack.collect::<Vec<Value>>()
    };
    let (bad, good) = (rows("refused"), rows("fine"));
    let mut trials = Vec::new();
    for language in LANGUAGES {
        let Some(control) = good.iter().find(|row| !row[language].is_null()) else {
            continue;
        };
        for row in bad.iter().filter(|row| !row[language].is_null()) {
            let step = |row: &Value, is_control| Step {
                setup: Setup::Extra(Extra::Options(json!({language: row[language]}))),
                verifier: 0,
                token: stage.token(row["claims"].to_string()),
                is_control,
            };
            let steps = vec![step(control, true), step(row, false)];
            trials.push(Trial::steps(format!("{language} {}", row[language]), steps));
        }
    }
    trials
}

#[cfg(test)]
mod tests {
    use super::*;
    use jeton_lab_model::Format;

    #[test]
    fn options_row_of_an_attack_has_a_control() {
        let stage = Stage::new(Format::Jwt, "HS256", "", 1_800_000_000).expect("a secret");
        let made = ATTACKS.iter().map(|attack| attack.trials(&stage).len());
        let all: Value = serde_json::from_str(TRAPS).expect("traps.json is JSON");
        let rows = all["refused"].as_array().into_iter().flatten();
        let of_attacks = rows.filter(|row| !row["attack"].is_null());
        let asked = of_attacks.flat_map(|row| LANGUAGES.map(|language| !row[language].is_null()));
        assert_eq!(
            made.sum::<usize>(),
            asked.filter(|is_there| *is_there).count()
        );
    }
}
