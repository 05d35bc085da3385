//! The engine past one machine: etcd, 3.6 or newer.

mod address;
mod answer;
mod history;
mod scan;
mod watch;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use etcd_client::{
    Client, Compare, CompareOp, DeleteOptions, GetOptions, GetResponse, KvClient, PutOptions,
    Txn as EtcdTxn, TxnOp, TxnOpResponse, TxnResponse,
};
use tokio::runtime::{Builder, Handle};
use tokio::sync::{Semaphore, oneshot};
use tokio::time::{sleep, timeout};

pub use address::{EtcdAccess, EtcdAddress};

use crate::entry::Revision;
use crate::error::{Error, Problem, Result};
use crate::key::{Key, Prefix};
use crate::limits;
use crate::pending::{Pending, block_on, completion, ready};
use crate::store::{Outcome, Pages, Read, Status, Store, Watch};
use crate::txn::{Condition, Operation, Txn};

/// How long a connection may take to come about.
const CONNECTING: Duration = Duration::from_secs(3);

/// How often a silent connection is asked whether it is still there.
const KEEP_ALIVE: Duration = Duration::from_secs(5);

/// How long to rest before another member is asked.
const ANOTHER: Duration = Duration::from_millis(20);

/// Major and minor.
const OLDEST_ETCD: (u32, u32) = (3, 6);

/// The format that this version writes, and the newest that it reads. It is kept beside the keys, where no
/// key can be: theirs have a `/` behind the root.
const FORMAT: u64 = 1;
const FORMAT_KEY: &str = "!format";

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

/// The connection, and where under it everything lies.
#[derive(Clone)]
struct Etcd {
    client: Client,
    root: Arc<str>,
    under_way: Arc<Semaphore>,
}

impl EtcdStore {
    /// Connects, and makes a store there if there is none.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if nobody answers, or not to this caller; [`Error::Newer`], [`Error::NotAStore`];
    /// [`Error::Invalid`] with [`Problem::NoAuthority`] over TLS without one.
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
        self.run(async move { scan::begin(etcd, &prefix, runtime).await })
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
            let status = etcd.asked_again(|| {
                let mut client = etcd.client.clone();
                async move { client.status().await }
            });
            let bytes = status
                .await
                .map_err(|error| answer::failure(&error))?
                .db_size();
            Ok(Status {
                engine: "etcd",
                revision: etcd.newest().await?,
                oldest,
                bytes: u64::try_from(bytes).ok(),
            })
        })
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

fn known_format(value: &[u8]) -> Result<()> {
    let found = std::str::from_utf8(value).ok();
    match found.and_then(|text| text.parse::<u64>().ok()) {
        Some(FORMAT) => Ok(()),
        Some(found) if found > FORMAT => Err(Error::Newer {
            found,
            known: FORMAT,
        }),
        _ => Err(Error::NotAStore),
    }
}

async fn in_time<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    timeout(limits::ETCD_ANSWER, work)
        .await
        .unwrap_or_else(|_| {
            let words = format!("etcd did not answer within {:?}", limits::ETCD_ANSWER);
            Err(Error::Io(std::io::ErrorKind::TimedOut, words))
        })
}

impl Etcd {
    async fn connect(
        endpoints: Vec<String>,
        options: etcd_client::ConnectOptions,
        root: Arc<str>,
    ) -> Result<Etcd> {
        in_time(async {
            let client = Client::connect(endpoints, Some(options)).await;
            let etcd = Etcd {
                client: client.map_err(|error| answer::failure(&error))?,
                root,
                under_way: Arc::new(Semaphore::new(limits::ETCD_UNDER_WAY)),
            };
            etcd.check_version().await?;
            etcd.check_format().await?;
            Ok(etcd)
        })
        .await
    }

    /// Asks until a member has taken the call: each call may go to another one, and one that is not there must
    /// not be an answer. What was taken is not sent again: it may have happened.
    async fn asked<T, F: Future<Output = Result<T, etcd_client::Error>>>(
        &self,
        mut call: impl FnMut() -> F,
    ) -> Result<T, etcd_client::Error> {
        let mut left = limits::ETCD_TRIES;
        loop {
            left -= 1;
            match call().await {
                Err(error) if left > 0 && answer::never_happened(&error) => sleep(ANOTHER).await,
                Err(error) if left > 0 && answer::wants_another_token(&error) => {
                    self.client.refresh_token().await?;
                }
                ended => return ended,
            }
        }
    }

    /// What changes nothing is asked again of another member if the one that has it does not answer.
    async fn asked_again<T, F: Future<Output = Result<T, etcd_client::Error>>>(
        &self,
        mut call: impl FnMut() -> F,
    ) -> Result<T, etcd_client::Error> {
        loop {
            if let Ok(answer) = timeout(limits::ETCD_READ, self.asked(&mut call)).await {
                return answer;
            }
        }
    }

    /// etcd before 3.6 told how far it was before it had told everything up to there.
    async fn check_version(&self) -> Result<()> {
        let status = self.asked_again(|| {
            let mut client = self.client.clone();
            async move { client.status().await }
        });
        let status = status.await.map_err(|error| answer::failure(&error))?;
        let mut numbers = status.version().split('.').map(str::parse::<u32>);
        match (numbers.next(), numbers.next()) {
            (Some(Ok(major)), Some(Ok(minor))) if (major, minor) >= OLDEST_ETCD => Ok(()),
            _ => Err(Problem::OldEtcd.into()),
        }
    }

