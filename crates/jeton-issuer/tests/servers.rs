//! Servers on one store revoke single tokens at once, without conflicts: counts transactions, and times nothing.
//!
//! With `JETON_SERVERS_STORE=etcd` the store is an etcd server, and otherwise in memory. `JETON_SERVERS` has the
//! numbers of servers (default `1,3,10,30`).
#![allow(clippy::unwrap_used, clippy::panic)]

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use jeton::{FixedClock, Timestamp};
use jeton_issuer::{
    AuditPositions, IssuerSettings, KeyEncryptionKey, Node, Options, Revoke, Subject, export_audit,
    verify_audit,
};
use jeton_store::{
    EtcdAccess, EtcdAddress, EtcdStore, Key, MemoryStore, Operation, Outcome, Pages, Pending,
    Prefix, Read, Revision, Status, Store, Txn, Watch, block_on,
};
use jeton_testkit::{Etcd, until_some};

const ISS: &str = "https://id.example";
const NOW: i64 = 1_800_000_000;
/// Revocations of all servers together, and how many of them wait at once.
const REVOCATIONS: usize = 3600;
const AT_ONCE: usize = 120;
/// Subjects that each server revokes, which have an order.
const SUBJECTS: usize = 4;

fn main() -> ExitCode {
    // Handles the arguments that `cargo test` passes to every test program.
    if std::env::args().any(|argument| argument == "--list") {
        println!("servers_do_not_conflict: test");
        return ExitCode::SUCCESS;
    }
    let numbers = std::env::var("JETON_SERVERS").unwrap_or_else(|_| "1,3,10,30".to_owned());
    println!(
        "| servers | revocations | transactions with tokens | transactions | conflicts | reads |"
    );
    let mut alone = None;
    for number in numbers.split(',') {
        let servers = number.parse().expect("JETON_SERVERS has numbers");
        let counts = run(servers);
        let [batches, sent, conflicts, reads] = counts.values();
        println!("| {servers} | {REVOCATIONS} | {batches} | {sent} | {conflicts} | {reads} |");
        #[allow(clippy::cast_precision_loss, reason = "small numbers")]
        let [per_batch, retries] = [sent, conflicts].map(|count| count as f64 / batches as f64);
        assert!(batches >= (REVOCATIONS / AT_ONCE) as u64);
        let of_one = *alone.get_or_insert(per_batch);
        assert!(
            per_batch <= 1.1 * of_one,
            "{per_batch} transactions for each batch, and {of_one} with one server"
        );
        assert!(retries < 0.01, "{retries} conflicts for each batch");
        // A batch of tokens reads nothing. A checkpoint reads, after a minute.
        assert!(reads <= 2, "{reads} reads");
    }
    ExitCode::SUCCESS
}

/// What servers ask of the store.
#[derive(Debug, Default)]
struct Counts {
    /// Committed transactions with tokens.
    batches: AtomicU64,
    /// Sent transactions.
    sent: AtomicU64,
    conflicts: AtomicU64,
    reads: AtomicU64,
}

impl Counts {
    fn values(&self) -> [u64; 4] {
        let counts = [&self.batches, &self.sent, &self.conflicts, &self.reads];
        counts.map(|count| count.load(Ordering::SeqCst))
    }
}

