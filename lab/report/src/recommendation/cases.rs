//! The advice without requirements: three cases, because no token suits all of them.
//!
//! Each case compares the time to verify, the time to sign and the bytes of the token. A token that another
//! one of the case beats or equals in all three is dropped. Of the rest, the one with the shortest time
//! to sign and verify comes first. Tokens that cost the same, or are the best in one quantity, are
//! described by what they gain and cost.

use jeton_lab_model::names;
use jeton_lab_model::recommendation::{Recommendation, Requirements};
use jeton_lab_model::result::{NoiseFloor, Row, RunResult};
use jeton_lab_model::units::{self, Unit};
use jeton_lab_stats::verdict::Band;
use jeton_lab_stats::verdicts::floor_for;

use super::Noisy;
use super::attacks::Attacks;
use super::cost::{Cost, costs};

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
    let noisy = match advice.allow_noisy {
        true => Noisy::Allowed,
        false => Noisy::Refused,
    };
    match advice.requirements.is_empty() {
        true => cases(result, noisy),
        false => Vec::new(),
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
            case(title, &fastest_of_each_token(costs), noise)
        })
        .collect();
    match cases.iter().all(|case| case.choice.is_none()) {
        true => Vec::new(),
        false => cases,
    }
}

/// Keeps the fastest library of each kind of token.
fn fastest_of_each_token(costs: Vec<Cost<'_>>) -> Vec<Cost<'_>> {
    let mut kept: Vec<Cost<'_>> = Vec::new();
    for cost in costs {
        if cost.candidate.token_bytes.is_none() {
            continue;
        }
        match kept
            .iter_mut()
            .find(|known| known.candidate.token == cost.candidate.token)
        {
            Some(known) if cost.median < known.median => *known = cost,
            Some(_) => {}
            None => kept.push(cost),
        }
    }
    kept
}

fn case(title: &'static str, tokens: &[Cost<'_>], noise: &NoiseFloor) -> Case {
    let is_dropped = |token: &Cost<'_>| {
        let mut others = tokens.iter();
        others.any(|other| dominates(other, token, noise))
    };
    let mut left: Vec<&Cost<'_>> = tokens.iter().filter(|t| !is_dropped(t)).collect();
    left.sort_by(|a, b| a.median.total_cmp(&b.median));
    let Some((first, others)) = left.split_first() else {
        return Case {
            title,
            choice: None,
            measured: None,
            trade_offs: Vec::new(),
            dropped: 0,
        };
    };
    let alternatives = alternatives(first, others, noise);
    Case {
        title,
        choice: Some(named(first)),
        measured: Some(measured(first)),
        trade_offs: alternatives
            .into_iter()
            .map(|other| trade_off(other, first, noise))
            .collect(),
        dropped: tokens.len() - left.len(),
    }
}

/// Returns the tokens that cost the same as the first, and the best one in each quantity in which the
/// first is not the best.
fn alternatives<'c, 'a>(
    first: &Cost<'a>,
    others: &[&'c Cost<'a>],
    noise: &NoiseFloor,
) -> Vec<&'c Cost<'a>> {
    let sign = |cost: &Cost<'_>| cost.sign.median;
    let verify = |cost: &Cost<'_>| cost.verify.median;
    let bytes = |cost: &Cost<'_>| cost.candidate.token_bytes.unwrap_or_default();
    let is_alike = |cost: &&Cost<'_>| {
        let band = band(cost, first, noise);
        let near = |a: f64, b: f64| a <= b * band && b <= a * band;
        near(sign(cost), sign(first))
            && near(verify(cost), verify(first))
            && bytes(cost) == bytes(first)
    };
    let mut chosen: Vec<&'c Cost<'a>> = others.iter().copied().filter(is_alike).collect();
    let fastest = |time: &dyn Fn(&Cost<'_>) -> f64| {
        let best = others.iter().min_by(|a, b| time(a).total_cmp(&time(b)))?;
        (time(best) * band(best, first, noise) < time(first)).then_some(*best)
    };
    let shortest = others
        .iter()
        .min_by_key(|cost| bytes(cost))
        .filter(|cost| bytes(cost) < bytes(first));
    let best = [fastest(&verify), fastest(&sign), shortest.copied()];
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

