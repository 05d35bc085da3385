//! Writes the record of this node, and reads those of the others.

use std::time::Duration;

use jeton_store::{Condition, Entry, Event, Moment, Revision, Store, Txn, Update, block_on};

use super::inner::Inner;
use super::lock::lock;
use super::peers::{Own, version};
use crate::error::{Error, Result};
use crate::limits::{NODE_LEASE, NODE_RECORD_EVERY};
use crate::node_record::NodeRecord;
use crate::record::{self, node_key, nodes, rule_counter_key};
use crate::revocation::{Counter, StampText};

/// Reads the records of all nodes.
fn read_nodes(store: &dyn Store) -> Result<Vec<Entry>> {
    let mut found = Vec::new();
    let mut pages = block_on(store.scan(&nodes()?))?;
    while let Some(page) = block_on(pages.next())? {
        found.extend(page);
    }
    Ok(found)
}

impl Inner {
    pub(super) fn load_nodes(&self) -> Result<()> {
        let found = read_nodes(&*self.store)?;
        lock(&self.peers).load(&found, Moment::now());
        Ok(())
    }

    /// Takes records of an update that was written after `age` ago.
    pub(super) fn hear_nodes(&self, update: &Update, age: Duration) {
        for event in &update.events {
            match event {
                Event::Put(entry) if record::is_of_node(&entry.key) => {
                    lock(&self.peers).hear(entry, age, self.now(), Moment::now());
                }
                Event::Deleted(key) if record::is_of_node(key) => {
                    lock(&self.peers).forget(key);
                }
                _ => {}
            }
        }
    }

    /// Writes the record of this node if it is due. Afterwards, looks whether the store has the history that this
    /// node knows.
    pub(super) fn write_own_record(&self, clock: i64) {
        let now = Moment::now();
        // Without contact to the store, this would hold up the revocations that wait.
        if self.heard_ago() > NODE_RECORD_EVERY {
            return;
        }
        let Some((own, gone)) = lock(&self.peers).due(now) else {
            return;
        };
        // A store that does not answer, or has no space, is a fault that others report.
        let _ = self.write_record(&own, gone, clock, now);
    }

    /// Deletes the record of this node: it ends.
    pub(super) fn delete_own_record(&self) -> Result<()> {
        let Some((key, written)) = lock(&self.peers).take_own()? else {
            return Ok(());
        };
        let txn = Txn::new()
            .when(key.clone(), Condition::Unchanged(written))
            .delete(key);
        self.try_commit(txn).map(drop)
    }

    fn write_record(
        &self,
        own: &Own,
        gone: Option<(String, Revision)>,
        clock: i64,
        now: Moment,
    ) -> Result<()> {
        // Loaded before the read: what the store has at this revision cannot change any more.
        let seen = self.seen();
        let view = self.snapshot.load_full();
        let key = node_key(&own.id)?;
        let names = [key.clone(), rule_counter_key()?];
        let read = block_on(self.store.read(&names))?;
        let [there, counter] = read.entries.as_slice() else {
            return Err(Error::Contended);
        };
        self.check_history(read.revision, seen)?;
        let there = there.as_ref().map(|entry| entry.changed);
        let lease = |(_, at): &(Revision, Moment)| now.duration_since(*at) < NODE_LEASE;
        let written = own.written.filter(lease);
        if let Some((written, _)) = written
            && there != Some(written)
        {
            self.went_back(&format!(
                "the record that this node wrote at revision {written} is not there"
            ));
        }
        // What was written before the view must be in it.
        let is_known = match counter {
            Some(entry) if entry.changed <= view.revision => {
                StampText::from(record::read::<Counter>(entry)?.stamp) == view.stamp
            }
            Some(_) => true,
            None => view.stamp == StampText::default(),
        };
        if !is_known {
            self.went_back("the counter of revocation rules differs");
        }
        let record = NodeRecord {
            name: own.name.clone(),
            version: version().to_owned(),
            reads: own.reads,
            at: clock,
            started: own.started,
            revision: view.revision.number(),
            lease_seconds: NODE_LEASE.as_secs(),
        };
        let unchanged = there.map_or(Condition::Absent, Condition::Unchanged);
        let txn = Txn::new()
            .when(key.clone(), unchanged)
            .put(key, record::write(&record));
        // Without an answer, the store may have the record.
        lock(&self.peers).writes();
        if let Some(revision) = self.try_commit(txn)? {
            lock(&self.peers).wrote(revision, now);
        }
        if let Some((id, changed)) = gone {
            let key = node_key(&id)?;
            let txn = Txn::new()
                .when(key.clone(), Condition::Unchanged(changed))
                .delete(key);
            self.try_commit(txn)?;
        }
        Ok(())
    }
}
