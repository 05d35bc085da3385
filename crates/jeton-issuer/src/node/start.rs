//! Starts a node and its threads.

use std::sync::atomic::{AtomicI64, AtomicU64};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Condvar, Mutex, Weak};
use std::thread;

use arc_swap::ArcSwap;
use jeton::Clock;
use jeton_store::{Moment, Store};

use super::cause::Since;
use super::clock_guard::ClockGuard;
use super::comparison::Comparison;
use super::history::History;
use super::inner::Inner;
use super::lock::lock;
use super::recent::Recent;
use super::working::Working;
use super::writes::Writes;
use super::{Node, Options, compare, follower, revocation_writer, revoke_token};
use crate::audit::{self, OwnChain};
use crate::error::{Error, Result};
use crate::limits;

impl Node {
    /// Starts a node: loads everything from the store and follows it. Takes as long as reading the store.
    ///
    /// # Errors
    ///
    /// [`Error::WrongKeyEncryptionKey`], [`Error::Record`], [`Error::NewerRecord`], [`Error::Store`].
    pub fn start(store: Arc<dyn Store>, options: Options, clock: Arc<dyn Clock>) -> Result<Node> {
        let started = Moment::now();
        let (working, as_of, watch) = Working::load(&*store, &options.keys, &clock)?;
        let (revision, newest) = (working.snapshot.revision, working.newest);
        let clock_guard = ClockGuard::new(clock.now().unix_seconds(), Moment::now());
        let compare_every = options.compare_every;
        let (comparing, compared_until) = sync_channel(0);
        let inner = Arc::new(Inner {
            snapshot: ArcSwap::from_pointee(working.snapshot.clone()),
            working: Mutex::new(working),
            applied: Condvar::new(),
            recent: Arc::new(Recent::new(revision, as_of, newest)),
            store,
            clock,
            options,
            started,
            heard: AtomicI64::new(0),
            stale_answers: AtomicU64::new(0),
            clock_guard: Mutex::new(clock_guard),
            others: Mutex::default(),
            peers: Mutex::default(),
            history: History::default(),
            writes: Writes::default(),
            since: Since::default(),
            own_chain: Mutex::new(OwnChain::new()),
            due_fault: Mutex::default(),
            held: Mutex::default(),
            rotation: Mutex::default(),
            ended: Mutex::default(),
            comparison: Comparison::default(),
            _comparing: comparing,
        });
        inner.hear(as_of);
        // `verify_audit` reports a damaged chain.
        if let Ok(Some(written)) = audit::newest_time(&*inner.store) {
            lock(&inner.others).found(written, inner.now(), Moment::now());
        }
        inner.load_nodes()?;
        if let Some(record) = &inner.options.record {
            let now = inner.now();
            lock(&inner.peers).run_as(&record.name, record.reads, record.every, now);
            inner.write_own_record(now);
        }
        let (jobs, waiting) = sync_channel(limits::WAITING_REVOCATIONS);
        let (wanted, asked) = sync_channel(limits::WAITING_TOKENS);
        let node = Arc::downgrade(&inner);
        let thread = |name: &str| thread::Builder::new().name(name.to_owned());
        let ending = |thread| Ending(node.clone(), thread);
        let (writer_ends, follower_ends) = (ending("jeton-revocations"), ending("jeton-follower"));
        let keys_end = ending("jeton-keys");
        let comparing_ends = compare_every.map(|interval| (interval, ending("jeton-comparison")));
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
                let Some((interval, comparison_ends)) = comparing_ends else {
                    return Ok(());
                };
                let node = node.clone();
                let spawned = thread("jeton-comparison").spawn(move || {
                    let _ending = comparison_ends;
                    compare::run(&node, interval, &compared_until);
                });
                spawned.map(drop)
            })
            .and_then(|()| {
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
