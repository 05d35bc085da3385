//! The advice without requirements: three cases, because no token suits all of them.
//!
//! Each case compares the time to verify, the time to sign and the bytes of the token. A token that another
//! one of the case beats or equals in all three is dropped. Of the rest, the one with the shortest time
//! to sign and verify comes first, with the libraries of its fastest group. Tokens of
//! the same size whose times do not differ for sure, or that are the best in one quantity, are described
//! by what they gain and cost. Times are judged by their rounds, as everywhere.

use jeton_lab_model::recommendation::{Recommendation, Requirements, Weight};
use jeton_lab_model::result::{NoiseFloor, Row, RunResult, Timing, VerdictKind};
use jeton_lab_model::units::{self, Unit};
use jeton_lab_model::{Format, names};

use super::Noisy;
use super::attacks::Attacks;
use super::cost::{Cost, costs, judged};
use super::ranking::first_group;

/// With more tied libraries than this, only their number is shown.
const TIED_MAX: usize = 4;

/// What to use in one case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// The case: who verifies, and who may read the claims.
    pub title: &'static str,
    /// The choice, for example `JWT EdDSA, 338 bytes`; `None` if no token of this kind was measured.
    pub choice: Option<String>,
    /// The library that was measured with it, and its times.
    pub measured: Option<String>,
    /// The trade-off with each alternative, one sentence each.
    pub trade_offs: Vec<String>,
    /// The number of tokens that another one beats or equals in time and bytes.
    pub dropped: usize,
}

/// Returns the three cases; empty if the run was disturbed and that is not allowed, or measured nothing.
#[must_use]
pub fn cases(result: &RunResult, noisy: Noisy) -> Vec<Case> {
    if result.environment.disturbance.disturbed && noisy == Noisy::Refused {
        return Vec::new();
    }
    let attacks = Attacks::of(&result.rows.attack);
    of_rows(&result.rows.measured, &result.noise_floor, &attacks)
}

/// Returns the cases of a recommendation; empty if the user has requirements.
#[must_use]
pub(crate) fn cases_of(result: &RunResult, advice: &Recommendation) -> Vec<Case> {
    let noisy = if advice.allow_noisy {
        Noisy::Allowed
    } else {
        Noisy::Refused
    };
    if advice.requirements.is_empty() {
        cases(result, noisy)
    } else {
        Vec::new()
    }
}

fn of_rows(rows: &[Row], noise: &NoiseFloor, attacks: &Attacks) -> Vec<Case> {
    let none = Requirements::default();
    let third_parties = Requirements {
        third_parties: true,
        ..none.clone()
    };
    let hidden = Requirements {
        confidentiality: true,
        ..none.clone()
    };
    let all = [
        ("One party issues and verifies", none),
        ("Third parties verify", third_parties),
        ("Claims must stay hidden", hidden),
    ];
    let cases: Vec<Case> = all
        .into_iter()
        .map(|(title, requirements)| {
            let costs = costs(rows, &requirements, attacks);
            case(title, &fastest_of_each_token(costs, noise), noise)
        })
        .collect();
    if cases.iter().all(|case| case.choice.is_none()) {
        Vec::new()
    } else {
        cases
    }
}

/// A kind of token with the library that makes it fastest.
struct Token<'a> {
    cost: Cost<'a>,
    /// The other libraries of the fastest group.
    tied: Vec<String>,
}

/// Keeps the fastest library of each kind of token.
fn fastest_of_each_token<'a>(costs: Vec<Cost<'a>>, noise: &NoiseFloor) -> Vec<Token<'a>> {
    let mut kinds: Vec<Vec<Cost<'a>>> = Vec::new();
    for cost in costs {
        if cost.candidate.token_bytes.is_none() {
            continue;
        }
        let token = &cost.candidate.token;
        match kinds.iter_mut().find(|k| k[0].candidate.token == *token) {
            Some(kind) => kind.push(cost),
            None => kinds.push(vec![cost]),
        }
    }
    let fastest = |mut kind: Vec<Cost<'a>>| {
        kind.sort_by(|a, b| a.median.total_cmp(&b.median));
        let scored: Vec<_> = kind.iter().map(Cost::scored).collect();
        let group = first_group(&scored, Weight::RoundTrip, noise);
        let tied = group.into_iter().filter(|index| *index > 0);
        let tied = tied.map(|index| kind[index].library()).collect();
        Token {
            cost: kind.swap_remove(0),
            tied,
        }
    };
    kinds.into_iter().map(fastest).collect()
}

