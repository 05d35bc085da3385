use std::time::Duration;

use clap::Args;
use jeton::error::Claim;
use jeton::{Claims, JsonClaims};

use super::ClaimsFormat;
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
    ) -> Outcome<Claims<'static, JsonClaims<'static>>> {
        let json = super::read(&source.text("--claims")?, format)?;
        let has_expiry = json.contains(Claim::Expiry);
        let claims = Claims::new(json);
        let conflict = |flag: &str| {
            Failure::error(format!("the claims have exp, and {flag} is passed too"))
                .hint(format!("remove exp from the claims, or remove `{flag}`"))
        };
        match (has_expiry, self.expires_in, self.no_expiry) {
            (true, None, false) => Ok(claims),
            (false, Some(lifetime), _) => Ok(claims.expires_in(lifetime)),
            (false, None, true) => {
                output::note(
                    "the token never expires: it is valid until its key is no longer trusted",
                );
                Ok(claims.without_expiry())
            }
            (true, Some(_), _) => Err(conflict("--expires-in")),
            (true, None, true) => Err(conflict("--no-expiry")),
            (false, None, false) => Err(Failure::error(
                "no expiry: neither exp in the claims nor --expires-in",
            )
            .hint("add `--expires-in 15m`; for a token without an expiry, add `--no-expiry`")),
        }
    }
}
