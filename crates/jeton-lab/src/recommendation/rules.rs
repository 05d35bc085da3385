//! Who is out: each rule is asked in its order, and the first that says no is the one that is
//! told.

use crate::report::units;
use crate::result::Status;

use super::algorithms::facts;
use super::attacks::Attacks;
use super::budgets::Carrier;
use super::candidate::Candidate;
use super::libraries::is_cache;
use super::weigh::rounds;
use super::{Out, Requirements, Rule, Weight};

/// The rule that puts a candidate out, and why; none if it meets every need.
pub(super) fn refusal(
    candidate: &Candidate<'_>,
    requirements: &Requirements,
    attacks: &Attacks,
) -> Option<(Rule, String)> {
    attack(candidate, requirements, attacks)
        .or_else(|| checks(candidate))
        .or_else(|| cache(candidate))
        .or_else(|| kind(candidate, requirements))
        .or_else(|| budgets(candidate, requirements))
        .or_else(|| measured(candidate, requirements))
        .or_else(|| language(candidate, requirements))
}

/// What is told of a candidate that is out.
pub(super) fn out(candidate: &Candidate<'_>, (rule, why): (Rule, String)) -> Out {
    Out {
        rule,
        token: candidate.token.clone(),
        subject: candidate.subject.id.clone(),
        why,
    }
}

fn attack(
    candidate: &Candidate<'_>,
    _: &Requirements,
    attacks: &Attacks,
) -> Option<(Rule, String)> {
    // A library that falls to one attack is out with every algorithm: it is the library's care
    // that failed, and which attacks a caller meets is not the caller's choice.
    let fell_to = attacks.fell_to(candidate.subject.driver())?;
    Some((Rule::Attack, fell_to.to_owned()))
}

fn checks(candidate: &Candidate<'_>) -> Option<(Rule, String)> {
    let row = candidate.failed?;
    let what = match row.status {
        Status::FailedPreflight => "failed a check before timing",
        Status::Crashed => "crashed",
        _ => "did not answer in time",
    };
    let why = match &row.reason {
        Some(reason) => format!("{what}: {reason}"),
        None => what.to_owned(),
    };
    Some((Rule::Checks, why))
}

fn cache(candidate: &Candidate<'_>) -> Option<(Rule, String)> {
    is_cache(candidate.subject.driver()).then(|| {
        let why = "remembers tokens that it verified before: its times are another work's";
        (Rule::Cache, why.to_owned())
    })
}

/// What the kind of token is good for.
fn kind(candidate: &Candidate<'_>, requirements: &Requirements) -> Option<(Rule, String)> {
    let subject = candidate.subject;
    let Some(facts) = facts(&subject.format, subject.alg.as_deref()) else {
        let why = "jeton's table of algorithms does not know it";
        return Some((Rule::Questionable, why.to_owned()));
    };
    if subject.is_weak() {
        let why = "its key is under today's minimum: measured because a report did";
        return Some((Rule::Questionable, why.to_owned()));
    }
    if let Some(why) = facts.questionable {
        return Some((Rule::Questionable, why.to_owned()));
    }
    let demands = [
        (
            requirements.confidentiality && !facts.confidential,
            Rule::Confidentiality,
            "anybody who holds the token can read its claims",
        ),
        (
            requirements.third_parties && !facts.third_parties,
            Rule::ThirdParties,
            if facts.confidential {
                "an encrypted token does not show a third party who made it"
            } else {
                "the secret that verifies it also makes it"
            },
        ),
        (
            requirements.fips && !facts.fips,
            Rule::Fips,
            "not all of its algorithms are approved by FIPS",
        ),
        (
            requirements.post_quantum && !facts.post_quantum,
            Rule::PostQuantum,
            "a quantum computer would break RSA and elliptic curves",
        ),
    ];
    let unmet = demands.into_iter().find(|(unmet, ..)| *unmet);
    unmet.map(|(_, rule, why)| (rule, why.to_owned()))
}

fn budgets(candidate: &Candidate<'_>, requirements: &Requirements) -> Option<(Rule, String)> {
    let budgets = [
        (
            requirements.header_budget,
            Carrier::Header,
            Rule::HeaderBudget,
        ),
        (
            requirements.cookie_budget,
            Carrier::Cookie,
            Rule::CookieBudget,
        ),
    ];
    budgets.into_iter().find_map(|(budget, carrier, rule)| {
        let budget = budget?;
        let what = carrier.name();
        let Some(token) = candidate.token_bytes else {
            let why =
                format!("its size was not measured, so nobody knows whether the {what} holds it");
            return Some((rule, why));
        };
        let whole = carrier.with(token);
        (whole > budget).then(|| {
            let why = format!(
                "the {what} has {} bytes with it ({} of them the token), and {} are allowed",
                units::whole(whole),
                units::whole(token),
                units::whole(budget)
            );
            (rule, why)
        })
    })
}

fn measured(candidate: &Candidate<'_>, requirements: &Requirements) -> Option<(Rule, String)> {
    let is_there = match requirements.weight {
        Weight::Size => candidate.token_bytes.is_some(),
        weight => rounds(candidate, weight).is_some(),
    };
    (!is_there).then(|| {
        let why = format!("its {} was not measured", requirements.weight.label());
        (Rule::NotMeasured, why)
    })
}