fn case(title: &'static str, tokens: &[Token<'_>], noise: &NoiseFloor) -> Case {
    let is_dropped = |token: &Token<'_>| {
        let mut others = tokens.iter();
        others.any(|other| dominates(&other.cost, &token.cost, noise))
    };
    let mut left: Vec<&Token<'_>> = tokens.iter().filter(|t| !is_dropped(t)).collect();
    left.sort_by(|a, b| a.cost.median.total_cmp(&b.cost.median));
    let Some((first, others)) = left.split_first() else {
        return Case {
            title,
            choice: None,
            measured: None,
            trade_offs: Vec::new(),
            dropped: 0,
        };
    };
    let others: Vec<&Cost<'_>> = others.iter().map(|token| &token.cost).collect();
    let alternatives = alternatives(&first.cost, &others, noise);
    Case {
        title,
        choice: Some(named(&first.cost)),
        measured: Some(measured(first)),
        trade_offs: alternatives
            .into_iter()
            .map(|other| trade_off(other, &first.cost, noise))
            .collect(),
        dropped: tokens.len() - left.len(),
    }
}

/// The verdicts on the times to verify and to sign of one token against another.
#[derive(Debug, Clone, Copy)]
struct Verdicts {
    verify: VerdictKind,
    sign: VerdictKind,
}

impl Verdicts {
    fn of(one: &Cost<'_>, other: &Cost<'_>, noise: &NoiseFloor) -> Self {
        let band = one.band(other, noise);
        let of = |one: &Timing, other: &Timing| judged(&one.rounds, &other.rounds, TIMES, band);
        Self {
            verify: of(one.verify, other.verify),
            sign: of(one.sign, other.sign),
        }
    }

    /// Reports whether both verdicts are of these kinds.
    fn are(self, kinds: &[VerdictKind]) -> bool {
        [self.verify, self.sign]
            .iter()
            .all(|kind| kinds.contains(kind))
    }
}

/// The times that are compared at once: to verify and to sign.
const TIMES: usize = 2;

fn bytes(cost: &Cost<'_>) -> u64 {
    cost.candidate.token_bytes.unwrap_or_default()
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
        bytes(cost) == bytes(first) && Verdicts::of(cost, first, noise).are(&alike)
    };
    let mut chosen: Vec<&'c Cost<'a>> = others.iter().copied().filter(is_alike).collect();
    let fastest = |time: fn(&Cost<'_>) -> f64, verdict: fn(Verdicts) -> VerdictKind| {
        let best = others.iter().min_by(|a, b| time(a).total_cmp(&time(b)))?;
        let verdict = verdict(Verdicts::of(best, first, noise));
        (verdict == VerdictKind::Faster).then_some(*best)
    };
    let shortest = others
        .iter()
        .min_by_key(|cost| bytes(cost))
        .filter(|cost| bytes(cost) < bytes(first));
    let best = [
        fastest(|cost| cost.verify.median, |verdicts| verdicts.verify),
        fastest(|cost| cost.sign.median, |verdicts| verdicts.sign),
        shortest.copied(),
    ];
    for cost in best.into_iter().flatten() {
        if !chosen
            .iter()
            .any(|known| known.candidate.token == cost.candidate.token)
        {
            chosen.push(cost);
        }
    }
    chosen
}

/// Reports whether the first is for sure as good in every quantity, and better in one.
fn dominates(one: &Cost<'_>, other: &Cost<'_>, noise: &NoiseFloor) -> bool {
    let verdicts = Verdicts::of(one, other, noise);
    let as_good = [VerdictKind::Faster, VerdictKind::Equivalent];
    // Equal tokens must not drop each other.
    let is_better = !verdicts.are(&[VerdictKind::Equivalent]) || bytes(one) < bytes(other);
    verdicts.are(&as_good) && bytes(one) <= bytes(other) && is_better
}

