//! Issues tokens of one profile. Shared data is looked up once.

use std::time::Duration;

use jeton::jwt::{self, JwtIssuer, TokenClaims};
use jeton::{Claims, FixedClock, Timestamp};

use super::request::Issued;
use crate::custom_claims::CustomClaims;
use crate::error::{Error, Result};
use crate::recipient::Recipient;
use crate::revocation::{StampText, check_name};
use crate::secret_key::SecretKey;
use crate::snapshot::{IssuerView, Snapshot};
use crate::token_id::TokenId;
use crate::token_type::TokenType;

/// Issues tokens of one profile for one audience, all with the same issue time.
pub struct ProfileIssuer<'p> {
    iss: &'p str,
    audience: &'p str,
    key: &'p SecretKey,
    recipient: Option<&'p Recipient>,
    /// Set if the profile's tokens are access tokens (RFC 9068).
    access_tokens: Option<&'p JwtIssuer>,
    now: Timestamp,
    expires_at: Timestamp,
    /// Stamp of the newest revocation rule in the snapshot.
    stamp: &'p StampText,
    /// Maximum token size.
    token_bytes: usize,
}

impl<'p> ProfileIssuer<'p> {
    pub(super) fn new(
        snapshot: &'p Snapshot,
        view: &'p IssuerView,
        profile: &str,
        audience: Option<&'p str>,
        now: Timestamp,
        token_bytes: usize,
    ) -> Result<ProfileIssuer<'p>> {
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
        Ok(ProfileIssuer {
            iss: view.settings.iss(),
            audience,
            key: view.signer(profile.alg, now.unix_seconds())?,
            recipient: view.recipient(&profile.name),
            access_tokens: match profile.typ {
                TokenType::Jwt => None,
                TokenType::AccessToken => {
                    Some(view.access_token_issuer(profile.alg, now.unix_seconds())?)
                }
            },
            now,
            expires_at: now.saturating_add(lifetime),
            stamp: &snapshot.stamp,
            token_bytes,
        })
    }

    /// Limits the expiry of its tokens.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if that time is past.
    pub(super) fn expires_no_later_than(mut self, latest: Option<Timestamp>) -> Result<Self> {
        if let Some(latest) = latest {
            if latest <= self.now {
                return Err(Error::rule("expires_no_later_than", "is past"));
            }
            self.expires_at = self.expires_at.min(latest);
        }
        Ok(self)
    }

    /// Returns the audience of its tokens.
    pub fn audience(&self) -> &'p str {
        self.audience
    }

    /// Issues a token, with an optional subject and custom claims.
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
        Ok(match (self.recipient, self.access_tokens) {
            (Some(recipient), _) => recipient.issue(self.key, &claims, &clock)?,
            (None, Some(issuer)) => issuer.issue_with_clock(&claims, &clock)?,
            (None, None) => self.key.issuer().issue_with_clock(&claims, &clock)?,
        })
    }

    /// Checks that the chosen subject and client can be revoked.
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

    /// Checks that the token does not exceed the size limit of other calls.
    #[inline]
    fn check_size(&self, token: &str) -> Result<()> {
        let (bytes, limit) = (token.len(), self.token_bytes);
        if bytes <= limit {
            Ok(())
        } else {
            Err(Error::rule(
                "claims_json",
                format!("the token would have {bytes} bytes, the limit is {limit}"),
            ))
        }
    }

    fn shared<T>(&self, custom: T) -> Claims<'p, T> {
        Claims::new(custom)
            .issuer(self.iss)
            .audience(self.audience)
            .expires_at(self.expires_at)
    }

    /// Prepares a batch. Shared parts of JWTs of one key are encoded once. Other formats are issued one by
    /// one.
    ///
    /// # Errors
    ///
    /// [`Error::Token`] if the key may not sign.
    pub fn batch(&self) -> Result<ProfileBatch<'_>> {
        let shared = self.shared(());
        let clock = FixedClock(self.now);
        let jwts = match (self.recipient, self.access_tokens, self.key) {
            (None, None, SecretKey::Mac(key)) => {
                Some(jwt::BatchIssuer::new_with_clock(&**key, &shared, &clock)?)
            }
            (None, None, SecretKey::Jws(key)) => {
                Some(jwt::BatchIssuer::new_with_clock(&**key, &shared, &clock)?)
            }
            (None, None, SecretKey::Remote(signer, _)) => {
                let batch = jwt::BatchIssuer::new_with_clock(&**signer, &shared, &clock)?;
                Some(batch)
            }
            _ => None,
        };
        Ok(ProfileBatch {
            profile_issuer: self,
            jwts,
            token: String::new(),
            token_id: TokenId::random(self.stamp),
        })
    }
}

/// Issues many tokens of one [`ProfileIssuer`].
pub struct ProfileBatch<'s> {
    profile_issuer: &'s ProfileIssuer<'s>,
    jwts: Option<jwt::BatchIssuer<'s>>,
    /// The last token.
    token: String,
    token_id: TokenId,
}

impl ProfileBatch<'_> {
    /// Issues the next token, as [`ProfileIssuer::issue`] does. The result is borrowed until the next call.
    ///
    /// # Errors
    ///
    /// As [`ProfileIssuer::issue`].
    pub fn issue(
        &mut self,
        subject: Option<&str>,
        claims: &CustomClaims<'_>,
    ) -> Result<IssuedRef<'_>> {
        self.profile_issuer.check(subject, claims)?;
        self.token_id = TokenId::random(self.profile_issuer.stamp);
        let token_id = self.token_id.as_str();
        match &self.jwts {
            Some(jwts) => {
                let mut own = TokenClaims::new(&claims.text).token_id(token_id);
                if let Some(subject) = subject {
                    own = own.subject(subject);
                }
                self.token.clear();
                jwts.issue_onto(&own, &mut self.token)?;
            }
            None => self.token = self.profile_issuer.token(subject, &self.token_id, claims)?,
        }
        self.profile_issuer.check_size(&self.token)?;
        Ok(IssuedRef {
            token: &self.token,
            token_id,
            expires_at: self.profile_issuer.expires_at.unix_seconds(),
        })
    }
}

impl std::fmt::Debug for ProfileBatch<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProfileBatch")
            .field("profile_issuer", &self.profile_issuer)
            .finish_non_exhaustive()
    }
}

/// A borrowed [`Issued`].
#[derive(Clone, Copy)]
pub struct IssuedRef<'s> {
    /// The token.
    pub token: &'s str,
    /// Its `jti`, by which it can be revoked.
    pub token_id: &'s str,
    /// Its `exp`, seconds since 1970.
    pub expires_at: i64,
}

impl std::fmt::Debug for IssuedRef<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IssuedRef")
            .field("token_id", &self.token_id)
            .field("expires_at", &self.expires_at)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for ProfileIssuer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProfileIssuer")
            .field("iss", &self.iss)
            .field("audience", &self.audience)
            .finish_non_exhaustive()
    }
}
