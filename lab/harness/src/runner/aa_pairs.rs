//! Selects the subjects that are measured twice as A/A pairs.

use std::collections::BTreeMap;

use super::case_run::CaseRun;
use jeton_lab_model::Case;

/// The pairs of each larger number of threads: with one pair there is no other to judge it by.
const PAIRS_OF_THREADS: usize = 2;

/// Selects `wanted` of these cases with the fewest threads, and [`PAIRS_OF_THREADS`] of each larger number of
/// threads: the noise of one thread says nothing about several. References are excluded.
pub(super) fn choose(case_runs: &[CaseRun], cases: &[usize], wanted: usize) -> Vec<usize> {
    let mut eligible = cases.to_vec();
    eligible.retain(|&i| case_runs[i].failure.is_none() && !case_runs[i].case.is_reference());
    let threads = |i: usize| case_runs[i].case.threads;
    let chosen = counts(eligible.iter().map(|&i| threads(i)), wanted);
    let chosen = chosen.into_iter().flat_map(|(count, wanted)| {
        let own: Vec<usize> = eligible
            .iter()
            .copied()
            .filter(|&i| threads(i) == count)
            .collect();
        differing(case_runs, &own, wanted)
    });
    chosen.collect()
}

/// Returns the largest number of pairs that are chosen from these cases.
pub(super) fn most(cases: &[Case], wanted: usize) -> usize {
    let counts = counts(cases.iter().map(|case| case.threads), wanted);
    counts.values().sum::<usize>().min(cases.len())
}

/// Returns how many pairs each number of threads gets.
fn counts(threads: impl Iterator<Item = u32>, wanted: usize) -> BTreeMap<u32, usize> {
    let mut counts: BTreeMap<u32, usize> = threads
        .map(|count| (count, PAIRS_OF_THREADS.min(wanted)))
        .collect();
    if let Some(mut fewest) = counts.first_entry() {
        fewest.insert(wanted);
    }
    counts
}

/// Selects cases that differ as much as possible: by language first, then by algorithm, operation and
/// library.
fn differing(case_runs: &[CaseRun], from: &[usize], wanted: usize) -> Vec<usize> {
    let mut chosen: Vec<usize> = Vec::new();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    while chosen.len() < wanted {
        let candidates = from.iter().copied().filter(|i| !chosen.contains(i));
        let novelty = |&i: &usize| {
            let count = |trait_: &String| seen.get(trait_).copied().unwrap_or(0);
            traits(&case_runs[i]).each_ref().map(count)
        };
        let Some(next) = candidates.min_by_key(novelty) else {
            break;
        };
        for trait_ in traits(&case_runs[next]) {
            *seen.entry(trait_).or_default() += 1;
        }
        chosen.push(next);
    }
    chosen
}

fn traits(case_run: &CaseRun) -> [String; 4] {
    let case = &case_run.case;
    [
        format!("language {}", case.language),
        format!("alg {}", case.effective_alg()),
        format!("operation {}", case.operation),
        format!("library {}", case.library),
    ]
}
