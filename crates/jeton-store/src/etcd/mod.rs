//! The engine past one machine: etcd, 3.6 or newer.

mod address;
mod answer;
mod connection;
mod history;
mod scan;
mod watch;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

pub use address::{EtcdAccess, EtcdAddress};
use connection::{Etcd, in_time};
use scan::Pinned;

use crate::entry::Revision;
use crate::error::{Error, Problem, Result};
use crate::key::{Key, Prefix};
use crate::limits;
use crate::pending::{Pending, block_on, completion, ready};
use crate::store::{Outcome, Pages, Read, Status, Store, Watch};
use crate::txn::Txn;

/// How long a connection may take to come about.
const CONNECTING: Duration = Duration::from_secs(3);

/// How often a silent connection is asked whether it is still there.
const KEEP_ALIVE: Duration = Duration::from_secs(5);

/// Keeps everything in an etcd, which several nodes share.
///
/// etcd acknowledges after the log is on the disks of a majority; reads go through that majority too. This
/// engine adds what etcd leaves to its clients: bounds on what waits, a heartbeat that has asked the
/// majority, and a history that is compacted (see [`limits::HISTORY_COMMITS`]).
///
/// ```no_run
/// use jeton_store::{EtcdAccess, EtcdAddress, EtcdStore};
///
/// let address = EtcdAddress::parse("etcd://127.0.0.1:2379")?;
/// let store = EtcdStore::open(&address, EtcdAccess::default())?;
/// # Ok::<(), jeton_store::Error>(())
/// ```
///
/// Its threads end when it is dropped. A commit whose answer does not come within
/// [`limits::ETCD_ANSWER`] is an [`Error::Io`] whose outcome is unknown.
pub struct EtcdStore {
    etcd: Etcd,
    waiting: Arc<AtomicUsize>,
    runtime: Handle,
    /// Dropped, it ends the thread that drives all this.
    _until: oneshot::Sender<()>,
}

impl EtcdStore {
    /// Connects, and makes a store there if there is none.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if nobody answers, or not to this caller; [`Error::Newer`], [`Error::NotAStore`];
    /// [`Error::Invalid`] with [`Problem::NoAuthority`] over TLS without one, and with [`Problem::OldEtcd`].
    pub fn open(address: &EtcdAddress, access: EtcdAccess) -> Result<EtcdStore> {
        let options = address.options(access)?;
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (until, ended) = oneshot::channel();
        thread::Builder::new()
            .name("jeton-etcd".to_owned())
            .spawn(move || {
                // Who is dropped says nothing, and that is the word to end.
                let _ = runtime.block_on(ended);
                runtime.shutdown_background();
            })?;
        let endpoints = address.endpoints().to_vec();
        let root: Arc<str> = address.root().into();
        let (completer, connected) = completion();
        handle.spawn(async move {
            completer.complete(Etcd::connect(endpoints, options, root).await);
        });
        let etcd = block_on(connected)?;
        handle.spawn(history::keep_short(etcd.clone()));
        Ok(EtcdStore {
            etcd,
            waiting: Arc::default(),
            runtime: handle,
            _until: until,
        })
    }

    /// Lets etcd forget what was overwritten or deleted before that revision. Nodes do so by themselves.
    ///
    /// # Errors
    ///
    /// [`Error::Io`]. A revision that is forgotten already is none.
    pub fn compact(&self, before: Revision) -> Pending<'_, ()> {
        let etcd = self.etcd.clone();
        self.run(async move { etcd.compact(before).await })
    }

    /// On the engine's own thread, whoever waits for it.
    fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Pending<'static, T> {
        let (completer, pending) = completion();
        self.runtime
            .spawn(async move { completer.complete(in_time(work).await) });
        pending
    }
}

impl Store for EtcdStore {
    fn read(&self, keys: &[Key]) -> Pending<'_, Read> {
        if keys.len() > limits::READ_KEYS {
            return ready(Err(Problem::TooManyKeys.into()));
        }
        let (etcd, keys) = (self.etcd.clone(), keys.to_vec());
        self.run(async move { etcd.read(&keys).await })
    }

    fn scan(&self, prefix: &Prefix) -> Pending<'_, Box<dyn Pages>> {
        let (etcd, prefix) = (self.etcd.clone(), prefix.clone());
        let runtime = self.runtime.clone();
        self.run(async move { scan::begin(etcd, &prefix, runtime, Pinned::Always).await })
    }

    fn scan_unpinned(&self, prefix: &Prefix) -> Pending<'_, Box<dyn Pages>> {
        let (etcd, prefix) = (self.etcd.clone(), prefix.clone());
        let runtime = self.runtime.clone();
        self.run(async move { scan::begin(etcd, &prefix, runtime, Pinned::WhileRemembered).await })
    }

    fn commit(&self, txn: Txn) -> Pending<'_, Outcome> {
        if let Err(problem) = txn.check() {
            return ready(Err(problem));
        }
        let Some(place) = Place::take(&self.waiting) else {
            return ready(Err(Error::Overloaded));
        };
        let etcd = self.etcd.clone();
        let (completer, pending) = completion();
        self.runtime.spawn(async move {
            let _place = place;
            // Its time begins when it is sent: until then it has not happened.
            let Ok(_sent) = etcd.under_way.clone().acquire_owned().await else {
                return;
            };
            completer.complete(in_time(etcd.commit(&txn)).await);
        });
        pending
    }

    fn watch(&self, prefix: &Prefix, after: Revision) -> Pending<'_, Box<dyn Watch>> {
        let (etcd, prefix) = (self.etcd.clone(), prefix.clone());
        self.run(async move { watch::begin(etcd, &prefix, after).await })
    }

    fn status(&self) -> Pending<'_, Status> {
        let etcd = self.etcd.clone();
        self.run(async move {
            let oldest = etcd.oldest().await?;
            Ok(Status {
                engine: "etcd",
                revision: etcd.newest().await?,
                oldest,
                bytes: u64::try_from(etcd.member().await?.db_size()).ok(),
            })
        })
    }

    fn check_writable(&self) -> Pending<'_, ()> {
        let etcd = self.etcd.clone();
        self.run(async move { etcd.check_alarms().await })
    }
}

impl fmt::Debug for EtcdStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EtcdStore")
            .field("root", &self.etcd.root)
            .finish_non_exhaustive()
    }
}

/// One of the places of those who wait for a commit.
struct Place(Arc<AtomicUsize>);

impl Place {
    fn take(waiting: &Arc<AtomicUsize>) -> Option<Place> {
        let place = Place(waiting.clone());
        let before = waiting.fetch_add(1, Ordering::Relaxed);
        (before < limits::WAITING_TXNS).then_some(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
