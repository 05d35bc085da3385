//! The recommendation: rules over the measurements of one run and the user's requirements.
//!
//! The order is fixed. A disturbed run has no recommendation. Libraries that accept tokens from a party
//! without a key, or that such a party can stop, are excluded. Then subjects that do not meet a
//! requirement ([`Requirements`]) are excluded. Of the rest, the whole fastest group by the user's
//! weight is recommended, because its members cannot be distinguished. Without requirements there are
//! three cases instead ([`cases`]). Each recommendation states its reasons, what would change it, and what it does not cover.
//!
//! Properties that a run cannot measure, such as third-party verification and FIPS approval, are in a table.

pub(crate) mod answers;
mod attacks;
pub(crate) mod budgets;
mod candidate;
mod cases;
mod choice;
mod properties;
mod rules;
#[cfg(test)]
pub(crate) mod sample;

pub(crate) use candidate::claims_of;
pub(crate) use cases::cases_of;
pub use cases::{Case, cases};
pub(crate) use properties::is_cache;

use std::borrow::Cow;

use jeton_lab_model::recommendation::{Out, Recommendation, Requirements, Rule, Weight};
use jeton_lab_model::result::RunResult;
use jeton_lab_model::units;

use attacks::Attacks;
use choice::{Found, changes, choose};

/// Whether a disturbed run may have a recommendation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noisy {
    /// A disturbed run has no recommendation.
    Refused,
    /// A disturbed run is accepted, because the user asked for it.
    Allowed,
}

impl Noisy {
    /// Returns what a stored recommendation was made with.
    pub(crate) fn of(advice: &Recommendation) -> Self {
        if advice.allow_noisy {
            Self::Allowed
        } else {
            Self::Refused
        }
    }

    /// Reports whether this result may not have a recommendation.
    fn refuses(self, result: &RunResult) -> bool {
        self == Self::Refused && result.environment.disturbance.disturbed
    }
}

/// Returns the recommendation of a result; without a stored one, computes one without requirements.
#[must_use]
pub fn recommendation_of(result: &RunResult) -> Cow<'_, Recommendation> {
    match &result.recommendation {
        Some(recorded) => Cow::Borrowed(recorded),
        None => Cow::Owned(recommend(result, &Requirements::default(), Noisy::Refused)),
    }
}

/// Recommends tokens and libraries for these requirements.
///
/// # Examples
/// ```
/// # fn demo(result: &jeton_lab_model::result::RunResult) -> Result<(), jeton_lab_model::recommendation::RequirementsError> {
/// use jeton_lab_model::recommendation::Requirements;
/// use jeton_lab_report::recommendation::{Noisy, recommend};
///
/// let requirements = Requirements::parse(&["verify-by-third-parties", "languages=go+node"])?;
/// let advice = recommend(result, &requirements, Noisy::Refused);
/// for choice in &advice.choices {
///     println!("{}, {:?} bytes", choice.token, choice.token_bytes);
/// }
/// # Ok(()) }
/// ```
#[must_use]
pub fn recommend(result: &RunResult, requirements: &Requirements, noisy: Noisy) -> Recommendation {
    let attacks = Attacks::of(&result.rows.attack);
    let mut advice = Recommendation {
        requirements: requirements.names(),
        allow_noisy: noisy == Noisy::Allowed,
        choices: Vec::new(),
        because: Vec::new(),
        would_change: Vec::new(),
        not_covered: not_covered(result, requirements, &attacks),
        out: Vec::new(),
    };
    if noisy.refuses(result) {
        let reasons = result.environment.disturbance.reasons.join("; ");
        advice.because.push(format!(
            "The run was disturbed: {reasons}. There is no recommendation from a disturbed run."
        ));
        advice.would_change.extend([
            "A run on an idle machine.".into(),
            "The option --allow-noisy, which accepts the disturbed run.".into(),
        ]);
        return advice;
    }
    let found = choose(result, requirements, &attacks);
    advice.because = excluded(&found.out);
    advice.because.push(chosen(&found, requirements.weight));
    advice.would_change = changes(result, requirements, &attacks, &found);
    advice.choices = found.choices;
    advice.out = found.out;
    advice
}

