//! Deserializes the custom claims from a payload that the strict scanner has validated.
//!
//! serde_json would validate the whole text a second time. Instead, a struct receives only the members
//! that it requests, and the others are skipped. serde_json reads values other than plain strings and
//! literals, and types other than structs.

use std::fmt;
use std::ops::Range;
use std::slice;

use serde::Deserialize;
use serde::de::value::BorrowedStrDeserializer;
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, Visitor};

use super::registered_name::registered_name;
use crate::error::{Claim, Rejection, ShapeMismatch};
use crate::json::{self, Kind, ScanError, Text, Value};

/// The positions of the members of an object, as the scanner found them.
#[derive(Clone, Default)]
pub(crate) struct Layout {
    members: [Member; Layout::MOST],
    /// Greater than [`Layout::MOST`] if the members do not fit.
    count: usize,
}

/// The registered claim that a member is, and the positions of the member and of its value.
pub(crate) type FoundMember = (Option<Claim>, Range<usize>, Range<usize>);

/// Positions in the text of the claims, in bytes.
#[derive(Clone, Copy, Default)]
struct Member {
    name: (u16, u16),
    value: (u16, u16),
}

impl Member {
    /// Returns the positions of a member, if they are within the first 64 KiB and the name has no escapes.
    #[inline]
    fn of(name: Text<'_>, value: Value<'_>) -> Option<Member> {
        let (name_range, value_range) = (name.range(), value.range_with_quotes());
        let end = u16::try_from(value_range.end).ok()?;
        // The end is the largest of the four numbers, so none of them is truncated.
        (!name.has_escapes()).then_some(Member {
            name: (name_range.start as u16, name_range.end as u16),
            value: (value_range.start as u16, end),
        })
    }
}

impl Layout {
    /// Maximum number of members that are recorded, within the first 64 KiB. If there are more, or if a name
    /// has escapes, serde_json reads the whole text.
    const MOST: usize = 16;

    /// Records the next member.
    #[inline]
    pub(super) fn add(&mut self, name: Text<'_>, value: Value<'_>) {
        match (self.members.get_mut(self.count), Member::of(name, value)) {
            (Some(member), Some(added)) => {
                *member = added;
                self.count += 1;
            }
            _ => self.count = usize::MAX,
        }
    }

    /// Calls `take` for each member of these claims, which must be the scanned ones: with the registered claim
    /// that it is, and with the positions of the member and of its value.
    pub(crate) fn for_each_member(
        &self,
        claims: &str,
        mut take: impl FnMut(Option<Claim>, Range<usize>, Range<usize>),
    ) {
        if let Some(members) = self.recorded(claims) {
            members.for_each(|(claim, member, value)| take(claim, member, value));
            return;
        }
        let scanned = json::read_object(claims, json::DEPTH_MAX, |name, value| {
            let value_range = value.range_with_quotes();
            let member = name.range().start - 1..value_range.end;
            take(registered_name(name), member, value_range);
            Ok::<_, ScanError>(())
        });
        debug_assert_eq!(scanned, Ok(()), "these claims were scanned before");
    }

