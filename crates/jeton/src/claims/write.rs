//! Writes claims as JSON: the registered claims first, then the custom claims, in one object.

use std::fmt;

use serde::Serialize;
use serde::ser::{self, Impossible, SerializeMap, SerializeStruct};

use super::buffer::{Buffer, Sink};
use super::custom::CustomClaims;
use super::registered::Dates;
use super::{Audience, Claims, Expiry, IssuedAt, rfc3339};
use crate::clock::{Clock, Timestamp};
use crate::error::{Claim, Error, Misuse, Result};

impl<T: Serialize> Claims<'_, T> {
    /// Appends the claims to the buffer as one compact JSON object.
    pub(crate) fn write(&self, buffer: &mut Buffer, dates: Dates, clock: &dyn Clock) -> Result<()> {
        let mut object = Object::open(buffer);
        self.write_registered(&mut object, dates, clock)?;
        object.close(&self.custom)
    }
}

impl<T> Claims<'_, T> {
    /// Writes the registered claims in a fixed order.
    fn write_registered(
        &self,
        object: &mut Object<'_>,
        dates: Dates,
        clock: &dyn Clock,
    ) -> Result<()> {
        let issued_at = match self.issued_at {
            IssuedAt::At(moment) => Some(moment),
            IssuedAt::Now => Some(clock.now()),
            IssuedAt::Absent => None,
        };
        let expires_at = match self.expiry {
            Expiry::NotChosen => return Err(Misuse::ExpiryNotChosen.into()),
            Expiry::Never => None,
            Expiry::At(moment) => Some(moment),
            Expiry::In(lifetime) => Some(
                issued_at
                    .unwrap_or_else(|| clock.now())
                    .checked_add(lifetime)
                    .ok_or(Misuse::TimeOutOfRange)?,
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
            Audience::List(_) if dates == Dates::Rfc3339 => {
                return Err(Misuse::AudienceList.into());
            }
            Audience::List(audiences) => object.registered(Claim::Audience, audiences)?,
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
}

/// The start of an object that many tokens share.
#[derive(Debug)]
pub(crate) struct ClaimsPrefix {
    /// `{` and the shared members.
    pub(crate) text: Buffer,
    empty: bool,
    has_subject: bool,
    has_token_id: bool,
}

impl ClaimsPrefix {
    /// Creates the prefix with dates in the format of JWT.
    pub(crate) fn new(shared: &Claims<'_, ()>, clock: &dyn Clock) -> Result<ClaimsPrefix> {
        let mut text = Buffer::new();
        let mut object = Object::open(&mut text);
        shared.write_registered(&mut object, Dates::Numeric, clock)?;
        let empty = object.first;
        object.out.finish();
        Ok(ClaimsPrefix {
            text,
            empty,
            has_subject: shared.subject.is_some(),
            has_token_id: shared.token_id.is_some(),
        })
    }

    /// Appends the rest of the object to the buffer.
    pub(crate) fn write_rest(
        &self,
        buffer: &mut Buffer,
        subject: Option<&str>,
        token_id: Option<&str>,
        custom: &impl Serialize,
    ) -> Result<()> {
        let mut object = Object {
            out: Sink::after(buffer),
            first: self.empty,
        };
        for (claim, value, is_set) in [
            (Claim::Subject, subject, self.has_subject),
            (Claim::TokenId, token_id, self.has_token_id),
        ] {
            match value {
                Some(_) if is_set => return Err(Misuse::SetForAll(claim).into()),
                Some(value) => object.text(claim, value)?,
                None => {}
            }
        }
        object.close(custom)
    }
}

/// A JSON object that is being written.
struct Object<'b> {
    out: Sink<'b>,
    first: bool,
}

impl<'b> Object<'b> {
    fn open(buffer: &'b mut Buffer) -> Object<'b> {
        let mut out = Sink::after(buffer);
        out.bytes(b"{");
        Object { out, first: true }
    }

    /// Writes the custom claims and closes the object.
    fn close(mut self, custom: &impl Serialize) -> Result<()> {
        custom
            .serialize(Members {
                object: &mut self,
                is_verbatim: false,
            })
            .map_err(|Rejected(error)| error)?;
        self.out.bytes(b"}");
        self.out.finish();
        Ok(())
    }

    fn json(&mut self, value: &(impl Serialize + ?Sized)) -> Result<()> {
        serde_json::to_writer(&mut self.out, value)
            .map_err(|_| Misuse::ClaimsNotSerialisable.into())
    }

    fn separate(&mut self) {
        if !std::mem::replace(&mut self.first, false) {
            self.out.bytes(b",");
        }
    }

    fn registered(&mut self, claim: Claim, value: &(impl Serialize + ?Sized)) -> Result<()> {
        self.registered_name(claim);
        self.json(value)
    }

    /// Writes a registered claim that is a string. Few strings need escaping, and a fast check finds those;
    /// serde_json looks at each byte separately.
    fn text(&mut self, claim: Claim, value: &str) -> Result<()> {
        if !is_plain(value) {
            return self.registered(claim, value);
        }
        self.registered_name(claim);
        self.out.quoted(value);
        Ok(())
    }

    /// Writes the comma, if needed, the name and the colon.
    fn registered_name(&mut self, claim: Claim) {
        let start: &[u8] = match claim {
            Claim::Issuer => b",\"iss\":",
            Claim::Subject => b",\"sub\":",
            Claim::Audience => b",\"aud\":",
            Claim::Expiry => b",\"exp\":",
            Claim::NotBefore => b",\"nbf\":",
            Claim::IssuedAt => b",\"iat\":",
            Claim::TokenId => b",\"jti\":",
        };
        let first = std::mem::replace(&mut self.first, false);
        self.out.bytes(&start[usize::from(first)..]);
    }

    fn date(&mut self, claim: Claim, moment: Timestamp, dates: Dates) -> Result<()> {
        match dates {
            Dates::Numeric => self.registered(claim, &moment.unix_seconds()),
            Dates::Rfc3339 => {
                self.registered_name(claim);
                self.out.bytes(&rfc3339::quoted(moment));
                Ok(())
            }
        }
    }

    fn member(
        &mut self,
        name: &(impl Serialize + ?Sized),
        value: &(impl Serialize + ?Sized),
    ) -> Result<(), Rejected> {
        self.separate();
        self.json(name)?;
        self.out.bytes(b":");
        self.json(value)?;
        Ok(())
    }
}

/// Whether JSON needs no escape for this text (RFC 8259, section 7). The loop does not stop early, so that
/// the compiler can vectorize it.
fn is_plain(text: &str) -> bool {
    text.bytes().fold(true, |plain, byte| {
        plain & (byte >= b' ') & (byte != b'"') & (byte != b'\\')
    })
}

/// Serializes the members of a struct or map into an open object.
struct Members<'m, 'b> {
    object: &'m mut Object<'b>,
    /// The next string is the text of [`CustomClaims`], which was already validated.
    is_verbatim: bool,
}

/// Wraps [`Error`] for serde.
#[derive(Debug)]
struct Rejected(Error);

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Rejected {}

impl From<Error> for Rejected {
    fn from(error: Error) -> Self {
        Rejected(error)
    }
}

impl ser::Error for Rejected {
    fn custom<M: fmt::Display>(_: M) -> Self {
        // The message may contain the value of a claim, so it is dropped.
        Rejected(Misuse::ClaimsNotSerialisable.into())
    }
}

fn not_an_object<T>() -> Result<T, Rejected> {
    Err(Rejected(Misuse::ClaimsNotAnObject.into()))
}

fn reject_registered(name: &str) -> Result<(), Rejected> {
    match Claim::from_name(name) {
        Some(claim) => Err(Rejected(Misuse::RegisteredName(claim).into())),
        None => Ok(()),
    }
}

#[cold]
fn reject_escaped(written: &[u8]) -> Result<(), Rejected> {
    match serde_json::from_slice::<String>(written) {
        Ok(name) => reject_registered(&name),
        Err(_) => Err(Rejected(Misuse::ClaimsNotSerialisable.into())),
    }
}

impl SerializeStruct for Members<'_, '_> {
    type Ok = ();
    type Error = Rejected;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Rejected> {
        reject_registered(name)?;
        self.object.member(name, value)
    }

    fn end(self) -> Result<(), Rejected> {
        Ok(())
    }
}

/// The members of a map: the name arrives before its value.
struct MapMembers<'m, 'b> {
    object: &'m mut Object<'b>,
}

impl SerializeMap for MapMembers<'_, '_> {
    type Ok = ();
    type Error = Rejected;

    fn serialize_key<K: Serialize + ?Sized>(&mut self, name: &K) -> Result<(), Rejected> {
        self.object.separate();
        let start = self.object.out.position();
        self.object.json(name)?;
        let written = self.object.out.since(start);
        let [b'"', plain @ .., b'"'] = written else {
            return not_an_object();
        };
        // serde_json escapes only what it must, so a registered name has one spelling here. A `RawValue` may
        // have other spellings.
        if plain.contains(&b'\\') {
            return reject_escaped(written);
        }
        match std::str::from_utf8(plain) {
            Ok(plain) => reject_registered(plain),
            Err(_) => not_an_object(),
        }
    }

    fn serialize_value<V: Serialize + ?Sized>(&mut self, value: &V) -> Result<(), Rejected> {
        self.object.out.bytes(b":");
        self.object.json(value)?;
        Ok(())
    }

    fn end(self) -> Result<(), Rejected> {
        Ok(())
    }
}

macro_rules! reject_scalars {
    ($($method:ident: $type:ty),* $(,)?) => {
        $(fn $method(self, _: $type) -> Result<(), Rejected> { not_an_object() })*
    };
}

impl<'m, 'b> ser::Serializer for Members<'m, 'b> {
    type Ok = ();
    type Error = Rejected;
    type SerializeSeq = Impossible<(), Rejected>;
    type SerializeTuple = Impossible<(), Rejected>;
    type SerializeTupleStruct = Impossible<(), Rejected>;
    type SerializeTupleVariant = Impossible<(), Rejected>;
    type SerializeMap = MapMembers<'m, 'b>;
    type SerializeStruct = Self;
    type SerializeStructVariant = Impossible<(), Rejected>;

    reject_scalars! {
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32,
        serialize_i64: i64, serialize_u8: u8, serialize_u16: u16, serialize_u32: u32,
        serialize_u64: u64, serialize_f32: f32, serialize_f64: f64, serialize_char: char,
        serialize_bytes: &[u8],
    }

    fn serialize_str(self, text: &str) -> Result<(), Rejected> {
        if !self.is_verbatim {
            return not_an_object();
        }
        if !text.is_empty() {
            self.object.separate();
            self.object.out.bytes(text.as_bytes());
        }
        Ok(())
    }

    /// `()`, a unit struct and `None` have no members, so only the registered claims are written.
    fn serialize_unit(self) -> Result<(), Rejected> {
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Rejected> {
        Ok(())
    }

    fn serialize_none(self) -> Result<(), Rejected> {
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Rejected> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Rejected> {
        // Type names come from the program, never from a token or a caller.
        let is_verbatim = name == CustomClaims::VERBATIM;
        value.serialize(Members {
            is_verbatim,
            ..self
        })
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, Rejected> {
        Ok(self)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, Rejected> {
        Ok(MapMembers {
            object: self.object,
        })
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
    ) -> Result<(), Rejected> {
        not_an_object()
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        value: &T,
    ) -> Result<(), Rejected> {
        reject_registered(name)?;
        self.object.member(name, value)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self::SerializeSeq, Rejected> {
        not_an_object()
    }

    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, Rejected> {
        not_an_object()
    }

    fn serialize_tuple_struct(
        self,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleStruct, Rejected> {
        not_an_object()
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, Rejected> {
        not_an_object()
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, Rejected> {
        not_an_object()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::clock::FixedClock;

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
        let registered = || Err(Error::from(Misuse::RegisteredName(Claim::Expiry)));
        assert_eq!(write(r#""exp""#), registered());
        assert_eq!(write(r#""\u0065xp""#), registered());
        assert_eq!(write(r#""ex\u0070""#), registered());
        assert_eq!(write(r#""\u0065xpo""#), Ok(r#"{"\u0065xpo":1}"#.to_owned()));
        assert!(write(r#""\ud800""#).is_err());
    }

    #[test]
    fn custom_claims_text_is_written_verbatim() {
        use crate::claims::CustomClaimsError;
        let clock = FixedClock(Timestamp::from_unix_seconds(0).unwrap());
        let write = |text, subject: bool| {
            let custom = CustomClaims::read(text, 32, |_| Ok::<_, CustomClaimsError>(()));
            let mut claims = Claims::new(custom.unwrap())
                .without_expiry()
                .without_issued_at();
            if subject {
                claims = claims.subject("s");
            }
            let mut buffer = Buffer::new();
            claims.write(&mut buffer, Dates::Numeric, &clock).unwrap();
            String::from_utf8(buffer.to_vec()).unwrap()
        };
        let text = " { \"z\" : 1e-999 ,\n\"a\":18446744073709551617 } ";
        let members = "\"z\" : 1e-999 ,\n\"a\":18446744073709551617";
        assert_eq!(write(text, false), format!("{{{members}}}"));
        assert_eq!(write(text, true), format!("{{\"sub\":\"s\",{members}}}"));
        assert_eq!(write("{ }", false), "{}");
        assert_eq!(write("{}", true), "{\"sub\":\"s\"}");
        // A string that is not marked as custom claims is not an object.
        let mut buffer = Buffer::new();
        let text = Claims::new("\"a\":1").without_expiry();
        assert_eq!(
            text.write(&mut buffer, Dates::Numeric, &clock),
            Err(Misuse::ClaimsNotAnObject.into())
        );
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