fn run(servers: usize) -> Arc<Counts> {
    let folder = tempfile::tempdir().unwrap();
    let is_etcd = std::env::var("JETON_SERVERS_STORE").is_ok_and(|store| store == "etcd");
    let etcd = is_etcd.then(|| Etcd::start(folder.path(), 1).unwrap());
    let memory = MemoryStore::new();
    let connect = || -> Arc<dyn Store> {
        match &etcd {
            Some(etcd) => {
                let address = EtcdAddress::parse(&etcd.url("/servers")).unwrap();
                // It takes a moment to start.
                let open = || EtcdStore::open(&address, EtcdAccess::default()).ok();
                Arc::new(until_some("etcd answers", open))
            }
            None => Arc::new(memory.clone()),
        }
    };
    let settings = format!(
        r#"{{"iss":"{ISS}","profiles":[{{"name":"p","alg":"EdDSA","lifetime_seconds":900,"audiences":["a"]}}]}}"#
    );
    let plain = connect();
    let setup = start(plain.clone());
    setup
        .create_issuer("setup", IssuerSettings::from_json(&settings).unwrap())
        .unwrap();
    let counts = Arc::<Counts>::default();
    let nodes: Vec<Node> = (0..servers)
        .map(|_| {
            start(Arc::new(Counted {
                store: connect(),
                counts: counts.clone(),
            }))
        })
        .collect();
    // What the start has asked does not count.
    counts.reads.store(0, Ordering::SeqCst);
    let (each, at_once) = (REVOCATIONS / servers, AT_ONCE / servers);
    thread::scope(|scope| {
        for (server, node) in nodes.iter().enumerate() {
            scope.spawn(move || {
                for first in (0..each).step_by(at_once) {
                    let waiting: Vec<_> = (first..each.min(first + at_once))
                        .map(|number| {
                            let id = format!("{server}-{number}");
                            node.revoke("me", ISS, Revoke::token(&id, NOW + 3600))
                        })
                        .collect();
                    for answer in waiting {
                        block_on(answer).unwrap();
                    }
                }
            });
        }
    });
    let counted = Counts::default();
    for (to, from) in [
        (&counted.batches, &counts.batches),
        (&counted.sent, &counts.sent),
        (&counted.conflicts, &counts.conflicts),
        (&counted.reads, &counts.reads),
    ] {
        to.store(from.load(Ordering::SeqCst), Ordering::SeqCst);
    }
    // Rules have an order: they conflict, and none fails.
    thread::scope(|scope| {
        for (server, node) in nodes.iter().enumerate() {
            scope.spawn(move || {
                for number in 0..SUBJECTS {
                    let subject = Subject::Subject(format!("{server}-{number}"));
                    block_on(node.revoke("me", ISS, Revoke::all(subject))).unwrap();
                }
            });
        }
    });
    let [rule_sent, rule_conflicts] = [1, 2].map(|at| counts.values()[at] - counted.values()[at]);
    println!(
        "  {} rules: {rule_sent} transactions, {rule_conflicts} conflicts",
        servers * SUBJECTS
    );
    export_audit(&*plain, &AuditPositions::default(), NOW, &mut |_| Ok(())).unwrap();
    let entries = block_on(verify_audit(&*plain)).unwrap();
    let [batches, ..] = counted.values();
    // The issuer, the tokens, the rules (one entry each: they do not wait together), and a checkpoint.
    assert_eq!(entries, 1 + batches + (servers * SUBJECTS) as u64 + 1);
    let loaded = start(connect());
    assert_eq!(loaded.status().revocations, each * servers);
    assert_eq!(loaded.status().rules, servers * SUBJECTS);
    Arc::new(counted)
}

fn start(store: Arc<dyn Store>) -> Node {
    let kek = KeyEncryptionKey::from_hex(&"17".repeat(32)).unwrap();
    let now = Timestamp::from_unix_seconds(NOW).unwrap();
    Node::start(store, Options::new(kek), Arc::new(FixedClock(now))).unwrap()
}

/// A store that counts.
#[derive(Debug)]
struct Counted {
    store: Arc<dyn Store>,
    counts: Arc<Counts>,
}

fn has_tokens(txn: &Txn) -> bool {
    (txn.operations().iter()).any(
        |operation| matches!(operation, Operation::Put(key, _) if key.as_str().starts_with("/r/")),
    )
}

impl Store for Counted {
    fn read(&self, keys: &[Key]) -> Pending<'_, Read> {
        self.counts.reads.fetch_add(1, Ordering::SeqCst);
        self.store.read(keys)
    }

    fn scan(&self, prefix: &Prefix) -> Pending<'_, Box<dyn Pages>> {
        self.store.scan(prefix)
    }

    fn commit(&self, txn: Txn) -> Pending<'_, Outcome> {
        let is_batch = has_tokens(&txn);
        self.counts.sent.fetch_add(1, Ordering::SeqCst);
        let committed = self.store.commit(txn);
        Box::pin(async move {
            let outcome = committed.await?;
            match outcome {
                Outcome::Committed(_) if is_batch => {
                    self.counts.batches.fetch_add(1, Ordering::SeqCst);
                }
                Outcome::Committed(_) => {}
                Outcome::Conflict(_) => {
                    self.counts.conflicts.fetch_add(1, Ordering::SeqCst);
                }
            }
            Ok(outcome)
        })
    }

    fn watch(&self, prefix: &Prefix, after: Revision) -> Pending<'_, Box<dyn Watch>> {
        self.store.watch(prefix, after)
    }

    fn status(&self) -> Pending<'_, Status> {
        self.store.status()
    }
}