fn named(cost: &Cost<'_>) -> String {
    let bytes = units::whole(bytes(cost));
    format!("{}, {bytes} bytes", cost.candidate.token)
}

/// The forms of a verb.
struct Verb {
    infinitive: &'static str,
    does: &'static str,
    past: &'static str,
}

impl Verb {
    const fn new(infinitive: &'static str, does: &'static str, past: &'static str) -> Self {
        Self {
            infinitive,
            does,
            past,
        }
    }
}

/// Returns the verbs of making and opening a token.
fn verbs(cost: &Cost<'_>) -> [Verb; 2] {
    match Format::named(&cost.candidate.subject.format) {
        Some(format) if format.is_encrypted() => [
            Verb::new("encrypt", "encrypts", "encrypted"),
            Verb::new("decrypt", "decrypts", "decrypted"),
        ],
        _ => [
            Verb::new("sign", "signs", "signed"),
            Verb::new("verify", "verifies", "verified"),
        ],
    }
}

fn measured(token: &Token<'_>) -> String {
    let Token { cost, tied } = token;
    let times = [cost.sign.median, cost.verify.median];
    let unit = Unit::for_times(times.into_iter());
    let subject = cost.candidate.subject;
    let tied = match tied.len() {
        0 => String::new(),
        1..=TIED_MAX => format!("; as fast or undecided: {}", units::list(tied)),
        many => format!("; as fast or undecided: {many} other libraries"),
    };
    let [making, opening] = verbs(cost);
    let (made, opened) = (making.past, opening.past);
    format!(
        "{made} in {} and {opened} in {} by {} {} ({}){tied}",
        unit.text(times[0]),
        unit.text(times[1]),
        subject.library,
        subject.version,
        names::language(subject)
    )
}

