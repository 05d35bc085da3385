//! What the caller demands of a token's claims, and which doors of `danger` are opened for it.

use std::time::Duration;

use clap::Args;
use jeton::{FixedClock, Policy, Timestamp};

use crate::output;
use crate::time;

/// The policy that the arguments make.
#[derive(Debug, Args)]
pub(crate) struct Demands {
    /// Take tokens of this issuer (iss) only
    #[arg(long, value_name = "ISSUER")]
    issuer: Option<String>,

    /// Take tokens meant for this audience (aud) only
    #[arg(long, value_name = "AUDIENCE")]
    audience: Option<String>,

    /// How far the clocks of issuer and verifier may be apart: 60s
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = time::duration)]
    leeway: Duration,

    /// Check as of this moment, not now: RFC 3339, or seconds since 1970
    #[arg(long, value_name = "MOMENT", value_parser = time::moment)]
    at: Option<Timestamp>,

    /// Accept what is otherwise refused: no-expiry takes tokens without exp
    #[arg(long, value_name = "NAME", value_parser = door)]
    allow: Vec<Door>,
}

/// A door of `danger`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Door {
    NoExpiry,
}

impl Demands {
    pub(crate) fn policy(&self) -> Policy {
        // What is not named is not checked; the note says so.
        let mut policy = Policy::new(
            self.issuer.clone().unwrap_or_default(),
            self.audience.clone().unwrap_or_default(),
        )
        .leeway(self.leeway);
        if self.issuer.is_none() {
            policy = policy.any_issuer();
        }
        if self.audience.is_none() {
            policy = policy.any_audience();
        }
        for door in &self.allow {
            match door {
                Door::NoExpiry => {
                    output::note("tokens without exp are accepted (--allow no-expiry)");
                    policy = policy.without_expiry();
                }
            }
        }
        policy
    }

    /// The clock that stands at `--at`.
    pub(crate) fn clock(&self) -> Option<FixedClock> {
        self.at.map(FixedClock)
    }

    /// Says what was not looked at in a token that was accepted.
    pub(crate) fn note_unchecked(&self) {
        let message = match (&self.issuer, &self.audience) {
            (None, None) => "issuer and audience were not checked; give --issuer and --audience",
            (None, Some(_)) => "the issuer was not checked; give --issuer",
            (Some(_), None) => "the audience was not checked; give --audience",
            (Some(_), Some(_)) => return,
        };
        output::note(message);
    }
}

fn door(name: &str) -> Result<Door, String> {
    match name {
        "no-expiry" => Ok(Door::NoExpiry),
        "rsa1_5" | "zip" | "pbes2" | "weak-keys" | "paseto-v1" | "paseto-v2" => {
            Err("not built yet; there is no-expiry".to_owned())
        }
        _ => Err("there is no such door; there is no-expiry".to_owned()),
    }
}
