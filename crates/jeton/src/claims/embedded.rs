//! The registered claims that the custom claims contain, as text or as fields of the caller's type.

use super::registered::{Dates, ReadDateError, read_date};
use crate::clock::Timestamp;
use crate::error::{Claim, FoundForm, InvalidUse, TimeUnit};
use crate::json::{Kind, Value};

/// A set of registered claims.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ClaimSet(u8);

impl ClaimSet {
    fn bit(claim: Claim) -> u8 {
        1 << claim as u8
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) fn contains(self, claim: Claim) -> bool {
        self.0 & Self::bit(claim) != 0
    }

    /// Inserts a claim. Returns false if the set already has it.
    pub(super) fn insert(&mut self, claim: Claim) -> bool {
        let is_new = !self.contains(claim);
        self.0 |= Self::bit(claim);
        is_new
    }

    #[inline]
    fn first(self) -> Option<Claim> {
        if self.is_empty() {
            return None;
        }
        Claim::ALL
            .iter()
            .copied()
            .find(|claim| self.contains(*claim))
    }

    /// Returns a claim that both sets have.
    pub(super) fn first_common(self, other: ClaimSet) -> Option<Claim> {
        ClaimSet(self.0 & other.0).first()
    }
}

impl FromIterator<Claim> for ClaimSet {
    fn from_iter<I: IntoIterator<Item = Claim>>(claims: I) -> Self {
        let mut set = ClaimSet::default();
        for claim in claims {
            set.insert(claim);
        }
        set
    }
}

/// The registered claims that the custom claims contain.
///
/// The format of the token is not known when they are read. So a time may have either form, and the form is
/// checked when a token is issued.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Embedded {
    claims: ClaimSet,
    /// The times that are numbers, as in a JWT.
    numeric: ClaimSet,
    /// The times that are text, as in a PASETO.
    rfc3339: ClaimSet,
    has_audience_list: bool,
    issued_at: Option<Timestamp>,
}

impl Embedded {
    pub(super) fn claims(&self) -> ClaimSet {
        self.claims
    }

    /// Returns `iat`, rounded down to a whole second.
    pub(super) fn issued_at(&self) -> Option<Timestamp> {
        self.issued_at.map(Timestamp::whole_second)
    }

    /// Checks and records a registered claim.
    #[inline]
    pub(super) fn add(&mut self, claim: Claim, value: Value<'_>) -> Result<(), InvalidUse> {
        if !self.claims.insert(claim) {
            return Err(InvalidUse::ClaimSetTwice(claim));
        }
        match claim {
            Claim::Issuer | Claim::Subject | Claim::TokenId => match value.kind() {
                Kind::String => Ok(()),
                found => Err(wrong_form(claim, FoundForm::Value(found))),
            },
            Claim::Audience => self.add_audience(value),
            Claim::Expiry | Claim::NotBefore | Claim::IssuedAt => self.add_date(claim, value),
        }
    }

    fn add_audience(&mut self, value: Value<'_>) -> Result<(), InvalidUse> {
        if value.kind() == Kind::String {
            return Ok(());
        }
        self.has_audience_list = true;
        let Some(elements) = value.elements() else {
            let found = FoundForm::Value(value.kind());
            return Err(wrong_form(Claim::Audience, found));
        };
        let mut kinds = elements.map(Value::kind);
        match kinds.find(|kind| *kind != Kind::String) {
            None => Ok(()),
            Some(found) => Err(wrong_form(Claim::Audience, FoundForm::ListWith(found))),
        }
    }

    fn add_date(&mut self, claim: Claim, value: Value<'_>) -> Result<(), InvalidUse> {
        let (dates, form) = match value.kind() {
            #[cfg(feature = "paseto")]
            Kind::String => (Dates::Rfc3339, &mut self.rfc3339),
            _ => (Dates::Numeric, &mut self.numeric),
        };
        form.insert(claim);
        let time = read_date(value, dates).map_err(|error| match error {
            ReadDateError::Form => wrong_form(claim, FoundForm::of(value.kind(), dates.form())),
            ReadDateError::Range => InvalidUse::ClaimRange {
                claim,
                unit: TimeUnit::of(value, dates),
            },
        })?;
        if claim == Claim::IssuedAt {
            self.issued_at = Some(time);
        }
        Ok(())
    }

    /// Checks that a format with these dates can represent the claims.
    #[inline]
    pub(super) fn check_form(&self, dates: Dates) -> Result<(), InvalidUse> {
        let other = match dates {
            Dates::Numeric => self.rfc3339,
            #[cfg(feature = "paseto")]
            Dates::Rfc3339 => self.numeric,
        };
        if let Some(claim) = other.first() {
            return Err(InvalidUse::DateForm(claim));
        }
        #[cfg(feature = "paseto")]
        if self.has_audience_list && dates == Dates::Rfc3339 {
            return Err(InvalidUse::AudienceList);
        }
        Ok(())
    }
}

fn wrong_form(claim: Claim, found: FoundForm) -> InvalidUse {
    InvalidUse::ClaimType { claim, found }
}
