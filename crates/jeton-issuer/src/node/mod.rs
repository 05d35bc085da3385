//! The shell: decisions run on a store, and answers from a snapshot.

mod acts;
mod desk;
mod due;
mod feed;
mod follower;
mod lookup;
mod other_clocks;
mod recent;
mod revoke_token;
mod settings;
mod steady;
mod writes;

pub use desk::{Desk, DeskSeries, Lent};
pub use feed::{RevocationFeed, RevocationNews};
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
use crate::scribe::{self, Job};
use crate::seal::KeyEncryptionKey;
use crate::settings::name;
use crate::snapshot::{KeySetDocument, Snapshot};
use follower::Working;
use other_clocks::OtherClocks;
use recent::Recent;
use revoke_token::Wanted;
use steady::Steady;
use writes::Writes;

/// How a node runs.
#[derive(Debug)]
pub struct Options {
    keks: Vec<KeyEncryptionKey>,
    freshness: Duration,
    stale: Stale,
    issue_without_store: Duration,
    token_bytes: usize,
}

/// What a node does whose view of the store is older than the freshness bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stale {
    /// It refuses to verify: a revocation may have been missed.
    Refuse,
    /// It goes on, counts what it answered, and says that it is not ready.
    Answer,
}

impl Options {
    /// Private keys are encrypted under that key; 15 s of freshness, and none is [`Stale::Refuse`].
    pub fn new(key: KeyEncryptionKey) -> Options {
        Options {
            keks: vec![key],
            freshness: Duration::from_secs(15),
            stale: Stale::Refuse,
            issue_without_store: limits::ISSUE_WITHOUT_STORE,
            token_bytes: limits::TOKEN_BYTES,
        }
    }

    /// The longest token that is issued, and that is verified, introspected or revoked, bytes: the same for
    /// all, so that what is issued can be taken back. [`limits::TOKEN_BYTES`] unless said;
    /// [`limits::TOKEN_BYTES_MIN`] to [`limits::TOKEN_BYTES_MAX`].
    #[must_use]
    pub fn token_bytes(mut self, limit: usize) -> Options {
        self.token_bytes = limit.clamp(limits::TOKEN_BYTES_MIN, limits::TOKEN_BYTES_MAX);
        self
    }

    /// Keys that are still encrypted under an older key are read too.
    #[must_use]
    pub fn also_reads(mut self, older: KeyEncryptionKey) -> Options {
        self.keks.push(older);
        self
    }

    /// How old the view of the store may be, and what happens when it is older. Below
    /// [`FRESHNESS_LEAST`](jeton_store::limits::FRESHNESS_LEAST) a node on an idle store is stale between two
    /// reports.
    #[must_use]
    pub fn freshness(mut self, bound: Duration, stale: Stale) -> Options {
        self.freshness = bound;
        self.stale = stale;
        self
    }

    /// For how long a node issues that hears nothing from the store; an issuer whose lead is shorter, for its
    /// lead. [`limits::ISSUE_WITHOUT_STORE`] unless said; [`limits::ISSUE_WITHOUT_STORE_MAX`] at most.
    #[must_use]
    pub fn issue_without_store(mut self, bound: Duration) -> Options {
        self.issue_without_store = bound.min(limits::ISSUE_WITHOUT_STORE_MAX);
        self
    }
}

/// What a caller wants issued.
#[derive(Debug, Clone)]
pub struct Request<'r> {
    profile: &'r str,
    subject: Option<&'r str>,
    audience: Option<&'r str>,
    claims: CustomClaims<'r>,
}

