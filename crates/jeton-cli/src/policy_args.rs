//! What the caller policy_args of a token's claims.

use std::time::Duration;

use clap::Args;
use jeton::{FixedClock, Policy, Timestamp};

use crate::allow::{self, InsecureOption, Allowed};
use crate::exit::Outcome;
use crate::output;
use crate::time;

/// The policy that the arguments make.
#[derive(Debug, Args)]
pub(crate) struct PolicyArgs {
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

    // Its help and its names are the verb's: [`allow::allow_arg`].
    #[arg(long, value_name = "NAME", value_parser = allow::parse)]
    allow: Vec<InsecureOption>,
}

impl PolicyArgs {
    /// Opens the allowed that the caller names, if they are all among those that lead somewhere here.
    pub(crate) fn open(&self, here: &'static [InsecureOption]) -> Outcome<Allowed> {
        allow::check(&self.allow, here)
    }

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
        if self.takes_no_expiry() {
            policy = policy.without_expiry();
        }
        policy
    }

    /// The issuer that is demanded.
    pub(crate) fn issuer(&self) -> Option<&str> {
        self.issuer.as_deref()
    }

    /// The audience that is demanded.
    pub(crate) fn audience(&self) -> Option<&str> {
        self.audience.as_deref()
    }

    /// Whether a token may live for ever.
    pub(crate) fn takes_no_expiry(&self) -> bool {
        self.allow.contains(&InsecureOption::NoExpiry)
    }

    /// What `--at` says.
    pub(crate) fn moment(&self) -> Option<Timestamp> {
        self.at
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
