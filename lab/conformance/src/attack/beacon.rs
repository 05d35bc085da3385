//! A listener on this machine. A verifier that connects to it has trusted an address in a token.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// Counts connections.
#[derive(Debug, Clone)]
pub(super) struct Beacon {
    pub address: String,
    calls: Arc<AtomicU64>,
}

impl Beacon {
    /// Listens on a free loopback port until the lab ends.
    pub(super) fn listen() -> Self {
        let calls = Arc::new(AtomicU64::new(0));
        let Ok(listener) = TcpListener::bind("127.0.0.1:0") else {
            return Self {
                address: "http://127.0.0.1:9/".into(),
                calls,
            };
        };
        let port = listener.local_addr().map_or(9, |a| a.port());
        let counted = calls.clone();
        thread::spawn(move || {
            for _ in listener.incoming() {
                counted.fetch_add(1, Ordering::SeqCst);
            }
        });
        Self {
            address: format!("http://127.0.0.1:{port}/keys.json"),
            calls,
        }
    }

    /// Returns the number of connections so far.
    pub(super) fn calls(&self) -> u64 {
        self.calls.load(Ordering::SeqCst)
    }
}
