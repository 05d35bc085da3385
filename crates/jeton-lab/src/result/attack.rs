//! What became of one attack on one library.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Party, Status};

/// One attack on one driver's library in one format, under one practice: every algorithm and
/// spelling of it together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AttackRow {
    /// `unavailable` if the driver cannot be had; `failed-preflight` if the row is void, because the
    /// untampered twin was refused too; `crashed` and `timed-out` as the outcome says; else `ok`.
    pub status: Status,
    /// Why it is not `ok`, or what the library said when it refused; one line for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The attack's name: `jeton lab attack --list` has them all.
    pub attack: String,
    /// What it works on: `header`, `keys`, …
    pub family: String,
    /// Who was attacked.
    pub subject: Party,
    /// `jwt`, `jwe`, `v1.local` … `v4.public`.
    pub format: String,
    /// How the library was called.
    pub practice: Practice,
    /// What became of it, the worst of all; none if the row is void or the driver cannot be had.
    pub outcome: Option<AttackOutcome>,
    /// How many tokens or keys were tried whose twin was accepted.
    #[serde(default)]
    pub tried: u32,
    /// How many say nothing, because their twin was refused as well.
    #[serde(default)]
    pub void: u32,
    /// The algorithms that it was tried with; empty for PASETO.
    #[serde(default)]
    pub algs: Vec<String>,
    /// How many of those that were tried were not refused.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub found: u32,
    /// The worst of them in full, up to [`AttackRow::EVIDENCE_MAX`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    /// More of them, by algorithm and spelling alone, up to [`AttackRow::ALSO_MAX`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
}

impl AttackRow {
    /// How many pieces of evidence a row keeps: one token and key repeat a finding, and a page about
    /// every library has thousands of rows.
    pub const EVIDENCE_MAX: usize = 1;
    /// How many more a row names.
    pub const ALSO_MAX: usize = 8;
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// How a library is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Practice {
    /// The shortest call that its documentation begins with, and no demand beyond it.
    Defaults,
    /// As its documentation tells a careful user: every check on that it has.
    Documented,
}

impl Practice {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Defaults, Self::Documented];

    /// The protocol's word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Defaults => "defaults",
            Self::Documented => "documented",
        }
    }
}

/// What became of an attack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AttackOutcome {
    /// It cannot be made with any algorithm that the driver offers.
    NotApplicable,
    /// The library does not have what is attacked.
    NotOffered,
    /// As it must be.
    Refused,
    /// Refused, at a cost out of all proportion.
    OverLimit,
    /// The driver did not answer in time.
    Hung,
    /// The library panicked, or the process died.
    Crashed,
    /// A token or key was taken that must not be.
    Accepted,
}

impl AttackOutcome {
    /// Every outcome, from harmless to worst.
    pub const ALL: [Self; 7] = [
        Self::NotApplicable,
        Self::NotOffered,
        Self::Refused,
        Self::OverLimit,
        Self::Hung,
        Self::Crashed,
        Self::Accepted,
    ];

    /// The file's word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::NotApplicable => "not-applicable",
            Self::NotOffered => "not-offered",
            Self::Refused => "refused",
            Self::OverLimit => "over-limit",
            Self::Hung => "hung",
            Self::Crashed => "crashed",
            Self::Accepted => "accepted",
        }
    }

    /// The outcome of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|o| o.name() == name)
    }

    /// Whether it is what must not happen.
    #[must_use]
    pub fn is_finding(self) -> bool {
        self >= Self::OverLimit
    }
}

impl Evidence {
    /// The algorithm and the spelling, for people.
    #[must_use]
    pub fn name(&self) -> String {
        match &self.alg {
            Some(alg) => format!("{alg} {}", self.spelling),
            None => self.spelling.clone(),
        }
    }
}

/// One token or key that was not refused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// The algorithm, and the content encryption behind it for a JWE.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alg: Option<String>,
    /// Which spelling of the attack.
    pub spelling: String,
    /// What became of this one.
    pub outcome: AttackOutcome,
    /// The token; one that is very long has its beginning and its length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// The key that the verifier had, made for this run alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<Value>,
    /// What was seen, one line for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<String>,
}
