//! What all connections of a server share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::watch;

use super::counters::ConnectionCounters;
use super::grpc::body_budget::BodyBudget;
use super::overload::Load;
use super::settings::Settings;
use super::unread_responses::AllUnreadResponses;

/// Settings, counters and memory budgets. Handling a request takes none of its locks.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) settings: Settings,
    pub(crate) counters: ConnectionCounters,
    pub(crate) load: Load,
    pub(crate) body_budget: Arc<BodyBudget>,
    pub(crate) unread: Arc<AllUnreadResponses>,
    /// True once the server accepts no more connections.
    pub(crate) stopping: watch::Receiver<bool>,
    leaving: AtomicBool,
}

impl Shared {
    pub(crate) fn new(settings: Settings, stopping: watch::Receiver<bool>) -> Shared {
        Shared {
            settings,
            counters: ConnectionCounters::default(),
            load: Load::default(),
            body_budget: Arc::new(BodyBudget::new(settings.client_stall_timeout)),
            unread: Arc::default(),
            stopping,
            leaving: AtomicBool::new(false),
        }
    }

    pub(crate) fn is_stopping(&self) -> bool {
        *self.stopping.borrow()
    }

    /// Returns whether the server has been told to stop. It may still accept calls.
    pub(crate) fn is_leaving(&self) -> bool {
        self.leaving.load(Ordering::Relaxed) || self.is_stopping()
    }

    pub(crate) fn leave(&self) {
        self.leaving.store(true, Ordering::Relaxed);
    }
}
