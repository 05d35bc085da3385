//! The rows of a result by kind, and their single list in the file.
//!
//! A row's `suite` determines its kind: suites with a command of their own have their own rows, and
//! every other row is a measured one. A new kind needs a list in [`Rows`] and a line each in the writer
//! and the reader.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{self, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, Visitor};
use serde::ser::{SerializeSeq, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{AttackRow, InteropRow, Row, ServerRow};

/// The suite of [`InteropRow`]s.
pub const INTEROP: &str = "interop";

/// The suite of [`AttackRow`]s.
pub const ATTACK: &str = "attack";

/// The suite of [`ServerRow`]s.
pub const SERVERS: &str = "servers";

/// All rows of a result.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rows {
    /// Timed rows, one subject and operation each: the suites of `lab run`.
    pub measured: Vec<Row>,
    /// Interoperability: `lab interop`.
    pub interop: Vec<InteropRow>,
    /// Attacks: `lab attack`.
    pub attack: Vec<AttackRow>,
    /// gRPC servers: `lab servers`.
    pub servers: Vec<ServerRow>,
}

impl Rows {
    /// Counts the rows of all kinds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.measured.len() + self.interop.len() + self.attack.len() + self.servers.len()
    }

    /// Reports whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl From<Vec<Row>> for Rows {
    fn from(measured: Vec<Row>) -> Self {
        Self {
            measured,
            ..Self::default()
        }
    }
}

impl Serialize for Rows {
    /// Writes the measured rows first, then the other kinds in order.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.len()))?;
        for row in &self.measured {
            list.serialize_element(row)?;
        }
        for row in &self.interop {
            list.serialize_element(&OfSuite {
                suite: INTEROP,
                row,
            })?;
        }
        for row in &self.attack {
            list.serialize_element(&OfSuite { suite: ATTACK, row })?;
        }
        for row in &self.servers {
            list.serialize_element(&OfSuite {
                suite: SERVERS,
                row,
            })?;
        }
        list.end()
    }
}

/// A row with its suite.
#[derive(Serialize)]
struct OfSuite<'a, R> {
    suite: &'static str,
    #[serde(flatten)]
    row: &'a R,
}

impl<'de> Deserialize<'de> for Rows {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = Rows;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of rows")
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, mut list: A) -> Result<Rows, A::Error> {
                let mut rows = Rows::default();
                while let Some(row) = list.next_element()? {
                    match row {
                        AnyRow::Measured(row) => rows.measured.push(*row),
                        AnyRow::Interop(row) => rows.interop.push(*row),
                        AnyRow::Attack(row) => rows.attack.push(*row),
                        AnyRow::Servers(row) => rows.servers.push(*row),
                    }
                }
                Ok(rows)
            }
        }
        deserializer.deserialize_seq(List)
    }
}

/// One row of a file.
enum AnyRow {
    Measured(Box<Row>),
    Interop(Box<InteropRow>),
    Attack(Box<AttackRow>),
    Servers(Box<ServerRow>),
}

impl<'de> Deserialize<'de> for AnyRow {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneRow;
        impl<'de> Visitor<'de> for OneRow {
            type Value = AnyRow;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a row")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<AnyRow, A::Error> {
                let mut before = Vec::new();
                let mut suite = None;
                while let Some(name) = members.next_key::<String>()? {
                    let value: Value = members.next_value()?;
                    let found = name == "suite";
                    if found {
                        suite = value.as_str().map(str::to_owned);
                    }
                    before.push((name, value));
                    if found {
                        break;
                    }
                }
                let kind =
                    suite.filter(|suite| [INTEROP, ATTACK, SERVERS].contains(&suite.as_str()));
                if kind.is_some() {
                    // The selected kinds have no `suite` member of their own.
                    before.pop();
                }
                let row = MapAccessDeserializer::new(ReadAgain::new(before, members));
                match kind.as_deref() {
                    Some(INTEROP) => {
                        InteropRow::deserialize(row).map(|r| AnyRow::Interop(r.into()))
                    }
                    Some(ATTACK) => AttackRow::deserialize(row).map(|r| AnyRow::Attack(r.into())),
                    Some(SERVERS) => ServerRow::deserialize(row).map(|r| AnyRow::Servers(r.into())),
                    _ => Row::deserialize(row).map(|r| AnyRow::Measured(r.into())),
                }
            }
        }
        deserializer.deserialize_map(OneRow)
    }
}

