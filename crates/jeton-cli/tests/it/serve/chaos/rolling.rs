//! A restart of every node, one after the other, under load.
//!
//! The clients call only nodes whose `/readyz` says ready, as a load balancer does. A node with `stop_delay_seconds` is
//! not ready before it stops, so no call fails.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use jeton_client::revoke_request::What;
use jeton_client::{Client, Connection, IssueRequest, RevokeRequest, VerifyRequest};
use jeton_testkit::{free_port, until};

use super::super::etcd::{Cluster, has_started};
use super::super::{is_ready_at, is_ready_within};
use super::cluster::EACH;
use crate::serving::Serving;

/// Clients that call at the same time.
const CLIENTS: usize = 6;

/// What the clients know, as a load balancer does.
struct Shared {
    ports: Vec<u16>,
    is_ready: Vec<AtomicBool>,
    is_over: AtomicBool,
    /// Of calls that failed.
    failures: Mutex<Vec<String>>,
    calls: Mutex<u64>,
}

#[test]
#[ignore = "needs etcd: cargo xtask test --only etcd"]
fn chaos_rolling_restart_fails_no_call() {
    let cluster = Cluster::of(1);
    let config = cluster.folder.path().join("jeton.toml");
    let with_delay = format!(
        "stop_delay_seconds = 10\n{}",
        fs::read_to_string(&config).unwrap()
    );
    fs::write(config, with_delay).unwrap();
    let ports: Vec<u16> = (0..EACH).map(|_| free_port()).collect();
    let store = cluster.etcd.url("/tokens");
    let start = |node: usize| {
        let listen = format!("127.0.0.1:{}", ports[node]);
        let args = [
            "--config",
            "jeton.toml",
            "--store",
            &store,
            "--listen",
            &listen,
        ];
        let admin = ["--admin-listen", "127.0.0.1:0"];
        let server = Serving::start(cluster.folder.path(), &[&args[..], &admin].concat());
        assert!(has_started(&server), "{}", server.said());
        until("it is ready", || is_ready_at(ports[node]));
        server
    };
    let mut nodes: Vec<Option<Serving>> = (0..EACH).map(|node| Some(start(node))).collect();
    let shared = Arc::new(Shared {
        ports: ports.clone(),
        is_ready: (0..EACH).map(|_| AtomicBool::new(true)).collect(),
        is_over: AtomicBool::new(false),
        failures: Mutex::default(),
        calls: Mutex::default(),
    });
    let mut threads: Vec<JoinHandle<()>> = (0..CLIENTS)
        .map(|client| shared.start_client(client))
        .collect();
    threads.push(shared.start_checks());

    for (node, running) in nodes.iter_mut().enumerate() {
        shared.wait_for_calls();
        let server = running.take().unwrap();
        server.signal("-TERM");
        let (code, said) = server.end();
        assert_eq!(code, Some(0), "{said}");
        *running = Some(start(node));
    }
    shared.wait_for_calls();
    shared.is_over.store(true, Ordering::Relaxed);
    for thread in threads {
        thread.join().unwrap();
    }
    let failures = shared.failures.lock().unwrap();
    let calls = *shared.calls.lock().unwrap();
    println!(
        "{calls} calls during {EACH} restarts, {} failed",
        failures.len()
    );
    assert!(failures.is_empty(), "{failures:#?}");
}

impl Shared {
    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Waits until the clients have made more calls, several each.
    fn wait_for_calls(&self) {
        let calls = || *self.calls.lock().unwrap();
        let enough = calls() + 50;
        until("the clients call", || calls() >= enough);
    }

    /// Asks each node whether it is ready.
    fn start_checks(self: &Arc<Shared>) -> JoinHandle<()> {
        let own = self.clone();
        thread::spawn(move || {
            while !own.is_over() {
                for (port, is_ready) in own.ports.iter().zip(&own.is_ready) {
                    // A node that is slow is not ready for a load balancer.
                    let says_so = is_ready_within(*port, Duration::from_secs(1));
                    is_ready.store(says_so, Ordering::Relaxed);
                }
                thread::sleep(Duration::from_millis(20));
            }
        })
    }

    fn start_client(self: &Arc<Shared>, number: usize) -> JoinHandle<()> {
        let own = self.clone();
        thread::spawn(move || {
            let mut builder = tokio::runtime::Builder::new_current_thread();
            let runtime = builder.enable_all().build().unwrap();
            runtime.block_on(own.call_all_the_time(number));
        })
    }

    async fn call_all_the_time(&self, number: usize) {
        let mut clients = Vec::new();
        for port in &self.ports {
            let to = Connection::to(format!("http://127.0.0.1:{port}"));
            clients.push(to.connect().await.unwrap());
        }
        let mut token = String::new();
        for turn in number.. {
            if self.is_over() {
                return;
            }
            let Some(node) = self.some_ready_after(turn).await else {
                panic!("no node is ready");
            };
            *self.calls.lock().unwrap() += 1;
            if let Err(why) = call(&clients[node], turn / EACH, &mut token).await {
                self.failures
                    .lock()
                    .unwrap()
                    .push(format!("node {node}: {why}"));
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Waits for a node that is ready.
    async fn some_ready_after(&self, turn: usize) -> Option<usize> {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(60) {
            if let Some(node) = self.ready_after(turn) {
                return Some(node);
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        None
    }

    fn ready_after(&self, turn: usize) -> Option<usize> {
        let mut nodes = (0..EACH).map(|offset| (turn + offset) % EACH);
        nodes.find(|&node| self.is_ready[node].load(Ordering::Relaxed))
    }
}

/// Issues, verifies and revokes a token, in turn.
async fn call(client: &Client, kind: usize, token: &mut String) -> Result<(), String> {
    let done = match kind % 3 {
        0 => {
            let request = IssueRequest {
                profile: "access".to_owned(),
                ..IssueRequest::default()
            };
            client
                .issue(request)
                .await
                .map(|issued| *token = issued.token)
        }
        _ if token.is_empty() => return Ok(()),
        1 => {
            let request = VerifyRequest {
                audience: "api".to_owned(),
                token: token.clone(),
                ..VerifyRequest::default()
            };
            client.verify(request).await.map(drop)
        }
        _ => {
            let request = RevokeRequest {
                what: Some(What::Token(token.clone())),
                ..RevokeRequest::default()
            };
            client.revoke(request).await.map(drop)
        }
    };
    done.map_err(|error| error.to_string())
}
