//! Which algorithm: what each costs in one library, by who verifies.

use itertools::Itertools as _;
use jeton_lab_model::names;
use jeton_lab_model::result::{NoiseFloor, RunResult, VerdictKind};
use jeton_lab_model::units;
use jeton_lab_stats::interval::{Ratio, estimate};

use super::super::candidate::{Cost, fastest, jwts};
use super::super::properties::facts;
use super::super::sure::{Clear, Sure, of_choice, of_ratio};
use super::super::{is_refused, recommendation_of};
use super::{Answer, Bar, Figure, Measured, OWN};

/// The algorithms of the chart; the others are in the tables.
const CHARTED: [&str; 4] = ["HS256", "EdDSA", "ES256", "RS256"];

/// With more algorithms than this in the fastest group, the rest is counted.
const NAMED_MAX: usize = 3;

pub(super) fn answer(result: &RunResult, costs: &[Cost<'_>]) -> Answer {
    let own = of_one_library(costs);
    let charted: Vec<&Cost<'_>> = CHARTED.iter().filter_map(|alg| find(&own, alg)).collect();
    let Some((slow, fast, ratio)) = pair(&charted) else {
        let what = "the time to sign and verify tokens of two algorithms with one library";
        return Answer::missing("algorithm", what);
    };
    let [low, high] = ratio.interval().map(factor);
    let library = slow.library();
    let against = format!("{} against {}", slow.alg(), fast.alg());
    let others = in_libraries(costs, slow.alg(), fast.alg());
    let bar = |cost: &&Cost<'_>| Bar::of(cost, cost.alg().to_owned(), names::token(cost.subject));
    let measured = Measured {
        figure: Figure {
            value: format!("{}\u{a0}×", factor(ratio.ratio())),
            interval: format!("{low} to {high}"),
            what: format!("{against} with {library}, to sign and verify{others}"),
        },
        bars_show: format!("Time to sign and verify one token with {library}"),
        bars: charted.iter().map(bar).collect(),
        sure: of_ratio(result, &ratio, slow.both.managed)
            .about(&against)
            .or_weaker(choice(result, &own)),
    };
    Answer::new("algorithm", sentence(result, costs, &own), Some(measured))
}

/// Formats a factor with three digits.
fn factor(value: f64) -> String {
    match value {
        v if v < 10.0 => units::fixed(v, 2),
        v if v < 100.0 => units::fixed(v, 1),
        v => units::fixed(v, 0),
    }
}

/// Returns the signed JWTs of the library that has most algorithms; of equals, the first measured.
fn of_one_library<'c, 'a>(costs: &'c [Cost<'a>]) -> Vec<&'c Cost<'a>> {
    let jwts: Vec<&Cost<'a>> = costs
        .iter()
        .filter(|cost| cost.subject.format == "jwt")
        .collect();
    let of_library = |one: &&'c Cost<'a>| -> Vec<&'c Cost<'a>> {
        let own = jwts.iter().copied();
        own.filter(|other| other.subject.driver() == one.subject.driver())
            .collect()
    };
    let libraries = jwts.iter().rev().map(of_library);
    libraries.max_by_key(Vec::len).unwrap_or_default()
}

fn find<'c, 'a>(costs: &[&'c Cost<'a>], name: &str) -> Option<&'c Cost<'a>> {
    costs.iter().copied().find(|cost| cost.alg() == name)
}

/// Returns ES256 against EdDSA, the choice that a reader has, or the slowest against the fastest.
fn pair<'c, 'a>(charted: &[&'c Cost<'a>]) -> Option<(&'c Cost<'a>, &'c Cost<'a>, Ratio)> {
    let usual = find(charted, "ES256").zip(find(charted, "EdDSA"));
    let by_time = |a: &&Cost<'_>, b: &&Cost<'_>| a.median.total_cmp(&b.median);
    let all = || charted.iter().copied();
    let ends = || all().max_by(by_time).zip(all().min_by(by_time));
    let (slow, fast) = usual
        .or_else(ends)
        .filter(|(slow, fast)| slow.alg() != fast.alg())?;
    Some((slow, fast, ratio(slow, fast)?))
}

fn ratio(slow: &Cost<'_>, fast: &Cost<'_>) -> Option<Ratio> {
    estimate(&slow.both.rounds, &fast.both.rounds, 1).ok()
}

