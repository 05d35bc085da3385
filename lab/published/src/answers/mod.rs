//! Answers of a run to the published conclusions, with figures.
//!
//! An answer is a function of the run's rows; answers about security also use rows of attacks. Missing and failed
//! rows are never guessed: the answer is then *not measured*, with what is missing. If the interval leaves it open,
//! the answer is *undecided*, with the interval.

mod attacked;
mod evidence;
mod pair;
mod planned;
mod report_1;
mod report_2;
mod report_3;
mod report_4;
#[cfg(test)]
mod synthetic;

use evidence::{Evidence, Finding};

use super::source::Source;
use jeton_lab_model::result::{Answer, ClaimAnswered, NoiseFloor, RowId, Rows, ServerRow};

/// Returns every conclusion of the four reports with its answer, in the reports' order.
#[must_use]
pub fn answers(rows: &Rows, noise: &NoiseFloor) -> Vec<ClaimAnswered> {
    let evidence = Evidence {
        rows: &rows.measured,
        attacks: &rows.attack,
        noise,
    };
    let mut answers = report_1::answers(&evidence);
    answers.extend(report_2::answers(&evidence));
    answers.extend(of_servers(&rows.servers));
    answers.extend(report_4::answers(&evidence));
    answers
}

/// Returns the number of conclusions that measurements can decide; the others are opinions.
#[must_use]
pub fn decidable() -> usize {
    let all = answers(&Rows::default(), &NoiseFloor::default());
    let decidable = all.iter().filter(|claim| claim.answer != Answer::Opinion);
    decidable.count()
}

/// Returns how many conclusions these works answer, if all of them are measured, and the [attacks](deciding_attacks)
/// are made or not.
#[must_use]
pub fn answerable(works: impl Iterator<Item = RowId>, attacks: bool) -> usize {
    let (rows, noise) = planned::run(works, attacks);
    let all = answers(&rows, &noise);
    let measured = all.iter().filter(|claim| claim.answer.is_measured());
    measured.count()
}

/// Returns how many conclusions the servers of the gRPC report answer on a machine with this number of cores.
#[must_use]
pub fn answerable_by_servers(cores: usize) -> usize {
    report_3::answerable(cores)
}

/// Returns the conclusions of the report on servers, with their answers.
#[must_use]
pub fn of_servers(rows: &[ServerRow]) -> Vec<ClaimAnswered> {
    report_3::answers(rows)
}

/// Returns the works that the conclusions of a report are decided by, with the given threads for concurrent
/// measurements.
pub(super) fn deciding(report: u8, threads: u32) -> Vec<RowId> {
    match report {
        1 => report_1::deciding(threads),
        2 => report_2::deciding(),
        4 => report_4::deciding(),
        _ => Vec::new(),
    }
}

/// Returns the attacks that conclusions are decided by, and the patterns of the subjects to attack.
#[must_use]
pub fn deciding_attacks() -> (Vec<&'static str>, Vec<String>) {
    attacked::deciding()
}

/// One conclusion: its number, and its answer.
struct Claim {
    id: &'static str,
    found: Finding,
}

fn claim(id: &'static str, found: impl Into<Finding>) -> Claim {
    Claim {
        id,
        found: found.into(),
    }
}

const CONCLUSIONS: &str = include_str!("../../data/conclusions.txt");

/// The numbers of all conclusions with their texts, in the order of the page.
fn conclusions() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = CONCLUSIONS.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once(' '))
}

/// The text of a conclusion.
fn words(id: &str) -> &'static str {
    conclusions()
        .find(|(number, _)| *number == id)
        .map_or("", |(_, words)| words)
}

fn of(source: Source, claims: Vec<Claim>) -> Vec<ClaimAnswered> {
    let answered = claims.into_iter().map(|claim| ClaimAnswered {
        id: claim.id.to_owned(),
        report: source.report,
        claim: words(claim.id).to_owned(),
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
    use crate::deciding_works;
    use std::collections::BTreeSet;

    #[test]
    fn answers_without_rows_are_not_measured() {
        let all = answers(&Rows::default(), &NoiseFloor::default());
        let is_open = |answer| matches!(answer, Answer::NotMeasured | Answer::Opinion);
        assert!(all.iter().all(|c| is_open(c.answer)));
        assert_eq!(decidable(), all.len() - 5);
        assert!(
            all.iter()
                .all(|c| !c.measured.is_empty() && !c.why.is_empty())
        );
        // One answer to each, in their order.
        let answered: Vec<(&str, &str)> = all
            .iter()
            .map(|c| (c.id.as_str(), c.claim.as_str()))
            .collect();
        assert_eq!(answered, conclusions().collect::<Vec<_>>());
        let numbers: BTreeSet<&str> = answered.iter().map(|(id, _)| *id).collect();
        assert_eq!(numbers.len(), answered.len(), "two answers have one number");
        // Some are in parts: 1.3 has four.
        for (report, last) in [(1, 13), (2, 11), (3, 2), (4, 4)] {
            for number in 1..=last {
                let whole = format!("{report}.{number}");
                let is_it = |(id, _): &(&str, &str)| {
                    id.strip_prefix(&whole)
                        .is_some_and(|rest| rest.chars().all(|c| c.is_ascii_lowercase()))
                };
                assert!(answered.iter().any(is_it), "{whole}");
            }
        }
    }

    #[test]
    fn deciding_works_answer_all_that_needs_no_attack_and_no_server() {
        let works = deciding_works(2);
        let open = |attacks: bool| {
            let works = works.iter().map(|work| work.row.clone());
            let (rows, noise) = planned::run(works, attacks);
            let all = answers(&rows, &noise).into_iter();
            let open = all.filter(|claim| claim.answer == Answer::NotMeasured);
            open.map(|claim| claim.id).collect::<Vec<_>>()
        };
        let servers = ["3.1a", "3.1b", "3.2a", "3.2b"];
        assert_eq!(open(true), servers);
        // Two ask what only attacks show, and two follow from one of them.
        let attacks = ["1.10c", "1.10e", "1.11a", "1.12g", "1.13c"];
        assert_eq!(open(false), [&attacks[..], &servers].concat());
        let works = works.iter().map(|work| work.row.clone());
        assert_eq!(answerable(works, true), decidable() - servers.len());
        // Two are about memory, one needs two cores, and one four.
        let by_servers = [1, 2, 3, 4].map(answerable_by_servers);
        assert_eq!(by_servers, [2, 3, 3, servers.len()]);
    }
}