impl<'r> Request<'r> {
    /// A token of that profile.
    pub fn new(profile: &'r str) -> Request<'r> {
        Request {
            profile,
            subject: None,
            audience: None,
            claims: CustomClaims::default(),
        }
    }

    /// `sub`.
    #[must_use]
    pub fn subject(mut self, subject: &'r str) -> Request<'r> {
        self.subject = Some(subject);
        self
    }

    /// `aud`: one of the profile's. Its first, unless said.
    #[must_use]
    pub fn audience(mut self, audience: &'r str) -> Request<'r> {
        self.audience = Some(audience);
        self
    }

    /// Claims of the caller's own.
    #[must_use]
    pub fn claims(mut self, claims: CustomClaims<'r>) -> Request<'r> {
        self.claims = claims;
        self
    }
}

/// A token that was issued.
#[derive(Clone, PartialEq, Eq)]
pub struct Issued {
    /// The token.
    pub token: String,
    /// Its `jti`: what revokes it.
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

/// Whom a token must be for.
pub type Expectation<'e> = &'e str;

/// How a node is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// Whether it should be sent requests: its view is fresh, the store can be written, and every profile
    /// has a key that signs, or, if the profile is new, one that will after the lead.
    pub is_ready: bool,
    /// How far it has followed the store.
    pub revision: Revision,
    /// How long ago it heard from the store.
    pub heard: Duration,
    /// Live revocations of single tokens.
    pub revocations: usize,
    /// Rules: revoked subjects, clients, keys, and tokens without a known expiry.
    pub rules: usize,
    /// Issuers.
    pub issuers: Vec<String>,
    /// Answers given from a view older than the freshness bound.
    pub stale_answers: u64,
    /// Whether the store takes what this node writes, as far as it knows. Issuing and verifying go on
    /// without; revoking and rotating do not.
    pub is_writable: bool,
    /// Transactions of this node that the store failed to write.
    pub write_failures: u64,
    /// What is wrong, if anything is.
    pub fault: Option<String>,
    /// What an operator should look at although requests are answered: clocks that are apart, and what waits
    /// because of a clock.
    pub warning: Option<String>,
}

/// How long a node waits to see what it has written itself.
const PATIENCE: Duration = Duration::from_secs(30);

/// Issues, verifies and revokes, on a store that others may share. Clones are the same node.
#[derive(Clone)]
pub struct Node {
    inner: Arc<Inner>,
    // Its room is there from the beginning: boxed, it is small.
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
    /// For those who follow revocations.
    recent: Arc<Recent>,
    /// It counts while the machine is suspended: what was known before is old then.
    started: Moment,
    /// Milliseconds after `started`.
    heard: AtomicI64,
    stale_answers: AtomicU64,
    steady: Mutex<Steady>,
    others: Mutex<OtherClocks>,
    writes: Writes,
    /// What was wrong when what is due was last done.
    due_fault: Mutex<Option<String>>,
    /// What was due then and was not done.
    held: Mutex<Option<String>>,
    /// A thread of the node that has ended before it.
    ended: Mutex<Option<String>>,
}

/// Says that a thread has ended, if the node has not: it panicked.
struct Ending(Weak<Inner>, &'static str);

impl Drop for Ending {
    fn drop(&mut self) {
        let Ending(node, thread) = self;
        if let Some(node) = node.upgrade() {
            let what = format!("the thread {thread} has ended: start the server again");
            *lock(&node.ended) = Some(what);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Node {
    /// Loads everything from the store and follows it from there. Takes as long as reading the store.
    ///
    /// # Errors
    ///
    /// [`Error::WrongKeyEncryptionKey`], [`Error::Record`], [`Error::NewerRecord`], [`Error::Store`].
    pub fn start(store: Arc<dyn Store>, options: Options, clock: Arc<dyn Clock>) -> Result<Node> {
        let started = Moment::now();
        let (working, as_of, watch) = Working::load(&*store, &options.keks, &clock)?;
        let revision = working.snapshot.revision;
        let steady = Steady::new(clock.now().unix_seconds(), Moment::now());
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
            steady: Mutex::new(steady),
            others: Mutex::default(),
            writes: Writes::default(),
            due_fault: Mutex::default(),
            held: Mutex::default(),
            ended: Mutex::default(),
        });
        inner.hear(as_of);
        // A damaged chain is for `verify_audit` to find.
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
        let (scribe_ends, follower_ends) = (ending("jeton-scribe"), ending("jeton-follower"));
        let keys_end = ending("jeton-keys");
        let spawned = thread("jeton-scribe")
            .spawn({
                let node = node.clone();
                move || {
                    let _ending = scribe_ends;
                    scribe::run(&node, &waiting);
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

    /// Issues a token: no lock, no store.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownIssuer`], [`Error::UnknownProfile`], [`Error::NotReady`], [`Error::Invalid`]
    /// for an audience that the profile does not have, [`Error::Token`] for claims that no token holds.
    pub fn issue(&self, iss: &str, request: &Request<'_>) -> Result<Issued> {
        self.issue_if(iss, request, |_, _| Ok(()))
    }

    /// The same, if `permit` lets it: it is told the audience and the subject that the token would have.
    ///
    /// # Errors
    ///
    /// As [`issue`](Node::issue), and those of `permit`.
    pub fn issue_if<E: From<Error>>(
        &self,
        iss: &str,
        request: &Request<'_>,
        permit: impl FnOnce(&str, Option<&str>) -> Result<(), E>,
    ) -> Result<Issued, E> {
        self.with_desk(iss, request.profile, request.audience, |desk| {
            permit(desk.audience(), request.subject)?;
            Ok(desk.issue(request.subject, &request.claims)?)
        })?
    }

    /// Does something with a [`Desk`] for that profile and audience, the profile's first unless said:
    /// whoever issues many tokens has what they share looked up once.
    ///
    /// # Errors
    ///
    /// As [`issue`](Node::issue), without [`Error::Token`].
    pub fn with_desk<T>(
        &self,
        iss: &str,
        profile: &str,
        audience: Option<&str>,
        work: impl FnOnce(&Desk<'_>) -> T,
    ) -> Result<T> {
        let snapshot = self.inner.snapshot.load();
        let view = snapshot.issuer(iss)?;
        self.check_hearing(view)?;
        let (now, token_bytes) = (self.inner.clock.now(), self.inner.options.token_bytes);
        let desk = Desk::open(&snapshot, view, profile, audience, now, token_bytes)?;
        Ok(work(&desk))
    }

    /// Verifies a token of that issuer for that audience: no lock, no store.
    ///
    /// # Errors
    ///
    /// [`Error::Token`] with the rejection, [`Error::WrongAudience`], [`Error::Revoked`],
    /// [`Error::Stale`], [`Error::UnknownIssuer`].
    pub fn verify(
        &self,
        iss: &str,
        audience: Expectation<'_>,
        token: &str,
    ) -> Result<Verified<Untyped>> {
        let verified = self.introspect(iss, token)?;
        let is_meant = verified.audiences().any(|known| known == audience);
        match is_meant {
            true => Ok(verified),
            false => Err(Error::WrongAudience),
        }
    }

    /// Revokes. Answers when it is durable and this node honours it; many that wait are written with
    /// one flush.
    ///
    /// A token of a revoked subject, client or key is accepted exactly if its node had seen the rule when it
    /// issued the token, whatever the clocks say: see [`Stamp`](crate::Stamp).
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`], also for a rule beyond [`limits::RULES`]; [`Error::UnknownIssuer`];
    /// [`Error::Store`] if too many wait already, or with what the store said: an outcome that
    /// [is unknown](jeton_store::Error::is_outcome_unknown) may have happened. [`Error::Stale`]: it
    /// is durable, and this node has not seen it.
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

    /// The issuer's public keys, ready to be served.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownIssuer`].
    pub fn key_set(&self, iss: &str) -> Result<Arc<KeySetDocument>> {
        let snapshot = self.inner.snapshot.load();
        let view = snapshot.issuer(iss)?;
        Ok(view.key_set.clone())
    }

    /// Whether key sets may be cached for as long as they say. Not those of a node that has not heard from the
    /// store for a while: they may lack a key that signs before they are fetched again.
    pub fn key_sets_may_be_cached(&self) -> bool {
        let propagation = Duration::from_secs(limits::PROPAGATION_SECONDS.unsigned_abs());
        self.inner.heard_ago() <= self.inner.options.freshness.min(propagation)
    }

    /// The issuer's settings and its keys as they are now.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownIssuer`].
    pub fn issuer(&self, iss: &str) -> Result<(crate::IssuerSettings, crate::keyring::Keyring)> {
        let snapshot = self.inner.snapshot.load();
        let view = snapshot.issuer(iss)?;
        Ok((view.settings.clone(), view.keyring.clone()))
    }

    /// The rules in force for an issuer: what was revoked as a whole, until when. From the store.
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

    /// What its clock says.
    pub fn now(&self) -> Timestamp {
        self.inner.clock.now()
    }

    /// How far it has followed the store.
    pub fn revision(&self) -> Revision {
        self.inner.snapshot.load().revision
    }

    /// How the node is.
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
    /// What a node does that may have missed a revocation.
    fn check_freshness(&self) -> Result<()> {
        if self.inner.is_stale() {
            if self.inner.options.stale == Stale::Refuse {
                return Err(Error::Stale);
            }
            self.inner.stale_answers.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }
}

/// What [`Node::revoke`] answers: the revision at which the revocation is durable.
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

    /// That time, or what the clocks of other nodes say if it is later: a clock that is behind must not end
    /// revocations early.
    pub(crate) fn not_behind(&self, now: i64) -> i64 {
        let others = self.others();
        let newest = others.newest().unwrap_or(now);
        newest.max(now.saturating_add(others.behind_by(Moment::now())))
    }

    pub(crate) fn rules_now(&self) -> Rules {
        self.snapshot.load().rules.clone()
    }

    /// Every write of this node goes this way.
    pub(crate) fn commit(&self, txn: Txn) -> Result<Outcome> {
        Ok(self.writes.commit(&*self.store, txn)?)
    }

    /// All that is wrong, each once.
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

    /// What waits, and the clocks that are apart.
    fn warning(&self) -> Option<String> {
        let mut warnings: Vec<String> = self.others().warnings(Moment::now()).collect();
        if let Some(held) = self.held().clone() {
            let reason = self.steady().reason();
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

    fn steady(&self) -> MutexGuard<'_, Steady> {
        lock(&self.steady)
    }

    fn others(&self) -> MutexGuard<'_, OtherClocks> {
        lock(&self.others)
    }

    /// Waits until the snapshot shows that revision.
    pub(crate) fn wait_for(&self, revision: Revision) -> Result<()> {
        self.wait_at_most(revision, PATIENCE)
    }

    fn wait_at_most(&self, revision: Revision, patience: Duration) -> Result<()> {
        let working = self.working();
        let behind = |working: &mut Working| working.snapshot.revision < revision;
        let (_working, waited) = self
            .applied
            .wait_timeout_while(working, patience, behind)
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

    /// Everything up to that moment is known here.
    fn hear(&self, as_of: Moment) {
        let after = as_of.duration_since(self.started);
        let after = i64::try_from(after.as_millis()).unwrap_or(i64::MAX);
        self.heard.fetch_max(after, Ordering::Release);
    }

    fn is_stale(&self) -> bool {
        self.heard_ago() > self.options.freshness
    }
}
