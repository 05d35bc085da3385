//! Answers of a run to the published conclusions, with figures.
//!
//! An answer is a function of the run's rows; answers about security also use rows of attacks (`jeton
//! lab merge`). Missing, failed or disturbed rows are never guessed: the answer is then *not measured*,
//! with what is missing.

mod attacked;
mod evidence;
mod pair;
mod report_1;
mod report_2;
mod report_3;
mod report_4;
#[cfg(test)]
mod synthetic;

use evidence::{Evidence, Finding};

use super::source::Source;
use jeton_lab_model::result::{ClaimAnswered, Disturbance, NoiseFloor, Rows, ServerRow};

/// Returns every conclusion of the four reports with its answer, in the reports' order.
#[must_use]
pub fn answers(rows: &Rows, noise: &NoiseFloor, disturbance: &Disturbance) -> Vec<ClaimAnswered> {
    let evidence = Evidence {
        rows: &rows.measured,
        attacks: &rows.attack,
        noise,
        disturbance,
    };
    let mut answers = report_1::answers(&evidence);
    answers.extend(report_2::answers(&evidence));
    answers.extend(of_servers(&rows.servers));
    answers.extend(report_4::answers(&evidence));
    answers
}

/// Returns the conclusions of the report on servers, with their answers.
#[must_use]
pub fn of_servers(rows: &[ServerRow]) -> Vec<ClaimAnswered> {
    report_3::answers(rows)
}

/// One conclusion: its number, its text, and its answer.
struct Claim {
    id: &'static str,
    words: &'static str,
    found: Finding,
}

fn claim(id: &'static str, words: &'static str, found: impl Into<Finding>) -> Claim {
    Claim {
        id,
        words,
        found: found.into(),
    }
}

fn of(source: Source, claims: Vec<Claim>) -> Vec<ClaimAnswered> {
    let answered = claims.into_iter().map(|claim| ClaimAnswered {
        id: claim.id.to_owned(),
        report: source.report,
        claim: claim.words.to_owned(),
        machine: source.machine.to_owned(),
        answer: claim.found.answer,
        measured: claim.found.measured,
        why: claim.found.why,
        rows: claim.found.rows,
    });
    answered.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use jeton_lab_model::result::Answer;

    #[test]
    fn answers_without_rows_are_not_measured() {
        let all = answers(
            &Rows::default(),
            &NoiseFloor::default(),
            &Disturbance::default(),
        );
        assert!(all.iter().all(|c| c.answer == Answer::NotMeasured));
        assert!(
            all.iter()
                .all(|c| !c.measured.is_empty() && !c.why.is_empty())
        );
        // Every conclusion of the list, some in parts: 1.3 has four.
        let numbers = [(1, 13), (2, 11), (3, 2), (4, 4)];
        for (report, last) in numbers {
            for number in 1..=last {
                let whole = format!("{report}.{number}");
                let is_it = |id: &str| {
                    id.strip_prefix(&whole)
                        .is_some_and(|rest| rest.chars().all(|c| c.is_ascii_lowercase()))
                };
                assert!(all.iter().any(|c| is_it(&c.id)), "{whole}");
            }
        }
        for (i, one) in all.iter().enumerate() {
            assert!(
                all[..i].iter().all(|other| other.id != one.id),
                "{}",
                one.id
            );
        }
    }
}
