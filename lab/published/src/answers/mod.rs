//! Answers of a run to the published conclusions, with figures.
//!
//! The conclusions are data: their words in `data/conclusions.txt`, and what decides each in the tables of their report,
//! as one of six [rules](Rule). An answer is a function of the run's rows; answers about security also use rows of
//! attacks. Missing and failed rows are never guessed: the answer is then *not measured*, with what is missing. If the
//! interval leaves it open, the answer is *undecided*, with the interval.

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

use evidence::{Evidence, Finding, Limit, Open};
use pair::{Pair, Statement};
use report_4::Range;

use super::report_1::threads_of;
use super::source::{REPORT_3, Source, reports};
use jeton_lab_model::result::{Answer, ClaimAnswered, NoiseFloor, RowId, Rows, ServerRow};

/// What decides a conclusion.
enum Rule {
    /// The pairs of the report, and pairs with the format as the only factor.
    Pairs(Statement, Vec<Pair>, Vec<Pair>),
    /// Ratios of works, each named, within a limit: the words before them, and why it holds or does not.
    Ratios(
        &'static str,
        Limit,
        [&'static str; 2],
        Vec<(&'static str, RowId, RowId)>,
    ),
    /// Differences of two libraries in a published range.
    Range(Range),
    /// Attacks that both libraries must reject; without attack rows, what the preflight tests. The text is added if it
    /// holds.
    Rejected(&'static [&'static str], Option<&'static str>, &'static str),
    /// Several other conclusions.
    Together(&'static [&'static str]),
    /// Figures of these works, or facts without works.
    Figures(
        Vec<RowId>,
        fn(&Evidence<'_>, &[RowId]) -> Result<Finding, Open>,
    ),
}

/// A conclusion by its number.
type Conclusion = (&'static str, Rule);

impl Rule {
    /// Returns the works that decide the conclusion.
    fn works(&self) -> Vec<RowId> {
        match self {
            Self::Pairs(_, published, one_factor) => {
                let pairs = published.iter().chain(one_factor);
                pairs.flat_map(|pair| pair.works().cloned()).collect()
            }
            Self::Ratios(.., parts) => {
                let parts = parts.iter();
                parts
                    .flat_map(|(_, ours, theirs)| [ours.clone(), theirs.clone()])
                    .collect()
            }
            Self::Range(range) => range.works(),
            Self::Figures(works, _) => works.clone(),
            Self::Rejected(..) | Self::Together(_) => Vec::new(),
        }
    }

    /// Answers the conclusion; `before` are the answers to those before it.
    fn answer(&self, e: &Evidence<'_>, before: &[(&str, Finding)]) -> Finding {
        let found = match self {
            Self::Pairs(said, published, one_factor) => {
                pair::answer(e, *said, published, one_factor)
            }
            Self::Ratios(words, limit, whys, parts) => e.ratios(words, *limit, *whys, parts),
            Self::Range(range) => range.answer(e),
            Self::Rejected(attacks, before_timing, more) => {
                attacked::answer(e, attacks, *before_timing).map(|mut found| {
                    found.why += if found.answer == Answer::Holds {
                        more
                    } else {
                        ""
                    };
                    found
                })
            }
            Self::Together(ids) => Ok(together(before, ids)),
            Self::Figures(works, answer) => answer(e, works),
        };
        found.unwrap_or_else(Finding::open)
    }
}

/// Answers a conclusion that follows from several others: all must hold.
fn together(before: &[(&str, Finding)], ids: &[&str]) -> Finding {
    let parts = ids
        .iter()
        .filter_map(|id| before.iter().find(|(known, _)| known == id));
    let parts: Vec<&(&str, Finding)> = parts.collect();
    // One part that does not hold decides, also if others are open.
    let worst = [
        (
            Answer::DoesNotHold,
            "an underlying conclusion does not hold",
        ),
        (
            Answer::NotMeasured,
            "an underlying conclusion was not measured",
        ),
        (Answer::Undecided, "an underlying conclusion is undecided"),
        (
            Answer::Artefact,
            "an underlying difference has another cause than the format",
        ),
    ];
    let has = |answer| parts.iter().any(|(_, found)| found.answer == answer);
    let worst = worst.into_iter().find(|(worst, _)| has(*worst));
    let (answer, why) = worst.unwrap_or((Answer::Holds, "all underlying conclusions hold"));
    let words = parts
        .iter()
        .map(|(id, found)| format!("{id} {}", found.answer.label()));
    let words: Vec<String> = words.collect();
    let mut rows: Vec<RowId> = parts
        .iter()
        .flat_map(|(_, found)| found.rows.clone())
        .collect();
    rows.sort();
    rows.dedup();
    let measured = format!("underlying conclusions: {}", words.join(", "));
    Finding::new(answer, measured, why, rows)
}

const CONCLUSIONS: &str = include_str!("../../data/conclusions.txt");

/// The numbers of all conclusions with their texts, in the order of the page.
fn conclusions() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = CONCLUSIONS.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once(' '))
}

