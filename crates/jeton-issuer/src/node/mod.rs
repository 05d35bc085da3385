//! A node: runs decisions on a store and answers from a snapshot.

mod admin_ops;
mod clock_guard;
mod feed;
mod follower;
mod lookup;
mod maintenance;
mod other_clocks;
mod profile_issuer;
mod recent;
mod revocation_writer;
mod revoke_token;
mod settings;
mod writes;

pub use feed::{RevocationFeed, RevocationUpdate};
pub use profile_issuer::{IssuedRef, ProfileBatch, ProfileIssuer};
pub use settings::Configured;

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use arc_swap::ArcSwap;
use jeton::{Clock, Timestamp, Untyped, Verified};
use jeton_store::{Moment, Outcome, Revision, Store, Txn, block_on, completion};

use crate::audit;
use crate::custom_claims::CustomClaims;
use crate::error::{Error, Result};
use crate::limits;
use crate::record::rules_of;
use crate::revocation::{RevocationRule, Revoke, Rules};
use crate::seal::KeyEncryptionKey;
use crate::settings::name;
use crate::snapshot::{KeySetDocument, Snapshot};
use clock_guard::ClockGuard;
use follower::Working;
use other_clocks::OtherClocks;
use recent::Recent;
use revocation_writer::Job;
use revoke_token::Wanted;
use writes::Writes;

/// Options of a node.
#[derive(Debug)]
pub struct Options {
    keks: Vec<KeyEncryptionKey>,
    freshness: Duration,
    stale: StalePolicy,
    issue_without_store: Duration,
    token_bytes: usize,
}

/// What a node does when its view of the store is older than the freshness bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StalePolicy {
    /// Rejects requests to verify: a revocation may have been missed.
    Refuse,
    /// Verifies, counts these calls, and reports that it is not ready.
    Verify,
}

impl Options {
    /// Creates options with this key-encryption key, a freshness bound of 15 s and [`StalePolicy::Refuse`].
    pub fn new(key: KeyEncryptionKey) -> Options {
        Options {
            keks: vec![key],
            freshness: Duration::from_secs(15),
            stale: StalePolicy::Refuse,
            issue_without_store: limits::ISSUE_WITHOUT_STORE,
            token_bytes: limits::TOKEN_BYTES,
        }
    }

    /// Sets the maximum size of a token, bytes. It applies to issuing, verifying, introspecting and
    /// revoking, so that every issued token can be revoked. Default [`limits::TOKEN_BYTES`], from
    /// [`limits::TOKEN_BYTES_MIN`] to [`limits::TOKEN_BYTES_MAX`].
    #[must_use]
    pub fn token_bytes(mut self, limit: usize) -> Options {
        self.token_bytes = limit.clamp(limits::TOKEN_BYTES_MIN, limits::TOKEN_BYTES_MAX);
        self
    }

    /// Adds an older key-encryption key, for private keys that are still encrypted under it.
    #[must_use]
    pub fn also_reads(mut self, older: KeyEncryptionKey) -> Options {
        self.keks.push(older);
        self
    }

    /// Sets the freshness bound and the policy beyond it. Below
    /// [`FRESHNESS_LEAST`](jeton_store::limits::FRESHNESS_LEAST) a node on an idle store becomes stale
    /// between two reports.
    #[must_use]
    pub fn freshness(mut self, bound: Duration, stale: StalePolicy) -> Options {
        self.freshness = bound;
        self.stale = stale;
        self
    }

    /// Sets how long a node issues without contact to the store. The pre-publication period of an issuer is
    /// a further limit. Default [`limits::ISSUE_WITHOUT_STORE`], at most
    /// [`limits::ISSUE_WITHOUT_STORE_MAX`].
    #[must_use]
    pub fn issue_without_store(mut self, bound: Duration) -> Options {
        self.issue_without_store = bound.min(limits::ISSUE_WITHOUT_STORE_MAX);
        self
    }
}

/// A request to issue a token.
#[derive(Debug, Clone)]
pub struct Request<'r> {
    profile: &'r str,
    subject: Option<&'r str>,
    audience: Option<&'r str>,
    claims: CustomClaims<'r>,
}

