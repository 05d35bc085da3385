//! Listeners and workers.
//!
//! One acceptor assigns connections to workers in rotation. Each worker is a thread with its own runtime.
//! `SO_REUSEPORT` would assign by hash: three connections to three workers are spread evenly only two times
//! in nine.

pub(crate) mod body_drain;
mod connection;
mod connection_limit;
pub(crate) mod file_descriptors;
pub(crate) mod grpc;
mod inline_executor;
pub(crate) mod overload;
mod stall_timeout;
pub(crate) mod time_slice;
pub(crate) mod tls;
pub(crate) mod unread_responses;
mod workers;
mod write_coalescing;

use std::io;
use std::net::{SocketAddr, TcpListener as Bound};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

use self::connection_limit::Connections;
use crate::error::{Error, Result};
use crate::limits::ADMIN_CONNECTIONS;
use crate::route::{Listener, Routes};
use crate::service::wait_until_true;

pub(crate) use connection_limit::{ActiveCall, Activity, ConnectionPermit};
pub(crate) use workers::Workers;

/// Minimum interval between warnings about connections that cannot be accepted.
const WARNING_INTERVAL: Duration = Duration::from_secs(10);

/// The state that all connections share.
pub(crate) struct ServerState {
    pub(crate) routes: Routes,
    /// `None`: no TLS. Replaced when certificates are reloaded.
    pub(crate) tls: ArcSwap<Option<TlsAcceptor>>,
    data: ListenerState,
    admin: ListenerState,
}

/// The state of one listener.
struct ListenerState {
    /// Whether the listener is bound to loopback.
    is_loopback: bool,
    connections: Arc<Connections>,
}

impl ServerState {
    /// Creates the state from the addresses of both listeners.
    pub(crate) fn new(
        routes: Routes,
        tls: Option<TlsAcceptor>,
        data: SocketAddr,
        admin: SocketAddr,
    ) -> ServerState {
        let listener = |address: SocketAddr, limit| ListenerState {
            is_loopback: address.ip().is_loopback(),
            connections: Connections::new(limit),
        };
        let limit = routes.service.limits.connections;
        ServerState {
            routes,
            tls: ArcSwap::from_pointee(tls),
            data: listener(data, limit),
            admin: listener(admin, ADMIN_CONNECTIONS),
        }
    }

    pub(crate) fn connections(&self) -> usize {
        self.data.connections.count() + self.admin.connections.count()
    }

    fn of(&self, listener: Listener) -> &ListenerState {
        match listener {
            Listener::Data => &self.data,
            Listener::Admin => &self.admin,
        }
    }

    /// Acquires a permit for a connection. `None` if the connection must be closed.
    fn permit(&self, listener: Listener) -> Option<ConnectionPermit> {
        let metrics = &self.routes.service.metrics;
        let Ok((permit, has_evicted)) = self.of(listener).connections.acquire() else {
            metrics.connections_rejected.fetch_add(1, Ordering::Relaxed);
            return None;
        };
        metrics.connections.fetch_add(1, Ordering::Relaxed);
        let closed = u64::from(has_evicted);
        metrics
            .idle_connections_closed
            .fetch_add(closed, Ordering::Relaxed);
        Some(permit)
    }
}

/// Binds an address. The kernel queues connections from here on.
pub(crate) fn bind(address: SocketAddr) -> Result<Bound> {
    let listen_error = |error| Error::Listen(address, error);
    let bound = Bound::bind(address).map_err(listen_error)?;
    bound.set_nonblocking(true).map_err(listen_error)?;
    Ok(bound)
}

/// Accepts connections until the server stops, and passes each one on.
pub(crate) async fn accept(
    socket: TcpListener,
    state: Arc<ServerState>,
    listener: Listener,
    mut stopping: watch::Receiver<bool>,
    mut assign: impl FnMut(TcpStream, ConnectionPermit),
) {
    let mut last_warning: Option<Instant> = None;
    loop {
        let accepted = tokio::select! {
            accepted = socket.accept() => accepted,
            () = wait_until_true(&mut stopping) => return,
        };
        match accepted {
            Ok((stream, _)) => {
                if let Some(permit) = state.permit(listener) {
                    assign(stream, permit);
                }
            }
            // The client closed the connection before it was accepted.
            Err(error) if is_client_error(&error) => {}
            Err(error) => {
                // Out of file descriptors. Open connections continue, and some will close soon.
                if last_warning.is_none_or(|at| at.elapsed() > WARNING_INTERVAL) {
                    tracing::warn!(%error, ?listener, "cannot accept connections");
                    last_warning = Some(Instant::now());
                }
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

fn is_client_error(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted};
    matches!(
        error.kind(),
        ConnectionAborted | ConnectionReset | Interrupted
    )
}

/// Serves a connection in its own task until it ends or is evicted.
pub(crate) fn spawn(
    state: Arc<ServerState>,
    stream: TcpStream,
    listener: Listener,
    permit: ConnectionPermit,
) {
    tokio::spawn(async move {
        let activity = permit.activity();
        tokio::select! {
            biased;
            () = connection::serve(&state, stream, listener, activity) => {}
            () = activity.evicted() => {}
        }
        drop(permit);
    });
}