/// Explains the choice, or why nothing was chosen.
fn chosen(found: &Found, weight: Weight) -> String {
    let kinds = |count| units::count(count, "kind of token", "kinds of token");
    let left = kinds(found.left);
    match (found.tokens, found.left, found.choices.len()) {
        (0, ..) => "No measured subject can be recommended.".into(),
        (all, 0, _) => format!("None of the {} meets all requirements.", kinds(all)),
        (.., 0) => {
            "The rounds of the remaining tokens cannot be compared: too few, or different numbers."
                .into()
        }
        (_, 1, _) => "One kind of token meets all requirements.".into(),
        (.., several) if weight == Weight::Size => {
            let is = if several == 1 { "It is" } else { "They are" };
            format!("{is} the shortest of the remaining {left}.")
        }
        (.., 1) => {
            let weight = weight.label();
            format!("By {weight}, it is alone in the fastest group of the remaining {left}.")
        }
        (.., several) => format!(
            "By {}, the fastest group of the remaining {left} has {several}; this run cannot distinguish them.",
            weight.label()
        ),
    }
}

/// Explains the exclusion of tokens and libraries, each rule once.
fn excluded(out: &[Out]) -> Vec<String> {
    let mut rules: Vec<(Rule, Vec<String>)> = Vec::new();
    for Out {
        rule,
        token,
        subject,
        ..
    } in out
    {
        let what = match rule {
            Rule::Attack | Rule::Checks | Rule::Cache => {
                let driver = subject.split(':').next().unwrap_or(subject);
                format!("{driver} ({token})")
            }
            _ => token.clone(),
        };
        match rules.iter_mut().find(|(known, _)| known == rule) {
            Some((_, whats)) if whats.contains(&what) => {}
            Some((_, whats)) => whats.push(what),
            None => rules.push((*rule, vec![what])),
        }
    }
    let told = rules.into_iter();
    told.map(|(rule, whats)| format!("Excluded {}: {}.", why_excluded(rule), units::list(&whats)))
        .collect()
}

#[rustfmt::skip]
fn why_excluded(rule: Rule) -> &'static str {
    match rule {
        Rule::Attack => "because the library, called as documented, accepts a token from a party without a key or can be stopped by one",
        Rule::Checks => "because the library failed a check or crashed",
        Rule::Cache => "because the library caches verified tokens",
        Rule::Questionable => "because it is unsuitable for new tokens",
        Rule::Confidentiality => "because the claims are readable without a key",
        Rule::ThirdParties => "because a verifier could also create tokens",
        Rule::Fips => "because FIPS does not approve all of its algorithms",
        Rule::PostQuantum => "because a quantum computer would break it",
        Rule::HeaderBudget => "in at least one library because the header would be too long",
        Rule::CookieBudget => "in at least one library because the cookie would be too long",
        Rule::NotMeasured => "in at least one library because the quantity of the weight was not measured",
        Rule::Languages => "in at least one library because of its language, or because a requested language has no library for it",
    }
}

/// Lists what the recommendation does not cover.
fn not_covered(result: &RunResult, requirements: &Requirements, attacks: &Attacks) -> Vec<String> {
    let rows = &result.rows.measured;
    let measured = rows
        .iter()
        .filter(|row| !row.reference)
        .map(|row| row.subject.driver());
    let mut unknown: Vec<&str> = measured.filter(|driver| attacks.left_out(driver)).collect();
    unknown.sort_unstable();
    unknown.dedup();
    let claims = claims_of(rows).map(|claims| {
        format!("Claims other than the set \"{claims}\", other key sizes, versions and machines, latency under load, and several threads.")
    });
    let missing = rows.iter().filter(|row| row.ns_per_op.is_none()).count();
    let missing = (missing > 0).then(|| {
        let rows = units::count(missing, "row", "rows");
        format!("Subjects without a time in this run: {rows}.")
    });
    let told = |is: bool, what: &str| is.then(|| what.to_owned());
    let all = [
        told(
            *attacks == Attacks::NotRun,
            "Attacks: not run. Only the tampered, expired and wrong-key tokens of the preflight were tested.",
        ),
        (!unknown.is_empty()).then(|| format!("Attacks: not run on {}.", units::list(&unknown))),
        claims,
        told(
            requirements.revocation,
            "Revocation: no token format supports it by itself. It requires a store that verifiers query for each token, or short lifetimes. This run did not measure that cost.",
        ),
        told(
            requirements.fips,
            "Validation: an approved algorithm is not a validated module. Check the certificate of the module that the library uses.",
        ),
        told(
            requirements.post_quantum,
            "Key distribution: a symmetric key protected by RSA or an elliptic curve is no safer than these.",
        ),
        told(
            !requirements.third_parties,
            "Key holders: with a shared secret, every verifier can also create tokens.",
        ),
        told(
            !result.environment.complete,
            "The planned rounds that did not run.",
        ),
        told(
            result.noise_floor.floor.is_none(),
            "The difference of identical subjects: no noise floor was measured.",
        ),
        missing,
        told(
            true,
            "Maintenance, documentation and review of the libraries.",
        ),
    ];
    all.into_iter().flatten().collect()
}
