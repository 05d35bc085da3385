//! From rounds to verdicts: the noise floor first, then every comparison.

use super::bench::Bench;
use crate::result::{AaPair, NoiseFloor, Verdict};
use crate::stats::interval::estimate;
use crate::stats::mann_whitney::p_value;
use crate::stats::noise::{IdenticalPair, floor, judge_each};
use crate::stats::tiers::tiers;
use crate::stats::verdict::{Band, judge, more_rounds};
use crate::suite::{Cell, Comparison};

/// What the identical pairs came to. Compiled and managed code have a floor each, as soon as both
/// have two pairs: fewer cannot judge each other.
pub(super) fn noise_floor(benches: &[Bench]) -> NoiseFloor {
    let twins: Vec<Twins<'_>> = benches
        .iter()
        .filter(|b| measured(b))
        .filter_map(|twin| Some((&benches[twin.twin_of?], twin)))
        .filter(|(original, twin)| measured(original) && comparable(original, twin))
        .collect();
    let (managed, compiled): (Vec<_>, Vec<_>) = twins
        .iter()
        .partition(|(original, _)| original.cell.is_managed());
    if managed.len() < 2 || compiled.len() < 2 {
        let (floor, pairs) = of_kind(&twins);
        return NoiseFloor {
            floor,
            managed: None,
            pairs,
        };
    }
    let (floor, mut pairs) = of_kind(&compiled);
    let (managed, pairs_of_managed) = of_kind(&managed);
    pairs.extend(pairs_of_managed);
    NoiseFloor {
        floor,
        managed,
        pairs,
    }
}

type Twins<'b> = (&'b Bench, &'b Bench);

/// The floor of these pairs, and each judged by the others.
fn of_kind(twins: &[Twins<'_>]) -> (Option<f64>, Vec<AaPair>) {
    let pairs: Vec<IdenticalPair<'_>> = twins
        .iter()
        .map(|(original, twin)| IdenticalPair {
            first: &original.rounds,
            second: &twin.rounds,
        })
        .collect();
    // Rounds that cannot be compared were taken out above; too few of them give no floor.
    let judged = judge_each(&pairs).unwrap_or_default();
    let judged = twins
        .iter()
        .zip(judged)
        .map(|((original, twin), (ratio, verdict))| AaPair {
            subject: original.cell.subject_id(),
            contract: original.cell.contract.name().into(),
            ratio: ratio.ratio(),
            interval: ratio.interval(),
            verdict,
            rounds: [original.rounds.clone(), twin.rounds.clone()],
        });
    (floor(&pairs).ok().flatten(), judged.collect())
}

/// The band for subjects of these cells: that of the noisiest kind among them.
fn band<'c>(noise: &NoiseFloor, mut cells: impl Iterator<Item = &'c Cell>) -> Band {
    let managed = noise.managed.filter(|_| cells.any(Cell::is_managed));
    Band::new(match (noise.floor, managed) {
        (Some(floor), Some(managed)) => Some(floor.max(managed)),
        (floor, managed) => floor.or(managed),
    })
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
    let mut verdicts = Vec::new();
    for planned in comparisons {
        let Some(comparison) = planned.narrowed(|cell| of(cell).is_some()) else {
            continue;
        };
        let rows: Vec<&Bench> = comparison.cells().iter().filter_map(of).collect();
        let rounds: Vec<&[f64]> = rows.iter().map(|b| b.rounds.as_slice()).collect();
        // One band for the whole order: a tier must not come out of anybody's noise.
        let widest = band(noise, comparison.cells().iter());
        let Ok(tiers) = tiers(&rounds, widest) else {
            continue;
        };
        let baseline = rows[0];
        for (row, tier) in rows.iter().zip(&tiers).skip(1) {
            let Ok(ratio) = estimate(&row.rounds, &baseline.rounds, rows.len() - 1) else {
                continue;
            };
            let band = band(noise, [&baseline.cell, &row.cell].into_iter());
            let factors = Comparison::factors(&baseline.cell, &row.cell);
            verdicts.push(Verdict {
                suite: comparison.suite().into(),
                contract: comparison.contract().name().into(),
                claims: comparison.claims().into(),
                threads: comparison.threads(),
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::result::{Judgement, Status};
    use crate::suite::{Contract, Format};

    fn bench(library: &str, format: Format, alg: Option<&str>, ns: f64) -> Bench {
        let cell = Cell {
            format,
            alg: alg.map(str::to_owned),
            contract: Contract::Verify,
            ..Cell::new(&format!("go/{library}"), library, "1.0.0", "go")
        };
        let mut bench = Bench::new(cell, "formats");
        bench.rounds = (0..8)
            .map(|i| ns * (1.0 + 0.001 * f64::from(i % 3)))
            .collect();
        bench
    }

    fn compared(benches: &[Bench]) -> Vec<Verdict> {
        let cells: Vec<Cell> = benches.iter().map(|b| b.cell.clone()).collect();
        let comparison =
            Comparison::new("formats", "a pair", cells[0].clone(), cells[1..].to_vec()).unwrap();
        verdicts(benches, &[comparison], &NoiseFloor::default())
    }

    #[test]
    fn the_confounded_pair_of_report_1_is_marked_so() {
        let verdicts = compared(&[
            bench("golang-jwt", Format::Jwt, Some("ES256"), 100.0),
            bench("go-paseto", Format::V4Public, None, 80.0),
        ]);
        let [verdict] = verdicts.as_slice() else {
            unreachable!("one subject against one baseline")
        };
        assert!(verdict.confounded);
        assert_eq!(verdict.factors, ["format", "algorithm", "library"]);
        assert_eq!(
            verdict.verdict,
            Judgement::Faster,
            "the ratio stands all the same"
        );
    }

    #[test]
    fn one_factor_is_named_and_not_confounded() {
        let verdicts = compared(&[
            bench("jeton", Format::Jwt, Some("EdDSA"), 100.0),
            bench("jeton", Format::V4Public, None, 100.0),
        ]);
        assert!(!verdicts[0].confounded);
        assert_eq!(verdicts[0].factors, ["format"]);
        assert_eq!(verdicts[0].verdict, Judgement::Equivalent);
        assert_eq!((verdicts[0].tier, verdicts[0].baseline_tier), (1, Some(1)));
    }

    #[test]
    fn who_failed_is_in_no_verdict_and_the_next_is_the_baseline() {
        let mut benches = [
            bench("jeton", Format::Jwt, Some("ES256"), 100.0),
            bench("golang-jwt", Format::Jwt, Some("ES256"), 200.0),
            bench("cristalhq", Format::Jwt, Some("ES256"), 300.0),
        ];
        benches[0].fail(Status::Crashed, "died");
        let verdicts = compared(&benches);
        assert_eq!(verdicts.len(), 1);
        assert!(verdicts[0].baseline.contains("golang-jwt"));
        assert_eq!(verdicts[0].tier, 2);
    }
}
