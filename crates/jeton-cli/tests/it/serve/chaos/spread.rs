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
            let (mut delays, mut last_accepted) = (Vec::new(), Duration::ZERO);
            for _ in 0..count {
                let token = issue(&client).await.unwrap();
                for sender in &tokens {
                    sender.send(token.clone()).unwrap();
                }
                for _ in &tokens {
                    assert!(news.recv().unwrap().is_none(), "it is accepted first");
                }
                revoke(&client, &token).await.unwrap();
                let acknowledged = Instant::now();
                for _ in &tokens {
                    let refusal = news.recv().unwrap().unwrap();
                    let after = |at: Instant| at.saturating_duration_since(acknowledged);
                    delays.push(after(refusal.at));
                    last_accepted = last_accepted.max(after(refusal.accepted));
                }
            }
            (delays, last_accepted)
        })
    });
    let (mut delays, last_accepted) = revoking.join().unwrap();
    delays.sort_unstable();
    print(&delays);
    // A busy machine may refuse late, and accepts nothing with a view that is too old.
    assert!(last_accepted < FRESHNESS, "{last_accepted:?}");
}

/// What a node has done with a token that was revoked.
struct Refusal {
    at: Instant,
    /// When the last call began that accepted it.
    accepted: Instant,
}

/// Verifies each token until it is refused. Reports the first acceptance, and the refusal.
fn watch(tokens: &Receiver<String>, told: &Sender<Option<Refusal>>) {
    on_this_host(async |client| {
        while let Ok(token) = tokens.recv() {
            let mut accepted = None;
            loop {
                let began = Instant::now();
                let verified = verify(&client, &token).await;
                if is_revoked(&verified) {
                    break;
                }
                if verified.is_ok() && accepted.replace(began).is_none() {
                    told.send(None).unwrap();
                }
            }
            let refusal = Refusal {
                at: Instant::now(),
                accepted: accepted.expect("it is revoked after it was accepted"),
            };
            told.send(Some(refusal)).unwrap();
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
