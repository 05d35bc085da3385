//! A node and a member that a partition separates from the majority.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use jeton_client::revoke_request::What;
use jeton_client::{Client, Error, IssueRequest, Result, RevokeRequest, VerifyRequest};

use super::super::etcd::until;
use super::cluster::{Cluster, EACH, FRESHNESS, connect};
use super::load::is_ready;
use super::network::Direction;

/// `store_outage_issuing_seconds`.
const ISSUING: Duration = Duration::from_secs(10);

/// The last contact before the partition: a heartbeat every 2.5 s, and its way.
const LAST_CONTACT: Duration = Duration::from_secs(4);

/// Times that a busy machine adds.
const LATE: Duration = Duration::from_secs(1);

/// A time limit that no call reaches.
const TIMEOUT: Duration = Duration::from_secs(30);

/// What the node in the minority did at one moment after the partition.
#[derive(Debug)]
struct Sample {
    at: Duration,
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

    // Node 0 and member 0 on one side, the others on the other side.
    let rest: Vec<usize> = (1..EACH)
        .flat_map(|one| [one, Cluster::host(one)])
        .collect();
    let cut = Instant::now();
    for host in [0, Cluster::host(0)] {
        cluster.network.cut(host, Direction::Both, &rest);
    }
    let is_over = Arc::new(AtomicBool::new(false));
    let (over, token) = (is_over.clone(), kept.clone());
    let sampling = cluster.network.spawn(Cluster::host(0), move || {
        on_this_host(async |client| {
            let mut samples = Vec::new();
            while !over.load(Ordering::Relaxed) {
                let was_ready = is_ready();
                let at = cut.elapsed();
                let verifies = verify(&client, &token).await.is_ok();
                let issued = issue(&client).await.ok();
                samples.push(Sample {
                    at,
                    was_ready,
                    verifies,
                    issued,
                });
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            samples
        })
    });
    let token = not_revoked.clone();
    let refused = call(&cluster, 0, async move |client| {
        revoke(&client, &token).await
    });
    assert!(matches!(refused, Err(Error::Unavailable(_))), "{refused:?}");
    // The majority goes on, when it has a leader.
    let token = revoked_meanwhile.clone();
    until("the majority revokes", || {
        let token = token.clone();
        call(&cluster, 1, async move |client| {
            revoke(&client, &token).await
        })
        .is_ok()
    });
    let token = revoked_meanwhile.clone();
    until("its other node refuses the token", || {
        let token = token.clone();
        is_revoked(&call(&cluster, 2, async move |client| {
            verify(&client, &token).await
        }))
    });
    thread::sleep((ISSUING + LATE).saturating_sub(cut.elapsed()));
    is_over.store(true, Ordering::Relaxed);
    let samples = sampling.join().unwrap();
    check(&samples);

    for host in [0, Cluster::host(0)] {
        cluster.network.heal(host);
    }
    cluster.all_are_ready();
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

/// Requires that the node verifies until the freshness bound, and that `/readyz` says so; and that it issues until
/// its own limit.
fn check(samples: &[Sample]) {
    let first = |holds: &dyn Fn(&Sample) -> bool| {
        let found = samples.iter().find(|&sample| !holds(sample));
        found
            .map(|sample| sample.at)
            .expect("it ends while the partition lasts")
    };
    let verified = first(&|sample| sample.verifies);
    let ready = first(&|sample| sample.was_ready);
    let issued = first(&|sample| sample.issued.is_some());
    println!(
        "after the partition: verifies for {:.1} s, is ready for {:.1} s, issues for {:.1} s",
        verified.as_secs_f64(),
        ready.as_secs_f64(),
        issued.as_secs_f64()
    );
    for (ends, bound) in [(verified, FRESHNESS), (ready, FRESHNESS), (issued, ISSUING)] {
        let expected = bound.saturating_sub(LAST_CONTACT)..bound + LATE;
        assert!(expected.contains(&ends), "{ends:?} is not in {expected:?}");
    }
    for sample in samples {
        let near = |end: Duration| sample.at.abs_diff(end) < Duration::from_millis(300);
        assert_eq!(sample.verifies, sample.at < verified, "{sample:?}");
        assert_eq!(sample.issued.is_some(), sample.at < issued, "{sample:?}");
        assert!(
            near(verified) || sample.was_ready == sample.verifies,
            "{sample:?}"
        );
    }
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
