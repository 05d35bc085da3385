//! Compares the transport with plain tonic (`tonic::transport::Server`).
//!
//! The same service is behind both on loopback and gets the same requests. Whatever differs is intended, and
//! then `intended.rs` says why, or it is a failure. `docs/reference/transport.md` has the reasons as a table.
#![allow(clippy::unwrap_used, clippy::panic)]

mod client;
mod connections;
mod differences;
mod exchange;
mod frames;
mod intended;
mod page;
mod probe;
mod probe_calls;
mod servers;
mod service_calls;

use self::differences::assert_intended;
use self::probe::Probes;
use self::servers::{ISS, Pair, TokenServer};

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

#[test]
fn service_responds_as_behind_tonic() {
    let tokens = TokenServer::start();
    let request = jeton_issuer::Request::new("access").subject("alice");
    let issued = tokens.server.service.node.issue(ISS, &request).unwrap();
    block_on(async {
        let plain = tokens.behind_tonic().await;
        let pair = Pair {
            ours: tokens.server.data_address(),
            tonic: plain.address,
        };
        assert_intended(pair, &service_calls::to_data_listener(&issued.token)).await;
    });
}

#[test]
fn admin_service_responds_as_behind_tonic() {
    let tokens = TokenServer::start();
    let file = tokens.server.admin_token_file().unwrap();
    let admin_token = std::fs::read_to_string(file).unwrap();
    block_on(async {
        let plain = tokens.behind_tonic().await;
        let pair = Pair {
            ours: tokens.server.admin_address(),
            tonic: plain.address,
        };
        assert_intended(pair, &service_calls::to_admin_listener(admin_token.trim())).await;
    });
}
