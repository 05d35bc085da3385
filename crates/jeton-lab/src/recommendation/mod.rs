//! Which token, and which library: rules over what one run measured and what the reader needs.
//!
//! The order is fixed. A disturbed run advises nothing. Whoever lets somebody without a key past, or is
//! ended by one, is out; then whoever does not meet a need ([`Requirements`]); and of the rest the first tier by the
//! reader's weight is recommended, all of it, because inside a tier nothing can be told apart. Each
//! answer says why, what would change it, and what it does not cover.
//!
//! What a run cannot measure (which algorithms others can verify, which ones FIPS approves, which
//! library has which version of PASETO) stands in two tables with their sources.

mod algorithms;
mod attacks;
pub(crate) mod budgets;
mod candidate;
mod choice;
mod explain;
mod libraries;
mod requirements;
mod rules;
#[cfg(test)]
mod sample;
mod sensitivity;
mod weigh;

pub(crate) use candidate::claims_of;
pub(crate) use libraries::is_cache;
pub use requirements::{Requirement, Requirements, RequirementsError, Weight};

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::result::RunResult;

use attacks::Attacks;
use choice::choose;

/// What is recommended, or why nothing is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recommendation {
    /// What it was asked for, as `--need` takes it.
    #[serde(rename = "needs")]
    pub requirements: Vec<String>,
    /// True if a disturbed run was to be judged all the same.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allow_noisy: bool,
    /// The first tier: tokens that the weight cannot tell apart. Empty if nothing is recommended.
    pub choices: Vec<Choice>,
    /// Why, a sentence each; why not, if there is no choice.
    pub because: Vec<String>,
    /// What would change it, a sentence each.
    pub would_change: Vec<String>,
    /// What it says nothing about, a sentence each.
    pub not_covered: Vec<String>,
    /// Who is out, and by which rule.
    pub out: Vec<Out>,
}

impl Recommendation {
    /// The one that a result holds; for a file without one, that for no needs at all.
    #[must_use]
    pub fn of(result: &RunResult) -> Cow<'_, Self> {
        match &result.recommendation {
            Some(recorded) => Cow::Borrowed(recorded),
            None => Cow::Owned(recommend(result, &Requirements::default(), Noisy::Refused)),
        }
    }
}

/// A token to choose, and what to make and open it with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// The token as people call it: `JWT ES256`.
    pub token: String,
    /// Exact size, of the longest among its picks.
    pub token_bytes: Option<u64>,
    /// The first tier of libraries in each language.
    pub picks: Vec<Pick>,
}

/// A library to choose for a token.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pick {
    /// The measured subject's id.
    pub subject: String,
    /// The library.
    pub library: String,
    /// Its version, as measured.
    pub version: String,
    /// Its language.
    pub language: String,
    /// Its runtime, if the run measured its driver on several and this is not the one on `PATH`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<String>,
    /// Median time to make a token, nanoseconds.
    pub make_ns: Option<f64>,
    /// Median time to open and check one, nanoseconds.
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
    /// The rule that put it out.
    pub rule: Rule,
    /// The token as people call it.
    pub token: String,
    /// The subject's id.
    pub subject: String,
    /// Why, in words.
    pub why: String,
}

/// The rules, in the order in which they are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// Used as documented, it lets somebody without a key past, or is ended by one.
    Attack,
    /// It did something wrong before it was timed, or died while it was.
    Checks,
    /// It remembers tokens instead of verifying them.
    Cache,
    /// Its format or algorithm is not for new tokens.
    Questionable,
    /// Its claims can be read by anybody.
    Confidentiality,
    /// Who verifies it could also make it.
    ThirdParties,
    /// Its algorithms are not approved.
    Fips,
    /// A quantum computer would break it.
    PostQuantum,
    /// It is too long for the header.
    HeaderBudget,
    /// It is too long for the cookie.
    CookieBudget,
    /// What the weight asks for was not measured.
    NotMeasured,
    /// Its library is of another language, or one of the languages has none for its token.
    Languages,
}

/// What is to be done with a run that other work disturbed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noisy {
    /// It gives no advice.
    Refused,
    /// It is judged as it is, because the reader said so.
    Allowed,
}

/// What this result recommends to who has these needs.
///
/// # Examples
/// ```
/// # fn demo(result: &jeton_lab::result::RunResult) -> Result<(), jeton_lab::recommendation::RequirementsError> {
/// use jeton_lab::recommendation::{Requirements, Noisy, recommend};
///
/// let needs = Requirements::parse(&["verify-by-third-parties", "languages=go+node"])?;
/// let advice = recommend(result, &needs, Noisy::Refused);
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
