//! Tests of `stop_delay_seconds`: a server that was told to stop says so, and serves until the delay is over.

use std::fs;
use std::time::{Duration, Instant};

use super::{is_ready_at, sometime};
use crate::binary::jeton;
use crate::serving::Serving;

/// A server with this configuration, its folder and its port.
fn start(config: &str) -> (tempfile::TempDir, Serving, u16) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("jeton.toml"), config).unwrap();
    let server = Serving::any_port(folder.path(), &["--config", "jeton.toml"]);
    let address = server.address();
    let port = address.rsplit(':').next().unwrap().parse().unwrap();
    assert!(sometime(|| is_ready_at(port)), "{}", server.said());
    (folder, server, port)
}

fn ends(server: Serving) {
    let (code, said) = server.end();
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn server_told_to_stop_is_not_ready_and_serves() {
    let (folder, server, port) = start("stop_delay_seconds = 60\n");
    let health = format!("http://127.0.0.1:{port}");
    server.signal("-TERM");
    let said = server.wait_for("stops later");
    assert!(said.contains("seconds=60"), "{said}");
    assert!(sometime(|| !is_ready_at(port)));
    let call = ["token", "issue", "--server", &health, "--profile", "access"];
    let issued = jeton(folder.path(), &call, b"");
    assert!(issued.status.success(), "{issued:?}");
    // The second signal does not wait for the minute.
    server.signal("-TERM");
    ends(server);
}

#[test]
fn server_stops_when_the_delay_is_over() {
    let (_folder, server, port) = start("stop_delay_seconds = 1\n");
    let begun = Instant::now();
    server.signal("-INT");
    server.wait_for("stops later");
    ends(server);
    assert!(begun.elapsed() >= Duration::from_secs(1));
    assert!(sometime(|| !is_ready_at(port)));
}

/// The control: without a delay, the listener is closed at once.
#[test]
fn server_without_delay_stops_at_once() {
    let (_folder, server, port) = start("");
    server.signal("-TERM");
    server.wait_for("stopping");
    assert!(!server.said().contains("stops later"));
    assert!(sometime(|| !is_ready_at(port)));
    ends(server);
}

#[test]
fn stop_delay_beyond_an_hour_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("jeton.toml"),
        "stop_delay_seconds = 3601\n",
    )
    .unwrap();
    let checked = jeton(
        folder.path(),
        &["serve", "--check", "--config", "jeton.toml"],
        b"",
    );
    assert!(!checked.status.success());
    let said = String::from_utf8(checked.stderr).unwrap();
    assert!(said.contains("stop_delay_seconds"), "{said}");
    assert!(said.contains("at most 3600"), "{said}");
}
