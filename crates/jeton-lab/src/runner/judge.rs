//! From rounds to verdicts: the noise floor first, then every comparison.

use super::bench::Bench;
use crate::result::{AaPair, NoiseFloor, Verdict};
use crate::stats::interval::estimate;
use crate::stats::mann_whitney::p_value;
use crate::stats::noise::{IdenticalPair, floor, judge_each};
use crate::stats::tiers::tiers;
use crate::stats::verdict::{Band, judge, more_rounds};
use crate::suite::{Cell, Comparison};

/// What the identical pairs came to.
pub(super) fn noise_floor(benches: &[Bench]) -> NoiseFloor {
    let twins: Vec<(&Bench, &Bench)> = benches
        .iter()
        .filter(|b| measured(b))
        .filter_map(|twin| Some((&benches[twin.twin_of?], twin)))
        .filter(|(original, twin)| measured(original) && comparable(original, twin))
        .collect();
    let pairs: Vec<IdenticalPair<'_>> = twins
        .iter()
        .map(|(original, twin)| IdenticalPair {
            first: &original.rounds,
            second: &twin.rounds,
        })
        .collect();
    // Rounds that cannot be compared were taken out above; too few of them give no floor.
    let judged = judge_each(&pairs).unwrap_or_default();
    NoiseFloor {
        floor: floor(&pairs).ok().flatten(),
        pairs: twins
            .iter()
            .zip(judged)
            .map(|((original, _), (ratio, verdict))| AaPair {
                subject: original.cell.subject_id(),
                contract: original.cell.contract.name().into(),
                ratio: ratio.ratio(),
                interval: ratio.interval(),
                verdict,
            })
            .collect(),
    }
}

/// What each comparison came to, for the subjects that were measured to the end.
pub(super) fn verdicts(
    benches: &[Bench],
    comparisons: &[Comparison],
    noise: &NoiseFloor,
) -> Vec<Verdict> {
    let of = |cell: &Cell| {
        benches
            .iter()
            .find(|b| b.twin_of.is_none() && b.cell == *cell)
            .filter(|b| measured(b))
    };
    let band = Band::new(noise.floor);
    let mut verdicts = Vec::new();
    for planned in comparisons {
        let Some(comparison) = planned.narrowed(|cell| of(cell).is_some()) else {
            continue;
        };
        let rows: Vec<&Bench> = comparison.cells().iter().filter_map(of).collect();
        let rounds: Vec<&[f64]> = rows.iter().map(|b| b.rounds.as_slice()).collect();
        let Ok(tiers) = tiers(&rounds, band) else {
            continue;
        };
        let baseline = rows[0];
        for (row, tier) in rows.iter().zip(&tiers).skip(1) {
            let Ok(ratio) = estimate(&row.rounds, &baseline.rounds, rows.len() - 1) else {
                continue;
            };
            let factors = Comparison::factors(&baseline.cell, &row.cell);
            verdicts.push(Verdict {
                suite: comparison.suite().into(),
                contract: comparison.contract().name().into(),
                comparison: comparison.title().into(),
                confounded: factors.len() > 1,
                factors: factors.into_iter().map(str::to_owned).collect(),
                baseline: baseline.cell.subject_id(),
                subject: row.cell.subject_id(),
                ratio: ratio.ratio(),
                interval: ratio.interval(),
                verdict: judge(&ratio, band),
                tier: *tier,
                baseline_tier: Some(tiers[0]),
                more_rounds: more_rounds(&ratio, band),
                p_value: p_value(&row.rounds, &baseline.rounds),
            });
        }
    }
    verdicts
}

fn measured(bench: &Bench) -> bool {
    bench.failure.is_none() && !bench.rounds.is_empty()
}

fn comparable(a: &Bench, b: &Bench) -> bool {
    a.rounds.len() == b.rounds.len()
}
