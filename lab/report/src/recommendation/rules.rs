//! The rules that exclude candidates; the first matching rule is reported.

use jeton_lab_model::result::Status;
use jeton_lab_model::units;

use super::algorithms::facts;
use super::attacks::Attacks;
use super::budgets::Carrier;
use super::candidate::Candidate;
use super::libraries::is_cache;
use super::ranking::rounds;
use jeton_lab_model::recommendation::{Out, Requirements, Rule, Weight};

/// Returns the rule that excludes a candidate, and the reason; `None` if it meets all requirements.
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

/// The report of an excluded candidate.
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
    // A library that fails an attack is excluded with every algorithm: callers cannot choose the
    // attacks they face.
    let fell_to = attacks.fell_to(candidate.subject.driver())?;
    Some((Rule::Attack, fell_to.to_owned()))
}

fn checks(candidate: &Candidate<'_>) -> Option<(Rule, String)> {
    let row = candidate.failed?;
    let what = match row.status {
        Status::FailedPreflight => "failed a preflight check",
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
        let why = "caches verified tokens, so its times are not those of verification";
        (Rule::Cache, why.to_owned())
    })
}

/// Applies the rules about the kind of token.
fn kind(candidate: &Candidate<'_>, requirements: &Requirements) -> Option<(Rule, String)> {
    let subject = candidate.subject;
    let Some(facts) = facts(&subject.format, subject.alg.as_deref()) else {
        let why = "unknown to jeton's table of algorithms";
        return Some((Rule::Questionable, why.to_owned()));
    };
    if subject.is_weak() {
        let why = "the key is smaller than today's minimum; measured only for a published report";
        return Some((Rule::Questionable, why.to_owned()));
    }
    if let Some(why) = facts.questionable {
        return Some((Rule::Questionable, why.to_owned()));
    }
    let demands = [
        (
            requirements.confidentiality && !facts.confidential,
            Rule::Confidentiality,
            "the claims are readable without a key",
        ),
        (
            requirements.third_parties && !facts.third_parties,
            Rule::ThirdParties,
            if facts.confidential {
                "an encrypted token does not prove its issuer to a third party"
            } else {
                "the verifier's secret can also create tokens"
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
            "quantum computers break RSA and elliptic curves",
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
                format!("the size was not measured, so it is unknown whether it fits the {what}");
            return Some((rule, why));
        };
        let whole = carrier.with(token);
        (whole > budget).then(|| {
            let why = format!(
                "the {what} has {} bytes ({} for the token), the limit is {}",
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
        let why = format!("the {} was not measured", requirements.weight.label());
        (Rule::NotMeasured, why)
    })
}

fn language(candidate: &Candidate<'_>, requirements: &Requirements) -> Option<(Rule, String)> {
    let is_wanted = requirements.languages.is_empty()
        || requirements.languages.contains(&candidate.subject.language);
    (!is_wanted).then(|| (Rule::Languages, "the language was not requested".to_owned()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::recommendation::candidate::candidates;
    use crate::recommendation::sample::{attacked, fail, row};
    use jeton_lab_model::result::{AttackOutcome, Row};

    fn rule(rows: &[Row], requirements: &str, attacks: &Attacks) -> Option<Rule> {
        let requirements = Requirements::parse(&[requirements]).unwrap();
        let candidates = candidates(rows);
        refusal(&candidates[0], &requirements, attacks).map(|(rule, _)| rule)
    }

    /// Returns the rule that a sample's subject breaks, without attacks.
    fn broken(format: &str, alg: &str, requirements: &str) -> Option<Rule> {
        let rows = [
            row("go", "a", format, alg, "sign", 1000.0),
            row("go", "a", format, alg, "verify", 2000.0),
        ];
        rule(&rows, requirements, &Attacks::NotRun)
    }

    #[test]
    fn rules_failed_attack_excludes_all_algorithms() {
        let accepted = Some(AttackOutcome::Accepted);
        let attacks = Attacks::of(&[attacked("go/a", "alg-none", accepted)]);
        let rows = [row("go", "a", "jwt", "ES256", "verify", 1.0)];
        assert_eq!(rule(&rows, "weight=verify", &attacks), Some(Rule::Attack));
        let other = [row("go", "b", "jwt", "ES256", "verify", 1.0)];
        assert_eq!(rule(&other, "weight=verify", &attacks), None);
    }

    #[test]
    fn rules_failed_check_excludes() {
        let mut rows = [
            row("go", "a", "jwt", "ES256", "verify", 1.0),
            row("go", "a", "jwt", "ES256", "sign", 1.0),
        ];
        fail(&mut rows[1], Status::FailedPreflight);
        assert_eq!(
            rule(&rows, "weight=verify", &Attacks::NotRun),
            Some(Rule::Checks)
        );
        fail(&mut rows[1], Status::Unavailable);
        assert_eq!(rule(&rows, "weight=verify", &Attacks::NotRun), None);
    }

    #[test]
    fn rules_cache_excludes() {
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
    fn rules_old_and_unknown_kinds_are_excluded() {
        assert_eq!(broken("v2.public", "-", ""), Some(Rule::Questionable));
        assert_eq!(broken("jwe", "RSA1_5", ""), Some(Rule::Questionable));
        assert_eq!(broken("jwt", "XX256", ""), Some(Rule::Questionable));
        assert_eq!(broken("v4.public", "-", ""), None);
        let mut weak = [row("go", "a", "jwt", "RS384", "verify", 1.0)];
        weak[0].subject.key_bits = Some(1024);
        assert_eq!(rule(&weak, "", &Attacks::NotRun), Some(Rule::Questionable));
    }

    #[test]
    fn rules_requirements_exclude() {
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
    fn rules_budgets_count_text_around_token() {
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
    fn rules_unknown_size_fits_no_budget() {
        let mut rows = [row("go", "a", "jwt", "ES256", "verify", 1.0)];
        rows[0].token_bytes = None;
        let attacks = Attacks::NotRun;
        assert_eq!(
            rule(&rows, "header-budget=9999", &attacks),
            Some(Rule::HeaderBudget)
        );
    }

    #[test]
    fn rules_weight_must_be_measured() {
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
    fn rules_other_languages_are_excluded() {
        assert_eq!(
            broken("jwt", "ES256", "languages=node"),
            Some(Rule::Languages)
        );
        assert_eq!(broken("jwt", "ES256", "languages=go+node"), None);
    }
}
