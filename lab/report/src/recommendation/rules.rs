//! The rules that exclude candidates; the first matching rule is reported.

use jeton_lab_model::recommendation::{Out, Requirements, Rule};
use jeton_lab_model::result::{Row, Status};
use jeton_lab_model::units;

use super::attacks::Attacks;
use super::budgets::Carrier;
use super::candidate::{Candidate, Cost, candidates};
use super::properties::{facts, is_cache};

type Refusal = (Rule, String);

/// Returns the rule that excludes a candidate, and the reason; `None` if it meets all requirements.
pub(super) fn refusal(
    candidate: &Candidate<'_>,
    requirements: &Requirements,
    attacks: &Attacks,
) -> Option<Refusal> {
    let subject = candidate.subject;
    // A library that fails an attack is excluded with every algorithm: callers cannot choose the
    // attacks they face.
    if let Some(fell_to) = attacks.fell_to(subject.driver()) {
        return Some((Rule::Attack, fell_to.to_owned()));
    }
    if let Some(row) = candidate.failed {
        let what = match row.status {
            Status::FailedPreflight => "failed a preflight check",
            Status::Crashed => "crashed",
            _ => "did not answer in time",
        };
        let why = row
            .reason
            .as_ref()
            .map(|reason| format!("{what}: {reason}"));
        return Some((Rule::Checks, why.unwrap_or_else(|| what.to_owned())));
    }
    if is_cache(subject.driver()) {
        let why = "caches verified tokens, so its times are not those of verification";
        return Some((Rule::Cache, why.to_owned()));
    }
    let is_wanted =
        requirements.languages.is_empty() || requirements.languages.contains(&subject.language);
    kind(candidate, requirements)
        .map(|(rule, why)| (rule, why.to_owned()))
        .or_else(|| budgets(candidate, requirements))
        .or_else(|| {
            let is_measured = candidate.scored(requirements.weight).is_some();
            let why = || format!("the {} was not measured", requirements.weight.label());
            (!is_measured).then(|| (Rule::NotMeasured, why()))
        })
        .or_else(|| {
            let why = "the language was not requested";
            (!is_wanted).then(|| (Rule::Languages, why.to_owned()))
        })
}

/// Returns the cost of every subject that the rules do not exclude.
pub(super) fn costs<'a>(
    rows: &'a [Row],
    requirements: &Requirements,
    attacks: &Attacks,
) -> Vec<Cost<'a>> {
    let usable = candidates(rows).into_iter();
    let usable = usable.filter(|c| refusal(c, requirements, attacks).is_none());
    usable.filter_map(Cost::of).collect()
}

/// The report of an excluded candidate.
pub(super) fn out(candidate: &Candidate<'_>, (rule, why): Refusal) -> Out {
    Out {
        rule,
        token: candidate.token.clone(),
        subject: candidate.subject.id.clone(),
        why,
    }
}

/// Applies the rules about the kind of token.
fn kind(candidate: &Candidate<'_>, requirements: &Requirements) -> Option<(Rule, &'static str)> {
    let subject = candidate.subject;
    let Some(facts) = facts(&subject.format, subject.alg.as_deref()) else {
        return Some((Rule::Questionable, "unknown to jeton's table of algorithms"));
    };
    let weak = "the key is smaller than today's minimum; measured only for a published report";
    let why = if subject.is_weak() {
        Some(weak)
    } else {
        facts.questionable
    };
    if let Some(why) = why {
        return Some((Rule::Questionable, why));
    }
    let no_proof = if facts.confidential {
        "an encrypted token does not prove its issuer to a third party"
    } else {
        "the verifier's secret can also create tokens"
    };
    let quantum = "quantum computers break RSA and elliptic curves";
    let fips = "not all of its algorithms are approved by FIPS";
    let readable = "the claims are readable without a key";
    let Requirements {
        confidentiality,
        third_parties,
        fips: approved,
        post_quantum,
        ..
    } = *requirements;
    let demands = [
        (
            confidentiality,
            facts.confidential,
            Rule::Confidentiality,
            readable,
        ),
        (
            third_parties,
            facts.third_parties,
            Rule::ThirdParties,
            no_proof,
        ),
        (approved, facts.fips, Rule::Fips, fips),
        (post_quantum, facts.post_quantum, Rule::PostQuantum, quantum),
    ];
    let mut unmet = demands
        .into_iter()
        .filter(|(asked, met, ..)| *asked && !met);
    unmet.next().map(|(_, _, rule, why)| (rule, why))
}

