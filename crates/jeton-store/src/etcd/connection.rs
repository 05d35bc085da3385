//! Calls to etcd, retried on other members, and their meaning.

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};
use tonic::Status;
use tonic::transport::Endpoint;

use super::answer;
use super::api::compare::{CompareResult, CompareTarget, TargetUnion};
use super::api::request_op::Request;
use super::api::response_op::Response;
use super::api::{
    Compare, DeleteRangeRequest, PutRequest, RangeRequest, RangeResponse, RequestOp,
    ResponseHeader, StatusResponse, TxnRequest, TxnResponse,
};
use super::members::{Members, User};
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
pub(super) const FORMAT: u64 = 1;
const FORMAT_KEY: &str = "!format";
/// The format while the store is filled, before the name of the source. Every version rejects it.
const FILLING: &str = "filling ";

/// The key of the store's random id.
const ID_KEY: &str = "!id";

/// Which stores a connection accepts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Accepts {
    /// An existing one, or none: then it is created.
    AnyOrNone,
    /// An existing one.
    Existing,
    /// None, or one that is being filled from this source.
    FilledFrom(String),
    /// The same, and nothing is written: [`Error::NoStore`] if there is none, [`Error::Unfinished`] for a part.
    ToFill(String),
}

/// The connection and the root of all keys.
#[derive(Clone)]
pub(super) struct Etcd {
    pub(super) members: Members,
    pub(super) root: Arc<str>,
    /// The id of the cluster, from its first answer.
    cluster: u64,
    /// A random value, written when the store was created. Replaced data has another, and an emptied etcd has none,
    /// although the id of its cluster can be the same.
    id: Arc<[u8]>,
    /// The format while this connection fills the store. Every change compares it: another process that fills the
    /// same store may have finished, and servers may write to it.
    filling: Option<Arc<[u8]>>,
    pub(super) under_way: Arc<Semaphore>,
}

impl Etcd {
    pub(super) async fn connect(
        endpoints: Vec<Endpoint>,
        user: Option<User>,
        root: Arc<str>,
        accepts: Accepts,
    ) -> Result<Etcd> {
        in_time(async {
            let members = Members::connect(endpoints, user).await;
            let mut etcd = Etcd {
                members: members.map_err(|error| answer::failure(&error))?,
                root,
                cluster: 0,
                id: Arc::default(),
                filling: match &accepts {
                    Accepts::FilledFrom(source) => Some(filling(source).into()),
                    _ => None,
                },
                under_way: Arc::new(Semaphore::new(limits::ETCD_UNDER_WAY)),
            };
            let status = etcd.member().await?;
            check_version(&status)?;
            etcd.cluster = answer::header(status.header)?.cluster_id;
            etcd.check_format(&accepts).await?;
            let id = format!("{:032x}", rand::random::<u128>()).into_bytes();
            etcd.id = etcd.found_or_written(ID_KEY, id).await?.into();
            Ok(etcd)
        })
        .await
    }

    /// Retries until a member accepts the call. Each attempt may go to another member. An accepted call is
    /// never sent again: it may have happened.
    pub(super) async fn asked<T, F: Future<Output = Result<T, Status>>>(
        &self,
        mut call: impl FnMut() -> F,
    ) -> Result<T, Status> {
        let mut left = limits::ETCD_TRIES;
        loop {
            left -= 1;
            let token = self.members.token();
            match call().await {
                Err(error) if left > 0 && answer::never_happened(&error) => {
                    sleep(RETRY_DELAY).await
                }
                Err(error) if left > 0 && answer::wants_another_token(&error) => {
                    self.members.sign_in_again(token).await?;
                }
                ended => return ended,
            }
        }
    }

    /// Repeats a read, possibly on another member, if a member does not answer or gives up. It does so
    /// until the timeout of the caller.
    async fn asked_again<T, F: Future<Output = Result<T, Status>>>(
        &self,
        mut call: impl FnMut() -> F,
    ) -> Result<T, Status> {
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
        let status = self.asked_again(|| self.members.status());
        status.await.map_err(|error| answer::failure(&error))
    }

