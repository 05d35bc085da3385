use std::time::Duration;

use clap::Args;
use jeton::Claims;

use super::{ClaimsFormat, CustomClaims, ParsedClaims};
use crate::exit::{Failure, Outcome};
use crate::output;
use crate::source::Source;
use crate::time;

/// The expiry of a new token.
#[derive(Debug, Args)]
pub(crate) struct Expiry {
    /// Token lifetime, for example 15m, 1h or 7d
    #[arg(long, value_name = "TIME", value_parser = time::lifetime)]
    expires_in: Option<Duration>,

    /// Issue a token without an expiry
    #[arg(long, conflicts_with = "expires_in")]
    no_expiry: bool,
}

impl Expiry {
    /// Returns the claims to issue, with the chosen expiry.
    pub(crate) fn claims(
        &self,
        source: &Source,
        format: ClaimsFormat,
    ) -> Outcome<Claims<'static, CustomClaims<'static>>> {
        let given = ParsedClaims::read(&source.text("--claims")?, format)?;
        let expires_at = given.expires_at;
        let claims = given.into_claims();
        let conflict = |flag: &str| {
            Failure::error(format!("the claims have exp, and {flag} is passed too"))
                .hint(format!("remove exp from the claims, or remove `{flag}`"))
        };
        match (expires_at, self.expires_in, self.no_expiry) {
            (Some(timestamp), None, false) => Ok(claims.expires_at(timestamp)),
            (None, Some(lifetime), _) => Ok(claims.expires_in(lifetime)),
            (None, None, true) => {
                output::note(
                    "the token never expires: it is valid until its key is no longer trusted",
                );
                Ok(claims.without_expiry())
            }
            (Some(_), Some(_), _) => Err(conflict("--expires-in")),
            (Some(_), None, true) => Err(conflict("--no-expiry")),
            (None, None, false) => Err(Failure::error(
                "no expiry: neither exp in the claims nor --expires-in",
            )
            .hint("add `--expires-in 15m`; for a token without an expiry, add `--no-expiry`")),
        }
    }
}
