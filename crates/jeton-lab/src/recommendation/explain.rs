//! Why, why not, and what it says nothing about, in sentences.

use crate::report::units;
use crate::result::{Disturbance, RunResult};

use super::attacks::Attacks;
use super::candidate::claims_of;
use super::choice::Found;
use super::{Out, Requirements, Rule, Weight};

/// Why a disturbed run advises nothing.
pub(super) fn disturbed(disturbance: &Disturbance) -> Vec<String> {
    vec![format!(
        "The machine was disturbed while it measured: {}. The figures stand; no advice is drawn from them.",
        disturbance.reasons.join("; ")
    )]
}

/// What would make a run that can advise.
pub(super) fn quiet() -> Vec<String> {
    vec![
        "A run on a machine with nothing else to do.".into(),
        "--allow-noisy, for who takes the figures as they are.".into(),
    ]
}

/// Why these, or why none.
pub(super) fn because(found: &Found, requirements: &Requirements) -> Vec<String> {
    let mut told = Vec::new();
    for (rule, tokens) in by_rule(&found.out) {
        told.push(format!("{}: {}.", ruled_out(rule), units::list(&tokens)));
    }
    if found.tokens == 0 {
        told.push("Nothing was measured that can be chosen.".into());
        return told;
    }
    if found.left == 0 {
        told.push(format!(
            "None of the {} meets every need.",
            units::count(found.tokens, "kind of token", "kinds of token")
        ));
        return told;
    }
    if found.choices.is_empty() {
        told.push(
            "The rounds of what is left cannot be compared: too few, or not the same.".into(),
        );
        return told;
    }
    let left = units::count(found.left, "kind of token", "kinds of token");
    let weight = requirements.weight.label();
    told.push(match (found.choices.len(), requirements.weight) {
        _ if found.left == 1 => "One kind of token is left.".into(),
        (1, Weight::Size) => format!("It has the fewest bytes of the {left} that are left."),
        (_, Weight::Size) => format!("They have the fewest bytes of the {left} that are left."),
        (1, _) => format!("By {weight} it is alone in the first tier of the {left} that are left."),
        (several, _) => format!(
            "By {weight} the first tier of the {left} that are left has {several}; this run cannot tell them apart."
        ),
    });
    told
}

/// Tokens that a rule left no candidate of, and libraries that fell; once each.
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
            "Out, because somebody without a key gets past the library or ends it, used as documented"
        }
        Rule::Checks => "Out, because the library failed a check or died",
        Rule::Cache => "Out, because it remembers instead of verifying",
        Rule::Questionable => "Out, because it is not for new tokens",
        Rule::Confidentiality => "Out, because anybody can read the claims",
        Rule::ThirdParties => {
            "Out, because a third party could not verify it without also being able to make it"
        }
        Rule::Fips => "Out, because FIPS does not approve all of its algorithms",
        Rule::PostQuantum => "Out, because a quantum computer would break it",
        Rule::HeaderBudget => "Out, in at least one library, because the header would be too long",
        Rule::CookieBudget => "Out, in at least one library, because the cookie would be too long",
        Rule::NotMeasured => {
            "Out, in at least one library, because what the weight asks for was not measured"
        }
        Rule::Languages => {
            "Out, in at least one library, for its language, or because one of the languages has no library for it here"
        }
    }
}

/// What the advice says nothing about.
pub(super) fn not_covered(
    result: &RunResult,
    requirements: &Requirements,
    attacks: &Attacks,
) -> Vec<String> {
    let mut told = Vec::new();
    if *attacks == Attacks::NotRun {
        told.push("Attacks were not run: beyond the tampered, expired and wrong-key tokens of the checks before timing, nothing is known about what the libraries refuse.".to_owned());
    }
    let measured = result.rows.measured.iter().filter(|row| !row.reference);
    let mut unknown: Vec<&str> = measured
        .map(|row| row.subject.driver())
        .filter(|driver| attacks.left_out(driver))
        .collect();
    unknown.sort_unstable();
    unknown.dedup();
    if !unknown.is_empty() {
        told.push(format!(
            "Attacks were not run on {}: nothing is known about what they refuse.",
            units::list(&unknown)
        ));
    }
    if let Some(claims) = claims_of(&result.rows.measured) {
        told.push(format!(
            "Other claims than the set \"{claims}\", other key sizes, versions and machines; latency under load, and several threads."
        ));
    }
    if requirements.revocation {
        told.push("Revocation: no token here can be taken back by itself. It takes state that every verifier asks (a look-up for each token, and a store that answers), or lifetimes so short that waiting is enough. This run has not measured what that costs.".into());
    }
    if requirements.fips {
        told.push("Validation: an approved algorithm is not a validated module. Ask for the certificate of the module that the library calls.".into());
    }
    if requirements.post_quantum {
        told.push("How keys are handed out: a symmetric key that travels under RSA or an elliptic curve is no safer than these.".into());
    }
    if !requirements.third_parties {
        told.push("Who holds the keys: where one secret makes and verifies, every verifier can also make tokens.".into());
    }
    if !result.environment.complete {
        told.push("The rounds that were planned and not run.".into());
    }
    if result.noise_floor.floor.is_none() {
        told.push("What identical subjects differ by: no noise floor was measured.".into());
    }
    let missing = result
        .rows
        .measured
        .iter()
        .filter(|row| row.ns_per_op.is_none())
        .count();
    if missing > 0 {
        told.push(format!(
            "What has no time in this run: {}.",
            units::count(missing, "row", "rows")
        ));
    }
    told.push("How well a library is kept, documented and reviewed.".into());
    told
}
