//! Sentences that explain a recommendation: reasons, exclusions, and what is not covered.

use jeton_lab_model::result::{Disturbance, RunResult};
use jeton_lab_model::units;

use super::attacks::Attacks;
use super::candidate::claims_of;
use super::choice::Found;
use jeton_lab_model::recommendation::{Out, Requirements, Rule, Weight};

/// Explains why a disturbed run has no recommendation.
pub(super) fn disturbed(disturbance: &Disturbance) -> Vec<String> {
    vec![format!(
        "The run was disturbed: {}. There is no recommendation from a disturbed run.",
        disturbance.reasons.join("; ")
    )]
}

/// Returns what would make a recommendation possible.
pub(super) fn quiet() -> Vec<String> {
    vec![
        "A run on an idle machine.".into(),
        "The option --allow-noisy, which accepts the disturbed run.".into(),
    ]
}

/// Explains the choice, or why there is none.
pub(super) fn because(found: &Found, requirements: &Requirements) -> Vec<String> {
    let mut told = Vec::new();
    for (rule, tokens) in by_rule(&found.out) {
        told.push(format!("{}: {}.", ruled_out(rule), units::list(&tokens)));
    }
    if found.tokens == 0 {
        told.push("No measured subject can be recommended.".into());
        return told;
    }
    if found.left == 0 {
        told.push(format!(
            "None of the {} meets all requirements.",
            units::count(found.tokens, "kind of token", "kinds of token")
        ));
        return told;
    }
    if found.choices.is_empty() {
        told.push(
            "The rounds of the remaining tokens cannot be compared: too few, or different numbers."
                .into(),
        );
        return told;
    }
    let left = units::count(found.left, "kind of token", "kinds of token");
    let weight = requirements.weight.label();
    told.push(match (found.choices.len(), requirements.weight) {
        _ if found.left == 1 => "One kind of token meets all requirements.".into(),
        (1, Weight::Size) => format!("It is the shortest of the remaining {left}."),
        (_, Weight::Size) => format!("They are the shortest of the remaining {left}."),
        (1, _) => format!("By {weight}, it is alone in the fastest group of the remaining {left}."),
        (several, _) => format!(
            "By {weight}, the fastest group of the remaining {left} has {several}; this run cannot distinguish them."
        ),
    });
    told
}

/// Explains the exclusion of tokens and libraries, once each.
fn by_rule(out: &[Out]) -> Vec<(Rule, Vec<String>)> {
    let mut rules: Vec<(Rule, Vec<String>)> = Vec::new();
    for one in out {
        let what = match one.rule {
            Rule::Attack | Rule::Checks | Rule::Cache => {
                format!("{} ({})", driver(&one.subject), one.token)
            }
            _ => one.token.clone(),
        };
        match rules.iter_mut().find(|(rule, _)| *rule == one.rule) {
            Some((_, whats)) if whats.contains(&what) => {}
            Some((_, whats)) => whats.push(what),
            None => rules.push((one.rule, vec![what])),
        }
    }
    rules
}

fn driver(subject: &str) -> &str {
    subject.split(':').next().unwrap_or(subject)
}

fn ruled_out(rule: Rule) -> &'static str {
    match rule {
        Rule::Attack => {
            "Excluded because the library, called as documented, accepts a token from a party without a key or can be stopped by one"
        }
        Rule::Checks => "Excluded because the library failed a check or crashed",
        Rule::Cache => "Excluded because the library caches verified tokens",
        Rule::Questionable => "Excluded because it is unsuitable for new tokens",
        Rule::Confidentiality => "Excluded because the claims are readable without a key",
        Rule::ThirdParties => "Excluded because a verifier could also create tokens",
        Rule::Fips => "Excluded because FIPS does not approve all of its algorithms",
        Rule::PostQuantum => "Excluded because a quantum computer would break it",
        Rule::HeaderBudget => {
            "Excluded in at least one library because the header would be too long"
        }
        Rule::CookieBudget => {
            "Excluded in at least one library because the cookie would be too long"
        }
        Rule::NotMeasured => {
            "Excluded in at least one library because the quantity of the weight was not measured"
        }
        Rule::Languages => {
            "Excluded in at least one library because of its language, or because a requested language has no library for it"
        }
    }
}

/// Lists what the recommendation does not cover.
pub(super) fn not_covered(
    result: &RunResult,
    requirements: &Requirements,
    attacks: &Attacks,
) -> Vec<String> {
    let mut told = Vec::new();
    if *attacks == Attacks::NotRun {
        told.push("Attacks: not run. Only the tampered, expired and wrong-key tokens of the preflight were tested.".to_owned());
    }
    let measured = result.rows.measured.iter().filter(|row| !row.reference);
    let mut unknown: Vec<&str> = measured
        .map(|row| row.subject.driver())
        .filter(|driver| attacks.left_out(driver))
        .collect();
    unknown.sort_unstable();
    unknown.dedup();
    if !unknown.is_empty() {
        told.push(format!("Attacks: not run on {}.", units::list(&unknown)));
    }
    if let Some(claims) = claims_of(&result.rows.measured) {
        told.push(format!(
            "Claims other than the set \"{claims}\", other key sizes, versions and machines, latency under load, and several threads."
        ));
    }
    if requirements.revocation {
        told.push("Revocation: no token format supports it by itself. It requires a store that verifiers query for each token, or short lifetimes. This run did not measure that cost.".into());
    }
    if requirements.fips {
        told.push("Validation: an approved algorithm is not a validated module. Check the certificate of the module that the library uses.".into());
    }
    if requirements.post_quantum {
        told.push("Key distribution: a symmetric key protected by RSA or an elliptic curve is no safer than these.".into());
    }
    if !requirements.third_parties {
        told.push(
            "Key holders: with a shared secret, every verifier can also create tokens.".into(),
        );
    }
    if !result.environment.complete {
        told.push("The planned rounds that did not run.".into());
    }
    if result.noise_floor.floor.is_none() {
        told.push("The difference of identical subjects: no noise floor was measured.".into());
    }
    let missing = result
        .rows
        .measured
        .iter()
        .filter(|row| row.ns_per_op.is_none())
        .count();
    if missing > 0 {
        told.push(format!(
            "Subjects without a time in this run: {}.",
            units::count(missing, "row", "rows")
        ));
    }
    told.push("Maintenance, documentation and review of the libraries.".into());
    told
}
