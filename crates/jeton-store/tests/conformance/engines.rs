//! Engines that must pass the suite.

use std::sync::Arc;

use jeton_store::{MemoryStore, RedbStore, Store};

use crate::disk::{Disk, Flush};
use crate::{Failed, Power, Subject};

pub fn redb() -> Box<dyn Subject> {
    Box::new(OnDisk::new(Flush::Done))
}

pub fn memory() -> Box<dyn Subject> {
    Box::new(InMemory(MemoryStore::new()))
}

/// redb on a disk with simulated power cuts.
pub struct OnDisk {
    disk: Disk,
    store: Arc<RedbStore>,
    cuts: u64,
}

impl OnDisk {
    pub fn new(flush: Flush) -> OnDisk {
        // Data from the creation of the store is durable: the test only concerns later writes.
        let disk = Disk::new(Flush::Done);
        drop(RedbStore::open_on(disk.clone()).unwrap());
        let disk = disk.with(flush);
        OnDisk {
            store: Arc::new(RedbStore::open_on(disk.clone()).unwrap()),
            disk,
            cuts: 0,
        }
    }
}

impl Subject for OnDisk {
    fn store(&self) -> Arc<dyn Store> {
        self.store.clone()
    }

    fn cut_power(&mut self) -> Result<Power, Failed> {
        self.cuts += 1;
        self.disk = self.disk.after_power_cut(self.cuts);
        self.store = Arc::new(RedbStore::open_on(self.disk.clone())?);
        Ok(Power::Back)
    }
}

struct InMemory(MemoryStore);

impl Subject for InMemory {
    fn store(&self) -> Arc<dyn Store> {
        Arc::new(self.0.clone())
    }

    fn cut_power(&mut self) -> Result<Power, Failed> {
        Ok(Power::NothingPromised)
    }
}