/// Says between which factors the pair is in other libraries.
fn in_libraries(costs: &[Cost<'_>], slow: &str, fast: &str) -> String {
    let ratios = pairs(costs, slow, fast).into_iter();
    let ratios = ratios.filter_map(|(slow, fast)| ratio(slow, fast));
    let ratios = ratios.map(|ratio| ratio.ratio());
    let ratios: Vec<f64> = ratios.sorted_by(f64::total_cmp).collect();
    match ratios.as_slice() {
        [least, .., most] => {
            let [least, most] = [*least, *most].map(units::times);
            format!("; {least} to {most}\u{a0}× in {} libraries", ratios.len())
        }
        _ => String::new(),
    }
}

/// Pairs two algorithms in each library that has both. A library with several runtimes counts once, and so do the
/// libraries called jeton, which share one core.
fn pairs<'c, 'a>(
    costs: &'c [Cost<'a>],
    first: &str,
    second: &str,
) -> Vec<(&'c Cost<'a>, &'c Cost<'a>)> {
    let seconds = jwts(costs, second);
    let pairs = jwts(costs, first).into_iter().filter_map(|one| {
        let mut seconds = seconds.iter();
        let same = seconds.find(|other| other.subject.driver() == one.subject.driver())?;
        Some((one, *same))
    });
    let library = |(one, _): &(&Cost<'a>, &Cost<'a>)| {
        let (library, language) = (one.subject.library.as_str(), one.subject.language.as_str());
        (library, Some(language).filter(|_| library != OWN))
    };
    pairs.unique_by(library).collect()
}

/// Returns the algorithms of a case of use in the fastest group of this library, the lowest median first.
fn fastest_of<'c, 'a>(
    own: &[&'c Cost<'a>],
    third_parties: bool,
    noise: &NoiseFloor,
) -> Vec<&'c Cost<'a>> {
    let is_of_case = |cost: &&'c Cost<'a>| {
        // Ed25519 is another name of EdDSA with this curve.
        let is_named_twice = cost.alg() == "Ed25519" && find(own, "EdDSA").is_some();
        !is_named_twice && is_for_third_parties(cost.alg()) == Some(third_parties)
    };
    let of_case: Vec<_> = own.iter().copied().filter(is_of_case).collect();
    fastest(&of_case, noise)
}

fn is_for_third_parties(alg: &str) -> Option<bool> {
    facts("jwt", Some(alg)).map(|facts| facts.third_parties)
}

/// Says how sure the fastest algorithms are: those of a group are equivalent or undecided.
fn choice(result: &RunResult, own: &[&Cost<'_>]) -> Sure {
    let noise = &result.noise_floor;
    let is_open = |third_parties: bool| {
        let group = fastest_of(own, third_parties, noise);
        let others = group.get(1..).unwrap_or_default();
        let mut others = others
            .iter()
            .map(|one| one.judged(group[0], others.len(), noise));
        others.any(|verdict| verdict != VerdictKind::Equivalent)
    };
    let (clear, what) = if is_open(false) || is_open(true) {
        (Clear::No, "the fastest algorithm is undecided")
    } else {
        (Clear::Far, "the fastest algorithm is clear")
    };
    of_choice(result, clear, what)
}

/// Names the fastest algorithms for each case of use. A disturbed run gives no advice.
fn sentence(result: &RunResult, costs: &[Cost<'_>], own: &[&Cost<'_>]) -> String {
    let noise = &result.noise_floor;
    let named = |third_parties: bool| {
        let group = fastest_of(own, third_parties, noise);
        let names: Vec<&str> = group.iter().map(|cost| cost.alg()).collect();
        match names.len() {
            0 => None,
            1..=NAMED_MAX => Some(names.join(" or ")),
            all => {
                let (first, others) = (names[..NAMED_MAX].join(", "), all - NAMED_MAX);
                Some(format!("{first} or {others} others"))
            }
        }
    };
    let (shared, signature) = (named(false), named(true));
    if is_refused(result, recommendation_of(result).allow_noisy) {
        let with = own.first().map_or_else(String::new, |cost| cost.library());
        let kinds = [(shared, "shared secret"), (signature, "key pair")].into_iter();
        let kinds = kinds.filter_map(|(names, key)| Some(format!("{} ({key})", names?)));
        return format!("Fastest with {with}: {}.", units::list(kinds));
    }
    let elsewhere = elsewhere(costs, &fastest_of(own, true, noise), noise);
    match (shared, signature) {
        (Some(shared), Some(signature)) => format!(
            "One party issues and verifies: {shared}. Third parties verify and must not sign: {signature}{elsewhere}."
        ),
        (Some(shared), None) => format!("One party issues and verifies: {shared}."),
        (None, Some(signature)) => format!("Third parties verify: {signature}{elsewhere}."),
        (None, None) => "No algorithm was measured.".to_owned(),
    }
}

/// Says in how many libraries another usual algorithm is faster than the fastest one here.
fn elsewhere(costs: &[Cost<'_>], fastest: &[&Cost<'_>], noise: &NoiseFloor) -> String {
    let is_other =
        |name: &&str| find(fastest, name).is_none() && is_for_third_parties(name) == Some(true);
    let counts = CHARTED.into_iter().filter(is_other).filter_map(|name| {
        let pairs = pairs(costs, name, fastest.first()?.alg());
        let verdicts = pairs
            .iter()
            .map(|(one, first)| one.judged(first, pairs.len(), noise));
        let faster = verdicts.filter(|kind| *kind == VerdictKind::Faster).count();
        Some((faster, pairs.len(), name))
    });
    match counts.max_by_key(|(faster, ..)| *faster) {
        None | Some((0, ..)) => String::new(),
        Some((faster, all, name)) => {
            let all = units::count(all, "library", "libraries");
            format!("; {name} is faster in {faster} of {all}")
        }
    }
}
