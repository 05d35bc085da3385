//! A proxy that delays what it passes on. This kernel may have no netem.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use super::network::Network;

/// The delay of all proxies of a cluster, in each direction.
#[derive(Clone, Default)]
pub(crate) struct Delay(Arc<AtomicU64>);

impl Delay {
    pub(crate) fn set(&self, delay: Duration) {
        let millis = u64::try_from(delay.as_millis()).unwrap();
        self.0.store(millis, Ordering::Relaxed);
    }

    fn wait(&self) {
        match self.0.load(Ordering::Relaxed) {
            0 => {}
            millis => thread::sleep(Duration::from_millis(millis)),
        }
    }
}

/// Passes connections to this address of a host on. Returns when it accepts connections; it ends with the test.
pub(super) fn start(network: &Network, host: usize, from: String, to: String, delay: Delay) {
    let (sender, is_bound) = std::sync::mpsc::channel();
    network.spawn(host, move || {
        let listener = TcpListener::bind(&from).unwrap();
        sender.send(()).unwrap();
        serve(&listener, &to, &delay);
    });
    is_bound.recv().unwrap();
}

/// Passes every connection on. It ends with the test.
pub(crate) fn serve(listener: &TcpListener, to: &str, delay: &Delay) {
    for client in listener.incoming() {
        let (Ok(client), to, delay) = (client, to.to_owned(), delay.clone()) else {
            continue;
        };
        // A connection to a host that is cut off waits, and no other waits for it.
        thread::spawn(move || {
            let Ok(server) = TcpStream::connect(&to) else {
                return;
            };
            let (Ok(back), Ok(forth)) = (server.try_clone(), client.try_clone()) else {
                return;
            };
            let other_way = delay.clone();
            thread::spawn(move || pass(back, forth, &other_way));
            pass(client, server, &delay);
        });
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, delay: &Delay) {
    let mut bytes = vec![0; 1 << 16];
    while let Ok(read @ 1..) = from.read(&mut bytes) {
        delay.wait();
        if to.write_all(&bytes[..read]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
    let _ = from.shutdown(Shutdown::Both);
}
