//! The connections of one listener: their limit, and the last activity of each.
//!
//! At the limit, the connection that was idle the longest is closed, so that idle clients do not block
//! others.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::Notify;

use crate::account::Charge;
use crate::limits::IDLE_BEFORE_EVICTION;

/// Maximum number of evicted connections that are not closed yet.
const MAX_EVICTING: usize = 32;

/// The connections of a listener.
pub(crate) struct Connections {
    limit: usize,
    began: Instant,
    open: Mutex<OpenConnections>,
}

#[derive(Default)]
struct OpenConnections {
    next: u64,
    by_number: HashMap<u64, Arc<Activity>>,
    evicting: usize,
}

/// The permit of one connection. Dropping it allows another connection.
pub struct ConnectionPermit {
    all: Arc<Connections>,
    number: u64,
    activity: Arc<Activity>,
    charge: Arc<Charge>,
}

/// The time of the last activity on a connection, and its running calls.
#[derive(Debug)]
pub(crate) struct Activity {
    began: Instant,
    /// The last activity, milliseconds since `began`.
    at: AtomicU64,
    calls: AtomicUsize,
    /// Request bodies that no call reads yet.
    unread_bodies: AtomicUsize,
    evict: Notify,
}

#[derive(Debug)]
/// A running call. Its connection is evicted only after idle connections.
pub(crate) struct ActiveCall(Arc<Activity>);

/// The listener is at its limit, and no connection can be evicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ListenerFull;

impl Connections {
    pub(crate) fn new(limit: usize) -> Arc<Connections> {
        Arc::new(Connections {
            limit,
            began: Instant::now(),
            open: Mutex::default(),
        })
    }

    /// The number of open connections.
    pub(crate) fn count(&self) -> usize {
        let open = self.lock();
        open.by_number.len() + open.evicting
    }

    /// Returns a permit for a new connection.
    ///
    /// At the limit, evicts the connection that was idle the longest. The flag is true if one was evicted.
    pub(crate) fn acquire(
        self: &Arc<Connections>,
        charge: Charge,
    ) -> Result<(ConnectionPermit, bool), ListenerFull> {
        let activity = Activity::new(self.began);
        let mut open = self.lock();
        let is_full = open.by_number.len() >= self.limit;
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
            charge: Arc::new(charge),
        };
        Ok((permit, is_full))
    }

    /// Evicts the connection that was idle the longest, if there is one.
    pub(crate) fn evict_idle(&self) -> Result<(), ListenerFull> {
        let now = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.lock().evict_idle(now)
    }

    fn lock(&self) -> MutexGuard<'_, OpenConnections> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenConnections {
    fn evict_idle(&mut self, now: u64) -> Result<(), ListenerFull> {
        let idle = |activity: &Activity| {
            let milliseconds = now.saturating_sub(activity.at());
            u128::from(milliseconds) >= IDLE_BEFORE_EVICTION.as_millis()
        };
        // A client that waits for a response is silent too, so its connection is evicted last.
        let idle = self.by_number.iter().filter(|(_, one)| idle(one));
        let oldest = idle.min_by_key(|(_, one)| (one.calls() > 0, one.at()));
        let (number, oldest) = oldest.ok_or(ListenerFull)?;
        if self.evicting >= MAX_EVICTING {
            return Err(ListenerFull);
        }
        oldest.evict.notify_one();
        let number = *number;
        self.by_number.remove(&number);
        self.evicting += 1;
        Ok(())
    }
}

impl ConnectionPermit {
    pub(crate) fn activity(&self) -> &Arc<Activity> {
        &self.activity
    }

    pub(crate) fn charge(&self) -> &Arc<Charge> {
        &self.charge
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        let mut open = self.all.lock();
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

impl ActiveCall {
    /// Says that nothing reads the body of the request yet.
    pub(crate) fn leave_body_unread(&self) {
        self.0.unread_bodies.fetch_add(1, Ordering::Relaxed);
    }

    /// Says that the body is read or dropped.
    pub(crate) fn take_body(&self) {
        self.0.unread_bodies.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Activity {
    pub(crate) fn new(began: Instant) -> Arc<Activity> {
        let activity = Activity {
            began,
            at: AtomicU64::new(0),
            calls: AtomicUsize::new(0),
            unread_bodies: AtomicUsize::new(0),
            evict: Notify::new(),
        };
        activity.touch();
        Arc::new(activity)
    }

    /// Records that bytes were sent or received.
    pub(crate) fn touch(&self) {
        let milliseconds = self.began.elapsed().as_millis();
        let milliseconds = u64::try_from(milliseconds).unwrap_or(u64::MAX);
        self.at.store(milliseconds, Ordering::Relaxed);
    }

    /// Waits until the connection is evicted.
    pub(crate) async fn evicted(&self) {
        self.evict.notified().await;
    }

    /// Marks the connection as busy until the guard is dropped.
    pub(crate) fn begin_call(self: &Arc<Activity>) -> ActiveCall {
        self.calls.fetch_add(1, Ordering::Relaxed);
        ActiveCall(self.clone())
    }

    /// Running calls.
    pub(crate) fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }

    /// Whether a call has a body that it does not read yet.
    pub(crate) fn has_unread_body(&self) -> bool {
        self.unread_bodies.load(Ordering::Relaxed) > 0
    }

    fn at(&self) -> u64 {
        self.at.load(Ordering::Relaxed)
    }
}
