//! The rules that exclude candidates; the first matching rule is reported.

use jeton_lab_model::recommendation::{Out, Requirements, Rule};
use jeton_lab_model::result::{Row, Status};
use jeton_lab_model::units;

use super::attacks::Attacks;
use super::budgets::Carrier;
use super::candidate::{Candidate, Cost, candidates};
use super::properties::{facts, is_cache};

/// Returns the rule that excludes a candidate, with the reason; `None` if it meets all requirements.
pub(super) fn refusal(
    candidate: &Candidate<'_>,
    requirements: &Requirements,
    attacks: &Attacks,
) -> Option<Out> {
    let subject = candidate.subject;
    let out = |(rule, why): (Rule, String)| Out {
        rule,
        token: candidate.token.clone(),
        subject: subject.id.clone(),
        why,
    };
    // A library that fails an attack is excluded with every algorithm: callers cannot choose the
    // attacks they face.
    if let Some(fell_to) = attacks.fell_to(subject.driver()) {
        return Some(out((Rule::Attack, fell_to.to_owned())));
    }
    if let Some(row) = candidate.failed {
        let what = match row.status {
            Status::FailedPreflight => "failed a preflight check",
            Status::Crashed => "crashed",
            _ => "did not answer in time",
        };
        let why = row.reason.as_ref();
        let why = why.map_or_else(|| what.to_owned(), |reason| format!("{what}: {reason}"));
        return Some(out((Rule::Checks, why)));
    }
    if is_cache(subject.driver()) {
        let why = "caches verified tokens, so its times are not those of verification";
        return Some(out((Rule::Cache, why.to_owned())));
    }
    let weight = requirements.weight;
    let not_measured = || {
        let why = format!("the {} was not measured", weight.label());
        (Rule::NotMeasured, why)
    };
    let languages = &requirements.languages;
    let is_unwanted = !languages.is_empty() && !languages.contains(&subject.language);
    let unwanted = || (Rule::Languages, "the language was not requested".to_owned());
    kind(candidate, requirements)
        .map(|(rule, why)| (rule, why.to_owned()))
        .or_else(|| budgets(candidate, requirements))
        .or_else(|| candidate.scored(weight).is_none().then(not_measured))
        .or_else(|| is_unwanted.then(unwanted))
        .map(out)
}

/// Returns the cost of every subject that the rules do not exclude.
pub(super) fn costs<'a>(
    rows: &'a [Row],
    requirements: &Requirements,
    attacks: &Attacks,
) -> Vec<Cost<'a>> {
    let usable = candidates(rows, |_| true).into_iter();
    let usable = usable.filter(|c| refusal(c, requirements, attacks).is_none());
    usable.filter_map(Cost::of).collect()
}

/// Applies the rules about the kind of token.
#[rustfmt::skip]
fn kind(candidate: &Candidate<'_>, requirements: &Requirements) -> Option<(Rule, &'static str)> {
    let subject = candidate.subject;
    let Some(facts) = facts(&subject.format, subject.alg.as_deref()) else {
        return Some((Rule::Questionable, "unknown to jeton's table of algorithms"));
    };
    let weak = "the key is smaller than today's minimum; measured only for a published report";
    if let Some(why) = subject.is_weak().then_some(weak).or(facts.questionable) {
        return Some((Rule::Questionable, why));
    }
    let no_proof = if facts.confidential {
        "an encrypted token does not prove its issuer to a third party"
    } else {
        "the verifier's secret can also create tokens"
    };
    let asked = requirements;
    let demands = [
        (asked.confidentiality, facts.confidential, Rule::Confidentiality, "the claims are readable without a key"),
        (asked.third_parties, facts.third_parties, Rule::ThirdParties, no_proof),
        (asked.fips, facts.fips, Rule::Fips, "not all of its algorithms are approved by FIPS"),
        (asked.post_quantum, facts.post_quantum, Rule::PostQuantum, "quantum computers break RSA and elliptic curves"),
    ];
    let mut unmet = demands.into_iter().filter(|(is_asked, is_met, ..)| *is_asked && !is_met);
    unmet.next().map(|(_, _, rule, why)| (rule, why))
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
        let (budget, what) = (budget?, carrier.name());
        let Some(token) = candidate.token_bytes else {
            let why =
                format!("the size was not measured, so it is unknown whether it fits the {what}");
            return Some((rule, why));
        };
        let whole = carrier.with(token);
        let [has, own, limit] = [whole, token, budget].map(units::whole);
        let why = format!("the {what} has {has} bytes ({own} for the token), the limit is {limit}");
        (whole > budget).then_some((rule, why))
    })
}
