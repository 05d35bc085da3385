//! Listening: one acceptor deals connections to workers in turn, each a thread with a runtime of its
//! own. The kernel's way, several sockets on one port, would choose by hash: of three connections to
//! three workers it gives each its own only two times in nine.

mod collected;
mod connection;
mod patience;
mod turn;
mod workers;

use std::net::{SocketAddr, TcpListener as Bound};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

use crate::error::{Error, Result};
use crate::route::{Door, Routes};
use crate::service::until;

pub(crate) use workers::Workers;

/// What connections share.
pub(crate) struct House {
    pub(crate) routes: Routes,
    /// None: no TLS. Replaced when the certificate is.
    pub(crate) tls: ArcSwap<Option<TlsAcceptor>>,
    /// Connections of each listener.
    data: AtomicUsize,
    admin: AtomicUsize,
}

impl House {
    pub(crate) fn new(routes: Routes, tls: Option<TlsAcceptor>) -> House {
        House {
            routes,
            tls: ArcSwap::from_pointee(tls),
            data: AtomicUsize::new(0),
            admin: AtomicUsize::new(0),
        }
    }

    pub(crate) fn connections(&self) -> usize {
        self.data.load(Ordering::Acquire) + self.admin.load(Ordering::Acquire)
    }

    fn of(&self, door: Door) -> &AtomicUsize {
        match door {
            Door::Data => &self.data,
            Door::Admin => &self.admin,
        }
    }
}

/// A connection's place among those that a listener takes; given back when it is dropped.
pub(crate) struct Place {
    house: Arc<House>,
    door: Door,
}

impl Place {
    fn take(house: &Arc<House>, door: Door) -> Option<Place> {
        let metrics = &house.routes.service.metrics;
        let most = house.routes.service.limits.connections;
        if house.of(door).fetch_add(1, Ordering::AcqRel) >= most {
            house.of(door).fetch_sub(1, Ordering::AcqRel);
            metrics.connections_refused.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        metrics.connections.fetch_add(1, Ordering::Relaxed);
        Some(Place {
            house: house.clone(),
            door,
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.house.of(self.door).fetch_sub(1, Ordering::AcqRel);
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
    listener: TcpListener,
    house: Arc<House>,
    door: Door,
    mut stopping: watch::Receiver<bool>,
    mut hand_on: impl FnMut(TcpStream, Place),
) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = until(&mut stopping) => return,
        };
        match accepted {
            Ok((stream, _)) => {
                // One that is over the limit is closed: it may come back when others have gone.
                if let Some(place) = Place::take(&house, door) {
                    hand_on(stream, place);
                }
            }
            Err(error) => {
                // Out of file descriptors: those that are open go on, and some will be closed.
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

/// Answers on a connection as long as it lasts.
pub(crate) fn spawn(house: Arc<House>, stream: TcpStream, place: Place) {
    let door = place.door;
    tokio::spawn(async move {
        connection::serve(&house, stream, door).await;
        drop(place);
    });
}
