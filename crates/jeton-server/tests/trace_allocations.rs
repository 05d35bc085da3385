//! Counts the allocations of requests in a server with traces. A program of its own, because of its allocator.
#![allow(clippy::unwrap_used)]

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use jeton_server::{Config, Server};
use jeton_testkit::{CountingAlloc, count_process};

#[global_allocator]
static ALLOC: CountingAlloc = CountingAlloc;

const REQUESTS: u32 = 500;
const ENDED: &str = "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00\r\n";

/// Sends the same requests on one connection.
fn send(stream: &mut TcpStream, requests: u32, headers: &str) {
    let request = format!("GET /livez HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n");
    let mut response = [0; 1024];
    for _ in 0..requests {
        stream.write_all(request.as_bytes()).unwrap();
        let length = stream.read(&mut response).unwrap();
        assert!(response[..length].ends_with(b"\r\n\r\nlive\n"));
    }
}

/// Allocations per request, with this configuration. A thread of the server may allocate in between.
fn allocations(traces: &str, headers: &str) -> f64 {
    let folder = tempfile::tempdir().unwrap();
    let any = "listen = '127.0.0.1:0'\nadmin_listen = '127.0.0.1:0'\nworkers = 1\n";
    let mut config = Config::from_toml(&format!("{any}{traces}")).unwrap();
    config.data = folder.path().join("data");
    let server = Server::start(config).unwrap();
    let address: SocketAddr = server.data_address();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_nodelay(true).unwrap();
    send(&mut stream, 20, headers);
    let (counts, ()) = count_process(|| send(&mut stream, REQUESTS, headers));
    drop(stream);
    server.stop();
    counts.allocations as f64 / f64::from(REQUESTS)
}

#[test]
fn unsampled_request_allocates_nothing_for_its_trace() {
    let with = |ratio: f64| {
        // A port on which nothing listens.
        format!("[traces]\nendpoint = 'http://127.0.0.1:1'\nsample_ratio = {ratio:?}\n")
    };
    let plain = allocations("", ENDED);
    let parent = allocations(&with(1.0), ENDED);
    let drawn = allocations(
        &with(1e-9),
        ENDED.replace("traceparent", "other-trace").as_str(),
    );
    let counted = format!("{plain} without, {parent} and {drawn} with traces");
    assert!(
        (parent - plain).abs() < 0.5 && (drawn - plain).abs() < 0.5,
        "{counted}"
    );
    let sampled = allocations(&with(1.0), "");
    assert!(
        sampled - plain > 1.0,
        "the count finds what a span allocates: {sampled}, {counted}"
    );
}
