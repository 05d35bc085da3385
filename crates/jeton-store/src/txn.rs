//! Transactions: conditions and changes, applied atomically.

use std::fmt;

use crate::error::{Problem, Result};
use crate::key::{Key, Prefix};
use crate::limits;
use crate::revision::Revision;

/// A transaction: changes to several keys, made together if all conditions hold.
///
/// At most [`limits::TXN_OPERATIONS`] conditions and changes, and at most [`limits::TXN_BYTES`]. A key has
/// at most one condition and is changed at most once, by name or by prefix. etcd rejects a second change of
/// the same key.
///
/// ```
/// use jeton_store::{Condition, Key, Prefix, Revision, Txn};
///
/// let set = Key::of(["k", "i", "_set"])?;
/// let txn = Txn::new()
///     .when(set.clone(), Condition::Unchanged(Revision::from_number(7)))
///     .put(set, "{}")
///     .delete(Key::of(["k", "i", "old"])?)
///     .delete_prefix(Prefix::of(["r", "i", "0028333333"])?);
/// assert!(txn.check().is_ok());
/// # Ok::<(), jeton_store::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Txn {
    conditions: Vec<(Key, Condition)>,
    operations: Vec<Operation>,
}

/// A condition on a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// The key has no entry.
    Absent,
    /// The key has an entry.
    Present,
    /// The entry was last written at that revision.
    Unchanged(Revision),
}

/// A change of a transaction.
#[derive(Clone, PartialEq, Eq)]
pub enum Operation {
    /// Writes this value.
    Put(Key, Vec<u8>),
    /// Deletes the entry.
    Delete(Key),
    /// Deletes all entries under the prefix.
    DeletePrefix(Prefix),
}

impl Txn {
    /// Creates an empty transaction.
    pub fn new() -> Txn {
        Txn::default()
    }

    /// Adds a condition.
    #[must_use]
    pub fn when(mut self, key: Key, condition: Condition) -> Txn {
        self.conditions.push((key, condition));
        self
    }

    /// Writes a value.
    #[must_use]
    pub fn put(mut self, key: Key, value: impl Into<Vec<u8>>) -> Txn {
        self.operations.push(Operation::Put(key, value.into()));
        self
    }

    /// Deletes an entry if it exists.
    #[must_use]
    pub fn delete(mut self, key: Key) -> Txn {
        self.operations.push(Operation::Delete(key));
        self
    }

    /// Deletes every entry under the prefix. This counts as one operation.
    #[must_use]
    pub fn delete_prefix(mut self, prefix: Prefix) -> Txn {
        self.operations.push(Operation::DeletePrefix(prefix));
        self
    }

    /// Returns the conditions.
    pub fn conditions(&self) -> &[(Key, Condition)] {
        &self.conditions
    }

    /// Returns the changes.
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// Checks that every engine accepts the transaction. Engines call this first, so that all accept and
    /// reject the same transactions.
    ///
    /// # Errors
    ///
    /// [`Problem`] with the violated limit.
    pub fn check(&self) -> Result<()> {
        let compared = self.conditions.iter().map(|(key, _)| key.as_str().len());
        let mut bytes: usize = compared.sum();
        for operation in &self.operations {
            bytes += match operation {
                Operation::Put(_, value) if value.len() > limits::VALUE_BYTES => {
                    return Err(Problem::ValueTooLong.into());
                }
                Operation::Put(key, value) => key.as_str().len() + value.len(),
                Operation::Delete(key) => key.as_str().len(),
                Operation::DeletePrefix(prefix) => prefix.as_str().len(),
            };
        }
        if self.operations.is_empty() {
            return Err(Problem::NothingToDo.into());
        }
        if self.operations.len() + self.conditions.len() > limits::TXN_OPERATIONS {
            return Err(Problem::TooManyOperations.into());
        }
        if bytes > limits::TXN_BYTES {
            return Err(Problem::TooManyBytes.into());
        }
        if self.names_a_key_twice() {
            return Err(Problem::KeyTwice.into());
        }
        Ok(())
    }

    fn names_a_key_twice(&self) -> bool {
        let twice = |mut names: Vec<&str>| {
            names.sort_unstable();
            names.windows(2).any(|pair| pair[0] == pair[1])
        };
        let mut changed = Vec::new();
        let mut prefixes = Vec::new();
        for operation in &self.operations {
            match operation {
                Operation::Put(key, _) | Operation::Delete(key) => changed.push(key.as_str()),
                Operation::DeletePrefix(prefix) => prefixes.push(prefix.as_str()),
            }
        }
        let covered = prefixes.iter().enumerate().any(|(at, prefix)| {
            let others = prefixes[..at].iter().chain(&prefixes[at + 1..]);
            changed
                .iter()
                .chain(others)
                .any(|name| name.starts_with(prefix))
        });
        let compared = self
            .conditions
            .iter()
            .map(|(key, _)| key.as_str())
            .collect();
        covered || twice(changed) || twice(compared)
    }
}

impl fmt::Debug for Operation {
    /// Shows only the length of values: they may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operation::Put(key, value) => write!(f, "Put({key}, {} bytes)", value.len()),
            Operation::Delete(key) => write!(f, "Delete({key})"),
            Operation::DeletePrefix(prefix) => write!(f, "DeletePrefix({prefix})"),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::Error;

    fn key(part: &str) -> Key {
        Key::of(["t", part]).unwrap()
    }

    fn problem(txn: &Txn) -> Option<Problem> {
        match txn.check() {
            Err(Error::Invalid(problem)) => Some(problem),
            _ => None,
        }
    }

    #[test]
    fn check_rejects_what_etcd_rejects() {
        let ok = Txn::new().put(key("a"), "1");
        assert_eq!(problem(&ok), None);
        assert_eq!(problem(&Txn::new()), Some(Problem::NothingToDo));
        assert_eq!(
            problem(&ok.clone().delete(key("a"))),
            Some(Problem::KeyTwice)
        );
        let below = Prefix::of(["t"]).unwrap();
        assert_eq!(
            problem(&ok.clone().delete_prefix(below)),
            Some(Problem::KeyTwice)
        );
        let beside = Prefix::of(["u"]).unwrap();
        assert_eq!(problem(&ok.clone().delete_prefix(beside)), None);
        let twice = ok
            .when(key("a"), Condition::Absent)
            .when(key("a"), Condition::Present);
        assert_eq!(problem(&twice), Some(Problem::KeyTwice));
        let nested = Txn::new()
            .delete_prefix(Prefix::of(["t", "a"]).unwrap())
            .delete_prefix(Prefix::of(["t"]).unwrap());
        assert_eq!(problem(&nested), Some(Problem::KeyTwice));
    }

    #[test]
    fn limits_are_exact() {
        let full = |count| (0..count).fold(Txn::new(), |txn, i| txn.put(key(&i.to_string()), "v"));
        assert_eq!(problem(&full(limits::TXN_OPERATIONS)), None);
        let over = full(limits::TXN_OPERATIONS).when(key("x"), Condition::Absent);
        assert_eq!(problem(&over), Some(Problem::TooManyOperations));
        let value = |bytes| Txn::new().put(key("v"), vec![0; bytes]);
        assert_eq!(problem(&value(limits::VALUE_BYTES)), None);
        assert_eq!(
            problem(&value(limits::VALUE_BYTES + 1)),
            Some(Problem::ValueTooLong)
        );
        let heavy = (0..4).fold(Txn::new(), |txn, i| {
            txn.put(key(&i.to_string()), vec![0; limits::VALUE_BYTES])
        });
        assert_eq!(problem(&heavy), Some(Problem::TooManyBytes));
    }
}
