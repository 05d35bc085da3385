//! A node and a member that a partition separates from the majority.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use jeton_client::revoke_request::What;
use jeton_client::{Client, Error, IssueRequest, Result, RevokeRequest, VerifyRequest};
use jeton_testkit::until;

use super::super::is_ready_at;
use super::cluster::{Cluster, EACH, FRESHNESS, connect};
use super::network::Direction;

/// `store_outage_issuing_seconds`.
const ISSUING: Duration = Duration::from_secs(10);

/// The last contact before the partition: a heartbeat every 2.5 s, and its way.
const LAST_CONTACT: Duration = Duration::from_secs(4);

/// A time limit that no call reaches.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Partitions until the node serves for as long as it can: on a busy machine it may hear of the store too late.
const TRIES: usize = 3;

/// What the node in the minority did after the partition.
#[derive(Debug)]
struct Sample {
    /// When it was asked whether it is ready, and then called to verify and to issue.
    began: [Duration; 3],
    was_ready: bool,
    verifies: bool,
    issued: Option<String>,
}

#[test]
#[ignore = "needs etcd and network namespaces: cargo xtask test --only etcd"]
fn chaos_minority_serves_within_its_bounds_and_loses_nothing() {
    let cluster = Cluster::start(&format!(
        "store_outage_issuing_seconds = {}",
        ISSUING.as_secs()
    ));
    let [kept, revoked_before, revoked_meanwhile, not_revoked] =
        call(&cluster, 0, async |client| {
            let mut tokens = Vec::new();
            for _ in 0..4 {
                tokens.push(issue(&client).await.unwrap());
            }
            revoke(&client, &tokens[1]).await.unwrap();
            tokens
        })
        .try_into()
        .unwrap();

    let mut samples = Vec::new();
    let served = (0..TRIES).any(|_| {
        let tried = partition(&cluster, &kept, &not_revoked, &revoked_meanwhile);
        assert_bounds(&tried);
        let served = serves_long_enough(&tried);
        samples.extend(tried);
        served
    });
    assert!(served, "it serves too short: {samples:#?}");
    let issued = samples.iter().filter_map(|sample| sample.issued.as_ref());
    let issued: Vec<String> = issued.step_by(10).cloned().collect();
    for node in 0..EACH {
        let kept = [&issued[..], std::slice::from_ref(&kept)].concat();
        let revoked = [revoked_before.clone(), revoked_meanwhile.clone()];
        call(&cluster, node, async move |client| {
            for token in &kept {
                let verified = verify(&client, token).await;
                assert!(verified.is_ok(), "node {node}: {verified:?}");
            }
            for token in &revoked {
                let verified = verify(&client, token).await;
                assert!(is_revoked(&verified), "node {node}: {verified:?}");
            }
        });
    }
}

