//! Where tokens are issued: what those of one profile have in common is found once, however many of
//! them there are.

use std::time::Duration;

use jeton::jwt::{self, Own};
use jeton::{Claims, FixedClock, Timestamp};

use super::Issued;
use crate::custom_claims::CustomClaims;
use crate::error::{Error, Result};
use crate::recipient::Recipient;
use crate::revocation::{StampText, check_name};
use crate::secret_key::SecretKey;
use crate::snapshot::{IssuerView, Snapshot};
use crate::token_id::TokenId;

/// Issues tokens of one profile for one audience, all of them at the same moment.
pub struct Desk<'d> {
    iss: &'d str,
    audience: &'d str,
    key: &'d SecretKey,
    recipient: Option<&'d Recipient>,
    now: Timestamp,
    expires_at: Timestamp,
    /// Of the last revocation rule that is in the snapshot.
    stamp: &'d StampText,
    /// The longest token that every call takes.
    token_bytes: usize,
}

impl<'d> Desk<'d> {
    pub(super) fn open(
        snapshot: &'d Snapshot,
        view: &'d IssuerView,
        profile: &str,
        audience: Option<&'d str>,
        now: Timestamp,
        token_bytes: usize,
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
            stamp: &snapshot.stamp,
            token_bytes,
        })
    }

    /// Whom its tokens are for.
    pub fn audience(&self) -> &'d str {
        self.audience
    }

    /// Issues one, for a subject if one is given, with claims of the caller's own.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a subject or a `client_id` that no revocation could name, and for a token
    /// longer than [`Options::token_bytes`](crate::Options::token_bytes).
    pub fn issue(&self, subject: Option<&str>, claims: &CustomClaims<'_>) -> Result<Issued> {
        let token_id = TokenId::random(self.stamp);
        self.check(subject, claims)?;
        let token = self.token(subject, &token_id, claims)?;
        self.check_size(&token)?;
        Ok(Issued {
            token,
            token_id: token_id.as_str().to_owned(),
            expires_at: self.expires_at.unix_seconds(),
        })
    }

    fn token(
        &self,
        subject: Option<&str>,
        token_id: &TokenId,
        claims: &CustomClaims<'_>,
    ) -> Result<String> {
        let mut claims = self.shared(&claims.text).token_id(token_id.as_str());
        if let Some(subject) = subject {
            claims = claims.subject(subject);
        }
        let clock = FixedClock(self.now);
        Ok(match self.recipient {
            Some(recipient) => recipient.issue(self.key, &claims, &clock)?,
            None => self.key.issuer().issue_by(&claims, &clock)?,
        })
    }

    /// Whether what the caller chose can be revoked again.
    #[inline]
    fn check(&self, subject: Option<&str>, claims: &CustomClaims<'_>) -> Result<()> {
        if let Some(subject) = subject {
            check_name("subject", self.iss, subject)?;
        }
        if let Some(client) = &claims.client_id {
            check_name("client_id", self.iss, client)?;
        }
        Ok(())
    }

    /// Whether every other call takes the token.
    #[inline]
    fn check_size(&self, token: &str) -> Result<()> {
        let (bytes, limit) = (token.len(), self.token_bytes);
        match bytes <= limit {
            true => Ok(()),
            false => Err(Error::rule(
                "claims_json",
                format!("the token would have {bytes} bytes, the limit is {limit}"),
            )),
        }
    }

    fn shared<T>(&self, custom: T) -> Claims<'d, T> {
        Claims::new(custom)
            .issuer(self.iss)
            .audience(self.audience)
            .expires_at(self.expires_at)
    }

    /// Issues many, one after the other. What JWTs of one key have in common is made once; tokens of
    /// other kinds are issued one by one.
    ///
    /// # Errors
    ///
    /// [`Error::Token`] if the key must not sign.
    pub fn series(&self) -> Result<DeskSeries<'_>> {
        let shared = self.shared(());
        let clock = FixedClock(self.now);
        let jwts = match (self.recipient, self.key) {
            (None, SecretKey::Mac(key)) => Some(jwt::Series::new_by(key, &shared, &clock)?),
            (None, SecretKey::Jws(key)) => Some(jwt::Series::new_by(key, &shared, &clock)?),
            _ => None,
        };
        Ok(DeskSeries {
            desk: self,
            jwts,
            token: String::new(),
            token_id: TokenId::random(self.stamp),
        })
    }
}

/// Issues many tokens of one [`Desk`].
pub struct DeskSeries<'s> {
    desk: &'s Desk<'s>,
    jwts: Option<jwt::Series<'s>>,
    /// The last one.
    token: String,
    token_id: TokenId,
}

impl DeskSeries<'_> {
    /// Issues the next, as [`Desk::issue`] does. It is lent until the next one.
    ///
    /// # Errors
    ///
    /// As [`Desk::issue`].
    pub fn issue(&mut self, subject: Option<&str>, claims: &CustomClaims<'_>) -> Result<Lent<'_>> {
        self.desk.check(subject, claims)?;
        self.token_id = TokenId::random(self.desk.stamp);
        let token_id = self.token_id.as_str();
        match &self.jwts {
            Some(jwts) => {
                let mut own = Own::new(&claims.text).token_id(token_id);
                if let Some(subject) = subject {
                    own = own.subject(subject);
                }
                self.token.clear();
                jwts.issue_onto(&own, &mut self.token)?;
            }
            None => self.token = self.desk.token(subject, &self.token_id, claims)?,
        }
        self.desk.check_size(&self.token)?;
        Ok(Lent {
            token: &self.token,
            token_id,
            expires_at: self.desk.expires_at.unix_seconds(),
        })
    }
}

impl std::fmt::Debug for DeskSeries<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DeskSeries")
            .field("desk", &self.desk)
            .finish_non_exhaustive()
    }
}

/// [`Issued`], as long as it is not copied.
#[derive(Clone, Copy)]
pub struct Lent<'s> {
    /// The token.
    pub token: &'s str,
    /// Its `jti`: what revokes it.
    pub token_id: &'s str,
    /// Its `exp`, seconds since 1970.
    pub expires_at: i64,
}

impl std::fmt::Debug for Lent<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lent")
            .field("token_id", &self.token_id)
            .field("expires_at", &self.expires_at)
            .finish_non_exhaustive()
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
