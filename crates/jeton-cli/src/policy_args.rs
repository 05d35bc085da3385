//! The arguments that set the verification policy.

use std::time::Duration;

use clap::Args;
use jeton::{FixedClock, Policy, Timestamp};

use crate::allow::{self, Allowed, InsecureOption};
use crate::exit::{Failure, Outcome};
use crate::output;
use crate::time;

/// What the claims of a token must be.
#[derive(Debug, Args)]
pub(crate) struct PolicyArgs {
    /// Required issuer (`iss`); repeat it with --shared-keys to accept one of several [default: not checked]
    #[arg(long, value_name = "ISSUER")]
    issuer: Vec<String>,

    /// Accept several --issuer with the same keys: one of them can then sign for another
    #[arg(long)]
    shared_keys: bool,

    /// Required audience (`aud`); repeat it to accept one of several [default: not checked]
    #[arg(long, value_name = "AUDIENCE")]
    audience: Vec<String>,

    /// Allowed difference between the clocks of issuer and verifier, for example 60s; iat may be 60s ahead in any case
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = time::duration)]
    leeway: Duration,

    /// Evaluate time claims at this time: RFC 3339 or seconds since 1970 [default: now]
    #[arg(long, value_name = "TIME", value_parser = time::moment)]
    at: Option<Timestamp>,

    // The command sets its help and its value parser: see `allow::allow_arg`.
    #[arg(long, value_name = "NAME", value_parser = allow::parse)]
    allow: Vec<InsecureOption>,
}

impl PolicyArgs {
    /// Returns the enabled features, if the command supports all of them and the arguments agree.
    pub(crate) fn allowed(&self, supported: &'static [InsecureOption]) -> Outcome<Allowed> {
        if self.issuer.len() > 1 && !self.shared_keys {
            let error = "several --issuer have the same keys, so one of them can sign for another";
            return Err(Failure::error(error).hint("if that is intended, add `--shared-keys`"));
        }
        if self.shared_keys && self.issuer.len() < 2 {
            return Err(Failure::error("--shared-keys requires several --issuer"));
        }
        allow::check(&self.allow, supported)
    }

    pub(crate) fn policy(&self) -> Policy {
        // The library checks neither: `note_unchecked` tells the caller.
        let mut policy = Policy::new("", "")
            .issuers_with_shared_keys(self.issuer.iter().cloned())
            .audiences(self.audience.iter().cloned())
            .leeway(self.leeway);
        if self.issuer.is_empty() {
            policy = policy.any_issuer();
        }
        if self.audience.is_empty() {
            policy = policy.any_audience();
        }
        if self.allows_no_expiry() {
            policy = policy.without_expiry();
        }
        policy
    }

    /// Requires this issuer, if the caller named none.
    pub(crate) fn set_default_issuer(&mut self, issuer: &str) {
        if self.issuer.is_empty() {
            self.issuer.push(issuer.to_owned());
        }
    }

    /// Returns the accepted issuers as text, if the issuer is checked.
    pub(crate) fn issuer(&self) -> Option<String> {
        any_of(&self.issuer)
    }

    /// Returns the accepted audiences as text, if the audience is checked.
    pub(crate) fn audience(&self) -> Option<String> {
        any_of(&self.audience)
    }

    /// Returns whether the caller requires a claim.
    pub(crate) fn requires_claims(&self) -> bool {
        !self.issuer.is_empty() || !self.audience.is_empty()
    }

    /// Returns whether tokens without `exp` are accepted.
    pub(crate) fn allows_no_expiry(&self) -> bool {
        self.allow.contains(&InsecureOption::NoExpiry)
    }

    /// Returns the time of `--at`.
    pub(crate) fn verification_time(&self) -> Option<Timestamp> {
        self.at
    }

    /// Returns a clock that always shows the time of `--at`.
    pub(crate) fn clock(&self) -> Option<FixedClock> {
        self.at.map(FixedClock)
    }

    /// Notes which of issuer and audience were not checked in an accepted token.
    pub(crate) fn note_unchecked(&self) {
        if let Some(message) = self.unchecked() {
            output::note(message);
        }
    }

    /// Returns which of issuer and audience the caller does not require.
    pub(crate) fn unchecked(&self) -> Option<&'static str> {
        Some(match (self.issuer.is_empty(), self.audience.is_empty()) {
            (true, true) => "issuer and audience were not checked; pass --issuer and --audience",
            (true, false) => "the issuer was not checked; pass --issuer",
            (false, true) => "the audience was not checked; pass --audience",
            (false, false) => return None,
        })
    }
}

/// Returns the accepted values as text: `a or b`.
pub(crate) fn any_of(values: &[String]) -> Option<String> {
    (!values.is_empty()).then(|| values.join(" or "))
}
