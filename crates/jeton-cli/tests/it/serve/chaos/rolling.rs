//! A restart or an upgrade of every node, one after the other, under load.
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
use super::cluster::{EACH, Program};
use crate::serving::Serving;

/// A version with newer records of rules than this one.
const NEXT: &str = "JETON_TEST_NEXT_VERSION=1";

/// Clients that call at the same time.
const CLIENTS: usize = 6;

/// What the clients know, as a load balancer does.
struct Shared {
    ports: Vec<u16>,
    is_ready: Vec<AtomicBool>,
    is_over: AtomicBool,
    /// Of calls that failed.
    failures: Mutex<Vec<String>>,
    /// Revocations that a node refused because an older one runs.
    waits: Mutex<u64>,
    calls: Mutex<u64>,
}

#[test]
#[ignore = "needs etcd: cargo xtask test --only etcd"]
fn chaos_rolling_restart_fails_no_call() {
    let Shared { waits, calls, .. } = &*roll(&Program::Whole, &Program::Whole);
    println!("{} calls during {EACH} restarts", calls.lock().unwrap());
    assert_eq!(*waits.lock().unwrap(), 0);
}

/// From the version of the environment to this one, or from this one to one with newer records.
#[test]
#[ignore = "needs etcd: cargo xtask test --only etcd"]
fn chaos_rolling_upgrade_stops_no_node() {
    let next = Program::With(NEXT);
    let (before, after) = match Program::of_environment() {
        Some(older) => (older, Program::Whole),
        None => (Program::Whole, next.clone()),
    };
    let Shared { waits, calls, .. } = &*roll(&before, &after);
    let (waits, calls) = (*waits.lock().unwrap(), *calls.lock().unwrap());
    println!("{calls} calls during {EACH} upgrades; {waits} had to wait for older nodes");
    assert_eq!(waits > 0, after == next);
}

/// The control: what keeps older nodes running is that newer ones do not write what these cannot read.
#[test]
#[ignore = "needs etcd: cargo xtask test --only etcd"]
fn chaos_newer_record_stops_older_node_without_protection() {
    let cluster = Cluster::of(1);
    let unprotected = "JETON_TEST_NEXT_VERSION=1 JETON_TEST_WITHOUT=versions";
    for (program, root, is_protected) in [(NEXT, "/one", true), (unprotected, "/other", false)] {
        let ports = [free_port(), free_port()];
        let start = |program: &Program, port| start(&cluster, root, program, port);
        let older = start(&Program::Whole, ports[0]);
        let newer = start(&Program::With(program), ports[1]);
        until("the newer one knows the older one", || {
            newer_knows(&cluster, &newer)
        });
        let revoked = on(ports[1], async |client| revoke_subject(client).await);
        assert_eq!(revoked.is_ok(), !is_protected, "{revoked:?}");
        if is_protected {
            assert!(is_for_older_node(&revoked.unwrap_err()));
            assert!(is_ready_at(ports[0]), "{}", older.said());
        } else {
            until("the older one is not ready", || !is_ready_at(ports[0]));
        }
    }
}

fn newer_knows(cluster: &Cluster, server: &Serving) -> bool {
    let admin = server.admin_address();
    let args = ["admin", "nodes", "--server", &admin, "--json"];
    let output = crate::binary::jeton(cluster.folder.path(), &args, b"");
    let nodes: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    nodes["nodes"].as_array().is_some_and(|all| all.len() == 2)
}

fn start(cluster: &Cluster, root: &str, program: &Program, port: u16) -> Serving {
    let listen = format!("127.0.0.1:{port}");
    let store = cluster.etcd.url(root);
    let args = ["--config", "jeton.toml", "--store", &store];
    let listen = ["--listen", &listen, "--admin-listen", "127.0.0.1:0"];
    let words = program.words();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let args = [&args[..], &listen].concat();
    let server = Serving::start_by(&words, cluster.folder.path(), &args);
    assert!(has_started(&server), "{}", server.said());
    until("it is ready", || is_ready_at(port));
    server
}

/// Replaces each node by one that runs the other program, under load. No call fails, but revocations of subjects may
/// have to wait until no older node runs.
fn roll(before: &Program, after: &Program) -> Arc<Shared> {
    let cluster = Cluster::of(1);
    let config = cluster.folder.path().join("jeton.toml");
    let with_delay = format!(
        "stop_delay_seconds = 10\n{}",
        fs::read_to_string(&config).unwrap()
    );
    fs::write(config, with_delay).unwrap();
    let ports: Vec<u16> = (0..EACH).map(|_| free_port()).collect();
    let start = |program: &Program, node: usize| start(&cluster, "/tokens", program, ports[node]);
    let mut nodes: Vec<Option<Serving>> = (0..EACH).map(|node| Some(start(before, node))).collect();
    let shared = Arc::new(Shared {
        ports: ports.clone(),
        is_ready: (0..EACH).map(|_| AtomicBool::new(true)).collect(),
        is_over: AtomicBool::new(false),
        failures: Mutex::default(),
        waits: Mutex::default(),
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
        *running = Some(start(after, node));
    }
    shared.wait_for_calls();
    shared.is_over.store(true, Ordering::Relaxed);
    for thread in threads {
        thread.join().unwrap();
    }
    for port in ports {
        assert!(is_ready_at(port));
        until("it revokes a subject", || {
            on(port, async |client| revoke_subject(client).await).is_ok()
        });
    }
    let failures = shared.failures.lock().unwrap();
    assert!(failures.is_empty(), "{failures:#?}");
    drop(failures);
    shared
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
            match call(&clients[node], turn / EACH, &mut token).await {
                Err(why) if is_for_older_node(&why) => *self.waits.lock().unwrap() += 1,
                Err(why) => {
                    let mut failures = self.failures.lock().unwrap();
                    failures.push(format!("node {node}: {why}"));
                }
                Ok(()) => {}
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

/// Runs calls to the node at this port.
fn on<R>(port: u16, work: impl AsyncFnOnce(&Client) -> R) -> R {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_all().build().unwrap();
    runtime.block_on(async {
        let to = Connection::to(format!("http://127.0.0.1:{port}"));
        work(&to.connect().await.unwrap()).await
    })
}

/// A subject that no token of this test has.
async fn revoke_subject(client: &Client) -> Result<(), String> {
    let request = RevokeRequest {
        what: Some(What::Subject("nobody".to_owned())),
        ..RevokeRequest::default()
    };
    let revoked = client.revoke(request).await;
    revoked.map(drop).map_err(|error| error.to_string())
}

/// Whether a node refused to write what an older one does not read.
fn is_for_older_node(why: &str) -> bool {
    why.contains("upgrade that server first")
}

/// Issues, verifies and revokes a token, and revokes a subject, in turn.
async fn call(client: &Client, kind: usize, token: &mut String) -> Result<(), String> {
    let done = match kind % 4 {
        3 => return revoke_subject(client).await,
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
