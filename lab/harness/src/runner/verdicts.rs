//! Computes the noise floor and the verdicts of a run.

use super::case_run::CaseRun;
use crate::suite::Comparison;
use jeton_lab_model::Case;
use jeton_lab_model::result::{NoiseFloor, Verdict};
use jeton_lab_stats::verdicts::{self, AaRounds, ComparisonInput, Entrant};

/// Computes the noise floor from the A/A pairs.
pub(super) fn noise_floor(case_runs: &[CaseRun]) -> NoiseFloor {
    let aa_pairs: Vec<AaRounds> = case_runs
        .iter()
        .filter(|b| measured(b))
        .filter_map(|second| Some((&case_runs[second.aa_pair_of?], second)))
        .filter(|(original, second)| measured(original) && comparable(original, second))
        .map(|(original, second)| AaRounds {
            subject: original.case.subject_id(),
            operation: original.case.operation.name().into(),
            threads: original.case.threads,
            managed: original.case.is_managed(),
            rounds: [original.rounds.clone(), second.rounds.clone()],
        })
        .collect();
    verdicts::noise_floor(&aa_pairs)
}

/// Computes the verdicts of each comparison, for the subjects that finished.
pub(super) fn verdicts(
    case_runs: &[CaseRun],
    comparisons: &[Comparison],
    noise: &NoiseFloor,
) -> Vec<Verdict> {
    let of = |case: &Case| {
        case_runs
            .iter()
            .find(|b| b.aa_pair_of.is_none() && b.case == *case)
            .filter(|b| measured(b))
    };
    let mut verdicts = Vec::new();
    for planned in comparisons {
        let Some(comparison) = planned.narrowed(|case| of(case).is_some()) else {
            continue;
        };
        let rows: Vec<&CaseRun> = comparison.cases().iter().filter_map(of).collect();
        let entrants = rows.iter().map(|row| Entrant {
            id: row.case.subject_id(),
            managed: row.case.is_managed(),
            factors: Comparison::factors(&rows[0].case, &row.case)
                .into_iter()
                .map(str::to_owned)
                .collect(),
            rounds: row.rounds.clone(),
        });
        let input = ComparisonInput {
            suite: comparison.suite().into(),
            operation: comparison.operation().name().into(),
            claims: comparison.claims().into(),
            threads: comparison.threads(),
            title: comparison.title().into(),
            entrants: entrants.collect(),
        };
        verdicts.extend(verdicts::verdicts(&input, noise));
    }
    verdicts
}

fn measured(case_run: &CaseRun) -> bool {
    case_run.failure.is_none() && !case_run.rounds.is_empty()
}

fn comparable(a: &CaseRun, b: &CaseRun) -> bool {
    a.rounds.len() == b.rounds.len()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use jeton_lab_model::result::{Status, VerdictKind};
    use jeton_lab_model::{Format, Operation};

    fn case_run(library: &str, format: Format, alg: Option<&str>, ns: f64) -> CaseRun {
        let case = Case {
            format,
            alg: alg.map(str::to_owned),
            operation: Operation::Verify,
            ..Case::new(&format!("go/{library}"), library, "1.0.0", "go")
        };
        let mut case_run = CaseRun::new(case, "formats");
        case_run.rounds = (0..8)
            .map(|i| ns * (1.0 + 0.001 * f64::from(i % 3)))
            .collect();
        case_run
    }

    fn compared(case_runs: &[CaseRun]) -> Vec<Verdict> {
        let cases: Vec<Case> = case_runs.iter().map(|b| b.case.clone()).collect();
        let comparison =
            Comparison::new("formats", "a pair", cases[0].clone(), cases[1..].to_vec()).unwrap();
        let quiet = NoiseFloor {
            floor: Some(0.0),
            ..NoiseFloor::default()
        };
        verdicts(case_runs, &[comparison], &quiet)
    }

    #[test]
    fn verdicts_report_1_pair_is_confounded() {
        let verdicts = compared(&[
            case_run("golang-jwt", Format::Jwt, Some("ES256"), 100.0),
            case_run("go-paseto", Format::V4Public, None, 80.0),
        ]);
        let [verdict] = verdicts.as_slice() else {
            unreachable!("one subject against one baseline")
        };
        assert!(verdict.confounded);
        assert_eq!(verdict.factors, ["format", "algorithm", "library"]);
        assert_eq!(
            verdict.verdict,
            VerdictKind::Faster,
            "the ratio is still computed"
        );
    }

    #[test]
    fn verdicts_one_factor_is_not_confounded() {
        let verdicts = compared(&[
            case_run("jeton", Format::Jwt, Some("EdDSA"), 100.0),
            case_run("jeton", Format::V4Public, None, 100.0),
        ]);
        assert!(!verdicts[0].confounded);
        assert_eq!(verdicts[0].factors, ["format"]);
        assert_eq!(verdicts[0].verdict, VerdictKind::Equivalent);
        assert_eq!(
            (verdicts[0].group, verdicts[0].baseline_group),
            (1, Some(1))
        );
    }

    #[test]
    fn verdicts_failed_baseline_is_replaced() {
        let mut case_runs = [
            case_run("jeton", Format::Jwt, Some("ES256"), 100.0),
            case_run("golang-jwt", Format::Jwt, Some("ES256"), 200.0),
            case_run("cristalhq", Format::Jwt, Some("ES256"), 300.0),
        ];
        case_runs[0].fail(Status::Crashed, "died");
        let verdicts = compared(&case_runs);
        assert_eq!(verdicts.len(), 1);
        assert!(verdicts[0].baseline.contains("golang-jwt"));
        assert_eq!(verdicts[0].group, 2);
    }
}
