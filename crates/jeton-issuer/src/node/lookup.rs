//! Further calls of the request path, without lock and store.

use std::time::Duration;

use jeton::{RawClaims, Verified};

use super::{Issued, Node, ProfileIssuer, Request};
use crate::error::{Error, Result};
use crate::snapshot::IssuerView;

impl Node {
    /// Returns the issuer if there is exactly one: it is the default.
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
            _ => Err(Error::rule(
                "issuer",
                "required, because there are several issuers",
            )),
        }
    }

    /// Returns the first issuer whose name matches, in no particular order.
    pub fn find_issuer(&self, mut is_wanted: impl FnMut(&str) -> bool) -> Option<String> {
        let snapshot = self.inner.snapshot.load();
        let found = snapshot.issuers.keys().find(|iss| is_wanted(iss));
        found.map(ToString::to_string)
    }

    /// Returns whether the profile has this audience.
    pub fn has_audience(&self, iss: &str, profile: &str, audience: &str) -> bool {
        let snapshot = self.inner.snapshot.load();
        let view = snapshot.issuer(iss).ok();
        let profile = view.and_then(|view| view.settings.profile(profile));
        profile.is_some_and(|profile| profile.audiences.iter().any(|known| known == audience))
    }

    /// Returns the name of the first profile.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownIssuer`].
    pub fn first_profile(&self, iss: &str) -> Result<String> {
        let snapshot = self.inner.snapshot.load();
        let view = snapshot.issuer(iss)?;
        Ok(view.settings.profiles()[0].name.clone())
    }

    /// Verifies a token of that issuer for any audience. The caller must check the audience: introspection
    /// (RFC 7662) returns it.
    ///
    /// # Errors
    ///
    /// As [`verify`](Node::verify), without [`Error::WrongAudience`].
    pub fn introspect(&self, iss: &str, token: &str) -> Result<Verified<RawClaims>> {
        self.check_freshness()?;
        self.check_size(token)?;
        let snapshot = self.inner.snapshot.load();
        let as_of = self.inner.view_as_of();
        let lost = |stamp| self.inner.history.found_token(stamp);
        snapshot.accept(snapshot.issuer(iss)?, token, as_of, lost)
    }

    /// Limits issuing without contact to the store: a key may have been retired or a subject revoked
    /// elsewhere.
    pub(super) fn check_hearing(&self, view: &IssuerView) -> Result<()> {
        let limit = self.inner.options.issue_without_store;
        let limit = issuing_limit(limit, view.settings.publish_before_use_seconds());
        let heard = self.inner.heard_ago();
        if heard <= limit {
            Ok(())
        } else {
            Err(Error::StoreUnreachable { heard, limit })
        }
    }

    fn check_size(&self, token: &str) -> Result<()> {
        let (bytes, limit) = (token.len(), self.inner.options.token_bytes);
        if bytes <= limit {
            Ok(())
        } else {
            Err(Error::TokenTooLarge { bytes, limit })
        }
    }

    /// Issues a token and verifies it for its audience.
    ///
    /// # Errors
    ///
    /// As [`issue`](Node::issue) and [`verify`](Node::verify).
    pub fn issue_and_verify(
        &self,
        iss: &str,
        request: &Request<'_>,
    ) -> Result<(Issued, Verified<RawClaims>)> {
        let snapshot = self.inner.snapshot.load();
        let view = snapshot.issuer(iss)?;
        self.check_hearing(view)?;
        let now = self.inner.clock.now();
        let token_bytes = self.inner.options.token_bytes;
        let profile_issuer = ProfileIssuer::new(
            &snapshot,
            view,
            request.profile,
            request.audience,
            now,
            token_bytes,
        )?
        .expires_no_later_than(request.expires_no_later_than)?;
        let issued = profile_issuer.issue(request.subject, &request.claims)?;
        self.check_freshness()?;
        // It was issued just now, so it is of no lost history.
        let verified = snapshot.accept(view, &issued.token, i64::MIN, |_| ())?;
        let is_meant = verified
            .audiences()
            .any(|known| known == profile_issuer.audience());
        if is_meant {
            Ok((issued, verified))
        } else {
            Err(Error::WrongAudience)
        }
    }
}

/// Returns the limit of issuing without the store, at most the pre-publication period. A key published
/// elsewhere at the time of the disconnect signs after that period, and the key of this node is retired
/// then.
fn issuing_limit(allowed: Duration, publish_before_use_seconds: i64) -> Duration {
    allowed.min(Duration::from_secs(
        publish_before_use_seconds.unsigned_abs(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn issuing_without_store_has_both_limits() {
        let seconds = Duration::from_secs;
        assert_eq!(issuing_limit(seconds(900), 3600), seconds(900));
        assert_eq!(issuing_limit(seconds(900), 600), seconds(600));
    }
}
