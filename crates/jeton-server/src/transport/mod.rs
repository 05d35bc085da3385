//! The transport: sockets, TLS, HTTP/1.1, HTTP/2 and the gRPC framing of unary calls.
//!
//! It knows nothing of tokens, issuers or callers. A [`Handler`] gets each request and returns its response.
//! Of the rest of the crate it uses only errors and the reader of text files; `cargo xtask arch` checks that.
//! `docs/reference/transport.md` explains it, and `src/plain_tonic_test/` compares it with tonic.
//!
//! One acceptor assigns the connections of the data listener to workers in rotation. Each worker is a thread
//! with its own runtime. `SO_REUSEPORT` would assign by hash: three connections to three workers are spread
//! evenly only two times in nine.

// Connections
mod accept;
mod connection;
mod connection_limit;
mod counters;
mod file_descriptors;
mod listener;
mod peer;
mod tls;

// Threads and time
mod inline_executor;
mod overload;
mod stall_timeout;
mod stop;
mod time_slice;
mod workers;

// Requests and responses
mod body_drain;
pub(crate) mod grpc;
mod held_response;
mod response;
mod write_coalescing;

// Limits
mod account;
pub(crate) mod limits;
mod settings;
mod shared;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use http::Request;

use self::listener::ListenerState;

pub(crate) use accept::{accept, bind, spawn};
pub(crate) use account::{Refused, return_memory};
pub(crate) use body_drain::DrainedBody;
pub(crate) use counters::ConnectionCounters;
pub(crate) use file_descriptors::connections as connections_within_descriptors;
pub(crate) use held_response::Stream as RequestStream;
pub(crate) use listener::Listener;
pub(crate) use overload::Load;
pub(crate) use peer::Peer;
pub(crate) use response::{ResponseBody, ResponseFuture};
pub(crate) use settings::Settings;
pub(crate) use shared::Shared;
pub(crate) use stop::wait_until_true;
pub(crate) use time_slice::{SlicedStream, TimeSlice};
pub(crate) use tls::{
    PeerCertificate, TlsConfig, TlsFiles, certificate_end, server_config as tls_config,
};
pub(crate) use workers::Workers;

/// Handles the requests of all connections.
pub(crate) trait Handler: Send + Sync {
    /// Handles one request. An error is a response too.
    fn handle(&self, peer: &Arc<Peer>, request: Request<DrainedBody>) -> ResponseFuture;
}

/// The state that all connections use.
pub(crate) struct Transport {
    handler: Box<dyn Handler>,
    shared: Arc<Shared>,
    /// `None`: no TLS.
    tls: ArcSwap<Option<TlsConfig>>,
    data: ListenerState,
    admin: ListenerState,
}

impl Transport {
    /// Creates the state from the addresses of both listeners.
    pub(crate) fn new(
        handler: Box<dyn Handler>,
        shared: Arc<Shared>,
        tls: Option<TlsConfig>,
        data: SocketAddr,
        admin: SocketAddr,
    ) -> Transport {
        shared.set_authorities(tls.as_ref());
        Transport {
            handler,
            tls: ArcSwap::from_pointee(tls),
            data: ListenerState::new(data, shared.settings.connections),
            admin: ListenerState::new(admin, limits::ADMIN_CONNECTIONS),
            shared,
        }
    }

    /// Uses other certificates for new connections.
    pub(crate) fn replace_tls(&self, tls: Option<TlsConfig>) {
        // First, so that no handshake with the new authorities is compared with the old ones.
        self.shared.set_authorities(tls.as_ref());
        self.tls.store(Arc::new(tls));
    }

    /// Waits until no connection is open, or until the time is over. Returns how many are open.
    pub(crate) async fn drain(&self, at_most: Duration) -> usize {
        let until = Instant::now() + at_most;
        while self.connections() > 0 && Instant::now() < until {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        self.connections()
    }

    fn connections(&self) -> usize {
        self.data.connections() + self.admin.connections()
    }

    fn of(&self, listener: Listener) -> &ListenerState {
        match listener {
            Listener::Data => &self.data,
            Listener::Admin => &self.admin,
        }
    }
}
