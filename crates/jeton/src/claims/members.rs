//! Serializes the members of the caller's type into an open object.

use std::fmt;

use serde::Serialize;
use serde::ser::{self, Impossible, SerializeMap, SerializeStruct};

use super::embedded::Embedded;
use super::object::{Mark, Object};
use crate::error::{Claim, Error, FoundForm, InvalidUse, Result};
use crate::json::{self, Kind};

/// Serializes the members of a struct or map into an open object.
pub(super) struct Members<'m, 'b> {
    object: &'m mut Object<'b>,
    /// Where registered claims are recorded; `None` if they are not allowed.
    embedded: Option<&'m mut Embedded>,
}

impl<'m, 'b> Members<'m, 'b> {
    /// Writes the members of `custom`. Registered claims are an error unless `embedded` records them.
    #[inline]
    pub(super) fn write<T: Serialize + ?Sized>(
        custom: &T,
        object: &'m mut Object<'b>,
        embedded: Option<&'m mut Embedded>,
    ) -> Result<()> {
        let members = Members { object, embedded };
        custom.serialize(members).map_err(|Rejected(error)| error)
    }

    fn member(
        &mut self,
        name: &'static str,
        value: &(impl Serialize + ?Sized),
    ) -> Result<(), Rejected> {
        let claim = Claim::from_name(name);
        let claim = allowed(claim, self.embedded.as_deref())?;
        let mark = self.object.mark();
        self.object.separate();
        self.object.json(name)?;
        self.object.out.bytes(b":");
        let start = self.object.out.position();
        self.object.json(value)?;
        if let (Some(claim), Some(embedded)) = (claim, &mut self.embedded) {
            record(self.object, embedded, claim, mark, start)?;
        }
        Ok(())
    }
}

/// Rejects a registered claim where none is allowed.
#[inline]
fn allowed(claim: Option<Claim>, embedded: Option<&Embedded>) -> Result<Option<Claim>, Rejected> {
    match (claim, embedded) {
        (Some(claim), None) => Err(Rejected(InvalidUse::RegisteredName(claim).into())),
        (claim, _) => Ok(claim),
    }
}

/// Checks and records the registered claim that was written last. Its value starts at `start`. Without a
/// value, it is dropped.
fn record(
    object: &mut Object<'_>,
    embedded: &mut Embedded,
    claim: Claim,
    mark: Mark,
    start: usize,
) -> Result<(), Rejected> {
    let written = object.out.since(start);
    if written == b"null" {
        object.rewind(mark);
        return Ok(());
    }
    // The only registered claim with a nested value is a list of audiences.
    let value = std::str::from_utf8(written).ok();
    let value = value.and_then(|text| json::read_value(text, 1).ok());
    let value = value.ok_or_else(|| {
        let first = written.first().copied().unwrap_or_default();
        let found = FoundForm::Value(Kind::of_first_byte(first));
        Error::from(InvalidUse::ClaimType { claim, found })
    })?;
    embedded.add(claim, value).map_err(Error::from)?;
    Ok(())
}

/// Wraps [`Error`] for serde.
#[derive(Debug)]
pub(super) struct Rejected(Error);

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
        Rejected(InvalidUse::ClaimsNotSerializable.into())
    }
}

fn not_an_object<T>() -> Result<T, Rejected> {
    Err(Rejected(InvalidUse::ClaimsNotAnObject.into()))
}

/// Reads a name with escapes.
#[cold]
fn unescaped(written: &[u8]) -> Result<String, Rejected> {
    serde_json::from_slice(written).map_err(|_| Rejected(InvalidUse::ClaimsNotSerializable.into()))
}

impl SerializeStruct for Members<'_, '_> {
    type Ok = ();
    type Error = Rejected;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Rejected> {
        self.member(name, value)
    }

    fn end(self) -> Result<(), Rejected> {
        Ok(())
    }
}

/// The members of a map: the name arrives before its value.
pub(super) struct MapMembers<'m, 'b> {
    members: Members<'m, 'b>,
    /// The registered claim whose name was written last, and the position before the name.
    registered: Option<(Claim, Mark)>,
}

impl SerializeMap for MapMembers<'_, '_> {
    type Ok = ();
    type Error = Rejected;

    fn serialize_key<K: Serialize + ?Sized>(&mut self, name: &K) -> Result<(), Rejected> {
        let Members { object, embedded } = &mut self.members;
        let mark = object.mark();
        object.separate();
        let start = object.out.position();
        object.json(name)?;
        let written = object.out.since(start);
        let [b'"', plain @ .., b'"'] = written else {
            return not_an_object();
        };
        // serde_json escapes only what it must, so a registered name has one spelling here. A `RawValue` may
        // have other spellings.
        let claim = if !plain.contains(&b'\\') {
            Claim::of_name(plain)
        } else {
            Claim::from_name(&unescaped(written)?)
        };
        self.registered = allowed(claim, embedded.as_deref())?.map(|claim| (claim, mark));
        Ok(())
    }

    fn serialize_value<V: Serialize + ?Sized>(&mut self, value: &V) -> Result<(), Rejected> {
        let Members { object, embedded } = &mut self.members;
        object.out.bytes(b":");
        let start = object.out.position();
        object.json(value)?;
        if let (Some((claim, mark)), Some(embedded)) = (self.registered, embedded) {
            record(object, embedded, claim, mark, start)?;
        }
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
        serialize_bytes: &[u8], serialize_str: &str,
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
        _: &'static str,
        value: &T,
    ) -> Result<(), Rejected> {
        value.serialize(self)
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Self, Rejected> {
        // serde_json represents its own types, such as `RawValue`, as a struct with an internal name. Its
        // field is not a claim.
        if name.starts_with("$serde_json::") {
            not_an_object()
        } else {
            Ok(self)
        }
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, Rejected> {
        Ok(MapMembers {
            members: self,
            registered: None,
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
        let mut members = self;
        members.member(name, value)
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
