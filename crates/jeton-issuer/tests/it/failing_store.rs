//! A store that fails on demand.

use std::future::{pending, poll_fn};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

use jeton_store::{
    Error, Key, MemoryStore, Outcome, Pages, Pending, Prefix, Read, Revision, Status, Store, Txn,
    Update, Watch,
};

/// Its fault. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Trouble(Arc<Switches>);

#[derive(Debug, Default)]
struct Switches {
    scans_fail: AtomicBool,
    watch_fails: AtomicBool,
    watch_panics: AtomicBool,
    is_held: AtomicBool,
    waiting: Mutex<Vec<Waker>>,
}

/// A store in memory with that fault for one node. Others can use the same store without it.
#[derive(Debug)]
pub(crate) struct FailingStore(pub(crate) MemoryStore, pub(crate) Trouble);

impl Trouble {
    /// Scans fail.
    pub(crate) fn scans_fail(&self, fail: bool) {
        self.0.scans_fail.store(fail, Ordering::SeqCst);
    }

    /// The current watch ends with an error.
    pub(crate) fn watch_fails_once(&self) {
        self.0.watch_fails.store(true, Ordering::SeqCst);
        self.wake();
    }

    /// The follower panics.
    pub(crate) fn watch_panics(&self) {
        self.0.watch_panics.store(true, Ordering::SeqCst);
        self.wake();
    }

    /// The node receives nothing, as if disconnected.
    pub(crate) fn hold(&self, is_held: bool) {
        self.0.is_held.store(is_held, Ordering::SeqCst);
        self.wake();
    }

    fn is_held(&self) -> bool {
        self.0.is_held.load(Ordering::SeqCst)
    }

    fn check(&self) -> Result<(), Error> {
        assert!(!self.0.watch_panics.load(Ordering::SeqCst), "as asked for");
        if self.0.watch_fails.swap(false, Ordering::SeqCst) {
            Err(Error::Damaged("as asked for".to_owned()))
        } else {
            Ok(())
        }
    }

    fn wake(&self) {
        let waiting = std::mem::take(&mut *self.0.waiting.lock().unwrap());
        waiting.into_iter().for_each(Waker::wake);
    }
}

impl Store for FailingStore {
    fn read(&self, keys: &[Key]) -> Pending<'_, Read> {
        self.0.read(keys)
    }

    fn scan(&self, prefix: &Prefix) -> Pending<'_, Box<dyn Pages>> {
        if self.1.0.scans_fail.load(Ordering::SeqCst) {
            Box::pin(async { Err(Error::Damaged("of the scan".to_owned())) })
        } else {
            self.0.scan(prefix)
        }
    }

    fn commit(&self, txn: Txn) -> Pending<'_, Outcome> {
        self.0.commit(txn)
    }

    fn watch(&self, prefix: &Prefix, after: Revision) -> Pending<'_, Box<dyn Watch>> {
        let prefix = prefix.clone();
        Box::pin(async move {
            let watch = self.0.watch(&prefix, after).await?;
            let watched = Watched(watch, self.1.clone());
            Ok(Box::new(watched) as Box<dyn Watch>)
        })
    }

    fn status(&self) -> Pending<'_, Status> {
        self.0.status()
    }
}

struct Watched(Box<dyn Watch>, Trouble);

impl Watch for Watched {
    fn next(&mut self) -> Pending<'_, Update> {
        let Watched(watch, trouble) = self;
        Box::pin(async move {
            let mut next: Option<Pending<'_, Update>> = None;
            let mut watch = Some(watch);
            poll_fn(move |context| {
                trouble
                    .0
                    .waiting
                    .lock()
                    .unwrap()
                    .push(context.waker().clone());
                if trouble.is_held() {
                    return Poll::Pending;
                }
                trouble.check()?;
                let next = next.get_or_insert_with(|| match watch.take() {
                    Some(watch) => watch.next(),
                    None => Box::pin(pending()),
                });
                next.as_mut().poll(context)
            })
            .await
        })
    }
}
