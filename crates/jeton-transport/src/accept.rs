//! Binds the listeners and accepts their connections.

use std::io;
use std::net::{SocketAddr, TcpListener as Bound};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::net::{TcpListener, TcpStream};

use crate::connection_limit::ConnectionPermit;
use crate::listener::Listener;
use crate::stop::wait_until_true;
use crate::{Transport, connection};

/// Minimum interval between warnings about connections that cannot be accepted.
const WARNING_INTERVAL: Duration = Duration::from_secs(10);
/// Pause after a failed accept: a connection may close and free its file descriptor.
const PAUSE: Duration = Duration::from_millis(100);

/// Binds an address. The kernel queues connections from here on.
pub fn bind(address: SocketAddr) -> io::Result<Bound> {
    let bound = Bound::bind(address)?;
    bound.set_nonblocking(true)?;
    Ok(bound)
}

/// Accepts connections until the server stops, and passes each one on.
pub async fn accept(
    transport: Arc<Transport>,
    socket: TcpListener,
    listener: Listener,
    mut assign: impl FnMut(TcpStream, ConnectionPermit),
) {
    let mut stopping = transport.shared.stopping.clone();
    let mut last_warning: Option<Instant> = None;
    loop {
        let accepted = tokio::select! {
            accepted = socket.accept() => accepted,
            () = wait_until_true(&mut stopping) => return,
        };
        match accepted {
            Ok((stream, address)) => {
                let state = transport.of(listener);
                if let Some(permit) = state.permit(&transport.shared, address.ip()) {
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
                tokio::time::sleep(PAUSE).await;
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
pub fn spawn(
    transport: Arc<Transport>,
    stream: TcpStream,
    listener: Listener,
    permit: ConnectionPermit,
) {
    tokio::spawn(async move {
        let (activity, charge) = (permit.activity(), permit.charge());
        tokio::select! {
            biased;
            () = connection::serve(&transport, stream, listener, activity, charge) => {}
            () = activity.evicted() => {}
        }
        drop(permit);
    });
}
