//! Compares the transport with plain tonic (`tonic::transport::Server`).
//!
//! The same service is behind both on loopback and gets the same requests. Whatever differs is intended, and
//! then `intended.rs` says why, or it is a failure. `docs/reference/transport.md` has the reasons as a table.
//! jeton-server compares its own services in the same way, with files of this folder.
#![allow(clippy::unwrap_used, clippy::panic)]

mod client;
mod client_view;
mod connections;
mod differences;
// The service sends further kinds of requests.
#[allow(dead_code)]
mod exchange;
mod frames;
mod intended;
mod page;
mod probe;
mod probe_calls;
mod servers;

use self::differences::assert_intended;
use self::probe::Probes;

fn block_on<T>(test: impl Future<Output = T>) -> T {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build().unwrap().block_on(test)
}

#[test]
fn statuses_metadata_and_deadlines_are_as_with_tonic() {
    block_on(async {
        let probes = Probes::start().await;
        assert_intended(probes.pair, &probe_calls::all()).await;
        probes.stop().await;
    });
}
