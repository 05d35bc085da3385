//! The outcome of one attack on one library.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Party, Status};
use crate::name_table::named;

/// The outcome of one attack on one driver's library, in one format and with one practice, for all
/// algorithms and variants together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AttackRow {
    /// `unavailable` if the driver cannot run; `failed-preflight` if the row is void because the
    /// positive control was rejected too; `crashed` or `timed-out` according to the outcome; otherwise
    /// `ok`.
    pub status: Status,
    /// The reason if the status is not `ok`, or the library's message when it rejected; one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The attack's name; `jeton-lab attack --list` lists all names.
    pub attack: String,
    /// The attack's family: `header`, `keys`, …
    pub family: String,
    /// The attacked library.
    pub subject: Party,
    /// The format: `jwt`, `jwe`, `v1.local` … `v4.public`.
    pub format: String,
    /// How the library was called.
    pub practice: Practice,
    /// The worst outcome of all variants; `None` if the row is void or the driver cannot run.
    pub outcome: Option<AttackOutcome>,
    /// The number of tokens or keys whose positive control was accepted.
    pub tried: u32,
    /// The number of void tokens or keys: their positive control was rejected too.
    pub void: u32,
    /// The tested algorithms; empty for PASETO.
    pub algs: Vec<String>,
    /// The number of tested tokens or keys that were not rejected.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub found: u32,
    /// The worst of them in full, at most [`AttackRow::EVIDENCE_MAX`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    /// The algorithm and variant of more of them, at most [`AttackRow::ALSO_MAX`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
}

impl AttackRow {
    /// The number of pieces of evidence in a row. One token and key reproduce a finding, and a page
    /// about all libraries has thousands of rows.
    pub const EVIDENCE_MAX: usize = 1;
    /// The number of further names in a row.
    pub const ALSO_MAX: usize = 8;
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

named! {
    /// How a library is called.
    Practice {
        /// With the shortest call of its documentation.
        Defaults = "defaults",
        /// With every check that its documentation describes.
        Documented = "documented",
    }
}

named! {
    /// The outcome of an attack, from harmless to worst.
    AttackOutcome {
        /// The attack is not possible with any algorithm that the driver offers.
        NotApplicable = "not-applicable",
        /// The library lacks the attacked feature.
        NotOffered = "not-offered",
        /// A finding that is not public yet; the reason has the date until then.
        Withheld = "withheld",
        /// The token or key was rejected, as required.
        Refused = "refused",
        /// Rejected, but at an excessive cost.
        OverLimit = "over-limit",
        /// The driver did not answer in time.
        Hung = "hung",
        /// The library panicked, or the process exited.
        Crashed = "crashed",
        /// The token or key was accepted, which is a finding.
        Accepted = "accepted",
    }
}

impl AttackOutcome {
    /// Returns the outcome for people.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Refused => "rejected",
            other => other.name(),
        }
    }

    /// Reports whether the outcome is a finding.
    #[must_use]
    pub fn is_finding(self) -> bool {
        self >= Self::OverLimit
    }

    /// Reports whether the outcome counts against a library: also a finding that is not shown.
    #[must_use]
    pub fn counts_against(self) -> bool {
        self.is_finding() || self == Self::Withheld
    }
}

impl Evidence {
    /// Returns the algorithm and the variant, for people.
    #[must_use]
    pub fn name(&self) -> String {
        match &self.alg {
            Some(alg) => format!("{alg} {}", self.spelling),
            None => self.spelling.clone(),
        }
    }
}

/// One token or key that was not rejected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// The algorithm, followed by the content encryption for a JWE.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alg: Option<String>,
    /// The variant of the attack.
    pub spelling: String,
    /// The outcome of this token.
    pub outcome: AttackOutcome,
    /// The token; a very long token is shortened and its length is appended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// The verifier's key, created for this run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<Value>,
    /// The observation, one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<String>,
}
