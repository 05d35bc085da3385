//! Writes claims as JSON: the registered claims and the custom claims in one object.

use super::Claims;
use super::buffer::Buffer;
use super::builder::BuilderClaims;
use super::custom::CustomClaims;
use super::embedded::{ClaimSet, Embedded};
use super::object::{self, Object};
use super::registered::Dates;
use crate::clock::Clock;
use crate::error::{Claim, InvalidUse, Result};

impl<T: CustomClaims> Claims<'_, T> {
    /// Appends the claims to the buffer as one compact JSON object.
    pub(crate) fn write(&self, buffer: &mut Buffer, dates: Dates, clock: &dyn Clock) -> Result<()> {
        let mut object = Object::open(buffer);
        self.custom.write(&mut object, |object, embedded| {
            self.registered.write(object, embedded, dates, clock)
        })?;
        object.close();
        Ok(())
    }
}

/// The claims that an issuer sets for all its tokens.
#[derive(Debug, Clone)]
pub struct IssuerClaims(pub(super) BuilderClaims<'static>);

impl IssuerClaims {
    /// The registered claims of these.
    pub(crate) fn new(claims: Claims<'static, ()>) -> IssuerClaims {
        IssuerClaims(claims.registered)
    }

    /// Returns them as the claims that a batch of tokens shares.
    pub(crate) fn to_claims(&self) -> Claims<'static, ()> {
        Claims {
            registered: self.0.clone(),
            custom: (),
        }
    }

    /// Appends one compact JSON object with these claims, the claims of one token and its custom claims.
    fn write<T: CustomClaims>(
        &self,
        own: &BuilderClaims<'_>,
        custom: &T,
        buffer: &mut Buffer,
        dates: Dates,
        clock: &dyn Clock,
    ) -> Result<()> {
        let registered = own.with_shared(&self.0)?;
        let mut object = Object::open(buffer);
        custom.write(&mut object, |object, embedded| {
            if let Some(claim) = embedded.claims().first_common(self.0.decided()) {
                return Err(InvalidUse::SetForAll(claim).into());
            }
            registered.write(object, embedded, dates, clock)
        })?;
        object.close();
        Ok(())
    }
}

/// Appends one compact JSON object with the claims of an issuer and custom claims.
pub(crate) fn write_own_with<T: CustomClaims>(
    custom: &T,
    issuer: &IssuerClaims,
    buffer: &mut Buffer,
    dates: Dates,
    clock: &dyn Clock,
) -> Result<()> {
    issuer.write(&BuilderClaims::new(), custom, buffer, dates, clock)
}

impl<T: CustomClaims> Claims<'_, T> {
    /// Appends one compact JSON object with these claims and those of an issuer.
    pub(crate) fn write_with(
        &self,
        issuer: &IssuerClaims,
        buffer: &mut Buffer,
        dates: Dates,
        clock: &dyn Clock,
    ) -> Result<()> {
        issuer.write(&self.registered, &self.custom, buffer, dates, clock)
    }
}

/// The start of an object that many tokens share.
#[derive(Debug)]
pub(crate) struct ClaimsPrefix {
    /// `{` and the shared members.
    pub(crate) text: Buffer,
    empty: bool,
    decided: ClaimSet,
}

/// The registered claims of one token of a batch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OwnRegistered<'a> {
    pub(crate) subject: Option<&'a str>,
    pub(crate) token_id: Option<&'a str>,
}

impl OwnRegistered<'_> {
    /// Returns an upper bound for the length of these claims, each with a comma.
    pub(crate) fn length_bound(&self) -> usize {
        let values = [self.subject, self.token_id].into_iter().flatten();
        values
            .map(|text| object::MEMBER_START_BYTES + object::string_bound(text))
            .sum()
    }
}

impl ClaimsPrefix {
    /// Creates the prefix with dates in the format of JWT.
    pub(crate) fn new(shared: &Claims<'_, ()>, clock: &dyn Clock) -> Result<ClaimsPrefix> {
        let mut text = Buffer::new();
        let mut object = Object::open(&mut text);
        let registered: &BuilderClaims<'_> = &shared.registered;
        registered.write(&mut object, &Embedded::default(), Dates::Numeric, clock)?;
        let empty = object.suspend();
        let mut decided = registered.decided();
        // Without a choice of the caller, all tokens have the time at which the prefix was created.
        decided.insert(Claim::IssuedAt);
        Ok(ClaimsPrefix {
            text,
            empty,
            decided,
        })
    }