    /// Of several that come first at the same time one writes the format, and all read it. Who finds it asks
    /// for no room: a full etcd can still be read.
    async fn check_format(&self) -> Result<()> {
        let marker = format!("{}{FORMAT_KEY}", self.root);
        let there = self.get(&marker, GetOptions::new()).await;
        let there = there.map_err(|error| answer::failure(&error))?;
        if let Some(pair) = there.kvs().first() {
            return known_format(pair.value());
        }
        let is_new = Compare::create_revision(marker.as_str(), CompareOp::Equal, 0);
        let txn = EtcdTxn::new()
            .when([is_new])
            .and_then([TxnOp::put(marker.as_str(), FORMAT.to_string(), None)])
            .or_else([TxnOp::get(marker.as_str(), None)]);
        let answer = self.txn(txn).await?;
        if answer.succeeded() {
            return Ok(());
        }
        let found = answer.op_responses().into_iter().find_map(|one| match one {
            TxnOpResponse::Get(get) => get.kvs().first().map(|pair| pair.value().to_vec()),
            _ => None,
        });
        known_format(&found.unwrap_or_default())
    }

    fn kv(&self) -> KvClient {
        (self.client.kv_client()).max_decoding_message_size(limits::ETCD_MESSAGE_BYTES)
    }

    /// The error is etcd's: it may be about a revision, see [`about_the_past`](Etcd::about_the_past).
    async fn get(
        &self,
        from: &str,
        options: GetOptions,
    ) -> Result<GetResponse, etcd_client::Error> {
        self.asked_again(|| {
            let (mut kv, options) = (self.kv(), options.clone());
            async move { kv.get(from, Some(options)).await }
        })
        .await
    }

    async fn txn(&self, txn: EtcdTxn) -> Result<TxnResponse> {
        let answer = self.asked(|| {
            let (mut kv, txn) = (self.kv(), txn.clone());
            async move { kv.txn(txn).await }
        });
        answer.await.map_err(|error| answer::failure(&error))
    }

    fn name(&self, key: &Key) -> String {
        format!("{}{key}", self.root)
    }

    /// The first key of a prefix's range, and the one behind its last.
    fn range(&self, prefix: &Prefix) -> (String, String) {
        let from = format!("{}{prefix}", self.root);
        (from, format!("{}{}", self.root, prefix.end()))
    }

    async fn read(&self, keys: &[Key]) -> Result<Read> {
        // etcd answers a transaction of nothing without asking the majority.
        if keys.is_empty() {
            return Ok(Read {
                revision: self.newest().await?,
                entries: Vec::new(),
            });
        }
        let gets: Vec<TxnOp> = (keys.iter())
            .map(|key| TxnOp::get(self.name(key), None))
            .collect();
        let gets = EtcdTxn::new().and_then(gets);
        let answer = self.asked_again(|| {
            let (mut kv, gets) = (self.kv(), gets.clone());
            async move { kv.txn(gets).await }
        });
        let answer = answer.await.map_err(|error| answer::failure(&error))?;
        let mut entries = Vec::with_capacity(keys.len());
        for one in answer.op_responses() {
            let TxnOpResponse::Get(get) = one else {
                continue;
            };
            let found = get.kvs().first();
            entries.push(
                found
                    .map(|pair| answer::entry(&self.root, pair))
                    .transpose()?,
            );
        }
        if entries.len() != keys.len() {
            return Err(Error::Damaged(
                "etcd answers for other keys than asked".to_owned(),
            ));
        }
        Ok(Read {
            revision: answer::revision_of(answer.header())?,
            entries,
        })
    }

    async fn commit(&self, txn: &Txn) -> Result<Outcome> {
        let conditions: Vec<Compare> = (txn.conditions().iter())
            .map(|(key, condition)| self.compare(key, *condition))
            .collect();
        let changes: Vec<TxnOp> = (txn.operations().iter())
            .map(|operation| self.change(operation))
            .collect();
        let txn = EtcdTxn::new().when(conditions).and_then(changes);
        let answer = self.txn(txn).await?;
        let revision = answer::revision_of(answer.header())?;
        Ok(match answer.succeeded() {
            true => Outcome::Committed(revision),
            false => Outcome::Conflict(revision),
        })
    }

    fn compare(&self, key: &Key, condition: Condition) -> Compare {
        let name = self.name(key);
        match condition {
            Condition::Absent => Compare::create_revision(name, CompareOp::Equal, 0),
            Condition::Present => Compare::create_revision(name, CompareOp::Greater, 0),
            Condition::Unchanged(since) => {
                // What is not there has revision 0 for etcd, and was never written at one.
                let since = answer::number(since.max(Revision::from_number(1)));
                Compare::mod_revision(name, CompareOp::Equal, since)
            }
        }
    }

    fn change(&self, operation: &Operation) -> TxnOp {
        match operation {
            Operation::Put(key, value) => {
                TxnOp::put(self.name(key), value.as_slice(), None::<PutOptions>)
            }
            Operation::Delete(key) => TxnOp::delete(self.name(key), None),
            Operation::DeletePrefix(prefix) => {
                let (from, end) = self.range(prefix);
                TxnOp::delete(from, Some(DeleteOptions::new().with_range(end)))
            }
        }
    }

    /// The newest revision, from a majority.
    async fn newest(&self) -> Result<Revision> {
        let marker = format!("{}{FORMAT_KEY}", self.root);
        let options = GetOptions::new().with_count_only();
        let answer = self.get(&marker, options).await;
        let answer = answer.map_err(|error| answer::failure(&error))?;
        answer::revision_of(answer.header())
    }
}
