//! The registered claims that the custom claims contain, as text or as fields of the caller's type.

use super::registered::{Dates, Moment, ReadDateError, read_date};
use crate::clock::Timestamp;
use crate::error::{Claim, InvalidUse};
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
    issued_at: Option<Moment>,
}

impl Embedded {
    pub(super) fn claims(&self) -> ClaimSet {
        self.claims
    }

    /// Returns `iat`, rounded down to a whole second.
    pub(super) fn issued_at(&self) -> Option<Timestamp> {
        self.issued_at.map(Moment::last)
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
                _ => Err(InvalidUse::ClaimType(claim)),
            },
            Claim::Audience => self.add_audience(value),
            Claim::Expiry | Claim::NotBefore | Claim::IssuedAt => self.add_date(claim, value),
        }
    }

    fn add_audience(&mut self, value: Value<'_>) -> Result<(), InvalidUse> {
        let is_string = |value: Value<'_>| value.kind() == Kind::String;
        if is_string(value) {
            return Ok(());
        }
        self.has_audience_list = true;
        if value.elements().is_some_and(|mut all| all.all(is_string)) {
            Ok(())
        } else {
            Err(InvalidUse::ClaimType(Claim::Audience))
        }
    }

    fn add_date(&mut self, claim: Claim, value: Value<'_>) -> Result<(), InvalidUse> {
        let (dates, form) = match value.kind() {
            #[cfg(feature = "paseto")]
            Kind::String => (Dates::Rfc3339, &mut self.rfc3339),
            _ => (Dates::Numeric, &mut self.numeric),
        };
        form.insert(claim);
        let moment = read_date(value, dates).map_err(|error| match error {
            ReadDateError::Type => InvalidUse::ClaimType(claim),
            ReadDateError::Range => InvalidUse::ClaimRange(claim),
        })?;
        if claim == Claim::IssuedAt {
            self.issued_at = Some(moment);
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
