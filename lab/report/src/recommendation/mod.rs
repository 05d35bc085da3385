//! The recommendation: rules over the measurements of one run and the user's requirements.
//!
//! The order is fixed. A disturbed run has no recommendation. Libraries that accept tokens from a party
//! without a key, or that such a party can stop, are excluded. Then subjects that do not meet a
//! requirement ([`Requirements`]) are excluded. Of the rest, the whole fastest group by the user's
//! weight is recommended, because its members cannot be distinguished. Without requirements there are
//! three cases instead ([`cases`]). Each recommendation states its reasons, what would change it, and what it does not cover.
//!
//! Properties that a run cannot measure (third-party verification, FIPS approval, the PASETO versions
//! of libraries) are in two tables with their sources.

mod algorithms;
pub(crate) mod answers;
mod attacks;
pub(crate) mod budgets;
mod candidate;
mod cases;
mod choice;
mod cost;
mod explain;
mod libraries;
mod ranking;
mod rules;
#[cfg(test)]
pub(crate) mod sample;
mod sensitivity;

pub(crate) use candidate::claims_of;
pub(crate) use cases::cases_of;
pub use cases::{Case, cases};
pub(crate) use libraries::is_cache;

use std::borrow::Cow;

use jeton_lab_model::recommendation::{Recommendation, Requirements};
use jeton_lab_model::result::RunResult;

use attacks::Attacks;
use choice::choose;

/// Whether a disturbed run may have a recommendation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noisy {
    /// A disturbed run has no recommendation.
    Refused,
    /// A disturbed run is accepted, because the user asked for it.
    Allowed,
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
    let rows = &result.rows.measured;
    let attacks = Attacks::of(&result.rows.attack);
    let mut advice = Recommendation {
        requirements: requirements.names(),
        allow_noisy: noisy == Noisy::Allowed,
        choices: Vec::new(),
        because: Vec::new(),
        would_change: Vec::new(),
        not_covered: explain::not_covered(result, requirements, &attacks),
        out: Vec::new(),
    };
    let disturbance = &result.environment.disturbance;
    if disturbance.disturbed && noisy == Noisy::Refused {
        advice.because = explain::disturbed(disturbance);
        advice.would_change = explain::quiet();
        return advice;
    }
    let found = choose(rows, &result.noise_floor, requirements, &attacks);
    advice.because = explain::because(&found, requirements);
    advice.would_change = sensitivity::changes(result, requirements, &attacks, &found);
    advice.choices = found.choices;
    advice.out = found.out;
    advice
}
