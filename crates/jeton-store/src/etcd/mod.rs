//! The engine for several machines: etcd 3.6 or newer.

mod address;
mod answer;
mod connection;
mod history;
mod members;
mod scan;
mod watch;
mod window;

/// The messages of etcd, generated from `proto/etcd.proto`.
#[allow(missing_docs, unreachable_pub, clippy::all, clippy::unwrap_used)]
mod api {
    include!("../generated/etcdserverpb.rs");
}

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

pub use address::{EtcdAccess, EtcdAddress};
use connection::{Accepts, Etcd, in_time};
use scan::Pinned;

use crate::error::{Error, Problem, Result};
use crate::key::{Key, Prefix};
use crate::limits;
use crate::pending::{Pending, block_on, completion, ready};
use crate::revision::Revision;
use crate::store::{Outcome, Pages, Read, Status, Store, Watch};
use crate::txn::Txn;

/// Timeout of a connection attempt.
const CONNECTING: Duration = Duration::from_secs(3);

/// Interval of keep-alive probes on an idle connection.
const KEEP_ALIVE: Duration = Duration::from_secs(5);

/// A store in etcd, which several nodes share.
///
/// etcd acknowledges after a majority has written its log, and reads ask a majority too. This engine adds
/// what etcd leaves to clients: limits on waiting calls, a heartbeat that has asked a majority, and
/// compaction of the history (see [`limits::HISTORY_COMMITS`]).
///
/// ```no_run
/// use jeton_store::{EtcdAccess, EtcdAddress, EtcdStore};
///
/// let address = EtcdAddress::parse("etcd://127.0.0.1:2379")?;
/// let store = EtcdStore::open(&address, EtcdAccess::default())?;
/// # Ok::<(), jeton_store::Error>(())
/// ```
///
/// Its threads end when it is dropped. A commit that is not answered within [`limits::ETCD_ANSWER`] returns
/// an [`Error::Io`] whose outcome is unknown.
pub struct EtcdStore {
    etcd: Etcd,
    waiting: Arc<AtomicUsize>,
    runtime: Handle,
    /// Dropping it ends the thread that runs all calls.
    _until: oneshot::Sender<()>,
}

impl EtcdStore {
    /// The format that this version writes, and the newest that it reads.
    pub const FORMAT: u64 = connection::FORMAT;

    /// Connects, and creates a store if there is none.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if no member answers or this client is not accepted; [`Error::Newer`],
    /// [`Error::NotAStore`], also if the root of another store contains this one; [`Error::Unfinished`];
    /// [`Error::Invalid`] with [`Problem::NoAuthority`] over
    /// TLS without an authority, and with [`Problem::OldEtcd`].
    pub fn open(address: &EtcdAddress, access: EtcdAccess) -> Result<EtcdStore> {
        let store = EtcdStore::connect(address, access, Accepts::AnyOrNone)?;
        store.runtime.spawn(history::keep_short(store.etcd.clone()));
        Ok(store)
    }

    /// Connects to an existing store. Creates none, and leaves compaction to the nodes.
    ///
    /// # Errors
    ///
    /// [`Error::NoStore`], and as [`open`](EtcdStore::open).
    pub fn find(address: &EtcdAddress, access: EtcdAccess) -> Result<EtcdStore> {
        EtcdStore::connect(address, access, Accepts::Existing)
    }

    /// Begins or continues to fill a store from the source with this name. Until
    /// [`finish`](EtcdStore::finish), no version of jeton opens it in another way: a node on a part of the
    /// data could accept revoked tokens. After another process has finished it, every commit is an
    /// [`Outcome::Conflict`].
    ///
    /// # Errors
    ///
    /// [`Error::AlreadyThere`] if there is a store; [`Error::OtherSource`]; [`Error::NotAStore`] if there
    /// are other keys under the root, or the root of another store contains it; and as [`open`](EtcdStore::open).
    pub fn fill(address: &EtcdAddress, access: EtcdAccess, source: &str) -> Result<EtcdStore> {
        EtcdStore::connect(address, access, Accepts::FilledFrom(source.to_owned()))
    }

