//! A wrapper of a shared store. A test can act between the reads and commits of a node, delay its updates,
//! or disconnect it.

use std::io::ErrorKind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use jeton_store::{
    Error, Event, Key, Operation, Outcome, Pages, Pending, Prefix, Read, Revision, Status, Store,
    Txn, Update, Watch,
};

/// The wrapper of one node. Clones share it.
#[derive(Clone)]
pub(crate) struct InterceptedStore(Arc<State>);

struct State {
    store: Arc<dyn Store>,
    hook: Mutex<Option<Hook>>,
    read_hook: Mutex<Option<Hook>>,
    each_commit: Mutex<Option<Box<dyn Fn() + Send>>>,
    is_away: AtomicBool,
    gate: Arc<Gate>,
    lost: Arc<Mutex<Option<&'static str>>>,
}

struct Hook {
    under: &'static str,
    act: Box<dyn FnOnce() + Send>,
}

/// Updates wait here while it is closed.
#[derive(Default)]
struct Gate {
    is_closed: Mutex<bool>,
    opened: Condvar,
}

impl InterceptedStore {
    pub(crate) fn new(store: &Arc<dyn Store>) -> InterceptedStore {
        InterceptedStore(Arc::new(State {
            store: store.clone(),
            hook: Mutex::new(None),
            read_hook: Mutex::new(None),
            each_commit: Mutex::new(None),
            is_away: AtomicBool::new(false),
            gate: Arc::default(),
            lost: Arc::default(),
        }))
    }

    /// Returns the store for a node.
    pub(crate) fn store(&self) -> Arc<dyn Store> {
        Arc::new(self.clone())
    }

    /// Acts once, before the node's next commit that changes a key with this prefix.
    pub(crate) fn before_commit(&self, under: &'static str, act: impl FnOnce() + Send + 'static) {
        let act = Box::new(act);
        *self.0.hook.lock().unwrap() = Some(Hook { under, act });
    }

    /// Acts before each commit of the node from now on, in the thread that commits.
    #[allow(dead_code, reason = "used by the unit tests of the node")]
    pub(crate) fn each_commit(&self, act: impl Fn() + Send + 'static) {
        *self.0.each_commit.lock().unwrap() = Some(Box::new(act));
    }

    /// Acts once, after the node's next read of a key with this prefix.
    pub(crate) fn after_read(&self, under: &'static str, act: impl FnOnce() + Send + 'static) {
        let act = Box::new(act);
        *self.0.read_hook.lock().unwrap() = Some(Hook { under, act });
    }

    /// Returns whether it has acted.
    pub(crate) fn has_acted(&self) -> bool {
        self.0.hook.lock().unwrap().is_none()
    }

    /// Cancels the act.
    #[allow(dead_code, reason = "used by the unit tests of the node")]
    pub(crate) fn forget_act(&self) {
        *self.0.hook.lock().unwrap() = None;
    }

    /// Delays all updates from now on.
    pub(crate) fn lag(&self) {
        *self.0.gate.is_closed.lock().unwrap() = true;
    }

    /// Delivers all delayed updates.
    pub(crate) fn catch_up(&self) {
        *self.0.gate.is_closed.lock().unwrap() = false;
        self.0.gate.opened.notify_all();
    }

    /// Withholds the changes of keys with this prefix from the node, for good.
    #[allow(dead_code, reason = "the unit tests of the node lose nothing")]
    pub(crate) fn lose(&self, under: Option<&'static str>) {
        *self.0.lost.lock().unwrap() = under;
    }

    /// Sets whether the store is unreachable for the node.
    pub(crate) fn be_away(&self, is_away: bool) {
        self.0.is_away.store(is_away, Ordering::SeqCst);
    }

    fn check(&self) -> Result<(), Error> {
        if self.0.is_away.load(Ordering::SeqCst) {
            Err(Error::Io(ErrorKind::TimedOut, "away".to_owned()))
        } else {
            Ok(())
        }
    }
}

impl Drop for State {
    fn drop(&mut self) {
        // A waiting follower must end.
        *self.gate.is_closed.lock().unwrap() = false;
        self.gate.opened.notify_all();
    }
}

fn changes(txn: &Txn, under: &str) -> bool {
    txn.operations().iter().any(|operation| match operation {
        Operation::Put(key, _) | Operation::Delete(key) => key.as_str().starts_with(under),
        Operation::DeletePrefix(prefix) => prefix.as_str().starts_with(under),
    })
}

impl Store for InterceptedStore {
    fn read(&self, keys: &[Key]) -> Pending<'_, Read> {
        if let Err(error) = self.check() {
            return Box::pin(std::future::ready(Err(error)));
        }
        let mut hook = self.0.read_hook.lock().unwrap();
        let is_meant = |hook: &Hook| keys.iter().any(|key| key.as_str().starts_with(hook.under));
        let due = if hook.as_ref().is_some_and(is_meant) {
            hook.take()
        } else {
            None
        };
        let read = self.0.store.read(keys);
        Box::pin(async move {
            let read = read.await;
            if let Some(hook) = due {
                (hook.act)();
            }
            read
        })
    }

    fn scan(&self, prefix: &Prefix) -> Pending<'_, Box<dyn Pages>> {
        self.0.store.scan(prefix)
    }

    fn commit(&self, txn: Txn) -> Pending<'_, Outcome> {
        let mut hook = self.0.hook.lock().unwrap();
        let is_meant = hook.as_ref().is_some_and(|hook| changes(&txn, hook.under));
        let due = if is_meant { hook.take() } else { None };
        drop(hook);
        if let Some(hook) = due {
            (hook.act)();
        }
        if let Some(act) = &*self.0.each_commit.lock().unwrap() {
            act();
        }
        match self.check() {
            Ok(()) => self.0.store.commit(txn),
            Err(error) => Box::pin(std::future::ready(Err(error))),
        }
    }

    fn watch(&self, prefix: &Prefix, after: Revision) -> Pending<'_, Box<dyn Watch>> {
        let watch = self.0.store.watch(prefix, after);
        let (gate, lost) = (self.0.gate.clone(), self.0.lost.clone());
        Box::pin(async move {
            let watch = watch.await?;
            Ok(Box::new(Held { watch, gate, lost }) as Box<dyn Watch>)
        })
    }

    fn status(&self) -> Pending<'_, Status> {
        self.0.store.status()
    }
}

/// Holds no reference to the store, which ends the wait when it is dropped.
struct Held {
    watch: Box<dyn Watch>,
    gate: Arc<Gate>,
    lost: Arc<Mutex<Option<&'static str>>>,
}

impl Watch for Held {
    fn next(&mut self) -> Pending<'_, Update> {
        Box::pin(async move {
            let mut update = self.watch.next().await?;
            if let Some(under) = *self.lost.lock().unwrap() {
                update.events.retain(|event| match event {
                    Event::Put(entry) => !entry.key.as_str().starts_with(under),
                    Event::Deleted(key) => !key.as_str().starts_with(under),
                    Event::DeletedPrefix(_) => true,
                });
            }
            let closed = self.gate.is_closed.lock().unwrap();
            drop(
                self.gate
                    .opened
                    .wait_while(closed, |closed| *closed)
                    .unwrap(),
            );
            Ok(update)
        })
    }
}

impl std::fmt::Debug for InterceptedStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("InterceptedStore")
    }
}
