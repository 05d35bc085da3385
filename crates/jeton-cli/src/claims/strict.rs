//! JSON without two meanings: an object, no name twice at any depth, nothing after it.

use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// The members of an object in their order, each value as it is written.
///
/// `depth_max` bounds the nesting of the object and what is in it, as a verifier will.
pub(super) fn members(text: &str, depth_max: u32) -> Result<Vec<(String, Box<RawValue>)>, String> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let seed = Value {
        depth_left: depth_max,
    };
    seed.deserialize(&mut reader)
        .and_then(|()| reader.end())
        .map_err(|error| format!("not valid JSON: {error}"))?;
    if !text.trim_ascii_start().starts_with('{') {
        return Err("not a JSON object".to_owned());
    }
    serde_json::Deserializer::from_str(text)
        .deserialize_map(Members)
        .map_err(|error| format!("not valid JSON: {error}"))
}

/// Any value, for its form alone.
#[derive(Clone, Copy)]
struct Value {
    depth_left: u32,
}

impl Value {
    fn deeper<E: Error>(self) -> Result<Value, E> {
        match self.depth_left.checked_sub(1) {
            Some(depth_left) => Ok(Value { depth_left }),
            None => Err(E::custom("nested deeper than a verifier takes")),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Value {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Value {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let inner = self.deeper()?;
        let mut names = HashSet::new();
        while let Some(name) = map.next_key::<String>()? {
            if names.contains(&name) {
                return Err(A::Error::custom(format_args!(
                    "the member {name:?} stands twice"
                )));
            }
            names.insert(name);
            map.next_value_seed(inner)?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<(), A::Error> {
        let inner = self.deeper()?;
        while sequence.next_element_seed(inner)?.is_some() {}
        Ok(())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }
}

/// The outermost object's members.
struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Vec<(String, Box<RawValue>)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(members)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_two_meanings_is_refused() {
        for text in [
            r#"{"a":1,"a":2}"#,
            r#"{"a":1,"\u0061":2}"#,
            r#"{"a":[{"b":1,"b":1}]}"#,
            r#"{"a":1} {}"#,
            r#"{"a":1,}"#,
            r#"{'a':1}"#,
            "[]",
            "\"a\"",
            "",
        ] {
            assert!(members(text, 32).is_err(), "{text}");
        }
        assert!(members(" {\"a\":{\"b\":1},\"b\":1}\n", 32).is_ok());
    }

    #[test]
    fn depth_is_bounded() {
        let nested =
            |depth: usize| format!("{}{}", "{\"a\":".repeat(depth - 1) + "{", "}".repeat(depth));
        assert!(members(&nested(32), 32).is_ok());
        assert!(members(&nested(33), 32).is_err());
        assert!(members(&nested(100_000), 32).is_err());
    }
}