/// Reports whether the first is as good in every quantity, and better in one.
fn dominates(one: &Cost<'_>, other: &Cost<'_>, noise: &NoiseFloor) -> bool {
    let quantities = |cost: &Cost<'_>| [cost.verify.median, cost.sign.median];
    let band = band(one, other, noise);
    let times = || quantities(one).into_iter().zip(quantities(other));
    let bytes = (one.candidate.token_bytes, other.candidate.token_bytes);
    let as_good = times().all(|(a, b)| a <= b * band) && bytes.0 <= bytes.1;
    // Equal tokens must not drop each other.
    let better = times().any(|(a, b)| a * band < b) || bytes.0 < bytes.1;
    let slower = times().any(|(a, b)| a > b * band);
    as_good && better && !slower
}

/// Returns the ratio below which a difference means nothing.
fn band(one: &Cost<'_>, other: &Cost<'_>, noise: &NoiseFloor) -> f64 {
    let kinds = [one, other].map(|cost| cost.candidate.subject.is_managed());
    1.0 + Band::new(floor_for(noise, kinds.into_iter())).believed_beyond()
}

fn named(cost: &Cost<'_>) -> String {
    let bytes = cost.candidate.token_bytes.unwrap_or_default();
    format!("{}, {} bytes", cost.candidate.token, units::whole(bytes))
}

fn measured(cost: &Cost<'_>) -> String {
    let times = [cost.sign.median, cost.verify.median];
    let unit = Unit::for_times(times.into_iter());
    let subject = cost.candidate.subject;
    format!(
        "signed in {} and verified in {} by {} {} ({})",
        unit.text(times[0]),
        unit.text(times[1]),
        subject.library,
        subject.version,
        names::language(subject)
    )
}

/// Describes what another token gains and costs: `JWT RS256 verifies 2.3 × faster; it signs 25 × slower`.
fn trade_off(other: &Cost<'_>, first: &Cost<'_>, noise: &NoiseFloor) -> String {
    let band = band(other, first, noise);
    let mut gains = Vec::new();
    let mut costs = Vec::new();
    let times = [
        ("verifies", other.verify.median / first.verify.median),
        ("signs", other.sign.median / first.sign.median),
    ];
    for (verb, ratio) in times {
        if ratio > band {
            costs.push(format!("{verb} {}\u{a0}× slower", units::times(ratio)));
        } else if ratio < band.recip() {
            gains.push(format!(
                "{verb} {}\u{a0}× faster",
                units::times(ratio.recip())
            ));
        }
    }
    let bytes = |cost: &Cost<'_>| cost.candidate.token_bytes.unwrap_or_default();
    let (own, usual) = (bytes(other), bytes(first));
    if own > usual {
        costs.push(format!("has {} bytes more", units::whole(own - usual)));
    } else if own < usual {
        gains.push(format!("has {} bytes less", units::whole(usual - own)));
    }
    let token = &other.candidate.token;
    match (gains.is_empty(), costs.is_empty()) {
        (true, true) => format!("{token} costs the same."),
        (true, false) => format!("{token} {}.", units::list(&costs)),
        (false, true) => format!("{token} {}.", units::list(&gains)),
        (false, false) => format!(
            "{token} {}, but {}.",
            units::list(&gains),
            units::list(&costs)
        ),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::recommendation::sample::row;

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
        of_rows(&rows.concat(), &NoiseFloor::default(), &Attacks::NotRun)
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
    fn cases_unmeasured_kind_has_no_choice() {
        let found = |rows: &[Row]| of_rows(rows, &NoiseFloor::default(), &Attacks::NotRun);
        let cases = found(&token("jwt", "HS256", 400.0, 700.0, 295));
        assert_eq!(cases.len(), 3);
        assert_eq!(cases[1].choice, None);
        assert!(found(&[]).is_empty());
    }
}
