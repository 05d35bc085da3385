//! Copies the records of a store to another one, and compares both.

use jeton_store::{Revision, Store};

use super::MigrationStep;
use super::batch::Batch;
use super::merge::{Entries, Merge, Pair};
use crate::check::is_of_jeton;
use crate::error::{MigrateError, Result};

/// Records between two progress reports.
const REPORT_EVERY: u64 = 1024;

/// Returns whether the store has a record.
pub(super) fn has_records(store: &dyn Store) -> Result<bool> {
    Ok(Entries::of(store)?.next()?.is_some())
}

/// Checks that a part has no keys of others, which are neither deleted nor mixed with a copy. In an etcd they can be
/// those of a store whose root is inside this root, or of another program.
pub(super) fn check_keys(part: &dyn Store) -> Result<()> {
    let mut entries = Entries::of(part)?;
    while let Some(entry) = entries.next()? {
        if !is_of_jeton(&entry.key) {
            return Err(MigrateError::OtherKey(entry.key.to_string()).into());
        }
    }
    Ok(())
}

/// Deletes every record.
pub(super) fn delete(
    store: &dyn Store,
    progress: &mut dyn FnMut(MigrationStep, u64),
) -> Result<()> {
    let mut entries = Entries::of(store)?;
    let mut batch = Batch::new(store);
    let mut passed = Passed::new(MigrationStep::Delete, progress);
    while let Some(entry) = entries.next()? {
        batch.delete(entry.key)?;
        passed.one();
    }
    batch.finish()?;
    passed.end();
    Ok(())
}

/// Writes every record that is missing or differs, and deletes others. Returns the revision of the source.
pub(super) fn copy(
    source: &dyn Store,
    target: &dyn Store,
    progress: &mut dyn FnMut(MigrationStep, u64),
) -> Result<Revision> {
    let mut merge = Merge::of(source, target)?;
    let mut batch = Batch::new(target);
    let mut passed = Passed::new(MigrationStep::Copy, progress);
    while let Some(pair) = merge.next()? {
        match pair {
            Pair::Missing(entry) => batch.put(entry)?,
            Pair::Both(source, target) if source.value != target.value => batch.put(source)?,
            Pair::Both(..) => {}
            // The source had it when the interrupted migration ran.
            Pair::Extra(entry) => batch.delete(entry.key)?,
        }
        passed.one();
    }
    batch.finish()?;
    passed.end();
    Ok(merge.source_revision())
}

/// Compares every record of both stores as they are now. Returns their number.
///
/// `copied` is the revision of the source that was copied: a record that is newer was changed meanwhile.
pub(super) fn compare(
    source: &dyn Store,
    target: &dyn Store,
    copied: Revision,
    progress: &mut dyn FnMut(MigrationStep, u64),
) -> Result<u64> {
    let mut merge = Merge::of(source, target)?;
    let mut passed = Passed::new(MigrationStep::Compare, progress);
    while let Some(pair) = merge.next()? {
        let (key, is_newer) = match pair {
            Pair::Both(source, target) if source.value == target.value => {
                passed.one();
                continue;
            }
            Pair::Both(source, _) | Pair::Missing(source) => {
                (source.key.to_string(), source.changed > copied)
            }
            // The copy deletes what the source does not have.
            Pair::Extra(entry) => (entry.key.to_string(), true),
        };
        return Err(if is_newer {
            MigrateError::SourceChanged(key).into()
        } else {
            MigrateError::Differs(key).into()
        });
    }
    Ok(passed.end())
}

/// Counts records, and reports at intervals.
struct Passed<'p> {
    step: MigrationStep,
    count: u64,
    progress: &'p mut dyn FnMut(MigrationStep, u64),
}

impl<'p> Passed<'p> {
    fn new(step: MigrationStep, progress: &'p mut dyn FnMut(MigrationStep, u64)) -> Passed<'p> {
        Passed {
            step,
            count: 0,
            progress,
        }
    }

    fn one(&mut self) {
        self.count += 1;
        if self.count.is_multiple_of(REPORT_EVERY) {
            (self.progress)(self.step, self.count);
        }
    }

    fn end(self) -> u64 {
        (self.progress)(self.step, self.count);
        self.count
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use jeton_store::{Key, MemoryStore, Txn, block_on};

    use super::*;
    use crate::error::Error;

    fn key(name: &str) -> Key {
        Key::of(["r", name]).unwrap()
    }

    fn put(store: &MemoryStore, name: &str, value: &str) {
        block_on(store.commit(Txn::new().put(key(name), value))).unwrap();
    }

    #[test]
    fn copy_makes_stores_equal_in_bounded_transactions() {
        let (source, target) = (MemoryStore::new(), MemoryStore::new());
        for number in 0..2500 {
            put(&source, &format!("{number:05}"), &"x".repeat(number % 700));
        }
        // Near the limit of a value: few fit one transaction.
        for number in 0..9 {
            put(&source, &format!("a{number}"), &"y".repeat(250_000));
        }
        put(&target, "00007", "differs");
        put(&target, "b", "extra");
        let mut reported = Vec::new();
        let copied = copy(&source, &target, &mut |_, passed| reported.push(passed)).unwrap();
        assert_eq!(reported, [1024, 2048, 2510]);
        assert_eq!(compare(&source, &target, copied, &mut |_, _| {}), Ok(2509));
    }

    #[test]
    fn compare_finds_every_difference() {
        for (name, change) in [
            ("a", Txn::new().put(key("a"), "other")),
            ("a", Txn::new().delete(key("a"))),
        ] {
            let (source, target) = (MemoryStore::new(), MemoryStore::new());
            put(&source, "a", "1");
            put(&source, "b", "2");
            let copied = copy(&source, &target, &mut |_, _| {}).unwrap();
            assert_eq!(compare(&source, &target, copied, &mut |_, _| {}), Ok(2));
            block_on(target.commit(change)).unwrap();
            assert_eq!(
                compare(&source, &target, copied, &mut |_, _| {}),
                Err(Error::from(MigrateError::Differs(key(name).to_string())))
            );
        }
    }

    #[test]
    fn delete_leaves_nothing() {
        let store = MemoryStore::new();
        for number in 0..250 {
            put(&store, &number.to_string(), "x");
        }
        assert!(has_records(&store).unwrap());
        delete(&store, &mut |_, _| {}).unwrap();
        assert!(!has_records(&store).unwrap());
    }
}
