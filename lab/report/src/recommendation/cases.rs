//! The advice without requirements: three cases, because no token suits all of them.
//!
//! Each case compares the time to verify, the time to sign and the bytes of the token. A token that another
//! one of the case beats or equals in all three is dropped. Of the rest, the one with the shortest time
//! to sign and verify comes first, with the libraries of its fastest group. Tokens of
//! the same size whose times do not differ for sure, or that are the best in one quantity, are described
//! by what they gain and cost. Times are judged by their rounds, as everywhere.

use std::cmp::Ordering;

use jeton_lab_model::recommendation::{Recommendation, Requirements};
use jeton_lab_model::result::{NoiseFloor, RunResult, Timing, VerdictKind};
use jeton_lab_model::units::{self, Unit};
use jeton_lab_model::{Format, names};

use super::candidate::{Cost, fastest, judged};
use super::is_refused;
use super::rules::{Attacks, costs};
use crate::grouped::grouped;

/// With more tied libraries than this, only their number is shown.
const TIED_MAX: usize = 4;

/// Who verifies, and who may read the claims, with the kinds of token to compare libraries by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked {
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    pub(crate) tokens: &'static [&'static str],
    third_parties: bool,
    confidentiality: bool,
}

/// The cases; readers start with the second.
#[rustfmt::skip]
pub(crate) const CASES: [Asked; 3] = [
    Asked { id: "shared", title: "One party issues and verifies", tokens: &["JWT HS256"], third_parties: false, confidentiality: false },
    Asked { id: "public", title: "Third parties verify", tokens: &["JWT ES256", "JWT EdDSA", "JWT RS256", "PASETO v4.public"], third_parties: true, confidentiality: false },
    Asked { id: "hidden", title: "Claims must stay hidden", tokens: &["JWE dir+A256GCM", "PASETO v4.local"], third_parties: false, confidentiality: true },
];

/// What to use in one case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// The case: who verifies, and who may read the claims.
    pub title: &'static str,
    /// The choice, for example `JWT EdDSA, 338 bytes`, and the library that was measured with it, with its times;
    /// `None` if no token of this kind was measured.
    pub choice: Option<(String, String)>,
    /// The trade-off with each alternative, one sentence each.
    pub trade_offs: Vec<String>,
    /// The number of tokens that another one beats or equals in time and bytes.
    pub dropped: usize,
}

/// Returns the three cases; empty if the run was disturbed and that is not allowed, or measured nothing.
#[must_use]
pub fn cases(result: &RunResult, allow_noisy: bool) -> Vec<Case> {
    if is_refused(result, allow_noisy) {
        return Vec::new();
    }
    let attacks = Attacks::of(&result.rows.attack);
    let cases = CASES.map(|asked| {
        let requirements = Requirements {
            third_parties: asked.third_parties,
            confidentiality: asked.confidentiality,
            ..Requirements::default()
        };
        let costs = costs(&result.rows.measured, &requirements, &attacks);
        case(asked.title, &costs, &result.noise_floor)
    });
    let is_empty = cases.iter().all(|case| case.choice.is_none());
    if is_empty { Vec::new() } else { cases.into() }
}

pub(crate) fn cases_of(result: &RunResult, advice: &Recommendation) -> Vec<Case> {
    if advice.requirements.is_empty() {
        cases(result, advice.allow_noisy)
    } else {
        Vec::new()
    }
}

fn by_token<'c, 'a>(costs: &'c [Cost<'a>]) -> Vec<Vec<&'c Cost<'a>>> {
    let sized = costs.iter().filter(|cost| cost.token_bytes.is_some());
    let kinds = grouped(sized.map(|cost| (&cost.token, cost))).into_iter();
    let sorted = kinds.map(|(_, mut kind)| {
        kind.sort_by(|a, b| a.median.total_cmp(&b.median));
        kind
    });
    sorted.collect()
}

fn case(title: &'static str, costs: &[Cost<'_>], noise: &NoiseFloor) -> Case {
    let mut kinds = by_token(costs);
    // The library that makes a kind fastest stands for it.
    let tokens: Vec<&Cost<'_>> = kinds.iter().map(|kind| kind[0]).collect();
    kinds.retain(|kind| !tokens.iter().any(|other| dominates(other, kind[0], noise)));
    kinds.sort_by(|a, b| a[0].median.total_cmp(&b[0].median));
    let dropped = tokens.len() - kinds.len();
    let others: Vec<&Cost<'_>> = kinds.iter().skip(1).map(|kind| kind[0]).collect();
    let mut case = Case {
        title,
        choice: None,
        trade_offs: Vec::new(),
        dropped,
    };
    if let Some(kind) = kinds.first() {
        let first = kind[0];
        let choice = format!("{}, {} bytes", first.token, units::whole(bytes(first)));
        case.choice = Some((choice, measured(kind, noise)));
        let alternatives = alternatives(first, &others, noise).into_iter();
        let trade_offs = alternatives.map(|other| trade_off(other, first, noise));
        case.trade_offs = trade_offs.collect();
    }
    case
}

/// The verdicts on the times to verify and to sign of one token against another, which are compared at once.
fn verdicts(one: &Cost<'_>, other: &Cost<'_>, noise: &NoiseFloor) -> [VerdictKind; 2] {
    let band = one.band(other, noise);
    let of = |one: &Timing, other: &Timing| judged(&one.rounds, &other.rounds, 2, band);
    [of(one.verify, other.verify), of(one.sign, other.sign)]
}

fn bytes(cost: &Cost<'_>) -> u64 {
    cost.token_bytes.unwrap_or_default()
}