/// Separates node 0 and member 0 from the others until the node has reached its bounds, and heals the partition.
/// Returns what the node did meanwhile.
fn partition(cluster: &Cluster, kept: &str, not_revoked: &str, revoked: &str) -> Vec<Sample> {
    let rest: Vec<usize> = (1..EACH)
        .flat_map(|one| [one, Cluster::host(one)])
        .collect();
    for host in [0, Cluster::host(0)] {
        cluster.network.cut(host, Direction::Both, &rest);
    }
    // The last contact was earlier.
    let cut = Instant::now();
    let is_over = Arc::new(AtomicBool::new(false));
    let (over, token) = (is_over.clone(), kept.to_owned());
    let sampling = cluster.network.spawn(Cluster::host(0), move || {
        on_this_host(async |client| {
            let mut samples: Vec<Sample> = Vec::new();
            let reaches_end = |sample: &Sample| sample.began.iter().all(|at| *at > ISSUING);
            while !(over.load(Ordering::Relaxed) && samples.last().is_some_and(reaches_end)) {
                let mut began = [cut.elapsed(); 3];
                let was_ready = is_ready_at(8420);
                began[1] = cut.elapsed();
                let verifies = verify(&client, &token).await.is_ok();
                began[2] = cut.elapsed();
                let issued = issue(&client).await.ok();
                samples.push(Sample {
                    began,
                    was_ready,
                    verifies,
                    issued,
                });
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            samples
        })
    });
    let token = not_revoked.to_owned();
    let refused = call(cluster, 0, async move |client| {
        revoke(&client, &token).await
    });
    assert!(matches!(refused, Err(Error::Unavailable(_))), "{refused:?}");
    // The majority goes on, when it has a leader.
    until("the majority revokes", || {
        let token = revoked.to_owned();
        call(cluster, 1, async move |client| {
            revoke(&client, &token).await
        })
        .is_ok()
    });
    until("its other node refuses the token", || {
        let token = revoked.to_owned();
        is_revoked(&call(cluster, 2, async move |client| {
            verify(&client, &token).await
        }))
    });
    is_over.store(true, Ordering::Relaxed);
    let samples = sampling.join().unwrap();
    for host in [0, Cluster::host(0)] {
        cluster.network.heal(host);
    }
    cluster.all_are_ready();
    samples
}

/// Requires that the node neither verifies nor says that it is ready after the freshness bound, and that it issues
/// nothing after its own limit. Only calls count that began later.
fn assert_bounds(samples: &[Sample]) {
    for sample in samples {
        let [asked, verified, issued] = sample.began;
        assert!(asked <= FRESHNESS || !sample.was_ready, "{sample:?}");
        assert!(verified <= FRESHNESS || !sample.verifies, "{sample:?}");
        assert!(issued <= ISSUING || sample.issued.is_none(), "{sample:?}");
    }
}

/// Whether the node is ready, verifies and issues until its bounds after the last contact.
fn serves_long_enough(samples: &[Sample]) -> bool {
    let lasts = |nth: usize, bound: Duration, holds: &dyn Fn(&Sample) -> bool| {
        let fails = samples.iter().find(|sample| !holds(sample));
        let ends = fails.map_or(Duration::MAX, |sample| sample.began[nth]);
        println!("{:.1} s after the partition", ends.as_secs_f64());
        ends >= bound.saturating_sub(LAST_CONTACT)
    };
    let is_ready = lasts(0, FRESHNESS, &|sample| sample.was_ready);
    let verifies = lasts(1, FRESHNESS, &|sample| sample.verifies);
    let issues = lasts(2, ISSUING, &|sample| sample.issued.is_some());
    is_ready && verifies && issues
}

/// Calls a node from its own host.
pub(super) fn call<R: Send + 'static>(
    cluster: &Cluster,
    node: usize,
    work: impl AsyncFnOnce(Client) -> R + Send + 'static,
) -> R {
    let host = Cluster::host(node);
    cluster
        .network
        .spawn(host, || on_this_host(work))
        .join()
        .unwrap()
}

pub(super) fn on_this_host<R>(work: impl AsyncFnOnce(Client) -> R) -> R {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_all().build().unwrap();
    runtime.block_on(async { work(connect(TIMEOUT).await).await })
}

pub(super) async fn issue(client: &Client) -> Result<String> {
    let request = IssueRequest {
        profile: "access".to_owned(),
        ..IssueRequest::default()
    };
    client.issue(request).await.map(|issued| issued.token)
}

pub(super) async fn verify(client: &Client, token: &str) -> Result<()> {
    let request = VerifyRequest {
        audience: "api".to_owned(),
        token: token.to_owned(),
        ..VerifyRequest::default()
    };
    client.verify(request).await.map(drop)
}

pub(super) async fn revoke(client: &Client, token: &str) -> Result<()> {
    let request = RevokeRequest {
        what: Some(What::Token(token.to_owned())),
        ..RevokeRequest::default()
    };
    client.revoke(request).await.map(drop)
}

pub(super) fn is_revoked(verified: &Result<()>) -> bool {
    matches!(verified, Err(Error::Rejected { reason, .. }) if reason == "TOKEN_REVOKED")
}