/// Describes what another token gains and costs: `JWT RS256 verifies 2.3 × faster; it signs 25 × slower`.
fn trade_off(other: &Cost<'_>, first: &Cost<'_>, noise: &NoiseFloor) -> String {
    let mut gains = Vec::new();
    let mut costs = Vec::new();
    let mut open = Vec::new();
    let verdicts = Verdicts::of(other, first, noise);
    let ratio = |of: fn(&Cost<'_>) -> f64| of(other) / of(first);
    let [making, opening] = verbs(other);
    let times = [
        (opening, verdicts.verify, ratio(|cost| cost.verify.median)),
        (making, verdicts.sign, ratio(|cost| cost.sign.median)),
    ];
    for (verb, verdict, ratio) in times {
        let does = verb.does;
        match verdict {
            VerdictKind::Slower => {
                costs.push(format!("{does} {}\u{a0}× slower", units::times(ratio)));
            }
            VerdictKind::Faster => {
                gains.push(format!(
                    "{does} {}\u{a0}× faster",
                    units::times(ratio.recip())
                ));
            }
            VerdictKind::Undecided => open.push(verb.infinitive),
            VerdictKind::Equivalent => {}
        }
    }
    let (own, usual) = (bytes(other), bytes(first));
    if own > usual {
        costs.push(format!("has {} bytes more", units::whole(own - usual)));
    } else if own < usual {
        gains.push(format!("has {} bytes less", units::whole(usual - own)));
    }
    // Another library is another difference than that of the tokens.
    let token = &other.candidate.token;
    let token = if other.library() == first.library() {
        token.clone()
    } else {
        format!("{token} with {}", other.library())
    };
    let open = if open.is_empty() {
        String::new()
    } else {
        format!(" The time to {} is undecided.", units::list(&open))
    };
    match (gains.is_empty(), costs.is_empty()) {
        (true, true) if open.is_empty() => format!("{token} costs the same."),
        (true, true) => format!("{token} has the same size.{open}"),
        (true, false) => format!("{token} {}.{open}", units::list(&costs)),
        (false, true) => format!("{token} {}.{open}", units::list(&gains)),
        (false, false) => format!(
            "{token} {}, but {}.{open}",
            units::list(&gains),
            units::list(&costs)
        ),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::recommendation::sample::{quiet, row};

    /// Sign and verify of one kind of token, with its size.
    fn token(format: &str, alg: &str, sign: f64, verify: f64, bytes: u64) -> Vec<Row> {
        let mut rows = vec![
            row("rust", "jeton", format, alg, "sign", sign),
            row("rust", "jeton", format, alg, "verify", verify),
        ];
        for row in &mut rows {
            row.token_bytes = Some(bytes);
        }
        rows
    }

    fn found() -> Vec<Case> {
        let rows = [
            token("jwt", "HS256", 400.0, 700.0, 295),
            token("jwt", "EdDSA", 9_500.0, 37_000.0, 338),
            token("jwt", "ES256", 16_000.0, 50_000.0, 338),
            token("jwt", "RS256", 238_000.0, 16_000.0, 594),
            token("v4.local", "-", 2_000.0, 1_900.0, 337),
        ];
        of_rows(&rows.concat(), &quiet(), &Attacks::NotRun)
    }

    #[test]
    fn cases_third_parties_get_no_shared_secret() {
        let cases = found();
        let choices: Vec<&str> = cases.iter().map(|c| c.choice.as_deref().unwrap()).collect();
        assert_eq!(
            choices,
            [
                "JWT HS256, 295 bytes",
                "JWT EdDSA, 338 bytes",
                "PASETO v4.local, 337 bytes"
            ]
        );
    }

    #[test]
    fn cases_slow_signing_is_no_headline_but_a_trade_off() {
        let third = &found()[1];
        assert_eq!(
            third.trade_offs,
            [
                "JWT RS256 verifies 2.3\u{a0}× faster, but signs 25\u{a0}× slower and has 256 bytes more."
            ]
        );
        assert_eq!(third.dropped, 1, "ES256 is dominated by EdDSA");
    }

    #[test]
    fn cases_undecided_token_does_not_cost_the_same() {
        let noisy = NoiseFloor {
            floor: Some(1.1),
            ..NoiseFloor::default()
        };
        let rows = [
            token("jwt", "EdDSA", 10_000.0, 37_000.0, 338),
            token("jwt", "ES256", 16_000.0, 50_000.0, 338),
        ];
        let third = &of_rows(&rows.concat(), &noisy, &Attacks::NotRun)[1];
        assert_eq!(
            third.trade_offs,
            ["JWT ES256 has the same size. The time to verify and sign is undecided."]
        );
        assert_eq!(third.dropped, 0);
    }

    #[test]
    fn cases_tied_library_is_named_and_another_library_too() {
        let mut rows = token("jwt", "EdDSA", 10_000.0, 37_000.0, 338);
        for (library, alg, ns) in [("b", "EdDSA", 1.001), ("c", "RS256", 0.5)] {
            for (verb, usual) in [("sign", 10_000.0), ("verify", 37_000.0)] {
                let mut row = row("go", library, "jwt", alg, verb, ns * usual);
                row.token_bytes = Some(338);
                rows.push(row);
            }
        }
        // RS256 of another library is faster and not larger here, so it comes first.
        let third = &of_rows(&rows, &quiet(), &Attacks::NotRun)[1];
        assert_eq!(third.choice.as_deref(), Some("JWT RS256, 338 bytes"));
        rows.truncate(4);
        let third = &of_rows(&rows, &quiet(), &Attacks::NotRun)[1];
        assert!(
            third
                .measured
                .as_deref()
                .is_some_and(|m| m.ends_with("by jeton 1 (Rust); as fast or undecided: b (Go)"))
        );
    }

    #[test]
    fn cases_unmeasured_kind_has_no_choice() {
        let found = |rows: &[Row]| of_rows(rows, &quiet(), &Attacks::NotRun);
        let cases = found(&token("jwt", "HS256", 400.0, 700.0, 295));
        assert_eq!(cases.len(), 3);
        assert_eq!(cases[1].choice, None);
        assert!(found(&[]).is_empty());
    }
}
