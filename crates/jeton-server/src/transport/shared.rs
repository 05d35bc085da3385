//! What all connections of a server share.

use std::sync::Arc;

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
    /// True once the server has been told to stop.
    pub(crate) stopping: watch::Receiver<bool>,
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
        }
    }

    pub(crate) fn is_stopping(&self) -> bool {
        *self.stopping.borrow()
    }
}
