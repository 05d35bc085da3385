use std::time::Duration;

use clap::Args;
use jeton::Claims;

use super::{CustomClaims, ClaimsFormat, ParsedClaims};
use crate::exit::{Failure, Outcome};
use crate::output;
use crate::source::Source;
use crate::time;

/// When a new token is to expire.
#[derive(Debug, Args)]
pub(crate) struct Expiry {
    /// Let the token expire so long after it is issued: 15m, 1h, 7d
    #[arg(long, value_name = "TIME", value_parser = time::lifetime)]
    expires_in: Option<Duration>,

    /// Let the token never expire
    #[arg(long, conflicts_with = "expires_in")]
    no_expiry: bool,
}

impl Expiry {
    /// The claims to issue, with an expiry or the word that there is none.
    pub(crate) fn claims(
        &self,
        source: &Source,
        format: ClaimsFormat,
    ) -> Outcome<Claims<'static, CustomClaims<'static>>> {
        let given = ParsedClaims::read(&source.text("--claims")?, format)?;
        let expires_at = given.expires_at;
        let claims = given.into_claims();
        let two_answers = |flag: &str| {
            Failure::error(format!("the claims have an exp, and {flag} says otherwise"))
                .hint("leave one of them out")
        };
        match (expires_at, self.expires_in, self.no_expiry) {
            (Some(moment), None, false) => Ok(claims.expires_at(moment)),
            (None, Some(lifetime), _) => Ok(claims.expires_in(lifetime)),
            (None, None, true) => {
                output::note("the token never expires: it is good until its key is no longer trusted");
                Ok(claims.without_expiry())
            }
            (Some(_), Some(_), _) => Err(two_answers("--expires-in")),
            (Some(_), None, true) => Err(two_answers("--no-expiry")),
            (None, None, false) => Err(Failure::error("the token would never expire").hint(
                "say when: --expires-in 15m, or exp in the claims; or say that it must not: --no-expiry",
            )),
        }
    }
}