/// Returns the tokens of the same size whose times do not differ for sure, and the best one in each
/// quantity in which the first is not the best.
fn alternatives<'c, 'a>(
    first: &Cost<'a>,
    others: &[&'c Cost<'a>],
    noise: &NoiseFloor,
) -> Vec<&'c Cost<'a>> {
    let is_alike = |cost: &&Cost<'_>| {
        let alike = [VerdictKind::Equivalent, VerdictKind::Undecided];
        let verdicts = verdicts(cost, first, noise);
        bytes(cost) == bytes(first) && verdicts.iter().all(|kind| alike.contains(kind))
    };
    let mut chosen: Vec<&'c Cost<'a>> = others.iter().copied().filter(is_alike).collect();
    let times: [fn(&Cost<'_>) -> f64; 2] = [|cost| cost.verify.median, |cost| cost.sign.median];
    let best = (0..times.len()).filter_map(|which| {
        let time = times[which];
        let best = others.iter().min_by(|a, b| time(a).total_cmp(&time(b)))?;
        (verdicts(best, first, noise)[which] == VerdictKind::Faster).then_some(*best)
    });
    let shortest = others.iter().copied().min_by_key(|cost| bytes(cost));
    let shortest = shortest.filter(|cost| bytes(cost) < bytes(first));
    for cost in best.chain(shortest) {
        if !chosen.iter().any(|known| known.token == cost.token) {
            chosen.push(cost);
        }
    }
    chosen
}

/// Reports whether the first is for sure as good in every quantity, and better in one.
fn dominates(one: &Cost<'_>, other: &Cost<'_>, noise: &NoiseFloor) -> bool {
    use VerdictKind::{Equivalent, Faster};
    let verdicts = verdicts(one, other, noise);
    // Equal tokens must not drop each other.
    let is_better = verdicts != [Equivalent; 2] || bytes(one) < bytes(other);
    let is_as_good = verdicts
        .iter()
        .all(|kind| [Faster, Equivalent].contains(kind));
    is_as_good && bytes(one) <= bytes(other) && is_better
}

/// Returns the verbs of opening and making a token, as `verify`, `verifies`, `verified`.
fn verbs(cost: &Cost<'_>) -> [[&'static str; 3]; 2] {
    if Format::named(&cost.subject.format).is_some_and(Format::is_encrypted) {
        [
            ["decrypt", "decrypts", "decrypted"],
            ["encrypt", "encrypts", "encrypted"],
        ]
    } else {
        [
            ["verify", "verifies", "verified"],
            ["sign", "signs", "signed"],
        ]
    }
}

fn measured(kind: &[&Cost<'_>], noise: &NoiseFloor) -> String {
    let cost = kind[0];
    let group = fastest(kind, noise).into_iter();
    let tied = group.filter(|other| !std::ptr::eq(*other, cost));
    let tied: Vec<String> = tied.map(Cost::library).collect();
    let tied = match tied.len() {
        0 => String::new(),
        1..=TIED_MAX => format!("; as fast or undecided: {}", units::list(&tied)),
        many => format!("; as fast or undecided: {many} other libraries"),
    };
    let times = [cost.sign.median, cost.verify.median];
    let unit = Unit::for_times(times.into_iter());
    let [[.., opened], [.., made]] = verbs(cost);
    let [making, opening] = times.map(|time| unit.text(time));
    let (library, version) = (&cost.subject.library, &cost.subject.version);
    let language = names::language(cost.subject);
    format!(
        "{made} in {making} and {opened} in {opening} by {library} {version} ({language}){tied}"
    )
}

/// Describes what another token gains and costs: `JWT RS256 verifies 2.3 × faster; it signs 25 × slower`.
fn trade_off(other: &Cost<'_>, first: &Cost<'_>, noise: &NoiseFloor) -> String {
    let (mut gains, mut costs, mut open) = (Vec::new(), Vec::new(), Vec::new());
    let ratios = [
        other.verify.median / first.verify.median,
        other.sign.median / first.sign.median,
    ];
    let judged = verdicts(other, first, noise).into_iter().zip(ratios);
    for ((verdict, ratio), [infinitive, does, _]) in judged.zip(verbs(other)) {
        let times = |ratio| format!("{does} {}\u{a0}×", units::times(ratio));
        match verdict {
            VerdictKind::Slower => costs.push(format!("{} slower", times(ratio))),
            VerdictKind::Faster => gains.push(format!("{} faster", times(ratio.recip()))),
            VerdictKind::Undecided => open.push(infinitive),
            VerdictKind::Equivalent => {}
        }
    }
    let apart = units::whole(bytes(other).abs_diff(bytes(first)));
    match bytes(other).cmp(&bytes(first)) {
        Ordering::Greater => costs.push(format!("has {apart} bytes more")),
        Ordering::Less => gains.push(format!("has {apart} bytes less")),
        Ordering::Equal => {}
    }
    // Another library is another difference than that of the tokens.
    let with = match other.library() {
        same if same == first.library() => String::new(),
        another => format!(" with {another}"),
    };
    let (gains, costs) = (units::list(&gains), units::list(&costs));
    let said = match (gains.as_str(), costs.as_str()) {
        ("", "") if open.is_empty() => "costs the same".to_owned(),
        ("", "") => "has the same size".to_owned(),
        (all, "") | ("", all) => all.to_owned(),
        (gains, costs) => format!("{gains}, but {costs}"),
    };
    let open = match open.as_slice() {
        [] => String::new(),
        open => format!(" The time to {} is undecided.", units::list(open)),
    };
    format!("{}{with} {said}.{open}", other.token)
}
