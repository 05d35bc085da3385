//! Whether the store takes what this node writes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jeton_store::{Error, Outcome, Store, Txn, block_on};

/// How often a store that takes everything is asked whether it goes on doing so: another node may have
/// used up its room.
const ASK_EVERY: Duration = Duration::from_secs(5);

/// What became of the writes of this node.
#[derive(Debug, Default)]
pub(super) struct Writes {
    failures: AtomicU64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    fault: Option<String>,
    asked: Option<Instant>,
}

impl Writes {
    /// Commits, and remembers if the store cannot.
    pub(super) fn commit(&self, store: &dyn Store, txn: Txn) -> jeton_store::Result<Outcome> {
        let ended = block_on(store.commit(txn));
        match &ended {
            Ok(Outcome::Committed(_)) => self.state().fault = None,
            // It was read, not written.
            Ok(Outcome::Conflict(_)) => {}
            Err(Error::Overloaded | Error::Invalid(_) | Error::Closed) => {}
            Err(error) => {
                self.failures.fetch_add(1, Ordering::Relaxed);
                if is_fault(error) {
                    self.state().fault = Some(error.to_string());
                } else {
                    // What it means for the next write is asked before long.
                    self.state().asked = None;
                }
            }
        }
        ended
    }

    /// Asks a store that cannot be written whether it can again, and from time to time one that can.
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
            // Unless another write has failed meanwhile, which this answer may not know of.
            Ok(()) if failures == self.failures() => self.state().fault = None,
            Err(error) if is_fault(&error) => self.state().fault = Some(error.to_string()),
            // Or it is out of reach: the freshness bound is about that.
            Ok(()) | Err(_) => {}
        }
    }

    pub(super) fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    pub(super) fn fault(&self) -> Option<String> {
        self.state().fault.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether nothing can be written until something has been done about it.
fn is_fault(error: &Error) -> bool {
    matches!(error, Error::Full | Error::Failed | Error::Damaged(_))
}
