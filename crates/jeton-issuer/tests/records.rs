//! What a node does with many records: start, compare its view with the store, back up.
//!
//! `JETON_RECORDS` has the numbers of records, separated by commas (default 1000). It prints the times; nothing fails
//! because of a time. With `JETON_RECORDS_STORE=etcd` the store is an etcd
//! server.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jeton::{FixedClock, Timestamp};
use jeton_issuer::{IssuerSettings, KeyEncryptionKey, Node, Options, back_up};
use jeton_store::{
    EtcdAccess, EtcdAddress, EtcdStore, Key, Outcome, RedbStore, Store, Txn, block_on,
};
use jeton_testkit::Etcd;

const ISS: &str = "https://id.example";
const NOW: i64 = 1_800_000_000;
/// Revocations of one transaction.
const EACH: usize = 120;
/// Minutes in which the revoked tokens expire.
const MINUTES: usize = 1440;
/// Transactions that wait for the store.
const AT_ONCE: usize = 64;

fn main() -> ExitCode {
    // Handles the arguments that `cargo test` passes to every test program.
    if std::env::args().any(|argument| argument == "--list") {
        println!("many_records_are_loaded_compared_and_backed_up: test");
        return ExitCode::SUCCESS;
    }
    let sizes = std::env::var("JETON_RECORDS").unwrap_or_else(|_| "1000".to_owned());
    let is_etcd = std::env::var("JETON_RECORDS_STORE").is_ok_and(|store| store == "etcd");
    println!(
        "{} | records | start, s | µs each | comparison, s | µs each | backup, s | µs each",
        if is_etcd { "etcd" } else { "redb" }
    );
    for size in sizes.split(',') {
        let records = size.parse().expect("JETON_RECORDS has numbers");
        measure(records, is_etcd);
    }
    ExitCode::SUCCESS
}

fn measure(records: usize, is_etcd: bool) {
    let folder = tempfile::tempdir().unwrap();
    // 10 million records have more than the default quota.
    let quota = ["--quota-backend-bytes", "8589934592"];
    let etcd = is_etcd.then(|| Etcd::start_with(folder.path(), 1, &quota).unwrap());
    let store: Arc<dyn Store> = match &etcd {
        Some(etcd) => {
            let address = EtcdAddress::parse(&etcd.url("/records")).unwrap();
            Arc::new(EtcdStore::open(&address, EtcdAccess::default()).unwrap())
        }
        None => Arc::new(RedbStore::open(folder.path()).unwrap()),
    };
    let settings = format!(
        r#"{{"iss":"{ISS}","profiles":[{{"name":"p","alg":"EdDSA","lifetime_seconds":900,"audiences":["a"]}}]}}"#
    );
    let node = start(&store, Options::new(kek()));
    node.create_issuer("setup", IssuerSettings::from_json(&settings).unwrap())
        .unwrap();
    drop(node);
    fill(&*store, records);

    let begun = Instant::now();
    let node = start(&store, Options::new(kek()));
    assert_eq!(node.status().revocations, records);
    let start_time = begun.elapsed();
    drop(node);

    let every = Options::new(kek()).compare_every(Duration::from_millis(1));
    let node = start(&store, every);
    let begun = Instant::now();
    while node.status().comparisons == 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
    let comparison_time = begun.elapsed();
    assert_eq!(node.status().differences, 0);
    drop(node);

    let begun = Instant::now();
    let backed_up = back_up(&*store, NOW, &mut std::io::sink()).unwrap();
    let backup_time = begun.elapsed();
    assert!(backed_up.entries >= records as u64);

    let times = [start_time, comparison_time, backup_time];
    #[allow(clippy::cast_precision_loss, reason = "fewer than 2^52 records")]
    let cells = times.map(|time| {
        let seconds = time.as_secs_f64();
        format!("{seconds:.2} | {:.1}", seconds * 1e6 / records as f64)
    });
    println!("| {records} | {} |", cells.join(" | "));
}

fn kek() -> KeyEncryptionKey {
    KeyEncryptionKey::from_hex(&"17".repeat(32)).unwrap()
}

fn start(store: &Arc<dyn Store>, options: Options) -> Node {
    let now = Timestamp::from_unix_seconds(NOW).unwrap();
    Node::start(store.clone(), options, Arc::new(FixedClock(now))).unwrap()
}

/// Writes revocations as a node writes them, without its audit entries.
fn fill(store: &dyn Store, records: usize) {
    let value = format!(r#"{{"schema":1,"record":{NOW}}}"#);
    let first = usize::try_from(NOW / 60).unwrap() + 60;
    let mut state = 1_u64;
    let mut number = 0;
    while number < records {
        let mut waiting = Vec::new();
        while number < records && waiting.len() < AT_ONCE {
            let mut txn = Txn::new();
            for _ in 0..EACH.min(records - number) {
                // A permutation of the numbers: no hash twice.
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                let minute = first + number % MINUTES;
                let hash = (u128::from(state) << 64) | number as u128;
                let (minute, hash) = (format!("{minute:010}"), format!("{hash:032x}"));
                let key = Key::of(["r", ISS, &minute, &hash]).unwrap();
                txn = txn.put(key, value.as_str());
                number += 1;
            }
            waiting.push(store.commit(txn));
        }
        for commit in waiting {
            assert!(matches!(block_on(commit).unwrap(), Outcome::Committed(_)));
        }
    }
}