    /// Returns what [`for_each_member`](Layout::for_each_member) passes, or `None` if there are too many members.
    pub(crate) fn recorded<'l>(
        &'l self,
        claims: &'l str,
    ) -> Option<impl Iterator<Item = FoundMember> + use<'l>> {
        let members = self.members.get(..self.count)?;
        Some(members.iter().map(|Member { name, value }| {
            let range = |(start, end): (u16, u16)| usize::from(start)..usize::from(end);
            let (name, value) = (range(*name), range(*value));
            // A recorded name has no escapes.
            let claim = claims.as_bytes().get(name.clone()).and_then(Claim::of_name);
            (claim, name.start - 1..value.end, value)
        }))
    }

    /// Returns the position of the value of this member of these claims, which must be the scanned ones.
    pub(crate) fn find(&self, claims: &str, wanted: &str) -> Option<Range<usize>> {
        let Some(members) = self.members.get(..self.count) else {
            return find_member(claims, wanted);
        };
        members.iter().find_map(|Member { name, value }| {
            let range = |(start, end): (u16, u16)| usize::from(start)..usize::from(end);
            let name = claims.as_bytes().get(range(*name));
            (name == Some(wanted.as_bytes())).then(|| range(*value))
        })
    }

    /// Deserializes these claims, which must be the scanned ones, with the same result as serde_json.
    #[inline]
    pub(crate) fn read<'t, T: Deserialize<'t>>(&self, claims: &'t str) -> Result<T, Rejection> {
        let members = self.members.get(..self.count);
        let own = match members {
            Some(members) => T::deserialize(Object {
                claims,
                members,
                only_explains: false,
            }),
            None => serde_json::from_str(claims).map_err(Mismatch::from),
        };
        own.map_err(|Mismatch(mismatch)| {
            Rejection::ClaimsShape(match *mismatch {
                ShapeMismatch::Unnamed => explain::<T>(claims, members),
                named => named,
            })
        })
    }
}

/// Returns the position of the value of this member of claims that were scanned before. A string has its quotes.
pub(crate) fn find_member(claims: &str, wanted: &str) -> Option<Range<usize>> {
    let mut found = None;
    let scanned = json::read_object(claims, json::DEPTH_MAX, |name, value| {
        if name == *wanted {
            found = Some(value.range_with_quotes());
        }
        Ok::<_, ScanError>(())
    });
    debug_assert_eq!(scanned, Ok(()), "these claims were scanned before");
    found
}

/// Searches the field that does not match, after serde_json has rejected the whole text without a name.
#[cold]
fn explain<'t, T: Deserialize<'t>>(claims: &'t str, members: Option<&[Member]>) -> ShapeMismatch {
    let mut all = Vec::new();
    let members = match members {
        Some(members) => members,
        None if all_members(claims, &mut all) => &all,
        None => return ShapeMismatch::Unnamed,
    };
    let object = Object {
        claims,
        members,
        only_explains: true,
    };
    match T::deserialize(object) {
        Ok(_) => ShapeMismatch::Unnamed,
        Err(Mismatch(mismatch)) => *mismatch,
    }
}

/// Appends the positions of any number of members. Returns false if one of them cannot be recorded.
fn all_members(claims: &str, all: &mut Vec<Member>) -> bool {
    let scanned = json::read_object(claims, json::DEPTH_MAX, |name, value| {
        let member = Member::of(name, value).ok_or(ScanError::TooMany)?;
        all.push(member);
        Ok::<_, ScanError>(())
    });
    scanned.is_ok()
}

/// The error of the deserializers here. It has no value of a claim. It is boxed because results with a small
/// error are faster to pass on.
#[derive(Debug)]
struct Mismatch(Box<ShapeMismatch>);

impl Mismatch {
    #[cold]
    fn new(mismatch: ShapeMismatch) -> Mismatch {
        Mismatch(Box::new(mismatch))
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Mismatch {}

impl de::Error for Mismatch {
    fn custom<M: fmt::Display>(_: M) -> Self {
        // The message may contain the value of a claim, so it is dropped.
        Mismatch::new(ShapeMismatch::Unnamed)
    }

    fn missing_field(field: &'static str) -> Self {
        Mismatch::new(ShapeMismatch::MissingField(field))
    }

    fn unknown_field(field: &str, _: &'static [&'static str]) -> Self {
        // The token may have any name here.
        Mismatch::new(ShapeMismatch::UnknownField(Claim::from_name(field)))
    }
}

impl From<serde_json::Error> for Mismatch {
    fn from(_: serde_json::Error) -> Self {
        Mismatch::new(ShapeMismatch::Unnamed)
    }
}

/// Methods that delegate to serde_json with `self.text()`.
macro_rules! by_serde_json {
    ($($method:ident($($argument:ident: $type:ty),*))*) => {$(
        fn $method<V: Visitor<'t>>(
            self,
            $($argument: $type,)*
            visitor: V,
        ) -> Result<V::Value, Mismatch> {
            let mut json = serde_json::Deserializer::from_str(self.text());
            let value = json.$method($($argument,)* visitor)?;
            json.end()?;
            Ok(value)
        }
    )*};
}

