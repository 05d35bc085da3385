//! From benches to the noise floor and the verdicts.

use super::bench::Bench;
use crate::judging::{self, Contest, Contestant, Twins};
use crate::result::{NoiseFloor, Verdict};
use crate::suite::{Cell, Comparison};

/// What the identical pairs came to.
pub(super) fn noise_floor(benches: &[Bench]) -> NoiseFloor {
    let twins: Vec<Twins> = benches
        .iter()
        .filter(|b| measured(b))
        .filter_map(|twin| Some((&benches[twin.twin_of?], twin)))
        .filter(|(original, twin)| measured(original) && comparable(original, twin))
        .map(|(original, twin)| Twins {
            subject: original.cell.subject_id(),
            contract: original.cell.contract.name().into(),
            managed: original.cell.is_managed(),
            rounds: [original.rounds.clone(), twin.rounds.clone()],
        })
        .collect();
    judging::noise_floor(&twins)
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
        let contestants = rows.iter().map(|row| Contestant {
            id: row.cell.subject_id(),
            managed: row.cell.is_managed(),
            factors: Comparison::factors(&rows[0].cell, &row.cell)
                .into_iter()
                .map(str::to_owned)
                .collect(),
            rounds: row.rounds.clone(),
        });
        let contest = Contest {
            suite: comparison.suite().into(),
            contract: comparison.contract().name().into(),
            claims: comparison.claims().into(),
            threads: comparison.threads(),
            title: comparison.title().into(),
            contestants: contestants.collect(),
        };
        verdicts.extend(judging::verdicts(&contest, noise));
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
