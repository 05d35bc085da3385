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
mod candidate;
mod cases;
mod choice;
pub(crate) mod library;
mod properties;
pub(crate) mod rules;
pub(crate) mod sure;

pub(crate) use candidate::claims_of;
pub(crate) use cases::{Asked, CASES, cases_of};
pub use cases::{Case, cases};
pub(crate) use properties::is_cache;

use std::borrow::Cow;

use jeton_lab_model::recommendation::{Out, Recommendation, Requirements, Rule, Weight};
use jeton_lab_model::result::RunResult;
use jeton_lab_model::units;

use crate::grouped::{distinct, grouped};
use choice::{Found, changes, choose};
use rules::Attacks;

/// Reports whether a disturbed run may not have a recommendation.
fn is_refused(result: &RunResult, allow_noisy: bool) -> bool {
    !allow_noisy && result.environment.disturbance.disturbed
}

/// Returns the recommendation of a result; without a stored one, computes one without requirements.
#[must_use]
pub fn recommendation_of(result: &RunResult) -> Cow<'_, Recommendation> {
    match &result.recommendation {
        Some(recorded) => Cow::Borrowed(recorded),
        None => Cow::Owned(recommend(result, &Requirements::default(), false)),
    }
}

/// Recommends tokens and libraries for these requirements; for those of a disturbed run only if that is allowed.
///
/// # Examples
/// ```
/// # fn demo(result: &jeton_lab_model::result::RunResult) -> Result<(), String> {
/// use jeton_lab_model::recommendation::Requirements;
/// use jeton_lab_report::recommendation::recommend;
///
/// let requirements = Requirements::parse(&["verify-by-third-parties", "languages=go+node"])?;
/// let advice = recommend(result, &requirements, false);
/// for choice in &advice.choices {
///     println!("{}, {:?} bytes", choice.token, choice.token_bytes);
/// }
/// # Ok(()) }
/// ```
#[must_use]
pub fn recommend(
    result: &RunResult,
    requirements: &Requirements,
    allow_noisy: bool,
) -> Recommendation {
    let attacks = Attacks::of(&result.rows.attack);
    let mut advice = Recommendation {
        requirements: requirements.names(),
        allow_noisy,
        choices: Vec::new(),
        because: Vec::new(),
        would_change: Vec::new(),
        not_covered: not_covered(result, requirements, &attacks),
        out: Vec::new(),
    };
    if is_refused(result, allow_noisy) {
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
    let (left, label) = (kinds(found.left), weight.label());
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
        (.., 1) => format!("By {label}, it is alone in the fastest group of the remaining {left}."),
        (.., several) => format!(
            "By {label}, the fastest group of the remaining {left} has {several}; this run cannot distinguish them."
        ),
    }
}

/// Explains the exclusion of tokens and libraries, each rule once.
fn excluded(out: &[Out]) -> Vec<String> {
    let rules = grouped(out.iter().map(|one| {
        let driver = one.subject.split(':').next().unwrap_or_default();
        let what = match one.rule {
            Rule::Attack | Rule::Checks | Rule::Cache => format!("{driver} ({})", one.token),
            _ => one.token.clone(),
        };
        (one.rule, what)
    }));
    let told = rules.into_iter().map(|(rule, whats)| {
        let (why, whats) = (why_excluded(rule), units::list(distinct(whats)));
        format!("Excluded {why}: {whats}.")
    });
    told.collect()
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
#[rustfmt::skip]
fn not_covered(result: &RunResult, requirements: &Requirements, attacks: &Attacks) -> Vec<String> {
    let rows = &result.rows.measured;
    let measured = rows.iter().filter(|row| !row.reference).map(|row| row.subject.driver());
    let mut unknown: Vec<&str> = measured.filter(|driver| attacks.left_out(driver)).collect();
    unknown.sort_unstable();
    unknown.dedup();
    let (has_unknown, unknown) = (!unknown.is_empty(), format!("Attacks: not run on {}.", units::list(&unknown)));
    let claims = claims_of(rows).unwrap_or_default();
    let claims = format!("Claims other than the set \"{claims}\", other key sizes, versions and machines, latency under load, and several threads.");
    let missing = rows.iter().filter(|row| row.ns_per_op.is_none()).count();
    let missing_rows = format!("Subjects without a time in this run: {}.", units::count(missing, "row", "rows"));
    let all = [
        (*attacks == Attacks::NotRun, "Attacks: not run. Only the tampered, expired and wrong-key tokens of the preflight were tested."),
        (has_unknown, &unknown),
        (!rows.is_empty(), &claims),
        (requirements.revocation, "Revocation: no token format supports it by itself. It requires a store that verifiers query for each token, or short lifetimes. This run did not measure that cost."),
        (requirements.fips, "Validation: an approved algorithm is not a validated module. Check the certificate of the module that the library uses."),
        (requirements.post_quantum, "Key distribution: a symmetric key protected by RSA or an elliptic curve is no safer than these."),
        (!requirements.third_parties, "Key holders: with a shared secret, every verifier can also create tokens."),
        (!result.environment.complete, "The planned rounds that did not run."),
        (result.noise_floor.floor.is_none(), "The difference of identical subjects: no noise floor was measured."),
        (missing > 0, &missing_rows),
        (true, "Maintenance, documentation and review of the libraries."),
    ];
    let said = all.into_iter().filter(|(is_so, _)| *is_so);
    said.map(|(_, what)| what.to_owned()).collect()
}
