//! A user's requirements, and what a run recommends for them.

mod requirements;

pub use requirements::{LANGUAGES, Requirement, Requirements, Weight};

use serde::{Deserialize, Serialize};

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
        if format == "jwe" || format.ends_with(".local") {
            ["encrypts", "decrypts"]
        } else {
            ["signs", "verifies"]
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