impl<'r> Request<'r> {
    /// Creates a request for a token of that profile.
    pub fn new(profile: &'r str) -> Request<'r> {
        Request {
            profile,
            subject: None,
            audience: None,
            claims: CustomClaims::default(),
        }
    }

    /// Sets `sub`.
    #[must_use]
    pub fn subject(mut self, subject: &'r str) -> Request<'r> {
        self.subject = Some(subject);
        self
    }

    /// Sets `aud`, one of the profile's audiences. Default: the first.
    #[must_use]
    pub fn audience(mut self, audience: &'r str) -> Request<'r> {
        self.audience = Some(audience);
        self
    }

    /// Sets custom claims.
    #[must_use]
    pub fn claims(mut self, claims: CustomClaims<'r>) -> Request<'r> {
        self.claims = claims;
        self
    }
}

/// An issued token.
#[derive(Clone, PartialEq, Eq)]
pub struct Issued {
    /// The token.
    pub token: String,
    /// Its `jti`, by which it can be revoked.
    pub token_id: String,
    /// Its `exp`, seconds since 1970.
    pub expires_at: i64,
}

impl std::fmt::Debug for Issued {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Issued")
            .field("token_id", &self.token_id)
            .field("expires_at", &self.expires_at)
            .finish_non_exhaustive()
    }
}

/// The status of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// Whether the node should receive requests: its view is fresh, the store can be written, and every
    /// profile has a key that signs, or a published key if the profile is new.
    pub is_ready: bool,
    /// Revision up to which it has followed the store.
    pub revision: Revision,
    /// Time since the last contact with the store.
    pub heard: Duration,
    /// Revoked single tokens that have not expired.
    pub revocations: usize,
    /// Rules: revoked subjects, clients, keys, and tokens without a known expiry.
    pub rules: usize,
    /// Names of the issuers.
    pub issuers: Vec<String>,
    /// Answers from a view older than the freshness bound.
    pub stale_answers: u64,
    /// Whether the store accepts writes, as far as this node knows. Without, it still issues and verifies,
    /// but does not revoke or rotate.
    pub is_writable: bool,
    /// Writes of this node that failed.
    pub write_failures: u64,
    /// Faults, if there are any.
    pub fault: Option<String>,
    /// Warnings for the operator: clocks that differ, and work that waits because of a clock.
    pub warning: Option<String>,
}

/// Timeout for a node to see its own write.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A node: issues, verifies and revokes tokens on a store that other nodes may share. Clones are the same
/// node.
#[derive(Clone)]
pub struct Node {
    inner: Arc<Inner>,
    // Boxed to keep the preallocated queue small.
    jobs: SyncSender<Box<Job>>,
    wanted: SyncSender<Wanted>,
}

pub(crate) struct Inner {
    pub(crate) store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    options: Options,
    snapshot: ArcSwap<Snapshot>,
    working: Mutex<Working>,
    applied: Condvar,
    /// Recent revocations for feeds.
    recent: Arc<Recent>,
    /// Counts suspension, so that the view is old afterwards.
    started: Moment,
    /// Milliseconds after `started`.
    heard: AtomicI64,
    stale_answers: AtomicU64,
    clock_guard: Mutex<ClockGuard>,
    others: Mutex<OtherClocks>,
    writes: Writes,
    /// Fault of the last maintenance.
    due_fault: Mutex<Option<String>>,
    /// Work that the last maintenance postponed.
    held: Mutex<Option<String>>,
    /// A thread of the node that ended unexpectedly.
    ended: Mutex<Option<String>>,
}

/// Reports a thread that ended before the node: it panicked.
struct Ending(Weak<Inner>, &'static str);

impl Drop for Ending {
    fn drop(&mut self) {
        let Ending(node, thread) = self;
        if let Some(node) = node.upgrade() {
            let what = format!("thread {thread} has ended: restart the server");
            *lock(&node.ended) = Some(what);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Node {
    /// Starts a node: loads everything from the store and follows it. Takes as long as reading the store.
    ///
    /// # Errors
    ///
    /// [`Error::WrongKeyEncryptionKey`], [`Error::Record`], [`Error::NewerRecord`], [`Error::Store`].
    pub fn start(store: Arc<dyn Store>, options: Options, clock: Arc<dyn Clock>) -> Result<Node> {
        let started = Moment::now();
        let (working, as_of, watch) = Working::load(&*store, &options.keks, &clock)?;
        let revision = working.snapshot.revision;
        let clock_guard = ClockGuard::new(clock.now().unix_seconds(), Moment::now());
        let inner = Arc::new(Inner {
            snapshot: ArcSwap::from_pointee(working.snapshot.clone()),
            working: Mutex::new(working),
            applied: Condvar::new(),
            recent: Arc::new(Recent::new(revision, as_of)),
            store,
            clock,
            options,
            started,
            heard: AtomicI64::new(0),
            stale_answers: AtomicU64::new(0),
            clock_guard: Mutex::new(clock_guard),
            others: Mutex::default(),
            writes: Writes::default(),
            due_fault: Mutex::default(),
            held: Mutex::default(),
            ended: Mutex::default(),
        });
        inner.hear(as_of);
        // `verify_audit` reports a damaged chain.
        if let Ok(Some(newest)) = block_on(audit::newest(&*inner.store))
            && let Some(written) = audit::written_at(&newest)
        {
            lock(&inner.others).found(written, inner.now(), Moment::now());
        }
        let (jobs, waiting) = sync_channel(limits::WAITING_REVOCATIONS);
        let (wanted, asked) = sync_channel(limits::WAITING_TOKENS);
        let node = Arc::downgrade(&inner);
        let thread = |name: &str| thread::Builder::new().name(name.to_owned());
        let ending = |thread| Ending(node.clone(), thread);
        let (writer_ends, follower_ends) = (ending("jeton-revocations"), ending("jeton-follower"));
        let keys_end = ending("jeton-keys");
        let spawned = thread("jeton-revocations")
            .spawn({
                let node = node.clone();
                move || {
                    let _ending = writer_ends;
                    revocation_writer::run(&node, &waiting);
                }
            })
            .and_then(|_| {
                let node = node.clone();
                thread("jeton-keys").spawn(move || {
                    let _ending = keys_end;
                    revoke_token::run(&node, &asked);
                })
            })
            .and_then(|_| {
                thread("jeton-follower").spawn(move || {
                    let _ending = follower_ends;
                    follower::run(&node, watch);
                })
            });
        spawned.map_err(|error| Error::Store(error.into()))?;
        Ok(Node {
            inner,
            jobs,
            wanted,
        })
    }

    /// Issues a token, without lock and store access.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownIssuer`], [`Error::UnknownProfile`], [`Error::NotReady`], [`Error::Invalid`] for an
    /// audience that the profile does not have, [`Error::Token`] for claims that no token may contain.
    pub fn issue(&self, iss: &str, request: &Request<'_>) -> Result<Issued> {
        self.issue_if(iss, request, |_, _| Ok(()))
    }

    /// Issues a token if `permit` allows its audience and subject.
    ///
    /// # Errors
    ///
    /// As [`issue`](Node::issue), and the errors of `permit`.
    pub fn issue_if<E: From<Error>>(
        &self,
        iss: &str,
        request: &Request<'_>,
        permit: impl FnOnce(&str, Option<&str>) -> Result<(), E>,
    ) -> Result<Issued, E> {
        self.with_profile_issuer(iss, request.profile, request.audience, |profile_issuer| {
            permit(profile_issuer.audience(), request.subject)?;
            Ok(profile_issuer.issue(request.subject, &request.claims)?)
        })?
    }

    /// Runs work with a [`ProfileIssuer`] for that profile and audience (default: the first), so that many
    /// tokens share one lookup.
    ///
    /// # Errors
    ///
    /// As [`issue`](Node::issue), without [`Error::Token`].
    pub fn with_profile_issuer<T>(
        &self,
        iss: &str,
        profile: &str,
        audience: Option<&str>,
        work: impl FnOnce(&ProfileIssuer<'_>) -> T,
    ) -> Result<T> {
        let snapshot = self.inner.snapshot.load();
        let view = snapshot.issuer(iss)?;
        self.check_hearing(view)?;
        let (now, token_bytes) = (self.inner.clock.now(), self.inner.options.token_bytes);
        let profile_issuer =
            ProfileIssuer::new(&snapshot, view, profile, audience, now, token_bytes)?;
        Ok(work(&profile_issuer))
    }

    /// Verifies a token of that issuer for that audience, without lock and store access.
    ///
    /// # Errors
    ///
    /// [`Error::Token`] with the rejection, [`Error::WrongAudience`], [`Error::Revoked`],
    /// [`Error::Stale`], [`Error::UnknownIssuer`].
    pub fn verify(&self, iss: &str, audience: &str, token: &str) -> Result<Verified<Untyped>> {
        let verified = self.introspect(iss, token)?;
        let is_meant = verified.audiences().any(|known| known == audience);
        match is_meant {
            true => Ok(verified),
            false => Err(Error::WrongAudience),
        }
    }

    /// Revokes a token, subject, client or key. Completes when the revocation is durable and this node
    /// enforces it. Waiting revocations share one flush.
    ///
    /// A token of a revoked subject, client or key is accepted exactly if its node had seen the rule when
    /// it issued the token, independent of clocks: see [`Stamp`](crate::Stamp).
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`], also for a rule beyond [`limits::RULES`]; [`Error::UnknownIssuer`];
    /// [`Error::Store`] if too many revocations wait, or if the store fails. If the [outcome is
    /// unknown](jeton_store::Error::is_outcome_unknown), the revocation may have been made.
    /// [`Error::Stale`]: it is durable, and this node does not see it yet.
    pub fn revoke(&self, actor: &str, iss: &str, revoke: Revoke) -> RevokeAnswer {
        let (reply, pending) = completion();
        let accepted = name("actor", actor)
            .and_then(|()| revoke.check(iss, self.inner.now()))
            .and_then(
                |()| match self.inner.snapshot.load().issuers.contains_key(iss) {
                    true => Ok(()),
                    false => Err(Error::UnknownIssuer),
                },
            )
            .and_then(|()| {
                let job = Box::new(Job {
                    actor: actor.to_owned(),
                    iss: iss.to_owned(),
                    revoke,
                    reply,
                });
                self.jobs.try_send(job).map_err(|refused| match refused {
                    TrySendError::Full(_) => jeton_store::Error::Overloaded.into(),
                    TrySendError::Disconnected(_) => jeton_store::Error::Closed.into(),
                })
            });
        Box::pin(async move {
            accepted?;
            pending.await?
        })
    }

    /// Returns the public keys of the issuer, encoded for serving.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownIssuer`].
    pub fn key_set(&self, iss: &str) -> Result<Arc<KeySetDocument>> {
        let snapshot = self.inner.snapshot.load();
        let view = snapshot.issuer(iss)?;
        Ok(view.key_set.clone())
    }

    /// Returns whether key sets may be cached. Without contact to the store they may lack a key that soon
    /// signs.
    pub fn key_sets_may_be_cached(&self) -> bool {
        let propagation = Duration::from_secs(limits::PROPAGATION_SECONDS.unsigned_abs());
        self.inner.heard_ago() <= self.inner.options.freshness.min(propagation)
    }

    /// Returns the current settings and keys of the issuer.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownIssuer`].
    pub fn issuer(&self, iss: &str) -> Result<(crate::IssuerSettings, crate::keyring::Keyring)> {
        let snapshot = self.inner.snapshot.load();
        let view = snapshot.issuer(iss)?;
        Ok((view.settings.clone(), view.keyring.clone()))
    }

    /// Reads the revocation rules of an issuer from the store.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownIssuer`], [`Error::Store`], [`Error::Record`].
    pub fn rules(&self, iss: &str) -> Result<Vec<RevocationRule>> {
        if !self.inner.snapshot.load().issuers.contains_key(iss) {
            return Err(Error::UnknownIssuer);
        }
        let mut rules = Vec::new();
        let mut pages = block_on(self.inner.store.scan(&rules_of(iss)?))?;
        while let Some(page) = block_on(pages.next())? {
            for entry in &page {
                rules.push(RevocationRule::read(entry)?);
            }
        }
        Ok(rules)
    }

    /// Returns the time of the node's clock.
    pub fn now(&self) -> Timestamp {
        self.inner.clock.now()
    }

    /// Revision up to which it has followed the store.
    pub fn revision(&self) -> Revision {
        self.inner.snapshot.load().revision
    }

    /// Returns the status of the node.
    pub fn status(&self) -> Status {
        let snapshot = self.inner.snapshot.load();
        let now = self.inner.now();
        let mut has_keys = snapshot.issuers.values().flat_map(|view| {
            let kinds = view.settings.kinds();
            kinds
                .into_iter()
                .map(move |kind| view.keyring.has_key(kind, now))
        });
        let write_fault = self.inner.writes.fault();
        let is_writable = write_fault.is_none();
        let fault = self.inner.fault(write_fault);
        let mut issuers: Vec<String> = snapshot.issuers.keys().map(ToString::to_string).collect();
        issuers.sort();
        Status {
            is_ready: !issuers.is_empty()
                && has_keys.all(|has| has)
                && !self.inner.is_stale()
                && fault.is_none(),
            revision: snapshot.revision,
            heard: self.inner.heard_ago(),
            revocations: snapshot.revocations.len(),
            rules: snapshot.rules.len(),
            issuers,
            stale_answers: self.inner.stale_answers.load(Ordering::Relaxed),
            is_writable,
            write_failures: self.inner.writes.failures(),
            fault,
            warning: self.inner.warning(),
        }
    }
}

impl Node {
    /// Applies the policy for a stale view.
    fn check_freshness(&self) -> Result<()> {
        if self.inner.is_stale() {
            if self.inner.options.stale == StalePolicy::Refuse {
                return Err(Error::Stale);
            }
            self.inner.stale_answers.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }
}

/// The result of [`Node::revoke`]: the revision at which the revocation is durable.
pub type RevokeAnswer = std::pin::Pin<Box<dyn Future<Output = Result<Revision>> + Send>>;

impl std::fmt::Debug for Node {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Node")
            .field("status", &self.status())
            .finish_non_exhaustive()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.recent.close();
    }
}

impl Inner {
    pub(crate) fn now(&self) -> i64 {
        self.clock.now().unix_seconds()
    }

    /// Returns that time, or the time by the clocks of other nodes if it is later. So a clock that is
    /// behind does not end revocations early.
    pub(crate) fn not_behind(&self, now: i64) -> i64 {
        let others = self.others();
        let newest = others.newest().unwrap_or(now);
        newest.max(now.saturating_add(others.behind_by(Moment::now())))
    }

    pub(crate) fn rules_now(&self) -> Rules {
        self.snapshot.load().rules.clone()
    }

    /// Commits a transaction. All writes of this node use this.
    pub(crate) fn commit(&self, txn: Txn) -> Result<Outcome> {
        Ok(self.writes.commit(&*self.store, txn)?)
    }

    /// Returns all faults, without duplicates.
    fn fault(&self, write_fault: Option<String>) -> Option<String> {
        let follower = self.working().fault.clone();
        let due = self.due_fault().clone();
        let ended = lock(&self.ended).clone();
        let mut faults: Vec<String> = Vec::new();
        for fault in [ended, write_fault, follower, due].into_iter().flatten() {
            if !faults.contains(&fault) {
                faults.push(fault);
            }
        }
        (!faults.is_empty()).then(|| faults.join("; "))
    }

    /// Returns postponed work and differing clocks.
    fn warning(&self) -> Option<String> {
        let mut warnings: Vec<String> = self.others().warnings(Moment::now()).collect();
        if let Some(held) = self.held().clone() {
            let reason = self.clock_guard().reason();
            match warnings.is_empty() {
                true => warnings.push(format!("{held} is due and waits: {reason}")),
                false => warnings.push(format!("{held} is due and waits")),
            }
        }
        (!warnings.is_empty()).then(|| warnings.join("; "))
    }

    fn due_fault(&self) -> MutexGuard<'_, Option<String>> {
        lock(&self.due_fault)
    }

    fn held(&self) -> MutexGuard<'_, Option<String>> {
        lock(&self.held)
    }

    fn clock_guard(&self) -> MutexGuard<'_, ClockGuard> {
        lock(&self.clock_guard)
    }

    fn others(&self) -> MutexGuard<'_, OtherClocks> {
        lock(&self.others)
    }

    /// Waits until the snapshot shows that revision.
    pub(crate) fn wait_for(&self, revision: Revision) -> Result<()> {
        self.wait_at_most(revision, TIMEOUT)
    }

    fn wait_at_most(&self, revision: Revision, timeout: Duration) -> Result<()> {
        let working = self.working();
        let behind = |working: &mut Working| working.snapshot.revision < revision;
        let (_working, waited) = self
            .applied
            .wait_timeout_while(working, timeout, behind)
            .unwrap_or_else(PoisonError::into_inner);
        if waited.timed_out() {
            return Err(Error::Stale);
        }
        Ok(())
    }

    fn working(&self) -> MutexGuard<'_, Working> {
        lock(&self.working)
    }

    fn heard_ago(&self) -> Duration {
        let heard = Duration::from_millis(self.heard.load(Ordering::Acquire).unsigned_abs());
        self.started.elapsed().saturating_sub(heard)
    }

    /// Records that the view is complete up to that moment.
    fn hear(&self, as_of: Moment) {
        let after = as_of.duration_since(self.started);
        let after = i64::try_from(after.as_millis()).unwrap_or(i64::MAX);
        self.heard.fetch_max(after, Ordering::Release);
    }

    fn is_stale(&self) -> bool {
        self.heard_ago() > self.options.freshness
    }
}
