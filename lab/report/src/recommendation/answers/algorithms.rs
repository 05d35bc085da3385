//! Which algorithm: what each costs in one library, by who verifies.

use jeton_lab_model::names;
use jeton_lab_model::result::RunResult;
use jeton_lab_model::units;
use jeton_lab_stats::interval::{Ratio, estimate};

use super::super::algorithms::facts;
use super::super::cost::Cost;
use super::sure::of_ratio;
use super::{Answer, Figure, Measured};

/// The algorithms of the chart; the others are in the tables.
const CHARTED: [&str; 4] = ["HS256", "EdDSA", "ES256", "RS256"];

pub(super) fn answer(result: &RunResult, costs: &[Cost<'_>]) -> Answer {
    let question = "Which algorithm?";
    let command = "jeton lab run algorithms";
    let own = of_one_library(costs);
    let charted: Vec<&Cost<'_>> = CHARTED.iter().filter_map(|alg| find(&own, alg)).collect();
    let pair = pair(&charted);
    let Some((slow, fast, ratio)) = pair else {
        let what = "the time to sign and verify tokens of two algorithms with one library";
        return Answer::missing("algorithm", question, what, command);
    };
    let [low, high] = ratio.interval();
    let library = &slow.candidate.subject.library;
    let [slow_alg, fast_alg] = [slow, fast].map(alg);
    let verify = slow.verify.median / fast.verify.median;
    let measured = Measured {
        figure: Figure {
            value: format!("{}\u{a0}×", factor(ratio.ratio())),
            interval: format!("{} to {}", factor(low), factor(high)),
            what: format!(
                "{slow_alg} against {fast_alg}, to sign and verify; {}\u{a0}× to verify",
                units::times(verify)
            ),
        },
        bars_show: format!("Time to sign and verify one token with {library}"),
        bars: charted
            .iter()
            .map(|cost| {
                super::Bar::of(
                    cost,
                    alg(cost).to_owned(),
                    names::token(cost.candidate.subject),
                )
            })
            .collect(),
        sure: of_ratio(result, &ratio, slow.scored().managed),
    };
    Answer {
        id: "algorithm",
        question,
        sentence: sentence(&own),
        measured: Some(measured),
        command,
    }
}

/// Formats a factor with three digits.
fn factor(value: f64) -> String {
    match value {
        v if v < 10.0 => units::fixed(v, 2),
        v if v < 100.0 => units::fixed(v, 1),
        v => units::fixed(v, 0),
    }
}

fn alg<'a>(cost: &Cost<'a>) -> &'a str {
    cost.candidate.subject.alg.as_deref().unwrap_or_default()
}

/// Returns the signed JWTs of the library that has most algorithms; of equals, the first measured.
fn of_one_library<'c, 'a>(costs: &'c [Cost<'a>]) -> Vec<&'c Cost<'a>> {
    let jwt = || costs.iter().filter(|c| c.candidate.subject.format == "jwt");
    let of = |driver: &str| -> Vec<&'c Cost<'a>> {
        jwt()
            .filter(|c| c.candidate.subject.driver() == driver)
            .collect()
    };
    let mut most: Vec<&Cost<'a>> = Vec::new();
    for cost in jwt() {
        let own = of(cost.candidate.subject.driver());
        if own.len() > most.len() {
            most = own;
        }
    }
    most
}

fn find<'c, 'a>(costs: &[&'c Cost<'a>], name: &str) -> Option<&'c Cost<'a>> {
    costs.iter().copied().find(|cost| alg(cost) == name)
}

/// Returns ES256 against HS256, or the slowest against the fastest.
fn pair<'c, 'a>(charted: &[&'c Cost<'a>]) -> Option<(&'c Cost<'a>, &'c Cost<'a>, Ratio)> {
    let usual = find(charted, "ES256").zip(find(charted, "HS256"));
    let by_time = |a: &&&Cost<'_>, b: &&&Cost<'_>| a.median.total_cmp(&b.median);
    let ends = || {
        let slow = charted.iter().max_by(by_time)?;
        let fast = charted.iter().min_by(by_time)?;
        (alg(slow) != alg(fast)).then_some((*slow, *fast))
    };
    let (slow, fast) = usual.or_else(ends)?;
    let ratio = estimate(&slow.rounds, &fast.rounds, 1).ok()?;
    Some((slow, fast, ratio))
}

/// Names the cheapest algorithm for each case of use.
fn sentence(own: &[&Cost<'_>]) -> String {
    let cheapest = |third_parties: bool| {
        own.iter()
            .filter(|cost| {
                let facts = facts("jwt", Some(alg(cost)));
                // Ed25519 is another name of EdDSA with this curve.
                let is_named_twice = alg(cost) == "Ed25519" && find(own, "EdDSA").is_some();
                !is_named_twice && facts.is_some_and(|f| f.third_parties == third_parties)
            })
            .min_by(|a, b| a.median.total_cmp(&b.median))
            .map(|cost| alg(cost))
    };
    match (cheapest(false), cheapest(true)) {
        (Some(shared), Some(signature)) => format!(
            "One party issues and verifies: {shared}. Third parties verify: {signature}, because a shared secret can also sign."
        ),
        (Some(shared), None) => format!("One party issues and verifies: {shared}."),
        (None, Some(signature)) => format!("Third parties verify: {signature}."),
        (None, None) => "No algorithm was measured.".to_owned(),
    }
}
