//! What a service asks of a node beside issuing and verifying: no lock, no store.

use std::time::Duration;

use jeton::{Untyped, Verified};

use super::{Desk, Issued, Node, Request};
use crate::error::{Error, Result};
use crate::snapshot::IssuerView;

impl Node {
    /// The issuer, if there is exactly one: whoever names none means it.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if there are several, [`Error::UnknownIssuer`] if there is none.
    pub fn only_issuer(&self) -> Result<String> {
        let snapshot = self.inner.snapshot.load();
        let mut issuers = snapshot.issuers.keys();
        match (issuers.next(), issuers.next()) {
            (Some(only), None) => Ok(only.to_string()),
            (None, _) => Err(Error::UnknownIssuer),
            _ => Err(Error::rule("issuer", "there are several issuers: name one")),
        }
    }

    /// The first issuer whose name is what is looked for, in no particular order.
    pub fn find_issuer(&self, mut is_wanted: impl FnMut(&str) -> bool) -> Option<String> {
        let snapshot = self.inner.snapshot.load();
        let found = snapshot.issuers.keys().find(|iss| is_wanted(iss));
        found.map(ToString::to_string)
    }

    /// Verifies a token of that issuer, for whomever it is. Who takes the token must look for itself
    /// in its audiences: introspection (RFC 7662) hands them on.
    ///
    /// # Errors
    ///
    /// As [`verify`](Node::verify), without [`Error::WrongAudience`].
    pub fn introspect(&self, iss: &str, token: &str) -> Result<Verified<Untyped>> {
        self.check_freshness()?;
        self.check_size(token)?;
        let snapshot = self.inner.snapshot.load();
        snapshot.accept(snapshot.issuer(iss)?, token)
    }

    /// What a node does that may have missed that a key is retired or that a subject is revoked: it goes on
    /// issuing, but not for ever.
    pub(super) fn check_hearing(&self, view: &IssuerView) -> Result<()> {
        let limit = self.inner.options.issue_without_store;
        let limit = issuing_limit(limit, view.settings.lead_seconds());
        let heard = self.inner.heard_ago();
        match heard <= limit {
            true => Ok(()),
            false => Err(Error::CutOff { heard, limit }),
        }
    }

    fn check_size(&self, token: &str) -> Result<()> {
        let (bytes, limit) = (token.len(), self.inner.options.token_bytes);
        match bytes <= limit {
            true => Ok(()),
            false => Err(Error::TokenTooLarge { bytes, limit }),
        }
    }

    /// Issues a token, and verifies it for the audience that it was issued for.
    ///
    /// # Errors
    ///
    /// As [`issue`](Node::issue) and [`verify`](Node::verify).
    pub fn issue_and_verify(
        &self,
        iss: &str,
        request: &Request<'_>,
    ) -> Result<(Issued, Verified<Untyped>)> {
        let snapshot = self.inner.snapshot.load();
        let view = snapshot.issuer(iss)?;
        self.check_hearing(view)?;
        let now = self.inner.clock.now();
        let token_bytes = self.inner.options.token_bytes;
        let desk = Desk::open(
            &snapshot,
            view,
            request.profile,
            request.audience,
            now,
            token_bytes,
        )?;
        let issued = desk.issue(request.subject, &request.claims)?;
        self.check_freshness()?;
        let verified = snapshot.accept(view, &issued.token)?;
        let is_meant = verified.audiences().any(|known| known == desk.audience());
        match is_meant {
            true => Ok((issued, verified)),
            false => Err(Error::WrongAudience),
        }
    }
}

/// No longer than the lead, whatever is allowed: a key that was published elsewhere when this node was cut off
/// signs after it, and the one before has retired.
fn issuing_limit(allowed: Duration, lead_seconds: i64) -> Duration {
    allowed.min(Duration::from_secs(lead_seconds.unsigned_abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn issuing_without_a_store_ends_with_what_is_allowed_and_with_the_lead() {
        let seconds = Duration::from_secs;
        assert_eq!(issuing_limit(seconds(900), 3600), seconds(900));
        assert_eq!(issuing_limit(seconds(900), 600), seconds(600));
    }
}
