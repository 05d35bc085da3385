//! The registered claims that the caller sets with methods.

use std::borrow::Cow;
use std::time::Duration;

use super::embedded::{ClaimSet, Embedded};
use super::object::{self, Object};
use super::registered::Dates;
#[cfg(feature = "paseto")]
use super::rfc3339;
use crate::clock::{Clock, Timestamp};
use crate::error::{Claim, InvalidUse, Result};

/// The registered claims that the caller sets with the methods of [`Claims`](super::Claims).
#[derive(Debug, Clone)]
pub(super) struct BuilderClaims<'a> {
    pub(super) issuer: Option<Cow<'a, str>>,
    pub(super) subject: Option<Cow<'a, str>>,
    pub(super) audience: Audience<'a>,
    pub(super) expiry: Expiry,
    pub(super) not_before: Option<Timestamp>,
    pub(super) issued_at: IssuedAt,
    pub(super) token_id: Option<Cow<'a, str>>,
}

#[derive(Debug, Clone)]
pub(super) enum Audience<'a> {
    None,
    One(Cow<'a, str>),
    List(Vec<Cow<'a, str>>),
    /// A list of an issuer.
    Shared(&'a [Cow<'a, str>]),
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Expiry {
    NotChosen,
    In(Duration),
    At(Timestamp),
    Never,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum IssuedAt {
    Now,
    At(Timestamp),
    /// This duration before the time of issuing.
    Ago(Duration),
    Absent,
}

impl BuilderClaims<'_> {
    /// No claims, no expiry chosen, and the current time as `iat`.
    pub(super) fn new() -> Self {
        BuilderClaims {
            issuer: None,
            subject: None,
            audience: Audience::None,
            expiry: Expiry::NotChosen,
            not_before: None,
            issued_at: IssuedAt::Now,
            token_id: None,
        }
    }

    /// Returns these claims and those that an issuer sets for all its tokens.
    ///
    /// # Errors
    ///
    /// [`InvalidUse::SetForAll`] if both decide a claim.
    pub(super) fn with_shared<'x>(
        &'x self,
        shared: &'x BuilderClaims<'static>,
    ) -> Result<BuilderClaims<'x>> {
        if let Some(claim) = self.decided().first_common(shared.decided()) {
            return Err(InvalidUse::SetForAll(claim).into());
        }
        fn either<'x>(
            own: &'x Option<Cow<'_, str>>,
            shared: &'x Option<Cow<'static, str>>,
        ) -> Option<Cow<'x, str>> {
            own.as_deref().or(shared.as_deref()).map(Cow::Borrowed)
        }
        Ok(BuilderClaims {
            issuer: either(&self.issuer, &shared.issuer),
            subject: either(&self.subject, &shared.subject),
            audience: match &self.audience {
                Audience::None => shared.audience.by_ref(),
                own => own.by_ref(),
            },
            expiry: match self.expiry {
                Expiry::NotChosen => shared.expiry,
                own => own,
            },
            not_before: self.not_before,
            issued_at: match self.issued_at {
                IssuedAt::Now => shared.issued_at,
                own => own,
            },
            token_id: either(&self.token_id, &shared.token_id),
        })
    }

    /// Returns the claims that the caller has decided, also those that were decided to be absent.
    pub(super) fn decided(&self) -> ClaimSet {
        [
            (Claim::Issuer, self.issuer.is_some()),
            (Claim::Subject, self.subject.is_some()),
            (Claim::Audience, !matches!(self.audience, Audience::None)),
            (Claim::Expiry, !matches!(self.expiry, Expiry::NotChosen)),
            (Claim::NotBefore, self.not_before.is_some()),
            (Claim::IssuedAt, !matches!(self.issued_at, IssuedAt::Now)),
            (Claim::TokenId, self.token_id.is_some()),
        ]
        .into_iter()
        .filter_map(|(claim, is_decided)| is_decided.then_some(claim))
        .collect()
    }

    /// Writes these claims in a fixed order. `embedded` are the registered claims that the custom claims
    /// contain.
    pub(super) fn write(
        &self,
        object: &mut Object<'_>,
        embedded: &Embedded,
        dates: Dates,
        clock: &dyn Clock,
    ) -> Result<()> {
        if !embedded.claims().is_empty() {
            if let Some(claim) = embedded.claims().first_common(self.decided()) {
                return Err(InvalidUse::ClaimSetTwice(claim).into());
            }
            embedded.check_form(dates)?;
        }
        let is_embedded = |claim| embedded.claims().contains(claim);
        // Tokens have whole seconds: `exp` minus `iat` is the lifetime.
        let now = || clock.now().whole_second();
        let issued_at = match self.issued_at {
            IssuedAt::At(moment) => Some(moment),
            IssuedAt::Ago(duration) => {
                let seconds = Duration::from_secs(duration.as_secs());
                Some(now().saturating_sub(seconds))
            }
            IssuedAt::Now if is_embedded(Claim::IssuedAt) => None,
            IssuedAt::Now => Some(now()),
            IssuedAt::Absent => None,
        };
        let expires_at = match self.expiry {
            Expiry::NotChosen if is_embedded(Claim::Expiry) => None,
            Expiry::NotChosen => return Err(InvalidUse::ExpiryNotChosen.into()),
            Expiry::Never => None,
            Expiry::At(moment) => Some(moment),
            Expiry::In(lifetime) => Some(
                issued_at
                    .or(embedded.issued_at())
                    .unwrap_or_else(now)
                    .checked_add(lifetime)
                    .ok_or(InvalidUse::TimeOutOfRange)?,
            ),
        };
        if let Some(issuer) = &self.issuer {
            object.text(Claim::Issuer, issuer)?;
        }
        if let Some(subject) = &self.subject {
            object.text(Claim::Subject, subject)?;
        }
        match &self.audience {
            Audience::None => {}
            Audience::One(audience) => object.text(Claim::Audience, audience)?,
            #[cfg(feature = "paseto")]
            Audience::List(_) | Audience::Shared(_) if dates == Dates::Rfc3339 => {
                return Err(InvalidUse::AudienceList.into());
            }
            Audience::List(audiences) => object.registered(Claim::Audience, audiences)?,
            Audience::Shared(audiences) => object.registered(Claim::Audience, audiences)?,
        }
        for (claim, moment) in [
            (Claim::Expiry, expires_at),
            (Claim::NotBefore, self.not_before),
            (Claim::IssuedAt, issued_at),
        ] {
            if let Some(moment) = moment {
                object.date(claim, moment, dates)?;
            }
        }
        if let Some(token_id) = &self.token_id {
            object.text(Claim::TokenId, token_id)?;
        }
        Ok(())
    }

    /// Returns an upper bound for the length of these claims, each with a comma.
    pub(super) fn length_bound(&self, dates: Dates) -> usize {
        let of_list = |list: &[Cow<'_, str>]| {
            let strings = list.iter().map(|text| object::string_bound(text) + 1);
            object::MEMBER_START_BYTES + 2 + strings.sum::<usize>()
        };
        let list = match &self.audience {
            Audience::None => 0,
            Audience::One(one) => object::MEMBER_START_BYTES + object::string_bound(one),
            Audience::List(list) => of_list(list),
            Audience::Shared(list) => of_list(list),
        };
        let strings = [&self.issuer, &self.subject, &self.token_id]
            .into_iter()
            .flatten()
            .map(|text| object::MEMBER_START_BYTES + object::string_bound(text));
        let date_bytes = match dates {
            Dates::Numeric => object::NUMERIC_DATE_BYTES,
            #[cfg(feature = "paseto")]
            Dates::Rfc3339 => rfc3339::QUOTED_BYTES,
        };
        let written = [
            matches!(self.expiry, Expiry::In(_) | Expiry::At(_)),
            self.not_before.is_some(),
            !matches!(self.issued_at, IssuedAt::Absent),
        ];
        let count = written.into_iter().filter(|is_written| *is_written).count();
        list + strings.sum::<usize>() + count * (object::MEMBER_START_BYTES + date_bytes)
    }
}

impl Audience<'_> {
    fn by_ref(&self) -> Audience<'_> {
        match self {
            Audience::None => Audience::None,
            Audience::One(one) => Audience::One(Cow::Borrowed(one)),
            Audience::List(list) => Audience::Shared(list),
            Audience::Shared(list) => Audience::Shared(list),
        }
    }
}
