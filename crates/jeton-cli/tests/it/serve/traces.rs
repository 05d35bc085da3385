//! `jeton serve` with traces.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use crate::binary::jeton;
use crate::serving::Serving;

const CONFIG: &str = "[traces]\nendpoint = 'http://127.0.0.1:1'\nsample_ratio = 1.0\n";

/// Sends requests on one connection, and returns the responses.
fn get(url: &str, path: &str, requests: usize) -> String {
    let host = url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    for left in (0..requests).rev() {
        let close = if left == 0 {
            "connection: close\r\n"
        } else {
            ""
        };
        let request = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\n{close}\r\n");
        stream.write_all(request.as_bytes()).unwrap();
    }
    let mut answers = String::new();
    stream.read_to_string(&mut answers).unwrap();
    assert_eq!(answers.matches("HTTP/1.1 200").count(), requests);
    answers
}

#[test]
fn outage_of_the_collector_is_one_line_of_the_log() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("jeton.toml"), CONFIG).unwrap();
    let checked = jeton(
        folder.path(),
        &["serve", "--config", "jeton.toml", "--check"],
        b"",
    );
    assert!(checked.status.success(), "{checked:?}");
    let server = Serving::any_port(folder.path(), &["--config", "jeton.toml"]);
    let dropped = || {
        let metrics = get(&server.admin_address(), "/metrics", 1);
        let name = "jeton_trace_spans_dropped_total{reason=\"export_failed\"} ";
        let line = metrics.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap().parse::<usize>().unwrap()
    };
    // Each is more than a batch, so that it is sent at once.
    for batches in 1..=2 {
        get(&server.address(), "/livez", 600);
        let until = Instant::now() + Duration::from_secs(60);
        while dropped() < 500 * batches {
            assert!(Instant::now() < until, "{}", server.said());
            thread::sleep(Duration::from_millis(50));
        }
    }
    server.signal("-TERM");
    let (code, said) = server.end();
    assert_eq!(code, Some(0), "{said}");
    let lines: Vec<_> = said
        .lines()
        .filter(|line| line.contains("traces"))
        .collect();
    assert_eq!(lines.len(), 1, "{said}");
    assert!(lines[0].contains("WARN cannot export traces"), "{said}");
    assert!(lines[0].contains("refused"), "{said}");
}
