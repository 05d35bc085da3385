//! The transport: sockets, TLS, HTTP/1.1, HTTP/2 and the gRPC framing of unary calls.
//!
//! It knows nothing of tokens, issuers or callers. A [`Handler`] gets each request and returns its response.
//! `docs/reference/transport.md` explains it, and its tests compare it with tonic.
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
pub mod grpc;
mod held_response;
mod kept_by_http2;
mod response;
mod write_coalescing;

// Limits
mod account;
pub mod limits;
mod settings;
mod shared;

// Files of the configuration
pub mod text_file;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use http::Request;

use listener::ListenerState;

pub use accept::{accept, bind, spawn};
pub use account::{Account, Charge, Refused, return_memory};
pub use body_drain::DrainedBody;
pub use connection_limit::ConnectionPermit;
pub use counters::{ConnectionCounter, ConnectionCounters};
pub use file_descriptors::{TooFewDescriptors, connections as connections_within_descriptors};
pub use held_response::Stream as RequestStream;
pub use listener::Listener;
pub use overload::Load;
pub use peer::Peer;
pub use response::{ResponseBody, ResponseFuture};
pub use settings::Settings;
pub use shared::Shared;
pub use stop::wait_until_true;
pub use time_slice::{SlicedStream, TimeSlice};
pub use tls::{
    Authorities, PeerCertificate, TlsConfig, TlsError, TlsFiles, certificate_end,
    server_config as tls_config,
};
pub use workers::Workers;

/// Handles the requests of all connections.
pub trait Handler: Send + Sync {
    /// Handles one request. An error is a response too.
    fn handle(&self, peer: &Arc<Peer>, request: Request<DrainedBody>) -> ResponseFuture;
}

/// The state that all connections use.
pub struct Transport {
    handler: Box<dyn Handler>,
    shared: Arc<Shared>,
    /// `None`: no TLS.
    tls: ArcSwap<Option<TlsConfig>>,
    data: ListenerState,
    admin: ListenerState,
}

impl Transport {
    /// Creates the state from the addresses of both listeners.
    pub fn new(
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
    pub fn replace_tls(&self, tls: Option<TlsConfig>) {
        // First, so that no handshake with the new authorities is compared with the old ones.
        self.shared.set_authorities(tls.as_ref());
        self.tls.store(Arc::new(tls));
    }

    /// Waits until no connection is open, or until the time is over. Returns how many are open.
    pub async fn drain(&self, at_most: Duration) -> usize {
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
