//! The connections of one listener: as many as it takes, and when something was last sent or received on
//! each. A client that holds connections and says nothing must not keep others out.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::Notify;

use crate::limits::IDLE_BEFORE_EVICTION;

/// Those that make room for others, and are not closed yet: no more at once.
const EVICTING: usize = 32;

/// All of a listener.
pub(crate) struct Connections {
    most: usize,
    began: Instant,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    next: u64,
    by_number: HashMap<u64, Arc<Activity>>,
    evicting: usize,
}

/// A connection's place among those that its listener takes; given back when it is dropped.
pub(crate) struct ConnectionPermit {
    all: Arc<Connections>,
    number: u64,
    activity: Arc<Activity>,
}

/// When something was last sent or received on a connection, and whether something is being answered.
#[derive(Debug)]
pub(crate) struct Activity {
    began: Instant,
    /// Milliseconds since then.
    at: AtomicU64,
    calls: AtomicUsize,
    evict: Notify,
}

/// A call that is being answered.
pub(crate) struct ActiveCall(Arc<Activity>);

/// Why there is no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Full;

impl Connections {
    pub(crate) fn new(most: usize) -> Arc<Connections> {
        Arc::new(Connections {
            most,
            began: Instant::now(),
            open: Mutex::default(),
        })
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        let open = self.open();
        open.by_number.len() + open.evicting
    }

    /// A place for a new one. If all are taken, the one that has been idle the longest makes room; true
    /// says that one does.
    pub(super) fn take(self: &Arc<Connections>) -> Result<(ConnectionPermit, bool), Full> {
        let activity = Arc::new(Activity {
            began: self.began,
            at: AtomicU64::new(0),
            calls: AtomicUsize::new(0),
            evict: Notify::new(),
        });
        activity.touch();
        let mut open = self.open();
        let is_full = open.by_number.len() >= self.most;
        if is_full {
            open.evict_idle(activity.at())?;
        }
        let number = open.next;
        open.next += 1;
        open.by_number.insert(number, activity.clone());
        let permit = ConnectionPermit {
            all: self.clone(),
            number,
            activity,
        };
        Ok((permit, is_full))
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    fn evict_idle(&mut self, now: u64) -> Result<(), Full> {
        let idle = |activity: &Activity| {
            let milliseconds = now.saturating_sub(activity.at());
            u128::from(milliseconds) >= IDLE_BEFORE_EVICTION.as_millis()
        };
        // Who waits for an answer says nothing either, and goes last.
        let idle = self.by_number.iter().filter(|(_, one)| idle(one));
        let oldest = idle.min_by_key(|(_, one)| (one.has_active_call(), one.at()));
        let (number, oldest) = oldest.ok_or(Full)?;
        if self.evicting >= EVICTING {
            return Err(Full);
        }
        oldest.evict.notify_one();
        let number = *number;
        self.by_number.remove(&number);
        self.evicting += 1;
        Ok(())
    }
}

impl ConnectionPermit {
    pub(super) fn activity(&self) -> &Arc<Activity> {
        &self.activity
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        let mut open = self.all.open();
        if open.by_number.remove(&self.number).is_none() {
            open.evicting -= 1;
        }
    }
}

impl Drop for ActiveCall {
    fn drop(&mut self) {
        self.0.calls.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Activity {
    /// Something was sent or received.
    pub(super) fn touch(&self) {
        let milliseconds = self.began.elapsed().as_millis();
        let milliseconds = u64::try_from(milliseconds).unwrap_or(u64::MAX);
        self.at.store(milliseconds, Ordering::Relaxed);
    }

    /// Waits until the connection is to make room for another.
    pub(super) async fn evicted(&self) {
        self.evict.notified().await;
    }

    /// A call is being answered until that is dropped.
    pub(crate) fn answer(self: &Arc<Activity>) -> ActiveCall {
        self.calls.fetch_add(1, Ordering::Relaxed);
        ActiveCall(self.clone())
    }

    fn has_active_call(&self) -> bool {
        self.calls.load(Ordering::Relaxed) > 0
    }

    fn at(&self) -> u64 {
        self.at.load(Ordering::Relaxed)
    }
}
