//! Tracks whether the store accepts writes of this node.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jeton_store::{Error, Outcome, Store, Txn, block_on};

use super::cause::Cause;

/// Interval of checks of a healthy store: another node may have filled it.
const ASK_EVERY: Duration = Duration::from_secs(5);

/// Outcome of the writes of this node.
#[derive(Debug, Default)]
pub(super) struct Writes {
    failures: AtomicU64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    fault: Option<(Cause, String)>,
    asked: Option<Instant>,
}

impl Writes {
    /// Commits, and records a failure of the store.
    pub(super) fn commit(&self, store: &dyn Store, txn: Txn) -> jeton_store::Result<Outcome> {
        let ended = block_on(store.commit(txn));
        self.record(&ended);
        ended
    }

    /// Records the outcome of a commit.
    pub(super) fn record(&self, ended: &jeton_store::Result<Outcome>) {
        match ended {
            Ok(Outcome::Committed(_)) => self.state().fault = None,
            // A failed read is not a failed write.
            Ok(Outcome::Conflict(_)) => {}
            Err(Error::Overloaded | Error::Invalid(_) | Error::Closed) => {}
            Err(error) => {
                self.failures.fetch_add(1, Ordering::Relaxed);
                if let Some(cause) = cause_of(error) {
                    self.state().fault = Some((cause, error.to_string()));
                } else {
                    // The next check tells whether writes fail too.
                    self.state().asked = None;
                }
            }
        }
    }

    /// Checks a failed store, and at intervals a healthy one.
    pub(super) fn look(&self, store: &dyn Store) {
        let failures = self.failures();
        {
            let mut state = self.state();
            let is_asked = (state.asked).is_some_and(|asked| asked.elapsed() < ASK_EVERY);
            if state.fault.is_none() && is_asked {
                return;
            }
            state.asked = Some(Instant::now());
        }
        match block_on(store.check_writable()) {
            // Unless another write failed in between, which this answer may not reflect.
            Ok(()) if failures == self.failures() => self.state().fault = None,
            Err(error) => {
                // An unreachable store is silent, which the node notices by itself.
                if let Some(cause) = cause_of(&error) {
                    self.state().fault = Some((cause, error.to_string()));
                }
            }
            Ok(()) => {}
        }
    }

    pub(super) fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    pub(super) fn fault(&self) -> Option<(Cause, String)> {
        self.state().fault.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the cause, if writes fail until someone acts.
fn cause_of(error: &Error) -> Option<Cause> {
    match error {
        Error::Full => Some(Cause::StoreFull),
        Error::Failed | Error::Damaged(_) => Some(Cause::StoreFailed),
        _ => None,
    }
}
