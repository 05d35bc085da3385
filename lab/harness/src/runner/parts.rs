//! The parts of a large run, which are measured one after the other: each case has its own process, and the machine has
//! not the memory for all.

use super::case_run::CaseRun;
use crate::suite::Comparison;

/// The most processes of a part, unless one comparison has more. A runtime like the JVM takes up to 100 MB.
const PROCESSES: usize = 200;

/// Divides the cases that did not fail. Cases that are compared, directly or through others, stay together: they are
/// measured within the same half second.
pub(super) fn divide(case_runs: &[CaseRun], comparisons: &[Comparison]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (i, case_run) in case_runs.iter().enumerate() {
        if case_run.failure.is_some() {
            continue;
        }
        let shared = comparisons.iter().filter(|comparison| {
            let cases = comparison.cases();
            cases.contains(&case_run.case)
        });
        let compared: Vec<_> = shared.flat_map(|comparison| comparison.cases()).collect();
        let (joined, mut apart): (Vec<_>, Vec<_>) = groups.into_iter().partition(|group| {
            group
                .iter()
                .any(|&i| compared.contains(&&case_runs[i].case))
        });
        let mut group = joined.concat();
        group.push(i);
        apart.push(group);
        groups = apart;
    }
    groups.sort_by_key(|group| group[0]);
    packed(groups, PROCESSES)
}

/// Joins neighbouring groups up to this size.
fn packed(groups: Vec<Vec<usize>>, most: usize) -> Vec<Vec<usize>> {
    let mut parts: Vec<Vec<usize>> = Vec::new();
    for group in groups {
        match parts.last_mut() {
            Some(part) if part.len() + group.len() <= most => part.extend(group),
            _ => parts.push(group),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use jeton_lab_model::result::Status;
    use jeton_lab_model::{Case, Format};

    fn case(library: &str, alg: &str) -> Case {
        Case {
            format: Format::Jwt,
            alg: Some(alg.to_owned()),
            ..Case::new(&format!("go/{library}"), library, "1.0.0", "go")
        }
    }

    #[test]
    fn compared_cases_are_in_one_part() {
        let cases = [
            case("a", "HS256"),
            case("a", "ES256"),
            case("b", "HS256"),
            case("b", "ES256"),
            case("c", "HS256"),
            case("d", "HS256"),
        ];
        let mut runs: Vec<CaseRun> = cases.iter().map(|c| CaseRun::new(c.clone(), "s")).collect();
        runs[4].fail(Status::Unavailable, "no compiler".to_owned());
        let table = |title, cases: &[usize]| {
            let others = cases[1..].iter().map(|&i| runs[i].case.clone()).collect();
            Comparison::new("s", title, runs[cases[0]].case.clone(), others).unwrap()
        };
        let tables = [table("HS256", &[0, 2]), table("ES256", &[1, 3])];
        assert_eq!(divide(&runs, &tables), [[0, 2, 1, 3, 5]]);
        let joined = [&tables[..], &[table("a", &[0, 1])]].concat();
        assert_eq!(divide(&runs, &joined), [[0, 1, 2, 3, 5]]);
    }

    #[test]
    fn parts_are_filled_up_to_their_size() {
        let groups = vec![vec![0, 1], vec![2], vec![3, 4, 5, 6], vec![7]];
        let parts = [vec![0, 1, 2], vec![3, 4, 5, 6], vec![7]];
        assert_eq!(packed(groups, 3), parts);
    }
}
