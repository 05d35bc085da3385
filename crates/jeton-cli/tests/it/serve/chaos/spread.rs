//! How long a revocation takes to reach every node.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use super::cluster::{Cluster, EACH, FRESHNESS};
use super::minority::{is_revoked, issue, on_this_host, revoke, verify};

/// The environment variable with the number of revocations.
const REVOCATIONS: &str = "JETON_CHAOS_REVOCATIONS";

/// Upper ends of the bins, in milliseconds.
const BINS: &[u64] = &[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000];

/// From the acknowledgement to the first refusal, at the nodes that did not acknowledge it.
#[test]
#[ignore = "needs etcd and network namespaces: cargo xtask test --only etcd"]
fn chaos_revocation_reaches_every_node_within_the_bound() {
    let count = std::env::var(REVOCATIONS)
        .ok()
        .and_then(|text| text.parse::<usize>().ok());
    let count = count.unwrap_or(50);
    let cluster = Cluster::start("");
    let (told, news) = channel();
    let mut tokens = Vec::new();
    for node in 1..EACH {
        let (sender, receiver) = channel();
        tokens.push(sender);
        let told = told.clone();
        let host = Cluster::host(node);
        // It ends with the test.
        cluster.network.spawn(host, move || watch(&receiver, &told));
    }
    let revoking = cluster.network.spawn(Cluster::host(0), move || {
        on_this_host(async |client| {
            let mut delays = Vec::new();
            for _ in 0..count {
                let token = issue(&client).await.unwrap();
                for sender in &tokens {
                    sender.send(token.clone()).unwrap();
                }
                for _ in &tokens {
                    assert_eq!(news.recv().unwrap(), None, "it is accepted first");
                }
                revoke(&client, &token).await.unwrap();
                let acknowledged = Instant::now();
                for _ in &tokens {
                    let refused = news.recv().unwrap().unwrap();
                    delays.push(refused.saturating_duration_since(acknowledged));
                }
            }
            delays
        })
    });
    let mut delays = revoking.join().unwrap();
    delays.sort_unstable();
    print(&delays);
    let last = delays.last().unwrap();
    assert!(*last < FRESHNESS, "{last:?}");
}

/// Verifies each token until it is refused. Reports the first acceptance, and the time of the refusal.
fn watch(tokens: &Receiver<String>, told: &Sender<Option<Instant>>) {
    on_this_host(async |client| {
        while let Ok(token) = tokens.recv() {
            let mut was_accepted = false;
            loop {
                let verified = verify(&client, &token).await;
                if is_revoked(&verified) {
                    break;
                }
                if verified.is_ok() && !was_accepted {
                    was_accepted = true;
                    told.send(None).unwrap();
                }
            }
            told.send(Some(Instant::now())).unwrap();
        }
    });
}

fn print(delays: &[Duration]) {
    println!("from the acknowledgement of a revocation to its refusal at another node:");
    let mut below = 0;
    for &end in BINS {
        let within = delays.partition_point(|delay| *delay <= Duration::from_millis(end));
        if within > below {
            let bar = "#".repeat((within - below).div_ceil(delays.len().div_ceil(50)));
            println!("  at most {end:>5} ms {:>6} {bar}", within - below);
        }
        below = within;
    }
    let at = |share: usize| delays[(delays.len() - 1) * share / 100].as_secs_f64() * 1000.0;
    println!(
        "  {} measured: half within {:.1} ms, 99 % within {:.1} ms, all within {:.1} ms",
        delays.len(),
        at(50),
        at(99),
        at(100)
    );
}