    /// Checks the alarms. An etcd with an exhausted quota rejects writes until its operator frees space and
    /// disarms the alarm. Every member knows of the alarm.
    pub(super) async fn check_alarms(&self) -> Result<()> {
        let member = self.member().await?;
        let is_full = member.errors.iter().any(|error| error.contains(NO_SPACE));
        if is_full { Err(Error::Full) } else { Ok(()) }
    }

    /// Returns the revision of an answer. An address can lead to another etcd later, by a changed name or an
    /// emptied machine: its answers are of no use, whatever they say.
    pub(super) fn revision_of(&self, header: Option<ResponseHeader>) -> Result<Revision> {
        let header = answer::header(header)?;
        if header.cluster_id == self.cluster {
            Ok(answer::revision(header.revision))
        } else {
            Err(Error::OtherStore)
        }
    }

    /// Checks that the root has such a store. Writes the format of a new one.
    async fn check_format(&self, accepts: &Accepts) -> Result<()> {
        let written = match accepts {
            Accepts::AnyOrNone => {
                if self.found(self.marker(FORMAT_KEY)).await?.is_none() {
                    self.check_roots_above().await?;
                }
                let format = FORMAT.to_string().into_bytes();
                self.found_or_written(FORMAT_KEY, format).await?
            }
            Accepts::Existing => {
                let found = self.found(self.marker(FORMAT_KEY)).await?;
                found.ok_or_else(|| Error::NoStore(self.root.to_string()))?
            }
            Accepts::FilledFrom(source) | Accepts::ToFill(source) => {
                let is_looking = matches!(accepts, Accepts::ToFill(_));
                let is_new = self.found(self.marker(FORMAT_KEY)).await?.is_none();
                if is_new {
                    if self.has_keys().await? {
                        return Err(Error::NotAStore);
                    }
                    self.check_roots_above().await?;
                    if is_looking {
                        return Err(Error::NoStore(self.root.to_string()));
                    }
                }
                let filling = filling(source);
                let written = self.found_or_written(FORMAT_KEY, filling.clone()).await?;
                return match known_format(&written) {
                    Err(Error::Unfinished) if written != filling => Err(Error::OtherSource),
                    Err(Error::Unfinished) if is_looking => Err(Error::Unfinished),
                    Err(Error::Unfinished) => Ok(()),
                    Ok(()) => Err(Error::AlreadyThere),
                    Err(error) => Err(error),
                };
            }
        };
        known_format(&written)
    }

