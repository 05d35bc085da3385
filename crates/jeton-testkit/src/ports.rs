//! Ports for programs that cannot report a port that the system chose, or that start again on the same one.

use std::net::TcpListener;
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

/// Below the ports that Linux gives to connections (32768 to 60999): no client takes one of these in between.
const FIRST: u32 = 20_000;
const COUNT: u32 = 12_000;
/// Processes that start one after the other have so many ports each before they meet.
const APART: u32 = 97;

static NEXT: AtomicU32 = AtomicU32::new(0);

/// Returns a TCP port of 127.0.0.1 on which nothing listens. One process gets no port twice until it had all of
/// them.
///
/// # Panics
///
/// If no port is free.
#[must_use]
pub fn free_port() -> u16 {
    let mut ports = (0..COUNT).map(|_| {
        let number = NEXT.fetch_add(1, Ordering::Relaxed) % COUNT;
        let port = FIRST + (process::id() % COUNT * APART + number) % COUNT;
        u16::try_from(port).expect("below 65,536")
    });
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    ports.find(is_free).expect("a port of 127.0.0.1 is free")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn free_ports_are_distinct_and_no_port_of_a_connection() {
        let ports: BTreeSet<u16> = (0..200).map(|_| free_port()).collect();
        assert_eq!(ports.len(), 200);
        assert!(ports.iter().all(|port| (20_000..32_000).contains(port)));
    }
}