    /// Appends the rest of the object to the buffer.
    pub(crate) fn write_rest(
        &self,
        buffer: &mut Buffer,
        own: OwnRegistered<'_>,
        custom: &impl CustomClaims,
    ) -> Result<()> {
        let mut object = Object::resume(buffer, self.empty);
        custom.write(&mut object, |object, embedded| {
            self.write_own(object, own, embedded)
        })?;
        object.close();
        Ok(())
    }

    fn write_own(
        &self,
        object: &mut Object<'_>,
        own: OwnRegistered<'_>,
        embedded: &Embedded,
    ) -> Result<()> {
        if let Some(claim) = embedded.claims().first_common(self.decided) {
            return Err(InvalidUse::SetForAll(claim).into());
        }
        embedded.check_form(Dates::Numeric)?;
        for (claim, value) in [
            (Claim::Subject, own.subject),
            (Claim::TokenId, own.token_id),
        ] {
            let Some(value) = value else { continue };
            if self.decided.contains(claim) {
                return Err(InvalidUse::SetForAll(claim).into());
            }
            if embedded.claims().contains(claim) {
                return Err(InvalidUse::ClaimSetTwice(claim).into());
            }
            object.text(claim, value)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde::Serialize;
    use serde::ser::{self, SerializeMap};

    use super::*;
    use crate::clock::{FixedClock, Timestamp};
    use crate::error::Error;

    /// A key that is a `RawValue` is written verbatim, including its escapes.
    #[test]
    fn registered_name_in_a_raw_key_is_rejected() {
        struct Raw(&'static str);
        impl Serialize for Raw {
            fn serialize<S: ser::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut map = serializer.serialize_map(Some(1))?;
                let key: &serde_json::value::RawValue = serde_json::from_str(self.0).unwrap();
                map.serialize_entry(key, &1)?;
                map.end()
            }
        }
        let write = |name| {
            let claims = Claims::new(Raw(name)).without_expiry().without_issued_at();
            let mut buffer = Buffer::new();
            let clock = FixedClock(Timestamp::from_unix_seconds(0).unwrap());
            claims.write(&mut buffer, Dates::Numeric, &clock)?;
            Ok(String::from_utf8(buffer.to_vec()).unwrap())
        };
        let registered = || Err(Error::from(InvalidUse::RegisteredName(Claim::Expiry)));
        assert_eq!(write(r#""exp""#), registered());
        assert_eq!(write(r#""\u0065xp""#), registered());
        assert_eq!(write(r#""ex\u0070""#), registered());
        assert_eq!(write(r#""\u0065xpo""#), Ok(r#"{"\u0065xpo":1}"#.to_owned()));
        assert!(write(r#""\ud800""#).is_err());
    }

    /// Each character that may need an escape, at several positions of texts around the initial length of the
    /// buffer.
    #[test]
    fn text_claims_round_trip() {
        let characters = (0..=0x7f).chain([0x80, 0x2028, 0xffff, 0x1_f600]);
        let texts = characters.filter_map(char::from_u32).flat_map(|character| {
            [0, 1, 15, 16, 33, 240].map(|before| format!("{}{character}ab", "x".repeat(before)))
        });
        for text in texts {
            let claims = Claims::new(())
                .issuer(&text)
                .subject(&text)
                .audience(&text)
                .token_id(&text)
                .without_expiry()
                .without_issued_at();
            let mut buffer = Buffer::new();
            let clock = FixedClock(Timestamp::from_unix_seconds(0).unwrap());
            claims.write(&mut buffer, Dates::Numeric, &clock).unwrap();
            let members = ["iss", "sub", "aud", "jti"].map(|name| {
                let text = serde_json::to_string(&text).unwrap();
                format!("\"{name}\":{text}")
            });
            let expected = format!("{{{}}}", members.join(","));
            assert_eq!(std::str::from_utf8(&buffer), Ok(&*expected));
        }
    }
}