/// The methods that always delegate to serde_json. serde represents a raw value as a newtype.
macro_rules! others_by_serde_json {
    () => {
        by_serde_json! {
            deserialize_i8() deserialize_i16() deserialize_i32() deserialize_i64() deserialize_i128()
            deserialize_u8() deserialize_u16() deserialize_u32() deserialize_u64() deserialize_u128()
            deserialize_f32() deserialize_f64() deserialize_char() deserialize_bytes()
            deserialize_byte_buf() deserialize_unit() deserialize_unit_struct(name: &'static str)
            deserialize_newtype_struct(name: &'static str) deserialize_seq()
            deserialize_tuple(length: usize)
            deserialize_tuple_struct(name: &'static str, length: usize)
            deserialize_enum(name: &'static str, variants: &'static [&'static str])
            deserialize_identifier()
        }
    };
}

/// The same for a [`ValueText`] that is not a plain string.
macro_rules! text_or_by_serde_json {
    ($($method:ident)*) => {$(
        #[inline]
        fn $method<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Mismatch> {
            if let Some(plain) = json::checked_string(self.0).and_then(Text::plain) {
                return visitor.visit_borrowed_str(plain);
            }
            let mut json = serde_json::Deserializer::from_str(self.0);
            let value = json.$method(visitor)?;
            json.end()?;
            Ok(value)
        }
    )*};
}

/// The whole claims object.
struct Object<'t, 'l> {
    claims: &'t str,
    members: &'l [Member],
    /// Whether the value is dropped, and only the error counts.
    only_explains: bool,
}

impl<'t> Object<'t, '_> {
    fn text(&self) -> &'t str {
        self.claims
    }

    #[inline]
    fn visit<V: Visitor<'t>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mismatch> {
        let mut members = Members {
            claims: self.claims,
            members: self.members.iter(),
            fields,
            name: "",
            value: "",
        };
        let value = visitor.visit_map(&mut members)?;
        match members.members.len() {
            0 => Ok(value),
            left => Err(de::Error::invalid_length(left, &"no further member")),
        }
    }
}

impl<'t> Deserializer<'t> for Object<'t, '_> {
    type Error = Mismatch;

    #[inline]
    fn deserialize_struct<V: Visitor<'t>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mismatch> {
        self.visit(fields, visitor)
    }

    /// serde_json converts names to other types of keys. A struct with flattened fields is read as a map too.
    fn deserialize_map<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        if self.only_explains {
            return self.visit(&[], visitor);
        }
        let mut json = serde_json::Deserializer::from_str(self.claims);
        let value = json.deserialize_map(visitor)?;
        json.end()?;
        Ok(value)
    }

    by_serde_json! {
        deserialize_any() deserialize_option() deserialize_ignored_any() deserialize_bool()
        deserialize_str() deserialize_string()
    }
    others_by_serde_json!();
}

struct Members<'t, 'l> {
    claims: &'t str,
    members: slice::Iter<'l, Member>,
    /// The fields of the type, if they are known.
    fields: &'static [&'static str],
    /// The member that was returned last.
    name: &'t str,
    value: &'t str,
}

impl Members<'_, '_> {
    /// Names the field whose value does not match.
    #[cold]
    fn wrong_value(&self) -> Mismatch {
        let field = self.fields.iter().find(|field| **field == self.name);
        Mismatch::new(field.map_or(ShapeMismatch::Unnamed, |field| {
            let first = self.value.bytes().next().unwrap_or_default();
            let found = Kind::of_first_byte(first);
            ShapeMismatch::WrongType { field, found }
        }))
    }
}

