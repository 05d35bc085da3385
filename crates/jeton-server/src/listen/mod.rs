//! Listening: one acceptor deals connections to workers in turn, each a thread with a runtime of its
//! own. The kernel's way, several sockets on one port, would choose by hash: of three connections to
//! three workers it gives each its own only two times in nine.

mod write_coalescing;
mod connection;
mod connections;
mod stall_timeout;
mod inline_executor;
mod workers;

use std::io;
use std::net::{SocketAddr, TcpListener as Bound};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

use self::connections::Connections;
use crate::error::{Error, Result};
use crate::limits::ADMIN_CONNECTIONS;
use crate::route::{Listener, Routes};
use crate::service::wait_until_true;

pub(crate) use connections::{Activity, ActiveCall, ConnectionPermit};
pub(crate) use workers::Workers;

/// How long nothing is said of connections that cannot be accepted, after it has been.
const WARNING_INTERVAL: Duration = Duration::from_secs(10);

/// What connections share.
pub(crate) struct ServerState {
    pub(crate) routes: Routes,
    /// None: no TLS. Replaced when the certificate is.
    pub(crate) tls: ArcSwap<Option<TlsAcceptor>>,
    data: ListenerState,
    admin: ListenerState,
}

/// What is to be known of a listener.
struct ListenerState {
    /// Only this machine reaches it.
    is_loopback: bool,
    connections: Arc<Connections>,
}

impl ServerState {
    /// With the addresses of the data listener and of the admin listener.
    pub(crate) fn new(
        routes: Routes,
        tls: Option<TlsAcceptor>,
        data: SocketAddr,
        admin: SocketAddr,
    ) -> ServerState {
        let listener = |address: SocketAddr, most| ListenerState {
            is_loopback: address.ip().is_loopback(),
            connections: Connections::new(most),
        };
        let most = routes.service.limits.connections;
        ServerState {
            routes,
            tls: ArcSwap::from_pointee(tls),
            data: listener(data, most),
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

    /// A place for a connection. None: it is closed, and may come back when others have gone.
    fn permit(&self, listener: Listener) -> Option<ConnectionPermit> {
        let metrics = &self.routes.service.metrics;
        let Ok((permit, is_another_gone)) = self.of(listener).connections.take() else {
            metrics.connections_rejected.fetch_add(1, Ordering::Relaxed);
            return None;
        };
        metrics.connections.fetch_add(1, Ordering::Relaxed);
        let idle = u64::from(is_another_gone);
        metrics.idle_connections_closed.fetch_add(idle, Ordering::Relaxed);
        Some(permit)
    }
}

/// Binds an address; from here on connections wait in the kernel.
pub(crate) fn bind(address: SocketAddr) -> Result<Bound> {
    let refused = |error| Error::Listen(address, error);
    let bound = Bound::bind(address).map_err(refused)?;
    bound.set_nonblocking(true).map_err(refused)?;
    Ok(bound)
}

/// Accepts until the server is told to stop, and hands each connection on.
pub(crate) async fn accept(
    socket: TcpListener,
    state: Arc<ServerState>,
    listener: Listener,
    mut stopping: watch::Receiver<bool>,
    mut hand_on: impl FnMut(TcpStream, ConnectionPermit),
) {
    let mut last_told: Option<Instant> = None;
    loop {
        let accepted = tokio::select! {
            accepted = socket.accept() => accepted,
            () = wait_until_true(&mut stopping) => return,
        };
        match accepted {
            Ok((stream, _)) => {
                if let Some(permit) = state.permit(listener) {
                    hand_on(stream, permit);
                }
            }
            // The client's doing: it has gone before it was its turn.
            Err(error) if is_of_one_client(&error) => {}
            Err(error) => {
                // Out of file descriptors, of this process or of the system: those that are open go on, and
                // some will be closed. It is said, and not for every attempt.
                if last_told.is_none_or(|at| at.elapsed() > WARNING_INTERVAL) {
                    tracing::warn!(%error, ?listener, "connections cannot be accepted");
                    last_told = Some(Instant::now());
                }
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

fn is_of_one_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted};
    matches!(
        error.kind(),
        ConnectionAborted | ConnectionReset | Interrupted
    )
}

/// Answers on a connection as long as it lasts.
pub(crate) fn spawn(state: Arc<ServerState>, stream: TcpStream, listener: Listener, permit: ConnectionPermit) {
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
