//! A node that is paused and has no contact to the store when it goes on.

use std::fs;
use std::thread;

use jeton_testkit::{until, until_some};

use super::cluster::{Cluster, FRESHNESS};
use super::minority::{call, is_revoked, issue, revoke, verify};
use super::network::Direction;

/// The node that verifies with an old view, as if nothing checked the age of the view: the negative control.
const UNCHECKED: usize = 2;

#[test]
#[ignore = "needs etcd and network namespaces: cargo xtask test --only etcd"]
fn chaos_paused_node_accepts_nothing_with_an_old_view() {
    let cluster = Cluster::start("");
    let config = cluster.folder().join("jeton.toml");
    let checked = fs::read_to_string(&config).unwrap();
    fs::write(&config, format!("when_stale = 'verify'\n{checked}")).unwrap();
    cluster.node(UNCHECKED).take();
    until_some("it starts", || cluster.start_node(UNCHECKED).then_some(()));

    let token = call(&cluster, 1, async |client| issue(&client).await.unwrap());
    let verified = |node| {
        let token = token.clone();
        call(&cluster, node, async move |client| {
            verify(&client, &token).await
        })
    };
    for node in [0, UNCHECKED] {
        until("it accepts the token", || verified(node).is_ok());
        cluster
            .network
            .cut(Cluster::host(node), Direction::Both, &[]);
        cluster.signal_node(node, "-STOP");
    }
    let revoked = token.clone();
    let revoked = call(&cluster, 1, async move |client| {
        revoke(&client, &revoked).await
    });
    assert_eq!(revoked, Ok(()));
    thread::sleep(FRESHNESS);
    for node in [0, UNCHECKED] {
        cluster.signal_node(node, "-CONT");
    }
    assert!(
        verified(0).is_err(),
        "it accepts a token that was revoked while it was paused"
    );
    assert_eq!(
        verified(UNCHECKED),
        Ok(()),
        "without the check, it accepts the token"
    );
    assert!(!cluster.is_ready(0) && !cluster.is_ready(UNCHECKED));
    for node in [0, UNCHECKED] {
        cluster.network.heal(Cluster::host(node));
    }
    cluster.all_are_ready();
    for node in [0, UNCHECKED] {
        let verified = verified(node);
        assert!(is_revoked(&verified), "node {node}: {verified:?}");
    }
}