    /// Checks that no store has a root that contains this one: to that store, the keys of this one are its own.
    async fn check_roots_above(&self) -> Result<()> {
        for (end, _) in self.root.match_indices('/').skip(1) {
            let format = only(&format!("{}{FORMAT_KEY}", &self.root[..end]));
            match self.found(format).await {
                Ok(None) => {}
                Ok(Some(_)) => return Err(Error::NotAStore),
                // This user may read its own root only.
                Err(Error::Io(ErrorKind::PermissionDenied, _)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Returns whether there are entries under the root.
    async fn has_keys(&self) -> Result<bool> {
        let (from, end) = self.range(&Prefix::all());
        let any = RangeRequest {
            key: from.into_bytes(),
            range_end: end.into_bytes(),
            limit: 1,
            ..RangeRequest::default()
        };
        let answer = self.get(any).await;
        let answer = answer.map_err(|error| answer::failure(&error))?;
        self.revision_of(answer.header)?;
        Ok(!answer.kvs.is_empty())
    }

    /// Makes the last changes of a store that was filled, and lets others open it.
    pub(super) async fn finish(&self, source: &str, txn: &Txn) -> Result<Outcome> {
        let put = PutRequest {
            key: self.marker(FORMAT_KEY).key,
            value: FORMAT.to_string().into_bytes(),
        };
        let format = operation(Request::RequestPut(put));
        self.change_if(txn, Some(&filling(source)), Some(format))
            .await
    }

    /// Returns the value of a key that is no data.
    async fn found(&self, range: RangeRequest) -> Result<Option<Vec<u8>>> {
        let there = self.get(range).await;
        let there = there.map_err(|error| answer::failure(&error))?;
        self.revision_of(there.header)?;
        Ok(there.kvs.into_iter().next().map(|pair| pair.value))
    }

    /// Returns the value of a key, after writing this one if there was none. Of several nodes that start together one
    /// writes it, and all read it. Reading needs no space, so a full etcd can still be read.
    async fn found_or_written(&self, key: &str, value: Vec<u8>) -> Result<Vec<u8>> {
        let range = self.marker(key);
        if let Some(there) = self.found(range.clone()).await? {
            return Ok(there);
        }
        let put = PutRequest {
            key: range.key.clone(),
            value: value.clone(),
        };
        let absent = compare(range.key.clone(), CompareResult::Equal, Target::Created(0));
        let answer = self
            .txn(TxnRequest {
                compare: vec![absent],
                success: vec![operation(Request::RequestPut(put))],
                failure: vec![operation(Request::RequestRange(range))],
            })
            .await?;
        if answer.succeeded {
            return Ok(value);
        }
        let found = ranges_of(answer).find_map(|range| range.kvs.into_iter().next());
        found.map(|pair| pair.value).ok_or(Error::OtherStore)
    }

    /// The range of a key that is no data.
    fn marker(&self, key: &str) -> RangeRequest {
        only(&format!("{}{key}", self.root))
    }

    /// The error may be about a revision, see [`about_the_past`](Etcd::about_the_past).
    pub(super) async fn get(&self, range: RangeRequest) -> Result<RangeResponse, Status> {
        self.asked_again(|| {
            let (mut kv, range) = (self.members.kv(), range.clone());
            async move { Ok(kv.range(range).await?.into_inner()) }
        })
        .await
    }

    async fn txn(&self, txn: TxnRequest) -> Result<TxnResponse> {
        let answer = self.asked(|| self.send(&txn)).await;
        answer.map_err(|error| answer::failure(&error))
    }

    fn send(&self, txn: &TxnRequest) -> impl Future<Output = Result<TxnResponse, Status>> + use<> {
        let (mut kv, txn) = (self.members.kv(), txn.clone());
        async move { Ok(kv.txn(txn).await?.into_inner()) }
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
        let gets = keys.iter().map(|key| {
            let range = only(&self.name(key));
            operation(Request::RequestRange(range))
        });
        let gets = TxnRequest {
            success: gets.collect(),
            ..TxnRequest::default()
        };
        let answer = self.asked_again(|| self.send(&gets)).await;
        let answer = answer.map_err(|error| answer::failure(&error))?;
        let revision = self.revision_of(answer.header)?;
        let entries: Vec<_> = ranges_of(answer)
            .map(|range| {
                let found = range.kvs.into_iter().next();
                found
                    .map(|pair| answer::entry(&self.root, pair))
                    .transpose()
            })
            .collect::<Result<_>>()?;
        if entries.len() != keys.len() {
            return Err(Error::Damaged(
                "etcd answers for other keys than asked".to_owned(),
            ));
        }
        Ok(Read { revision, entries })
    }

    pub(super) async fn commit(&self, txn: &Txn) -> Result<Outcome> {
        self.change_if(txn, self.filling.as_deref(), None).await
    }

    /// Makes the changes if the conditions hold and the format is `filling`, and with them one more.
    async fn change_if(
        &self,
        txn: &Txn,
        filling: Option<&[u8]>,
        more: Option<RequestOp>,
    ) -> Result<Outcome> {
        let filling = filling.map(|format| {
            let format = Target::Value(format.to_vec());
            compare(self.marker(FORMAT_KEY).key, CompareResult::Equal, format)
        });
        let conditions = txn.conditions().iter();
        let id = self.marker(ID_KEY);
        let same = Target::Value(self.id.to_vec());
        let same = compare(id.key.clone(), CompareResult::Equal, same);
        let changes = txn.operations().iter();
        let answer = self
            .txn(TxnRequest {
                compare: std::iter::once(same)
                    .chain(filling)
                    .chain(conditions.map(|(key, it)| self.compare(key, *it)))
                    .collect(),
                success: (changes.map(|change| self.change(change)))
                    .chain(more)
                    .collect(),
                failure: vec![operation(Request::RequestRange(id))],
            })
            .await?;
        let revision = self.revision_of(answer.header)?;
        if answer.succeeded {
            return Ok(Outcome::Committed(revision));
        }
        let there = ranges_of(answer).find_map(|range| range.kvs.into_iter().next());
        if there.is_some_and(|pair| *pair.value == *self.id) {
            Ok(Outcome::Conflict(revision))
        } else {
            Err(Error::OtherStore)
        }
    }

    fn compare(&self, key: &Key, condition: Condition) -> Compare {
        let name = self.name(key).into_bytes();
        match condition {
            Condition::Absent => compare(name, CompareResult::Equal, Target::Created(0)),
            Condition::Present => compare(name, CompareResult::Greater, Target::Created(0)),
            Condition::Unchanged(since) => {
                // A missing key has revision 0 in etcd.
                let since = answer::number(since.max(Revision::from_number(1)));
                compare(name, CompareResult::Equal, Target::Changed(since))
            }
        }
    }

    fn change(&self, change: &Operation) -> RequestOp {
        operation(match change {
            Operation::Put(key, value) => Request::RequestPut(PutRequest {
                key: self.name(key).into_bytes(),
                value: value.clone(),
            }),
            Operation::Delete(key) => Request::RequestDeleteRange(DeleteRangeRequest {
                key: self.name(key).into_bytes(),
                range_end: Vec::new(),
            }),
            Operation::DeletePrefix(prefix) => {
                let (from, end) = self.range(prefix);
                Request::RequestDeleteRange(DeleteRangeRequest {
                    key: from.into_bytes(),
                    range_end: end.into_bytes(),
                })
            }
        })
    }

    /// Returns the newest revision, from a majority.
    pub(super) async fn newest(&self) -> Result<Revision> {
        let marker = RangeRequest {
            count_only: true,
            ..self.marker(FORMAT_KEY)
        };
        let answer = self.get(marker).await;
        let answer = answer.map_err(|error| answer::failure(&error))?;
        self.revision_of(answer.header)
    }
}

/// The range of one key.
fn only(key: &str) -> RangeRequest {
    RangeRequest {
        key: key.as_bytes().to_vec(),
        ..RangeRequest::default()
    }
}

/// Asks for a revision only.
pub(super) fn count(key: &str) -> RangeRequest {
    RangeRequest {
        count_only: true,
        ..only(key)
    }
}

fn operation(request: Request) -> RequestOp {
    RequestOp {
        request: Some(request),
    }
}

/// What is compared: the revision of a key's creation, of its last change, or its value.
enum Target {
    Created(i64),
    Changed(i64),
    Value(Vec<u8>),
}

fn compare(key: Vec<u8>, result: CompareResult, target: Target) -> Compare {
    let (target, expected) = match target {
        Target::Created(number) => (CompareTarget::Create, TargetUnion::CreateRevision(number)),
        Target::Changed(number) => (CompareTarget::Mod, TargetUnion::ModRevision(number)),
        Target::Value(value) => (CompareTarget::Value, TargetUnion::Value(value)),
    };
    Compare {
        result: result.into(),
        target: target.into(),
        key,
        target_union: Some(expected),
    }
}

/// The answers of a transaction to its ranges, in their order.
fn ranges_of(answer: TxnResponse) -> impl Iterator<Item = RangeResponse> {
    let responses = answer.responses.into_iter();
    responses.filter_map(|one| match one.response {
        Some(Response::ResponseRange(range)) => Some(range),
        _ => None,
    })
}

/// Rejects versions before 3.6: they report progress before they have sent all events.
fn check_version(status: &StatusResponse) -> Result<()> {
    let mut numbers = status.version.split('.').map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) if (major, minor) >= OLDEST_ETCD => Ok(()),
        _ => Err(Problem::OldEtcd.into()),
    }
}

/// The format of a store while it is filled from this source.
fn filling(source: &str) -> Vec<u8> {
    format!("{FILLING}{source}").into_bytes()
}

fn known_format(value: &[u8]) -> Result<()> {
    if value.starts_with(FILLING.as_bytes()) {
        return Err(Error::Unfinished);
    }
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
            Err(Error::Io(ErrorKind::TimedOut, words))
        })
}