fn budgets(candidate: &Candidate<'_>, requirements: &Requirements) -> Option<Refusal> {
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
        let (budget, what) = (budget?, carrier.name());
        let Some(token) = candidate.token_bytes else {
            let why =
                format!("the size was not measured, so it is unknown whether it fits the {what}");
            return Some((rule, why));
        };
        let whole = carrier.with(token);
        let [has, own, limit] = [whole, token, budget].map(units::whole);
        let why =
            || format!("the {what} has {has} bytes ({own} for the token), the limit is {limit}");
        (whole > budget).then(|| (rule, why()))
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::recommendation::sample::{attacked, fail, row};
    use jeton_lab_model::result::{AttackOutcome, Row};

    fn rule(rows: &[Row], requirements: &str, attacks: &Attacks) -> Option<Rule> {
        let requirements = Requirements::parse(&[requirements]).unwrap();
        let candidates = candidates(rows);
        refusal(&candidates[0], &requirements, attacks).map(|(rule, _)| rule)
    }

    #[test]
    fn rules_of_kinds_and_requirements() {
        let exact = [Carrier::Header, Carrier::Cookie].map(|carrier| carrier.with(300));
        let within = format!("header-budget={},cookie-budget={}", exact[0], exact[1]);
        let header = format!("header-budget={}", exact[0] - 1);
        let cookie = format!("cookie-budget={}", exact[1] - 1);
        let third = "verify-by-third-parties";
        for (format, alg, requirements, expected) in [
            ("v2.public", "-", "", Some(Rule::Questionable)),
            ("jwe", "RSA1_5", "", Some(Rule::Questionable)),
            ("jwt", "XX256", "", Some(Rule::Questionable)),
            ("v4.public", "-", "", None),
            (
                "jwt",
                "ES256",
                "confidentiality",
                Some(Rule::Confidentiality),
            ),
            ("v4.local", "-", "confidentiality", None),
            ("jwt", "HS256", third, Some(Rule::ThirdParties)),
            ("jwe", "ECDH-ES", third, Some(Rule::ThirdParties)),
            ("jwt", "ES256", third, None),
            ("v4.local", "-", "fips", Some(Rule::Fips)),
            ("v3.local", "-", "fips", None),
            ("jwt", "ES256", "post-quantum", Some(Rule::PostQuantum)),
            ("jwt", "ML-DSA-44", "post-quantum", None),
            ("jwt", "ES256", &within, None),
            ("jwt", "ES256", &header, Some(Rule::HeaderBudget)),
            ("jwt", "ES256", &cookie, Some(Rule::CookieBudget)),
            ("jwt", "ES256", "languages=node", Some(Rule::Languages)),
            ("jwt", "ES256", "languages=go+node", None),
        ] {
            let rows = ["sign", "verify"].map(|verb| row("go", "a", format, alg, verb, 1000.0));
            let broken = rule(&rows, requirements, &Attacks::NotRun);
            assert_eq!(broken, expected, "{format} {alg} {requirements}");
        }
    }

    #[test]
    fn rules_failed_attack_excludes_all_algorithms() {
        let accepted = Some(AttackOutcome::Accepted);
        let attacks = Attacks::of(&[attacked("go/a", "alg-none", accepted)]);
        for (library, expected) in [("a", Some(Rule::Attack)), ("b", None)] {
            let rows = [row("go", library, "jwt", "ES256", "verify", 1.0)];
            assert_eq!(rule(&rows, "weight=verify", &attacks), expected);
        }
    }

    #[test]
    fn rules_of_what_a_run_measured() {
        let by = |rows: &[Row], requirements| rule(rows, requirements, &Attacks::NotRun);
        let mut rows = ["verify", "sign"].map(|verb| row("go", "a", "jwt", "ES256", verb, 1.0));
        for (weight, expected) in [
            ("weight=sign", Some(Rule::NotMeasured)),
            ("weight=round-trip", Some(Rule::NotMeasured)),
            ("weight=verify", None),
            ("weight=size", None),
        ] {
            assert_eq!(by(&rows[..1], weight), expected, "{weight}");
        }
        fail(&mut rows[1], Status::FailedPreflight);
        assert_eq!(by(&rows, "weight=verify"), Some(Rule::Checks));
        fail(&mut rows[1], Status::Unavailable);
        assert_eq!(by(&rows, "weight=verify"), None);
        rows[0].token_bytes = None;
        assert_eq!(
            by(&rows[..1], "header-budget=9999"),
            Some(Rule::HeaderBudget)
        );
        rows[0].subject.key_bits = Some(1024);
        assert_eq!(by(&rows[..1], ""), Some(Rule::Questionable));
        let cached = row("node", "fast-jwt-cached", "jwt", "ES256", "verify", 1.0);
        assert_eq!(by(&[cached], ""), Some(Rule::Cache));
    }
}
