//! Tests of servers whose etcd goes back to an earlier state, as a volume that is restored from a snapshot.

use std::path::{Path, PathBuf};
use std::process::Command;

use jeton_testkit::until;
use serde_json::Value;

use super::{Cluster, ISSUER, get, is_ready};
use crate::admin::page::{keep, page};
use crate::binary::jeton;
use crate::serving::Serving;

pub(super) fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-a").args([from, to]).status();
    assert!(copied.unwrap().success());
}

impl Cluster {
    pub(super) fn data(&self) -> PathBuf {
        self.folder.path().join("etcd").join("member0")
    }

    pub(super) fn issue_to(&self, server: &Serving, subject: &str) -> String {
        let args = ["issue", "--profile", "access", "--subject", subject];
        let (code, said) = self.token(server, &args);
        assert_eq!(code, Some(0), "{said}");
        said.trim().to_owned()
    }

    /// Retries while the server loads everything again.
    pub(super) fn revoke_subject(&self, server: &Serving, subject: &str) {
        let admin = server.admin_address();
        let args = [
            "admin", "revoke", "subject", ISSUER, subject, "--server", &admin,
        ];
        until("the subject is revoked", || {
            jeton(self.folder.path(), &args, b"").status.success()
        });
    }

    pub(super) fn nodes(&self, server: &Serving) -> Value {
        let admin = server.admin_address();
        let output = jeton(
            self.folder.path(),
            &["admin", "nodes", "--server", &admin, "--json"],
            b"",
        );
        let said = String::from_utf8_lossy(&output.stderr);
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
    }
}

#[test]
#[ignore = "needs etcd: cargo xtask test --only etcd"]
fn etcd_that_goes_back_makes_no_revocation_ineffective() {
    let mut cluster = Cluster::of(1);
    let servers = [cluster.serve_at_last(), cluster.serve_at_last()];
    // The admin token is that of the server that started last.
    let [other, one] = &servers;
    for server in &servers {
        until("it is ready", || is_ready(server));
    }
    cluster.revoke_subject(one, "first");
    cluster.etcd.kill_member(0);
    let kept = cluster.folder.path().join("kept");
    copy(&cluster.data(), &kept);
    cluster.etcd.start_member(0).unwrap();
    for number in 0..8 {
        cluster.revoke_subject(one, &format!("lost-{number}"));
    }
    let (old, revoked) = (
        cluster.issue_to(one, "user-7"),
        cluster.issue_to(other, "user-8"),
    );
    cluster.revoke_subject(one, "user-8");
    until("both reject the token", || {
        servers
            .iter()
            .all(|server| cluster.verify(server, &revoked).0 == Some(1))
    });
    cluster.etcd.kill_member(0);
    std::fs::remove_dir_all(cluster.data()).unwrap();
    copy(&kept, &cluster.data());
    cluster.etcd.start_member(0).unwrap();
    for server in &servers {
        until("it has noticed", || {
            server.said().contains("the store went back")
        });
        until("it is ready", || is_ready(server));
    }
    cluster.revoke_subject(one, "user-7");
    for server in &servers {
        until("it rejects the old token", || {
            cluster.verify(server, &old).0 == Some(1)
        });
        // A running server remembers what the store has lost.
        assert_eq!(cluster.verify(server, &revoked).0, Some(1));
        // Logins afterwards, also of a person whom the servers remember as revoked.
        for subject in ["user-7", "lost-3"] {
            let token = cluster.issue_to(server, subject);
            let (code, said) = cluster.verify(server, &token);
            assert_eq!(code, Some(0), "{said}");
        }
    }
    let (_, metrics) = get(&format!("{}/metrics", one.admin_address()));
    assert!(
        metrics.contains("jeton_store_went_back_total 1\n"),
        "{metrics}"
    );
}

#[test]
#[ignore = "needs etcd: cargo xtask test --only etcd"]
fn etcd_servers_know_each_other() {
    let cluster = Cluster::of(1);
    // The admin token is that of the server that started last.
    let (other, one) = (cluster.serve_at_last(), cluster.serve_at_last());
    until("it answers", || is_ready(&one));
    // The server that the setup ended is silent, and then its lease ends.
    let known = |nodes: &Value| {
        let nodes = nodes["nodes"].as_array().unwrap().iter();
        let is_known = |node: &&Value| node["is_running"] == true && node["ahead_seconds"].is_i64();
        nodes.filter(is_known).count()
    };
    until("both are known, with their clocks", || {
        known(&cluster.nodes(&one)) == 2
    });
    let nodes = cluster.nodes(&one);
    let first = &nodes["nodes"][0];
    assert_eq!(first["is_self"], true, "{nodes}");
    assert_eq!(first["version"], env!("CARGO_PKG_VERSION"), "{nodes}");
    let page = page(cluster.folder.path(), &one.admin_address());
    keep("serve-servers.html", &page);
    for node in nodes["nodes"].as_array().unwrap() {
        let id = node["id"].as_str().unwrap();
        assert!(page.contains(&format!("<code>{id}</code>")), "{id}: {page}");
    }
    assert!(page.contains("<td>running, answers</td>"), "{page}");
    // On the store itself, without a server.
    let store = cluster.etcd.url("/tokens");
    let args = [
        "admin",
        "nodes",
        "--config",
        "jeton.toml",
        "--store",
        &store,
    ];
    let output = jeton(cluster.folder.path(), &args, b"");
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.matches(" running ").count(), 2, "{text}");
    other.signal("-TERM");
    assert_eq!(other.end().0, Some(0));
    until("it has left", || known(&cluster.nodes(&one)) == 1);
}
