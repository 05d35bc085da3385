//! Tests of servers whose etcd has, or becomes, what it should not be.

use std::process::Command;
use std::thread;

use jeton_testkit::{Etcd, until};
use serde_json::Value;

use super::admin::{base64, keys_under};
use super::{CONFIG, Cluster, FRESHNESS, ISSUER, get, has_started, is_ready, key_set};
use crate::binary::jeton;
use crate::data_folder::json;

/// Writes a key of an etcd, past every check.
pub(super) fn put(etcd: &Etcd, key: &str, value: &str) {
    let (key, value) = (base64(key), base64(value));
    call(
        etcd,
        "kv/put",
        &format!(r#"{{"key":"{key}","value":"{value}"}}"#),
    );
}

fn delete(etcd: &Etcd, key: &str) {
    call(
        etcd,
        "kv/deleterange",
        &format!(r#"{{"key":"{}"}}"#, base64(key)),
    );
}

/// Deletes every key that begins with this text, as `etcdctl del --prefix`.
pub(super) fn delete_prefix(etcd: &Etcd, prefix: &str) {
    let (key, end) = super::admin::prefix_range(prefix);
    let body = format!(r#"{{"key":"{key}","range_end":"{end}"}}"#);
    call(etcd, "kv/deleterange", &body);
}

/// Compacts everything before the newest revision.
fn compact(etcd: &Etcd) {
    let answer = call(etcd, "kv/range", r#"{"key":"YQ=="}"#);
    let newest = answer["header"]["revision"].as_str().unwrap();
    call(
        etcd,
        "kv/compaction",
        &format!(r#"{{"revision":"{newest}","physical":true}}"#),
    );
}

#[track_caller]
pub(super) fn call(etcd: &Etcd, path: &str, body: &str) -> Value {
    let url = format!("{}/v3/{path}", etcd.member_url(0));
    let output = Command::new("curl")
        .args(["-sS", "--fail", "--data-binary", body, &url])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// `NAME` in the records of the issuer: a rule about a subject.
fn rule(name: &str) -> String {
    format!("/tokens/rule/https:%2F%2Fid.example/subject/{name}")
}

/// An older server beside a newer one reads what it does not know. It may be a revocation.
#[test]
#[ignore = "needs etcd: cargo xtask test --only etcd"]
fn etcd_record_of_a_newer_version_stops_older_servers() {
    let cluster = Cluster::of(1);
    let server = cluster.serve();
    let token = cluster.issue(&server);
    until("it is ready", || is_ready(&server));
    put(
        &cluster.etcd,
        &rule("s"),
        r#"{"schema":4,"record":{"new":1}}"#,
    );
    let reason = "has schema 4, which a newer version of jeton wrote: use that version";
    until("it is in the log", || server.said().contains(reason));
    until("it is not ready", || !is_ready(&server));
    until("it refuses to verify", || {
        let (code, said) = cluster.verify(&server, &token);
        code == Some(2) && said.contains("freshness")
    });
    let second = cluster.serve();
    assert!(!has_started(&second));
    let (code, said) = second.end();
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains(reason), "{said}");
    // Commands that read every record name it too, and change nothing.
    let store = cluster.etcd.url("/tokens");
    for args in [
        &["admin", "verify", "--store", &store][..],
        &["admin", "migrate", "--from", &store, "--to", "new"],
    ] {
        let output = jeton(cluster.path(), args, b"");
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(reason), "{said}");
    }
    assert!(!cluster.path().join("new").exists());
    delete(&cluster.etcd, &rule("s"));
    until("it is ready again", || is_ready(&server));
    assert_eq!(cluster.verify(&server, &token).0, Some(0));
}

/// An older server, which does not know the counter of rules.
#[test]
#[ignore = "needs etcd: cargo xtask test --only etcd"]
fn etcd_records_of_an_older_server_are_read_by_a_newer_one() {
    let cluster = Cluster::of(1);
    let server = cluster.serve();
    let issue = ["issue", "--profile", "access", "--subject", "user-7"];
    let (code, said) = cluster.token(&server, &issue);
    assert_eq!(code, Some(0), "{said}");
    let token = said.trim();
    assert_eq!(cluster.verify(&server, token).0, Some(0));
    use jeton::Clock as _;
    let now = jeton::SystemClock.now().unix_seconds();
    let old = format!(
        r#"{{"schema":1,"record":{{"not_before":{now},"until":{}}}}}"#,
        now + 3600
    );
    put(&cluster.etcd, &rule("user-7"), &old);
    until("it rejects the token", || {
        cluster.verify(&server, token).0 == Some(1)
    });
    let settings = r#"{"schema":1,"record":{"iss":"https://old.example","profiles":[{"name":"access","alg":"ES256","lifetime_seconds":900,"audiences":["api"]}],"publish_before_use_seconds":7200,"max_age_seconds":300,"rotate_every_seconds":2592000}}"#;
    put(&cluster.etcd, "/tokens/i/https:%2F%2Fold.example", settings);
    assert!(is_ready(&server), "{}", server.said());
    let second = cluster.serve();
    assert!(has_started(&second), "{}", second.said());
    assert_eq!(cluster.verify(&second, token).0, Some(1));
    let store = cluster.etcd.url("/tokens");
    let status = [
        "admin",
        "status",
        "--json",
        "--config",
        "jeton.toml",
        "--store",
        &store,
    ];
    assert_eq!(json(cluster.path(), &status)["rules"], 1);
}

/// Its connection is lost, and the revisions that it has not seen are gone.
#[test]
#[ignore = "needs etcd: cargo xtask test --only etcd"]
fn etcd_compacted_under_a_watch_loses_no_revocation() {
    let mut cluster = Cluster::of(1);
    let (watching, other) = (cluster.serve(), cluster.serve());
    let (kept, revoked) = (cluster.issue(&other), cluster.issue(&other));
    until("it accepts the token", || {
        cluster.verify(&watching, &revoked).0 == Some(0)
    });
    watching.signal("-STOP");
    // What it sent to the paused server before is lost with the connection.
    cluster.etcd.kill_member(0);
    cluster.etcd.start_member(0).unwrap();
    until("it revokes", || {
        cluster.revoke(&other, &revoked).0 == Some(0)
    });
    for _ in 0..3 {
        let token = cluster.issue(&other);
        assert_eq!(cluster.revoke(&other, &token).0, Some(0));
    }
    compact(&cluster.etcd);
    thread::sleep(FRESHNESS);
    watching.signal("-CONT");
    until("it rejects the token", || {
        let (code, said) = cluster.verify(&watching, &revoked);
        assert_ne!(code, Some(0), "{said}");
        code == Some(1) && said.contains("revoked")
    });
    until("it is ready", || is_ready(&watching));
    assert_eq!(cluster.verify(&watching, &kept).0, Some(0));
    let metrics = get(&format!("{}/metrics", watching.admin_address())).1;
    assert!(metrics.contains("\njeton_revoked_tokens 4\n"), "{metrics}");
}

/// The address leads to an empty etcd: a machine was emptied, or a name was changed.
#[test]
#[ignore = "needs etcd: cargo xtask test --only etcd"]
fn etcd_of_another_cluster_is_not_used() {
    let mut cluster = Cluster::of(1);
    let server = cluster.serve();
    let (kept, revoked) = (cluster.issue(&server), cluster.issue(&server));
    assert_eq!(cluster.revoke(&server, &revoked).0, Some(0));
    let keys = key_set(&server);
    cluster.etcd.start_other_cluster("other").unwrap();
    until("it is not ready", || !is_ready(&server));
    until("it is in the log", || {
        server
            .said()
            .contains("is another cluster than at the start")
    });
    let (code, said) = cluster.revoke(&server, &kept);
    assert_eq!(code, Some(2), "{said}");
    until("it refuses to verify", || {
        let (code, said) = cluster.verify(&server, &kept);
        code == Some(2) && said.contains("freshness")
    });
    assert_ne!(cluster.verify(&server, &revoked).0, Some(0));
    assert_eq!(keys_under(&cluster.etcd, "/tokens"), 0);
    // It is another service: a new server has other keys.
    let new = cluster.serve_at_last();
    assert_ne!(key_set(&new), keys);
    let verified = cluster.verify(&new, &kept);
    assert_eq!(verified.0, Some(1), "{verified:?}");
    let audit = [
        "admin", "audit", "--issuer", ISSUER, "--last", "1", "--json",
    ];
    let store = cluster.etcd.url("/tokens");
    let newest = json(cluster.path(), &[&audit[..], &["--store", &store]].concat());
    assert_eq!(newest["actor"], "configuration");
    assert!(!is_ready(&server));
}

/// While servers revoke and rotate.
#[test]
#[ignore = "needs etcd: cargo xtask test --only etcd"]
fn etcd_comparison_finds_no_difference_in_a_working_service() {
    let config = format!("store_comparison_seconds = 10\n{CONFIG}");
    let cluster = Cluster::with(tempfile::tempdir().unwrap(), 1, &[], &config);
    let (server, other) = (cluster.serve(), cluster.serve());
    let metric = |name: &str| {
        let text = get(&format!("{}/metrics", server.admin_address())).1;
        let line = text.lines().find(|line| line.starts_with(name)).unwrap();
        let value = line.split(' ').next_back().unwrap();
        value.parse::<u64>().unwrap()
    };
    until("it has compared twice", || {
        let token = cluster.issue(&other);
        assert_eq!(cluster.revoke(&other, &token).0, Some(0));
        metric("jeton_store_comparisons_total ") >= 2
    });
    assert_eq!(metric("jeton_store_differences_total "), 0);
    assert!(!server.said().contains("differed"), "{}", server.said());
}