/// The conclusions of a report, with the given threads for concurrent measurements.
fn of_report(report: u8, threads: u32) -> Vec<Conclusion> {
    match report {
        1 => report_1::conclusions(threads),
        2 => report_2::conclusions(),
        3 => report_3::conclusions(),
        _ => report_4::conclusions(),
    }
}

/// Answers the conclusions of a report, in the order of the page.
fn answered(source: &Source, e: &Evidence<'_>) -> Vec<ClaimAnswered> {
    let rules = of_report(source.report, threads_of(e.rows));
    let number = format!("{}.", source.report);
    let (mut found, mut answered): (Vec<(&str, Finding)>, Vec<ClaimAnswered>) = Default::default();
    for (id, words) in conclusions().filter(|(id, _)| id.starts_with(&number)) {
        let rule = rules.iter().find(|(of, _)| *of == id);
        let (_, rule) = rule.expect("a test answers every conclusion");
        let own = rule.answer(e, &found);
        answered.push(ClaimAnswered {
            id: id.to_owned(),
            report: source.report,
            claim: words.to_owned(),
            machine: source.machine.to_owned(),
            answer: own.answer,
            measured: own.measured.clone(),
            why: own.why.clone(),
            rows: own.rows.clone(),
        });
        found.push((id, own));
    }
    answered
}

/// Returns every conclusion of the four reports with its answer, in the reports' order.
#[must_use]
pub fn answers(rows: &Rows, noise: &NoiseFloor) -> Vec<ClaimAnswered> {
    let evidence = Evidence {
        rows: &rows.measured,
        attacks: &rows.attack,
        servers: &rows.servers,
        noise,
    };
    reports()
        .iter()
        .flat_map(|source| answered(source, &evidence))
        .collect()
}

/// Returns the conclusions of the report on servers, with their answers.
#[must_use]
pub fn of_servers(servers: &[ServerRow]) -> Vec<ClaimAnswered> {
    let noise = &NoiseFloor::default();
    let (rows, attacks) = (&[], &[]);
    answered(
        &REPORT_3,
        &Evidence {
            rows,
            attacks,
            servers,
            noise,
        },
    )
}

/// Returns the number of conclusions that measurements can decide; the others are opinions.
#[must_use]
pub fn decidable() -> usize {
    let all = answers(&Rows::default(), &NoiseFloor::default());
    all.iter()
        .filter(|claim| claim.answer != Answer::Opinion)
        .count()
}

/// Returns how many conclusions these works answer, if all of them are measured, and the [attacks](deciding_attacks)
/// are made or not.
#[must_use]
pub fn answerable(works: impl Iterator<Item = RowId>, attacks: bool) -> usize {
    let (rows, noise) = planned::run(works, attacks);
    let all = answers(&rows, &noise);
    all.iter()
        .filter(|claim| claim.answer.is_measured())
        .count()
}

/// Returns how many conclusions the servers of the gRPC report answer on a machine with this number of cores.
#[must_use]
pub fn answerable_by_servers(cores: usize) -> usize {
    report_3::answerable(cores)
}

/// Returns the works that the conclusions of a report are decided by, with the given threads for concurrent
/// measurements.
pub(super) fn deciding(report: u8, threads: u32) -> Vec<RowId> {
    let mut works: Vec<RowId> = Vec::new();
    let all = of_report(report, threads);
    for work in all.iter().flat_map(|(_, rule)| rule.works()) {
        if !works.contains(&work) {
            works.push(work);
        }
    }
    works
}

/// Returns the attacks that conclusions are decided by, and the patterns of the subjects to attack.
#[must_use]
pub fn deciding_attacks() -> (Vec<&'static str>, Vec<String>) {
    attacked::deciding()
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
