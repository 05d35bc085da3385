//! Which algorithm: what each costs in one library, by who verifies.

use std::collections::BTreeSet;

use jeton_lab_model::names;
use jeton_lab_model::recommendation::Weight;
use jeton_lab_model::result::{NoiseFloor, RunResult, VerdictKind};
use jeton_lab_model::units;
use jeton_lab_stats::interval::{Ratio, estimate};

use super::super::algorithms::facts;
use super::super::cost::Cost;
use super::super::ranking::first_group;
use super::super::recommendation_of;
use super::sure::{Clear, Sure, of_choice, of_ratio};
use super::{Answer, Figure, Measured};

/// The algorithms of the chart; the others are in the tables.
const CHARTED: [&str; 4] = ["HS256", "EdDSA", "ES256", "RS256"];

/// The libraries of this project have one core.
const OWN: &str = "jeton";

/// With more algorithms than this in the fastest group, the rest is counted.
const NAMED_MAX: usize = 3;

pub(super) fn answer(result: &RunResult, costs: &[Cost<'_>]) -> Answer {
    let question = "Which algorithm?";
    let command = "jeton-lab run algorithms";
    let own = of_one_library(costs);
    let charted: Vec<&Cost<'_>> = CHARTED.iter().filter_map(|alg| find(&own, alg)).collect();
    let pair = pair(&charted);
    let Some((slow, fast, ratio)) = pair else {
        let what = "the time to sign and verify tokens of two algorithms with one library";
        return Answer::missing("algorithm", question, what, command);
    };
    let [low, high] = ratio.interval();
    let library = slow.library();
    let [slow_alg, fast_alg] = [slow, fast].map(alg);
    let libraries = in_libraries(costs, slow_alg, fast_alg);
    let measured = Measured {
        figure: Figure {
            value: format!("{}\u{a0}×", factor(ratio.ratio())),
            interval: format!("{} to {}", factor(low), factor(high)),
            what: format!(
                "{slow_alg} against {fast_alg} with {library}, to sign and verify{libraries}"
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
        sure: of_ratio(result, &ratio, slow.scored().managed)
            .about(&format!("{slow_alg} against {fast_alg}"))
            .or_weaker(choice(result, &own)),
    };
    Answer {
        id: "algorithm",
        question,
        sentence: sentence(result, costs, &own),
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

/// Says between which factors the pair is in other libraries.
fn in_libraries(costs: &[Cost<'_>], slow: &str, fast: &str) -> String {
    let pairs = pairs(costs, slow, fast);
    let ratios = || pairs.iter().map(|(slow, fast)| slow.median / fast.median);
    if pairs.len() < 2 {
        return String::new();
    }
    let [least, most] = [
        ratios().fold(f64::INFINITY, f64::min),
        ratios().fold(0.0, f64::max),
    ]
    .map(units::times);
    format!("; {least} to {most}\u{a0}× in {} libraries", pairs.len())
}

/// Pairs two algorithms in each library that has both. A library with several runtimes counts once, and so do the
/// libraries called jeton, which share one core.
fn pairs<'c, 'a>(
    costs: &'c [Cost<'a>],
    first: &str,
    second: &str,
) -> Vec<(&'c Cost<'a>, &'c Cost<'a>)> {
    let of = |name: &'_ str| -> Vec<&'c Cost<'a>> {
        let is_it = |cost: &&Cost<'_>| cost.candidate.subject.format == "jwt" && alg(cost) == name;
        costs.iter().filter(is_it).collect()
    };
    let seconds = of(second);
    let pairs = of(first).into_iter().filter_map(|one| {
        let is_same =
            |other: &&&Cost<'_>| other.candidate.subject.driver() == one.candidate.subject.driver();
        Some((one, *seconds.iter().find(is_same)?))
    });
    let mut pairs: Vec<_> = pairs.collect();
    let mut known = BTreeSet::new();
    pairs.retain(|(one, _)| {
        let subject = one.candidate.subject;
        let language = match subject.library.as_str() {
            OWN => "",
            _ => subject.language.as_str(),
        };
        known.insert((language, subject.library.as_str()))
    });
    pairs
}

/// Returns the algorithms of a case of use in the fastest group of this library, the lowest median first.
fn fastest<'c, 'a>(
    own: &[&'c Cost<'a>],
    third_parties: bool,
    noise: &NoiseFloor,
) -> Vec<&'c Cost<'a>> {
    let is_of_case = |cost: &&&'c Cost<'a>| {
        let facts = facts("jwt", Some(alg(cost)));
        // Ed25519 is another name of EdDSA with this curve.
        let is_named_twice = alg(cost) == "Ed25519" && find(own, "EdDSA").is_some();
        !is_named_twice && facts.is_some_and(|f| f.third_parties == third_parties)
    };
    let of_case: Vec<&'c Cost<'a>> = own.iter().filter(is_of_case).copied().collect();
    let scored: Vec<_> = of_case.iter().map(|cost| cost.scored()).collect();
    let group = first_group(&scored, Weight::RoundTrip, noise);
    let mut group: Vec<_> = group.into_iter().map(|index| of_case[index]).collect();
    group.sort_by(|a, b| a.median.total_cmp(&b.median));
    group
}

/// Says how sure the fastest algorithms are: those of a group are equivalent or undecided.
fn choice(result: &RunResult, own: &[&Cost<'_>]) -> Sure {
    let noise = &result.noise_floor;
    let is_open = |third_parties: bool| {
        let group = fastest(own, third_parties, noise);
        group.split_first().is_some_and(|(first, others)| {
            let equal = |other: &&Cost<'_>| {
                other.judged(first, others.len(), noise) == VerdictKind::Equivalent
            };
            !others.iter().all(equal)
        })
    };
    if [false, true].into_iter().any(is_open) {
        of_choice(result, Clear::No, "the fastest algorithm is undecided")
    } else {
        of_choice(result, Clear::Far, "the fastest algorithm is clear")
    }
}

/// Names the fastest algorithms for each case of use. A disturbed run gives no advice.
fn sentence(result: &RunResult, costs: &[Cost<'_>], own: &[&Cost<'_>]) -> String {
    let noise = &result.noise_floor;
    let named = |third_parties: bool| {
        let group = fastest(own, third_parties, noise);
        let names: Vec<&str> = group.iter().map(|cost| alg(cost)).collect();
        let rest = names.len().saturating_sub(NAMED_MAX);
        match (names.as_slice(), rest) {
            ([], _) => None,
            (all, 0) => Some(all.join(" or ")),
            (all, rest) => Some(format!("{} or {rest} others", all[..NAMED_MAX].join(", "))),
        }
    };
    let advice = recommendation_of(result);
    if result.environment.disturbance.disturbed && !advice.allow_noisy {
        let with = own.first().map_or_else(String::new, |cost| cost.library());
        let kinds = [(named(false), "shared secret"), (named(true), "key pair")];
        let kinds = kinds.into_iter().filter_map(|(names, key)| {
            let names = names?;
            Some(format!("{names} ({key})"))
        });
        return format!(
            "Fastest with {with}: {}.",
            units::list(&kinds.collect::<Vec<_>>())
        );
    }
    let elsewhere = elsewhere(costs, &fastest(own, true, noise), noise);
    let elsewhere = elsewhere.map_or_else(String::new, |other| format!("; {other}"));
    match (named(false), named(true)) {
        (Some(shared), Some(signature)) => format!(
            "One party issues and verifies: {shared}. Third parties verify and must not sign: {signature}{elsewhere}."
        ),
        (Some(shared), None) => format!("One party issues and verifies: {shared}."),
        (None, Some(signature)) => format!("Third parties verify: {signature}{elsewhere}."),
        (None, None) => "No algorithm was measured.".to_owned(),
    }
}

/// Says in how many libraries another usual algorithm is faster than the fastest one here.
fn elsewhere(costs: &[Cost<'_>], fastest: &[&Cost<'_>], noise: &NoiseFloor) -> Option<String> {
    let first = fastest.first()?;
    let counts = CHARTED.into_iter().filter(|name| {
        let is_in_group = fastest.iter().any(|cost| alg(cost) == *name);
        !is_in_group && facts("jwt", Some(name)).is_some_and(|f| f.third_parties)
    });
    let counts = counts.map(|name| {
        let pairs = pairs(costs, name, alg(first));
        let is_faster = |pair: &&(&Cost<'_>, &Cost<'_>)| {
            pair.0.judged(pair.1, pairs.len(), noise) == VerdictKind::Faster
        };
        (pairs.iter().filter(is_faster).count(), pairs.len(), name)
    });
    let (faster, all, name) = counts.max_by_key(|(faster, _, _)| *faster)?;
    (faster > 0).then(|| {
        format!(
            "{name} is faster in {faster} of {}",
            units::count(all, "library", "libraries")
        )
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::answers;
    use super::super::sure::Sureness;
    use super::*;
    use crate::recommendation::sample::{result, row};
    use jeton_lab_model::result::Row;

    fn library(language: &str, library: &str, times: &[(&str, f64)]) -> Vec<Row> {
        let rows = times.iter().flat_map(|(alg, ns)| {
            ["sign", "verify"].map(|verb| row(language, library, "jwt", alg, verb, *ns))
        });
        rows.collect()
    }

    /// jeton with three algorithms, and a library in which ES256 is faster than EdDSA.
    fn rows() -> Vec<Row> {
        let own = [("HS256", 100.0), ("EdDSA", 1_000.0), ("ES256", 1_500.0)];
        [
            library("rust", "jeton", &own),
            library("node", "other", &[("EdDSA", 3_000.0), ("ES256", 2_000.0)]),
        ]
        .concat()
    }

    fn said(result: &RunResult) -> (String, Sureness, String) {
        let answer = answers(result).swap_remove(1);
        let measured = answer.measured.unwrap();
        (
            answer.sentence,
            measured.sure.sureness,
            measured.figure.what,
        )
    }

    #[test]
    fn figure_names_the_library_and_the_sentence_the_libraries_that_disagree() {
        let (sentence, sureness, what) = said(&result(rows(), 0.02));
        assert_eq!(
            sentence,
            "One party issues and verifies: HS256. Third parties verify and must not sign: EdDSA; ES256 is faster in 1 of 2 libraries."
        );
        assert_eq!(sureness, Sureness::Sure);
        assert!(what.contains("with jeton (Rust)"), "{what}");
    }

    #[test]
    fn libraries_of_one_core_count_once() {
        let times = [("HS256", 100.0), ("EdDSA", 1_000.0), ("ES256", 1_500.0)];
        let more = [("HS256", 500.0), ("EdDSA", 3_000.0), ("ES256", 2_000.0)];
        let mut newer = library("node", "other", &more);
        for row in &mut newer {
            row.subject.id = row.subject.id.replacen(':', "@Node 26:", 1);
        }
        let rows = [
            library("rust", "jeton", &times),
            library("go", "jeton", &times),
            library("node", "other", &more),
            newer,
        ];
        let (sentence, _, what) = said(&result(rows.concat(), 0.02));
        assert!(
            sentence.ends_with("ES256 is faster in 1 of 2 libraries."),
            "{sentence}"
        );
        assert!(what.ends_with("; 4 to 15\u{a0}× in 2 libraries"), "{what}");
    }

    #[test]
    fn algorithms_that_the_run_cannot_tell_apart_are_both_named() {
        let (sentence, sureness, _) = said(&result(rows(), 1.1));
        assert!(sentence.contains("not sign: EdDSA or ES256."), "{sentence}");
        assert_eq!(sureness, Sureness::NotSure);
    }

    #[test]
    fn disturbed_run_gives_no_advice() {
        let mut result = result(rows(), 0.02);
        result.environment.disturbance.disturbed = true;
        let (sentence, ..) = said(&result);
        assert_eq!(
            sentence,
            "Fastest with jeton (Rust): HS256 (shared secret) and EdDSA (key pair)."
        );
    }
}