fn language(candidate: &Candidate<'_>, requirements: &Requirements) -> Option<(Rule, String)> {
    let is_wanted = requirements.languages.is_empty()
        || requirements.languages.contains(&candidate.subject.language);
    (!is_wanted).then(|| {
        (
            Rule::Languages,
            "is of a language that was not asked for".to_owned(),
        )
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::recommendation::candidate::candidates;
    use crate::recommendation::sample::{attacked, fail, row};
    use crate::result::{AttackOutcome, Row};

    fn rule(rows: &[Row], requirements: &str, attacks: &Attacks) -> Option<Rule> {
        let requirements = Requirements::parse(&[requirements]).unwrap();
        let candidates = candidates(rows);
        refusal(&candidates[0], &requirements, attacks).map(|(rule, _)| rule)
    }

    /// The rule that a subject of the sample breaks, without attacks.
    fn broken(format: &str, alg: &str, requirements: &str) -> Option<Rule> {
        let rows = [
            row("go", "a", format, alg, "sign", 1000.0),
            row("go", "a", format, alg, "verify", 2000.0),
        ];
        rule(&rows, requirements, &Attacks::NotRun)
    }

    #[test]
    fn who_fell_to_an_attack_is_out_with_every_algorithm() {
        let accepted = Some(AttackOutcome::Accepted);
        let attacks = Attacks::of(&[attacked("go/a", "alg-none", accepted)]);
        let rows = [row("go", "a", "jwt", "ES256", "verify", 1.0)];
        assert_eq!(rule(&rows, "", &attacks), Some(Rule::Attack));
        let other = [row("go", "b", "jwt", "ES256", "verify", 1.0)];
        assert_eq!(rule(&other, "", &attacks), None);
    }

    #[test]
    fn who_failed_a_check_is_out() {
        let mut rows = [
            row("go", "a", "jwt", "ES256", "verify", 1.0),
            row("go", "a", "jwt", "ES256", "sign", 1.0),
        ];
        fail(&mut rows[1], Status::FailedPreflight);
        assert_eq!(rule(&rows, "", &Attacks::NotRun), Some(Rule::Checks));
        fail(&mut rows[1], Status::Unavailable);
        assert_eq!(rule(&rows, "", &Attacks::NotRun), None);
    }

    #[test]
    fn a_cache_is_no_choice() {
        let rows = [row(
            "node",
            "fast-jwt-cached",
            "jwt",
            "ES256",
            "verify",
            1.0,
        )];
        assert_eq!(rule(&rows, "", &Attacks::NotRun), Some(Rule::Cache));
    }

    #[test]
    fn old_and_unknown_kinds_are_no_choice() {
        assert_eq!(broken("v2.public", "-", ""), Some(Rule::Questionable));
        assert_eq!(broken("jwe", "RSA1_5", ""), Some(Rule::Questionable));
        assert_eq!(broken("jwt", "XX256", ""), Some(Rule::Questionable));
        assert_eq!(broken("v4.public", "-", ""), None);
        let mut weak = [row("go", "a", "jwt", "RS384", "verify", 1.0)];
        weak[0].subject.key_bits = Some(1024);
        assert_eq!(rule(&weak, "", &Attacks::NotRun), Some(Rule::Questionable));
    }

    #[test]
    fn needs_put_out_what_does_not_meet_them() {
        let confidential = Some(Rule::Confidentiality);
        assert_eq!(broken("jwt", "ES256", "confidentiality"), confidential);
        assert_eq!(broken("v4.local", "-", "confidentiality"), None);
        let third = "verify-by-third-parties";
        assert_eq!(broken("jwt", "HS256", third), Some(Rule::ThirdParties));
        assert_eq!(broken("jwe", "ECDH-ES", third), Some(Rule::ThirdParties));
        assert_eq!(broken("jwt", "ES256", third), None);
        assert_eq!(broken("v4.local", "-", "fips"), Some(Rule::Fips));
        assert_eq!(broken("v3.local", "-", "fips"), None);
        assert_eq!(
            broken("jwt", "ES256", "post-quantum"),
            Some(Rule::PostQuantum)
        );
        assert_eq!(broken("jwt", "ML-DSA-44", "post-quantum"), None);
    }

    #[test]
    fn budgets_count_what_is_around_the_token() {
        let exact = Carrier::Header.with(300);
        let within = format!("header-budget={exact}");
        let short = format!("header-budget={}", exact - 1);
        assert_eq!(broken("jwt", "ES256", &within), None);
        assert_eq!(broken("jwt", "ES256", &short), Some(Rule::HeaderBudget));
        let exact = Carrier::Cookie.with(300);
        let within = format!("cookie-budget={exact}");
        let short = format!("cookie-budget={}", exact - 1);
        assert_eq!(broken("jwt", "ES256", &within), None);
        assert_eq!(broken("jwt", "ES256", &short), Some(Rule::CookieBudget));
    }

    #[test]
    fn a_size_that_nobody_measured_fits_no_budget() {
        let mut rows = [row("go", "a", "jwt", "ES256", "verify", 1.0)];
        rows[0].token_bytes = None;
        let attacks = Attacks::NotRun;
        assert_eq!(
            rule(&rows, "header-budget=9999", &attacks),
            Some(Rule::HeaderBudget)
        );
    }

    #[test]
    fn the_weight_must_have_been_measured() {
        let rows = [row("go", "a", "jwt", "ES256", "verify", 1.0)];
        let attacks = Attacks::NotRun;
        assert_eq!(
            rule(&rows, "weight=sign", &attacks),
            Some(Rule::NotMeasured)
        );
        assert_eq!(
            rule(&rows, "weight=round-trip", &attacks),
            Some(Rule::NotMeasured)
        );
        assert_eq!(rule(&rows, "weight=verify", &attacks), None);
        assert_eq!(rule(&rows, "weight=size", &attacks), None);
    }

    #[test]
    fn other_languages_are_out() {
        assert_eq!(
            broken("jwt", "ES256", "languages=node"),
            Some(Rule::Languages)
        );
        assert_eq!(broken("jwt", "ES256", "languages=go+node"), None);
    }
}
