//! Compares the services behind the transport with the same services behind plain tonic
//! (`tonic::transport::Server`).
//!
//! Both get the same requests. Whatever differs is intended, and then `intended.rs` says why, or it is a failure.
//! The tests of jeton-transport compare the transport itself in the same way.
#![allow(clippy::unwrap_used, clippy::panic)]

mod client;
#[path = "../../../jeton-transport/tests/it/client_view.rs"]
mod client_view;
#[path = "../../../jeton-transport/tests/it/differences.rs"]
mod differences;
#[path = "../../../jeton-transport/tests/it/exchange.rs"]
#[allow(dead_code)]
mod exchange;
#[path = "../../../jeton-transport/tests/it/intended.rs"]
#[allow(dead_code)]
mod intended;
#[path = "../../../jeton-transport/tests/it/servers.rs"]
#[allow(dead_code)]
mod servers;
mod service_calls;
mod token_server;

use self::differences::assert_intended;
use self::servers::Pair;
use self::token_server::{ISS, TokenServer};

fn block_on<T>(test: impl Future<Output = T>) -> T {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build().unwrap().block_on(test)
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
