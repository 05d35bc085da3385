//! Which subjects run twice: the A/A pairs that show what this run makes out of nothing.

use std::collections::BTreeMap;

use super::bench::Bench;

/// `wanted` benches that differ from each other as much as the run allows: by language first,
/// then by algorithm, contract and library. Reference lines have no twins.
pub(super) fn choose(benches: &[Bench], wanted: usize) -> Vec<usize> {
    let mut chosen: Vec<usize> = Vec::new();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    while chosen.len() < wanted {
        let candidates = (0..benches.len()).filter(|i| {
            benches[*i].live() && !benches[*i].cell.is_reference() && !chosen.contains(i)
        });
        let novelty = |&i: &usize| {
            let count = |trait_: &String| seen.get(trait_).copied().unwrap_or(0);
            traits(&benches[i]).each_ref().map(count)
        };
        let Some(next) = candidates.min_by_key(novelty) else {
            break;
        };
        for trait_ in traits(&benches[next]) {
            *seen.entry(trait_).or_default() += 1;
        }
        chosen.push(next);
    }
    chosen
}

fn traits(bench: &Bench) -> [String; 4] {
    let cell = &bench.cell;
    [
        format!("language {}", cell.language),
        format!("alg {}", cell.effective_alg()),
        format!("contract {}", cell.contract),
        format!("library {}", cell.library),
    ]
}
