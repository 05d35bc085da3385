//! A real etcd server for each case, in its own folder.

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use jeton_store::{EtcdAccess, EtcdAddress, EtcdStore, Revision, Store, block_on};
use jeton_testkit::Etcd;
use tempfile::TempDir;

use crate::{Failed, Power, Subject};

/// Start timeout of etcd on a busy machine.
const COMING_UP: Duration = Duration::from_secs(60);

pub fn etcd() -> Box<dyn Subject> {
    let folder = TempDir::new().unwrap();
    let server = Etcd::start(folder.path(), 1).unwrap();
    let store = open(&server).unwrap_or_else(|Failed(what)| panic!("{what}"));
    Box::new(OnServer {
        server,
        store,
        before: Mutex::new(Revision::START),
        _folder: folder,
    })
}

struct OnServer {
    server: Etcd,
    store: Arc<EtcdStore>,
    /// The newest revision at the last compaction.
    before: Mutex<Revision>,
    _folder: TempDir,
}

impl Subject for OnServer {
    fn store(&self) -> Arc<dyn Store> {
        self.store.clone()
    }

    /// Kills the server. The kernel still has unflushed data, so this does not detect an acknowledgement
    /// before the flush.
    fn cut_power(&mut self) -> Result<Power, Failed> {
        self.server.kill_member(0);
        self.server.start_member(0).unwrap();
        self.store = open(&self.server)?;
        Ok(Power::Back)
    }

    fn compact(&self) {
        let newest = block_on(self.store.status()).unwrap().revision;
        block_on(self.store.compact(newest)).unwrap();
    }

    /// The newest revision of the last call: a watch has begun since then.
    fn forget_a_part(&self) {
        let newest = block_on(self.store.status()).unwrap().revision;
        let before = std::mem::replace(&mut *self.before.lock().unwrap(), newest);
        block_on(self.store.compact(before)).unwrap();
    }

    fn cuts(&self) -> u64 {
        3
    }
}

fn open(server: &Etcd) -> Result<Arc<EtcdStore>, Failed> {
    let address = EtcdAddress::parse(&server.url("/conformance"))?;
    let begun = Instant::now();
    loop {
        match EtcdStore::open(&address, EtcdAccess::default()) {
            Ok(store) => return Ok(Arc::new(store)),
            Err(error) if begun.elapsed() > COMING_UP => return Err(error.into()),
            Err(_) => thread::sleep(Duration::from_millis(50)),
        }
    }
}
