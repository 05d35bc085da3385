//! Calls to etcd, retried on other members, and their meaning.

use std::sync::Arc;
use std::time::Duration;

use etcd_client::{
    Client, Compare, CompareOp, DeleteOptions, GetOptions, GetResponse, KvClient, PutOptions,
    StatusResponse, Txn as EtcdTxn, TxnOp, TxnOpResponse, TxnResponse,
};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use super::answer;
use crate::error::{Error, Problem, Result};
use crate::key::{Key, Prefix};
use crate::limits;
use crate::revision::Revision;
use crate::store::{Outcome, Read};
use crate::txn::{Condition, Operation, Txn};

/// Delay before the next member is tried.
const RETRY_DELAY: Duration = Duration::from_millis(20);

/// Name of the alarm for an exhausted quota in the status of a member.
const NO_SPACE: &str = "NOSPACE";

/// Major and minor.
const OLDEST_ETCD: (u32, u32) = (3, 6);

/// The format that this version writes and the newest that it reads. No data key can collide with it: those
/// have a `/` after the root.
const FORMAT: u64 = 1;
const FORMAT_KEY: &str = "!format";

/// The connection and the root of all keys.
#[derive(Clone)]
pub(super) struct Etcd {
    pub(super) client: Client,
    pub(super) root: Arc<str>,
    pub(super) under_way: Arc<Semaphore>,
}

impl Etcd {
    pub(super) async fn connect(
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

    /// Retries until a member accepts the call. Each attempt may go to another member. An accepted call is
    /// never sent again: it may have happened.
    pub(super) async fn asked<T, F: Future<Output = Result<T, etcd_client::Error>>>(
        &self,
        mut call: impl FnMut() -> F,
    ) -> Result<T, etcd_client::Error> {
        let mut left = limits::ETCD_TRIES;
        loop {
            left -= 1;
            match call().await {
                Err(error) if left > 0 && answer::never_happened(&error) => {
                    sleep(RETRY_DELAY).await
                }
                Err(error) if left > 0 && answer::wants_another_token(&error) => {
                    self.client.refresh_token().await?;
                }
                ended => return ended,
            }
        }
    }

    /// Repeats a read, possibly on another member, if a member does not answer or gives up. It does so
    /// until the timeout of the caller.
    async fn asked_again<T, F: Future<Output = Result<T, etcd_client::Error>>>(
        &self,
        mut call: impl FnMut() -> F,
    ) -> Result<T, etcd_client::Error> {
        loop {
            match timeout(limits::ETCD_READ, self.asked(&mut call)).await {
                Ok(Err(error)) if answer::was_given_up(&error) => sleep(RETRY_DELAY).await,
                Ok(ended) => return ended,
                Err(_) => {}
            }
        }
    }

    /// Returns the status of one member.
    pub(super) async fn member(&self) -> Result<StatusResponse> {
        let status = self.asked_again(|| {
            let mut client = self.client.clone();
            async move { client.status().await }
        });
        status.await.map_err(|error| answer::failure(&error))
    }

    /// Checks the alarms. An etcd with an exhausted quota rejects writes until its operator frees space and
    /// disarms the alarm. Every member knows of the alarm.
    pub(super) async fn check_alarms(&self) -> Result<()> {
        let member = self.member().await?;
        let is_full = member.errors().iter().any(|error| error.contains(NO_SPACE));
        match is_full {
            true => Err(Error::Full),
            false => Ok(()),
        }
    }

    /// Rejects versions before 3.6: they report progress before they have sent all events.
    async fn check_version(&self) -> Result<()> {
        let status = self.member().await?;
        let mut numbers = status.version().split('.').map(str::parse::<u32>);
        match (numbers.next(), numbers.next()) {
            (Some(Ok(major)), Some(Ok(minor))) if (major, minor) >= OLDEST_ETCD => Ok(()),
            _ => Err(Problem::OldEtcd.into()),
        }
    }

    /// Writes the format if it is missing. Of several nodes that start together one writes it, and all read
    /// it. Reading needs no space, so a full etcd can still be read.
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

    pub(super) fn kv(&self) -> KvClient {
        (self.client.kv_client()).max_decoding_message_size(limits::ETCD_MESSAGE_BYTES)
    }

    /// The error may be about a revision, see [`about_the_past`](Etcd::about_the_past).
    pub(super) async fn get(
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

    pub(super) fn name(&self, key: &Key) -> String {
        format!("{}{key}", self.root)
    }

    /// Returns the first key of the range of a prefix, and its end.
    pub(super) fn range(&self, prefix: &Prefix) -> (String, String) {
        let from = format!("{}{prefix}", self.root);
        (from, format!("{}{}", self.root, prefix.end()))
    }

    pub(super) async fn read(&self, keys: &[Key]) -> Result<Read> {
        // etcd answers an empty transaction without asking a majority.
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

    pub(super) async fn commit(&self, txn: &Txn) -> Result<Outcome> {
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
                // A missing key has revision 0 in etcd.
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

    /// Returns the newest revision, from a majority.
    pub(super) async fn newest(&self) -> Result<Revision> {
        let marker = format!("{}{FORMAT_KEY}", self.root);
        let options = GetOptions::new().with_count_only();
        let answer = self.get(&marker, options).await;
        let answer = answer.map_err(|error| answer::failure(&error))?;
        answer::revision_of(answer.header())
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

pub(super) async fn in_time<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    timeout(limits::ETCD_ANSWER, work)
        .await
        .unwrap_or_else(|_| {
            let words = format!("etcd did not answer within {:?}", limits::ETCD_ANSWER);
            Err(Error::Io(std::io::ErrorKind::TimedOut, words))
        })
}