    /// Looks whether a store can be [filled](EtcdStore::fill) from this source, and writes nothing. Returns whether
    /// there is a part.
    ///
    /// # Errors
    ///
    /// As [`fill`](EtcdStore::fill).
    pub fn look(address: &EtcdAddress, access: EtcdAccess, source: &str) -> Result<bool> {
        match EtcdStore::connect(address, access, Accepts::ToFill(source.to_owned())) {
            Err(Error::NoStore(_)) => Ok(false),
            Ok(_) | Err(Error::Unfinished) => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// Makes the last changes of a store that was [filled](EtcdStore::fill), and lets others open it.
    ///
    /// # Errors
    ///
    /// As [`commit`](Store::commit). [`Outcome::Conflict`] if it was finished already.
    pub fn finish(&self, source: &str, txn: Txn) -> Pending<'_, Outcome> {
        if let Err(problem) = txn.check() {
            return ready(Err(problem));
        }
        let (etcd, source) = (self.etcd.clone(), source.to_owned());
        self.run(async move { etcd.finish(&source, &txn).await })
    }

    fn connect(address: &EtcdAddress, access: EtcdAccess, accepts: Accepts) -> Result<EtcdStore> {
        let (endpoints, user) = address.connection(access)?;
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (until, ended) = oneshot::channel();
        thread::Builder::new()
            .name("jeton-etcd".to_owned())
            .spawn(move || {
                // A dropped sender ends the thread.
                let _ = runtime.block_on(ended);
                runtime.shutdown_background();
            })?;
        let root: Arc<str> = address.root().into();
        let (completer, connected) = completion();
        handle.spawn(async move {
            completer.complete(Etcd::connect(endpoints, user, root, accepts).await);
        });
        let etcd = block_on(connected)?;
        Ok(EtcdStore {
            etcd,
            waiting: Arc::default(),
            runtime: handle,
            _until: until,
        })
    }

    /// Uses other certificates for new connections. The address is that of [`open`](EtcdStore::open). User and password
    /// stay.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] for a malformed certificate or key; [`Problem::NoAuthority`].
    pub fn renew(&self, address: &EtcdAddress, access: EtcdAccess) -> Result<()> {
        let (endpoints, _) = address.connection(access)?;
        let members = self.etcd.members.clone();
        self.runtime
            .spawn(async move { members.replace(endpoints).await });
        Ok(())
    }

    /// Compacts the history before that revision. Nodes do this by themselves.
    ///
    /// # Errors
    ///
    /// [`Error::Io`]. Compacting an already compacted revision is not an error.
    pub fn compact(&self, before: Revision) -> Pending<'_, ()> {
        let etcd = self.etcd.clone();
        self.run(async move { etcd.compact(before).await })
    }

    /// Scans from a name to another.
    fn pages(&self, range: (String, String), pinned: Pinned) -> Pending<'_, Box<dyn Pages>> {
        let (etcd, runtime) = (self.etcd.clone(), self.runtime.clone());
        self.run(async move { scan::begin(etcd, range, runtime, pinned).await })
    }

    /// Runs a call on the thread of the engine.
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
        self.pages(self.etcd.range(prefix), Pinned::Always)
    }

    fn scan_unpinned(&self, prefix: &Prefix) -> Pending<'_, Box<dyn Pages>> {
        self.pages(self.etcd.range(prefix), Pinned::WhileRemembered)
    }

    fn scan_after(&self, prefix: &Prefix, is_pinned: bool) -> Pending<'_, Box<dyn Pages>> {
        let (_, from) = self.etcd.range(prefix);
        let (_, end) = self.etcd.range(&Prefix::all());
        let pinned = if is_pinned {
            Pinned::Always
        } else {
            Pinned::WhileRemembered
        };
        self.pages((from, end), pinned)
    }

    fn commit(&self, txn: Txn) -> Pending<'_, Outcome> {
        if let Err(problem) = txn.check() {
            return ready(Err(problem));
        }
        let Some(permit) = WaitPermit::take(&self.waiting) else {
            return ready(Err(Error::Overloaded));
        };
        let etcd = self.etcd.clone();
        let (completer, pending) = completion();
        self.runtime.spawn(async move {
            let _permit = permit;
            // The timeout begins when it is sent: before that it cannot have happened.
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
                bytes: u64::try_from(etcd.member().await?.db_size).ok(),
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

/// A permit to wait for a commit.
struct WaitPermit(Arc<AtomicUsize>);

impl WaitPermit {
    fn take(waiting: &Arc<AtomicUsize>) -> Option<WaitPermit> {
        let permit = WaitPermit(waiting.clone());
        let before = waiting.fetch_add(1, Ordering::Relaxed);
        (before < limits::WAITING_TXNS).then_some(permit)
    }
}

impl Drop for WaitPermit {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
