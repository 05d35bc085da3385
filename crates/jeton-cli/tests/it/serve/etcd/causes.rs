//! What cannot be done has one cause, and everything that reports it names the same.

#[cfg(target_os = "linux")]
use std::{net::TcpListener, thread, time::Duration};

use jeton_testkit::until;
use serde_json::Value;

use super::{CONFIG, Cluster, get, is_ready};
use crate::admin::page::page;
use crate::binary;
use crate::data_folder::json;
#[cfg(target_os = "linux")]
use crate::serve::chaos::proxy::{self, Delay};
use crate::serving::Serving;

/// What the server can do by its status: issue, verify, revoke, and whether it is ready.
pub(super) fn abilities(status: &Value) -> [Option<bool>; 4] {
    ["can_issue", "can_verify", "can_revoke", "is_ready"].map(|name| status[name].as_bool())
}

/// Requires that status, health, metrics, page and log name this cause, and that they agree about what the server can do.
pub(super) fn names_one_cause(
    cluster: &Cluster,
    server: &Serving,
    name: &str,
    sentence: &str,
) -> Value {
    let (path, admin) = (cluster.folder.path(), server.admin_address());
    let metrics = || get(&format!("{admin}/metrics")).1;
    let series = format!("\njeton_fault{{cause=\"{name}\"}} 1\n");
    until("the metrics have the cause", || metrics().contains(&series));
    let metrics = metrics();
    let causes = metrics
        .lines()
        .filter(|line| line.starts_with("jeton_fault{"));
    assert_eq!(causes.filter(|line| line.ends_with(" 1")).count(), 1);
    assert!(metrics.contains("\njeton_store_writable 0\n"), "{metrics}");
    let status = ["admin", "status", "--server", &admin];
    let json = json(path, &[&status[..], &["--json"]].concat());
    assert_eq!(json["cause"], name, "{json}");
    assert!(json["cause_since"].is_i64(), "{json}");
    let fault = json["fault"].as_str().unwrap();
    assert!(fault.starts_with(sentence), "{fault}");
    let text = String::from_utf8(binary::succeeds(path, &status, b"")).unwrap();
    assert!(text.contains(sentence), "{text}");
    let shown = page(path, &admin);
    assert!(shown.contains(sentence), "{shown}");
    // The page does not wait for a silent store.
    let has_log = !shown.contains("Unknown, because the store does not answer");
    assert_eq!(has_log, name != "store_silent", "{shown}");
    for purpose in ["issue", "verify", "revoke"] {
        let can = json[format!("can_{purpose}")].as_bool().unwrap();
        let (code, body) = get(&format!("{admin}/readyz/{purpose}"));
        let expected = if can {
            ("200", "ready\n".to_owned())
        } else {
            ("503", format!("not ready: {sentence}\n"))
        };
        assert_eq!((&*code, body), expected, "{purpose}");
        let metric = format!("\njeton_can_{purpose} {}\n", u8::from(can));
        assert!(metrics.contains(&metric), "{metric}");
    }
    until("the log has the cause", || {
        server.said().contains(&format!("cause=\"{name}\""))
    });
    json
}

/// The freshness bound is so long that a silent store does not end it.
fn with_long_freshness() -> Cluster {
    let config = CONFIG.replace("freshness_seconds = 6", "freshness_seconds = 60");
    Cluster::with(tempfile::tempdir().unwrap(), 1, &[], &config)
}

/// Requires one cause after this, within the freshness bound, and none after the other.
fn is_silent_between(
    cluster: &Cluster,
    server: &Serving,
    begin: impl FnOnce(),
    end: impl FnOnce(),
) {
    until("it is ready", || is_ready(server));
    begin();
    let silent = ("store_silent", "the store does not answer");
    let said = names_one_cause(cluster, server, silent.0, silent.1);
    // Within the freshness bound, it issues and verifies.
    let can = abilities(&said);
    assert_eq!(
        can,
        [Some(true), Some(true), Some(false), Some(true)],
        "{said}"
    );
    end();
    let metrics = || get(&format!("{}/metrics", server.admin_address())).1;
    until("there is no cause", || {
        metrics().contains("\njeton_fault{cause=\"store_silent\"} 0\n")
    });
    server.wait_for("problem resolved");
    let token = cluster.issue(server);
    until("it revokes", || cluster.revoke(server, &token).0 == Some(0));
}

#[test]
#[ignore = "needs etcd: cargo xtask test --only etcd"]
fn etcd_paused_store_has_one_cause_until_it_goes_on() {
    let cluster = with_long_freshness();
    let server = cluster.serve();
    let etcd = &cluster.etcd;
    let pause = || etcd.pause_member(0).unwrap();
    is_silent_between(&cluster, &server, pause, || etcd.resume_member(0).unwrap());
}

/// Every message takes 15 s, so an answer comes after 30 s. What it says was true at the question.
#[cfg(target_os = "linux")]
#[test]
#[ignore = "needs etcd: cargo xtask test --only etcd"]
fn etcd_slow_store_has_one_cause_until_it_is_fast() {
    let cluster = with_long_freshness();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let store = format!("etcd://{}/tokens", listener.local_addr().unwrap());
    let (delay, url) = (Delay::default(), cluster.etcd.member_url(0));
    let of_proxy = delay.clone();
    let to = url.strip_prefix("http://").unwrap().to_owned();
    thread::spawn(move || proxy::serve(&listener, &to, &of_proxy));
    let server = cluster.serve_by(&[], &store);
    let slow = || delay.set(Duration::from_secs(15));
    is_silent_between(&cluster, &server, slow, || delay.set(Duration::ZERO));
}