/// Yields the members that were read before the kind was known, and then the others directly from the
/// file. The lab writes `suite` first; tools that sort members may write others before it.
struct ReadAgain<A> {
    before: std::vec::IntoIter<(String, Value)>,
    value: Option<(String, Value)>,
    rest: A,
}

impl<A> ReadAgain<A> {
    fn new(before: Vec<(String, Value)>, rest: A) -> Self {
        Self {
            before: before.into_iter(),
            value: None,
            rest,
        }
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for ReadAgain<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        match self.before.next() {
            Some((name, value)) => {
                let key = seed.deserialize(name.as_str().into_deserializer())?;
                self.value = Some((name, value));
                Ok(Some(key))
            }
            None => self.rest.next_key_seed(seed),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        match self.value.take() {
            Some((name, value)) => within(&name, value, seed),
            None => self.rest.next_value_seed(seed),
        }
    }
}

/// A value that was read before the kind was known. Errors in it begin with their place in the row, for
/// example `.subject.library: invalid type`.
fn within<'de, V: DeserializeSeed<'de>, E: de::Error>(
    name: &str,
    value: Value,
    seed: V,
) -> Result<V::Value, E> {
    let mut track = serde_path_to_error::Track::new();
    let read = seed.deserialize(serde_path_to_error::Deserializer::new(value, &mut track));
    read.map_err(|e| match track.path().to_string().as_str() {
        "." => E::custom(format_args!(".{name}: {e}")),
        index if index.starts_with('[') => E::custom(format_args!(".{name}{index}: {e}")),
        inner => E::custom(format_args!(".{name}.{inner}: {e}")),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    fn read(rows: &Value) -> Result<Rows, String> {
        let text = rows.to_string();
        let json = &mut serde_json::Deserializer::from_str(&text);
        serde_path_to_error::deserialize(json).map_err(|e| super::super::reading::placed(&e))
    }

    fn measured() -> Value {
        json!({"contract": "sign", "status": "crashed", "subject": {"id": "go/x:jwt:HS256:prepared",
            "library": "x", "version": "1", "language": "go", "format": "jwt", "alg": "HS256",
            "enc": null, "key_handling": "prepared"}, "claims": {"name": "standard", "bytes": 160},
            "token_bytes": null, "threads": 1, "ns_per_op": null, "bytes_per_op": null,
            "allocs_per_op": null, "peak_rss_bytes": null, "suite": "libraries"})
    }

    fn interop() -> Value {
        json!({"suite": "interop", "status": "ok",
            "minter": {"driver": "go/x", "library": "x", "version": "1", "language": "go"},
            "verifier": {"driver": "go/y", "library": "y", "version": "1", "language": "go"},
            "format": "jwt", "alg": "HS256", "enc": null, "outcome": "verified",
            "keys": [{"encoding": "jwk", "minted_with": "jwk", "read_by": "driver",
                "outcome": "verified"}]})
    }

    #[test]
    fn rows_suite_decides_kind_in_any_position() {
        let mut last = interop();
        let suite = last.as_object_mut().unwrap().remove("suite").unwrap();
        last["suite"] = suite;
        let rows = read(&json!([interop(), measured(), last])).unwrap();
        assert_eq!((rows.measured.len(), rows.interop.len()), (1, 2));
        assert_eq!(rows.measured[0].suite, "libraries");
        assert_eq!(rows.interop[0], rows.interop[1]);
    }

    #[test]
    fn rows_error_names_its_place() {
        let mut wrong = interop();
        wrong["verifier"]["library"] = json!(7);
        let said = read(&json!([measured(), wrong])).unwrap_err();
        assert!(
            said.starts_with("[1].verifier.library: invalid type"),
            "{said}"
        );
        let mut wrong = interop();
        wrong["outcome"] = json!("fine");
        let said = read(&json!([wrong])).unwrap_err();
        assert!(said.starts_with("[0].outcome: unknown variant"), "{said}");
    }

    #[test]
    fn rows_missing_suite_is_an_error() {
        let mut without = measured();
        without.as_object_mut().unwrap().remove("suite");
        let said = read(&json!([without])).unwrap_err();
        assert!(said.contains("missing field `suite`"), "{said}");
        assert!(
            read(&json!([[]]))
                .unwrap_err()
                .starts_with("[0]: invalid type")
        );
    }

    #[test]
    fn rows_round_trip() {
        let rows = read(&json!([measured(), interop()])).unwrap();
        let written = serde_json::to_value(&rows).unwrap();
        assert_eq!(written[1], interop());
        assert_eq!(read(&written).unwrap(), rows);
    }
}
