//! What all connections of a server share.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arc_swap::ArcSwapOption;
use tokio::sync::watch;

use crate::account::{Account, Share};
use crate::counters::ConnectionCounters;
use crate::overload::Load;
use crate::settings::Settings;
use crate::tls::{Authorities, TlsConfig};

/// Settings, counters and the account of memory. Handling a request takes none of its locks.
#[derive(Debug)]
pub struct Shared {
    /// What the configuration decides.
    pub settings: Settings,
    /// What happened to connections.
    pub counters: ConnectionCounters,
    /// The scheduling delay of the workers.
    pub load: Load,
    /// The memory that clients make the server hold.
    pub account: Arc<Account>,
    /// True once the server accepts no more connections.
    pub stopping: watch::Receiver<bool>,
    leaving: AtomicBool,
    /// The authorities of clients. `None`: no TLS.
    authorities: ArcSwapOption<Authorities>,
}

impl Shared {
    /// Creates the state. `stopping` becomes true when the server stops.
    pub fn new(settings: Settings, stopping: watch::Receiver<bool>) -> Shared {
        Shared {
            account: Account::new(settings.memory_bytes, settings.memory_share_bytes),
            settings,
            counters: ConnectionCounters::default(),
            load: Load::default(),
            stopping,
            leaving: AtomicBool::new(false),
            authorities: ArcSwapOption::empty(),
        }
    }

    /// The authorities of clients that count now.
    pub fn authorities(&self) -> Option<Authorities> {
        self.authorities.load().as_deref().copied()
    }

    pub(crate) fn set_authorities(&self, tls: Option<&TlsConfig>) {
        self.authorities
            .store(tls.map(|tls| Arc::new(tls.authorities)));
    }

    /// The share of an address.
    pub(crate) fn share_of(&self, address: IpAddr) -> Arc<Share> {
        if self.settings.proxies.contains(&address.to_canonical()) {
            self.account.of_proxy(address)
        } else {
            self.account.of_address(address)
        }
    }

    fn is_stopping(&self) -> bool {
        *self.stopping.borrow()
    }

    /// Returns whether the server has been told to stop. It may still accept calls.
    pub fn is_leaving(&self) -> bool {
        self.leaving.load(Ordering::Relaxed) || self.is_stopping()
    }

    /// Says that the server has been told to stop.
    pub fn leave(&self) {
        self.leaving.store(true, Ordering::Relaxed);
    }
}
