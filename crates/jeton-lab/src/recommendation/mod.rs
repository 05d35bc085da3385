//! The recommendation: rules over the measurements of one run and the user's requirements.
//!
//! The order is fixed. A disturbed run has no recommendation. Libraries that accept tokens from a party
//! without a key, or that such a party can stop, are excluded. Then subjects that do not meet a
//! requirement ([`Requirements`]) are excluded. Of the rest, the whole fastest group by the user's
//! weight is recommended, because its members cannot be distinguished. Each recommendation states its
//! reasons, what would change it, and what it does not cover.
//!
//! Properties that a run cannot measure (third-party verification, FIPS approval, the PASETO versions
//! of libraries) are in two tables with their sources.

mod algorithms;
mod attacks;
pub(crate) mod budgets;
mod candidate;
mod choice;
mod explain;
mod libraries;
mod ranking;
mod requirements;
mod rules;
#[cfg(test)]
mod sample;
mod sensitivity;

pub(crate) use candidate::claims_of;
pub(crate) use libraries::is_cache;
pub use requirements::{Requirement, Requirements, RequirementsError, Weight};

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::result::RunResult;

use attacks::Attacks;
use choice::choose;

/// A recommendation, or the reasons why there is none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recommendation {
    /// The requirements, as `--need` accepts them.
    #[serde(rename = "needs")]
    pub requirements: Vec<String>,
    /// True if a disturbed run was accepted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allow_noisy: bool,
    /// The tokens of the fastest group. Empty if there is no recommendation.
    pub choices: Vec<Choice>,
    /// The reasons, one sentence each.
    pub because: Vec<String>,
    /// What would change the recommendation, one sentence each.
    pub would_change: Vec<String>,
    /// What the recommendation does not cover, one sentence each.
    pub not_covered: Vec<String>,
    /// The excluded subjects, with the rule.
    pub out: Vec<Out>,
}

impl Recommendation {
    /// Returns the recommendation of a result; without a stored one, computes one without requirements.
    #[must_use]
    pub fn of(result: &RunResult) -> Cow<'_, Self> {
        match &result.recommendation {
            Some(recorded) => Cow::Borrowed(recorded),
            None => Cow::Owned(recommend(result, &Requirements::default(), Noisy::Refused)),
        }
    }
}

/// A recommended token with its libraries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// The token's name: `JWT ES256`.
    pub token: String,
    /// The exact size, the largest among its picks.
    pub token_bytes: Option<u64>,
    /// The fastest group of libraries in each language.
    pub picks: Vec<Pick>,
}

/// A recommended library for a token.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pick {
    /// The subject's id.
    pub subject: String,
    /// The library.
    pub library: String,
    /// The measured version.
    pub version: String,
    /// The language.
    pub language: String,
    /// The runtime, if the run measured several and this is not the one on `PATH`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<String>,
    /// The median time to sign or encrypt, in nanoseconds.
    pub make_ns: Option<f64>,
    /// The median time to verify or decrypt, in nanoseconds.
    pub open_ns: Option<f64>,
}

impl Pick {
    /// Returns the verbs for its two times: signs and verifies, or encrypts and decrypts.
    #[must_use]
    pub fn verbs(&self) -> [&'static str; 2] {
        // The format is the second part of a subject's id.
        let format = self.subject.split(':').nth(1).unwrap_or_default();
        match format == "jwe" || format.ends_with(".local") {
            true => ["encrypts", "decrypts"],
            false => ["signs", "verifies"],
        }
    }
}

/// A measured subject that is not recommended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Out {
    /// The rule.
    pub rule: Rule,
    /// The token's name.
    pub token: String,
    /// The subject's id.
    pub subject: String,
    /// The reason.
    pub why: String,
}

/// The rules, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// Called as documented, it accepts a token from a party without a key, or such a party can stop
    /// it.
    Attack,
    /// It failed a preflight check or crashed.
    Checks,
    /// It caches verified tokens.
    Cache,
    /// Its format or algorithm is unsuitable for new tokens.
    Questionable,
    /// Its claims are readable without a key.
    Confidentiality,
    /// A verifier could also create tokens.
    ThirdParties,
    /// Its algorithms are not approved.
    Fips,
    /// A quantum computer would break it.
    PostQuantum,
    /// It is too long for the header.
    HeaderBudget,
    /// It is too long for the cookie.
    CookieBudget,
    /// The quantity of the weight was not measured.
    NotMeasured,
    /// Its language was not requested, or a requested language has no library for the token.
    Languages,
}

/// Whether a disturbed run may have a recommendation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noisy {
    /// A disturbed run has no recommendation.
    Refused,
    /// A disturbed run is accepted, because the user asked for it.
    Allowed,
}

/// Recommends tokens and libraries for these requirements.
///
/// # Examples
/// ```
/// # fn demo(result: &jeton_lab::result::RunResult) -> Result<(), jeton_lab::recommendation::RequirementsError> {
/// use jeton_lab::recommendation::{Requirements, Noisy, recommend};
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