impl<'t> MapAccess<'t> for &mut Members<'t, '_> {
    type Error = Mismatch;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'t>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Mismatch> {
        let Some(member) = self.members.next() else {
            return Ok(None);
        };
        let text = |(start, end)| self.claims.get(usize::from(start)..usize::from(end));
        let (Some(name), Some(value)) = (text(member.name), text(member.value)) else {
            return Err(de::Error::custom(
                "these are not the claims that were scanned",
            ));
        };
        (self.name, self.value) = (name, value);
        seed.deserialize(BorrowedStrDeserializer::new(name))
            .map(Some)
    }

    #[inline]
    fn next_value_seed<S: DeserializeSeed<'t>>(&mut self, seed: S) -> Result<S::Value, Mismatch> {
        let value = seed.deserialize(ValueText(self.value));
        value.map_err(|_| self.wrong_value())
    }
}

/// The text of one value.
struct ValueText<'t>(&'t str);

impl<'t> ValueText<'t> {
    fn text(&self) -> &'t str {
        self.0
    }
}

impl<'t> Deserializer<'t> for ValueText<'t> {
    type Error = Mismatch;

    text_or_by_serde_json! { deserialize_any deserialize_str deserialize_string }

    #[inline]
    fn deserialize_bool<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        match self.0 {
            "true" => visitor.visit_bool(true),
            "false" => visitor.visit_bool(false),
            _ => self.deserialize_map(visitor),
        }
    }

    #[inline]
    fn deserialize_option<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        match self.0 {
            "null" => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    #[inline]
    fn deserialize_ignored_any<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        visitor.visit_unit()
    }

    by_serde_json! {
        deserialize_map() deserialize_struct(name: &'static str, fields: &'static [&'static str])
    }
    others_by_serde_json!();
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::borrow::Cow;
    use std::collections::BTreeMap;
    use std::fmt::Debug;

    use proptest::prelude::*;
    use serde_json::Value;
    use serde_json::value::RawValue;

    use super::*;
    use crate::claims::{Dates, Scanned};

    /// Every way in which a struct can request a value.
    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(bound(deserialize = "'de: 't"))]
    struct Requested<'t> {
        borrowed: Option<&'t str>,
        #[serde(borrow, default)]
        perhaps: Cow<'t, str>,
        #[serde(default)]
        owned: String,
        yes: Option<bool>,
        letter: Option<char>,
        small: Option<u8>,
        #[serde(rename = "caf\u{e9}")]
        signed: Option<i64>,
        wide: Option<u128>,
        real: Option<f64>,
        unit: Option<()>,
        kind: Option<Kind>,
        newtype: Option<Newtype>,
        pair: Option<(u8, String)>,
        list: Option<Vec<Value>>,
        inner: Option<Inner>,
        #[serde(default)]
        any: Value,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Kind {
        Unit,
        Newtype(u8),
        Struct { a: bool },
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Newtype(String);

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Inner {
        a: u8,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Flat {
        owned: Option<String>,
        #[serde(flatten)]
        others: BTreeMap<String, Value>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(tag = "owned")]
    enum Tagged {
        #[serde(rename = "a")]
        A { small: u8 },
    }

    #[derive(Debug, Deserialize)]
    struct Raw<'t> {
        #[serde(borrow)]
        any: Option<&'t RawValue>,
    }

    impl PartialEq for Raw<'_> {
        fn eq(&self, other: &Self) -> bool {
            self.any.map(RawValue::get) == other.any.map(RawValue::get)
        }
    }

    fn alike<'t, T: Deserialize<'t> + PartialEq + Debug>(claims: &'t str, layout: &Layout) {
        let reference = serde_json::from_str::<T>(claims);
        let own = layout.read::<T>(claims);
        match reference {
            Ok(reference) => assert_eq!(own, Ok(reference), "{claims}"),
            Err(_) => assert!(matches!(own, Err(Rejection::ClaimsShape(_))), "{claims}"),
        }
    }

    fn all_alike(claims: &str) {
        let Scanned { layout, .. } = Scanned::of(claims, Dates::Numeric).unwrap();
        alike::<Requested<'_>>(claims, &layout);
        alike::<Flat>(claims, &layout);
        alike::<Tagged>(claims, &layout);
        alike::<Raw<'_>>(claims, &layout);
        alike::<Inner>(claims, &layout);
        alike::<Option<Inner>>(claims, &layout);
        alike::<Value>(claims, &layout);
        alike::<BTreeMap<Cow<'_, str>, Value>>(claims, &layout);
        alike::<BTreeMap<u32, Value>>(claims, &layout);
        alike::<()>(claims, &layout);
        alike::<Vec<u8>>(claims, &layout);
        alike::<Kind>(claims, &layout);
    }

    const NAMES: [&str; 19] = [
        "borrowed",
        "perhaps",
        "owned",
        "yes",
        "letter",
        "small",
        "café",
        r"caf\u00e9",
        "wide",
        "real",
        "unit",
        "kind",
        "newtype",
        "pair",
        "list",
        "inner",
        "any",
        "a",
        "7",
    ];

    const VALUES: [&str; 24] = [
        "null",
        "true",
        "false",
        "0",
        "-1",
        "255",
        "256",
        "1e3",
        "0.25",
        "1e999",
        "340282366920938463463374607431768211455",
        r#""""#,
        r#""a""#,
        r#""é""#,
        r#""\u00e9\n""#,
        r#""unit""#,
        r#"{"newtype":7}"#,
        r#"{"struct":{"a":true}}"#,
        "[]",
        r#"[1,"x"]"#,
        "[ 1 , {} ]",
        "{}",
        r#"{ "a" : 1 }"#,
        r#"{"a":1,"b":2}"#,
    ];

    #[test]
    fn each_value_and_name_reads_like_serde_json() {
        for name in NAMES {
            for value in VALUES {
                all_alike(&format!("{{\"{name}\":{value}}}"));
                all_alike(&format!(
                    " {{ \"exp\" : 1 ,\n\t\"{name}\" : {value} , \"z\":[{{}}] }} "
                ));
            }
        }
        all_alike("{}");
    }

    /// 16 members are recorded; further members are not.
    #[test]
    fn more_members_than_recorded_are_read() {
        for count in [1, 15, 16, 17, 18, 1000] {
            let others: Vec<String> = (2..=count).map(|n| format!(",\"m{n}\":{n}")).collect();
            let claims = format!("{{\"a\":1{}}}", others.concat());
            let Scanned { layout, .. } = Scanned::of(&claims, Dates::Numeric).unwrap();
            assert_eq!(
                layout.members.get(..layout.count).is_some(),
                count <= 16,
                "{count}"
            );
            #[derive(Debug, PartialEq, Deserialize)]
            struct Read {
                a: u8,
                #[serde(default)]
                m16: u8,
            }
            let m16 = if count < 16 { 0 } else { 16 };
            assert_eq!(layout.read(&claims), Ok(Read { a: 1, m16 }), "{count}");
        }
    }

    proptest! {
        #[test]
        fn members_in_any_order_read_like_serde_json(
            names in proptest::sample::subsequence(NAMES.to_vec(), 0..NAMES.len()).prop_shuffle(),
            values in proptest::collection::vec(proptest::sample::select(VALUES.to_vec()), NAMES.len()),
            space in "[ \n\r\t]{0,2}",
        ) {
            // A name with and without escapes is a duplicate.
            prop_assume!(!(names.contains(&"café") && names.contains(&r"caf\u00e9")));
            let members: Vec<String> = names
                .iter()
                .zip(values)
                .map(|(name, value)| format!("{space}\"{name}\"{space}:{space}{value}{space}"))
                .collect();
            all_alike(&format!("{space}{{{}}}{space}", members.join(",")));
        }
    }
}
