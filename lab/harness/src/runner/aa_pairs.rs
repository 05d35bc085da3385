//! Selects the subjects that are measured twice as A/A pairs.

use std::collections::BTreeMap;

use super::case_run::CaseRun;

/// Selects `wanted` cases that differ as much as possible: by language first, then by algorithm,
/// operation and library. References are excluded.
pub(super) fn choose(case_runs: &[CaseRun], wanted: usize) -> Vec<usize> {
    let mut chosen: Vec<usize> = Vec::new();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    while chosen.len() < wanted {
        let candidates = (0..case_runs.len()).filter(|i| {
            case_runs[*i].live() && !case_runs[*i].case.is_reference() && !chosen.contains(i)
        });
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
