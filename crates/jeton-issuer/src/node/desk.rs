//! Where tokens are issued: what those of one profile have in common is found once, however many of
//! them there are.

use std::time::Duration;

use jeton::{Claims, FixedClock, Timestamp};
use serde_json::{Map, Value};

use super::Issued;
use crate::error::{Error, Result};
use crate::recipient::Recipient;
use crate::secret_key::{SecretKey, random_token_id};
use crate::snapshot::IssuerView;

/// Issues tokens of one profile for one audience, all of them at the same moment.
pub struct Desk<'d> {
    iss: &'d str,
    audience: &'d str,
    key: &'d SecretKey,
    recipient: Option<&'d Recipient>,
    now: Timestamp,
    expires_at: Timestamp,
}

impl<'d> Desk<'d> {
    pub(super) fn open(
        view: &'d IssuerView,
        profile: &str,
        audience: Option<&'d str>,
        now: Timestamp,
    ) -> Result<Desk<'d>> {
        let profile = view.settings.profile(profile);
        let profile = profile.ok_or(Error::UnknownProfile)?;
        let audience = match audience {
            Some(asked) if !profile.audiences.iter().any(|known| known == asked) => {
                return Err(Error::rule(
                    "audience",
                    "the profile does not have this audience",
                ));
            }
            Some(asked) => asked,
            None => &profile.audiences[0],
        };
        let lifetime = Duration::from_secs(profile.lifetime_seconds.unsigned_abs());
        Ok(Desk {
            iss: view.settings.iss(),
            audience,
            key: view.signer(profile.alg, now.unix_seconds())?,
            recipient: view.recipient(&profile.name),
            now,
            expires_at: now.saturating_add(lifetime),
        })
    }

    /// Whom its tokens are for.
    pub(super) fn audience(&self) -> &'d str {
        self.audience
    }

    /// Issues one, for a subject if one is given, with claims of the caller's own. A registered name
    /// among them is refused.
    ///
    /// # Errors
    ///
    /// [`Error::Token`] for claims that no token holds.
    pub fn issue(&self, subject: Option<&str>, claims: &Map<String, Value>) -> Result<Issued> {
        let token_id = random_token_id();
        let mut claims = Claims::new(claims)
            .issuer(self.iss)
            .audience(self.audience)
            .token_id(&*token_id)
            .expires_at(self.expires_at);
        if let Some(subject) = subject {
            claims = claims.subject(subject);
        }
        let clock = FixedClock(self.now);
        let token = match self.recipient {
            Some(recipient) => recipient.issue(self.key, &claims, &clock)?,
            None => self.key.issuer().issue_by(&claims, &clock)?,
        };
        Ok(Issued {
            token,
            token_id,
            expires_at: self.expires_at.unix_seconds(),
        })
    }
}

impl std::fmt::Debug for Desk<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Desk")
            .field("iss", &self.iss)
            .field("audience", &self.audience)
            .finish_non_exhaustive()
    }
}
