//! `cargo xtask cluster-cost`: measures what servers on one etcd cost each other, and computes from it what larger
//! clusters carry.
//!
//! Three members and up to three servers run on this machine and share its cores. So the rates are no limits of a
//! cluster on machines of its own; CPU time, bytes and transactions depend on that much less. The page is
//! docs/reference/cluster-cost.md.

mod cluster;
mod load;
mod model;
mod page;

use std::time::Duration;

use jeton_lab_stats::median::median;
use xtask::command::{Error, Workspace, on_path};
use xtask::etcd;

use crate::pairs::Plan;
use crate::service_cost::servers::build;
use cluster::{Cluster, Counters};
use load::{Done, Loader};
use model::Constants;

const LOG: &str = "docs/reference/cluster-cost.md";
/// How long one load takes.
const LOAD: Duration = Duration::from_secs(3);
/// How long servers without calls are watched.
const IDLE: Duration = Duration::from_secs(10);
/// Revocations in flight of the loads that give the constants.
const IN_FLIGHT: usize = 256;

/// Revocations in flight, and what the etcd made of them.
pub(super) struct Grouping {
    /// Servers that revoke.
    servers: usize,
    /// Revocations in flight at each.
    in_flight: usize,
    per_second: f64,
    /// Revocations of one transaction.
    per_commit: f64,
    /// Transactions of one flush of a member.
    commits_per_flush: f64,
}

/// Measures, and writes the page.
pub(crate) fn run(workspace: &Workspace, plan: &Plan) -> Result<(), Error> {
    if let Some(missing) = etcd::missing() {
        return Err(Error::Usage(format!("{missing} is not installed")));
    }
    if on_path("curl").is_none() {
        return Err(Error::Usage("curl is not installed".into()));
    }
    eprintln!("== cluster-cost: building etcd and the server");
    let etcd = etcd::build(workspace)?;
    build(workspace)?;
    let mut cluster = Cluster::start(workspace, &etcd)?;
    let loader = Loader::to(cluster.nodes[0].address())?;
    // A warm-up that does not count.
    loader.revoke(IN_FLIGHT, LOAD)?;

    let mut groupings = Vec::new();
    for in_flight in [1, 16, IN_FLIGHT, 1024] {
        let loaders = std::slice::from_ref(&loader);
        groupings.push(grouping(workspace, &cluster, loaders, in_flight)?);
    }
    let alone = Revoking::seen(workspace, plan, &cluster, &loader)?;
    cluster.add_node(workspace)?;
    cluster.add_node(workspace)?;
    let all = cluster.nodes.iter().map(|node| Loader::to(node.address()));
    let all = all.collect::<Result<Vec<_>, _>>()?;
    groupings.push(grouping(workspace, &cluster, &all, IN_FLIGHT)?);
    let idle = idle(workspace, &cluster)?;
    let together = Revoking::seen(workspace, plan, &cluster, &loader)?;
    let calls = |profile: &str| -> Result<[f64; 2], Error> {
        Ok([
            cost(workspace, plan, &cluster, || loader.issue(profile, LOAD))?,
            cost(workspace, plan, &cluster, || loader.verify(profile, LOAD))?,
        ])
    };
    eprintln!("== cluster-cost: Issue and Verify");
    let constants = Constants {
        es256: calls("ES256")?,
        hs256: calls("HS256")?,
        acknowledge: together.acknowledge,
        apply: together.apply,
        member: alone.member,
        member_per_node: ((together.member - alone.member) / 2.0).max(0.0),
        sent_per_node: ((together.sent - alone.sent) / 2.0).max(0.0),
        stored: together.stored,
        idle_per_node: idle,
    };
    let text = page::text(workspace, plan, &constants, &groupings)?;
    std::fs::write(workspace.path(LOG), &text)
        .map_err(|error| Error::Usage(format!("{LOG}: {error}")))?;
    println!("{text}");
    eprintln!("== cluster-cost: page in {LOG}");
    Ok(())
}

/// Revokes at each of these servers, with so many calls in flight.
fn grouping(
    workspace: &Workspace,
    cluster: &Cluster,
    loaders: &[Loader],
    in_flight: usize,
) -> Result<Grouping, Error> {
    let servers = loaders.len();
    eprintln!("== cluster-cost: servers that revoke: {servers}, {in_flight} in flight at each");
    let (used, done, _) = used(workspace, cluster, || {
        std::thread::scope(|scope| {
            let load = |loader| scope.spawn(move || Loader::revoke(loader, in_flight, LOAD));
            let running: Vec<_> = loaders.iter().map(load).collect();
            let mut done = Vec::new();
            for one in running {
                let ended = one.join();
                done.push(ended.map_err(|_| Error::Failed("a loader ended early".into()))??);
            }
            Ok(done)
        })
    })?;
    let total = |figure: fn(&Done) -> f64| done.iter().map(figure).sum::<f64>();
    Ok(Grouping {
        servers,
        in_flight,
        per_second: total(|done| done.per_second),
        per_commit: total(|done| done.calls) / used.commits,
        commits_per_flush: used.commits / used.flushes,
    })
}

/// What one revocation uses: the middle of the loads.
struct Revoking {
    acknowledge: f64,
    apply: f64,
    member: f64,
    sent: f64,
    stored: f64,
}

impl Revoking {
    fn seen(
        workspace: &Workspace,
        plan: &Plan,
        cluster: &Cluster,
        loader: &Loader,
    ) -> Result<Self, Error> {
        let mut figures: [Vec<f64>; 5] = Default::default();
        for load in 0..plan.pairs {
            eprintln!(
                "== cluster-cost: servers: {}, load {} of {}",
                cluster.nodes.len(),
                load + 1,
                plan.pairs
            );
            let (used, done, _) = used(workspace, cluster, || loader.revoke(IN_FLIGHT, LOAD))?;
            let last = used.nodes_cpu.last().copied().unwrap_or(f64::NAN);
            let seen = [
                used.nodes_cpu[0],
                last,
                used.busiest_member(),
                used.sent,
                used.stored,
            ];
            for (all, one) in figures.iter_mut().zip(seen) {
                all.push(one / done.calls);
            }
        }
        let [acknowledge, apply, member, sent, stored] =
            figures.map(|all| median(&all).unwrap_or(f64::NAN));
        Ok(Self {
            acknowledge,
            apply,
            member,
            sent,
            stored,
        })
    }
}

/// CPU microseconds per second of the busiest member while no server has calls, for each server. The member's own work
/// is in it, so it is an upper bound.
fn idle(workspace: &Workspace, cluster: &Cluster) -> Result<f64, Error> {
    eprintln!(
        "== cluster-cost: servers: {}, no calls",
        cluster.nodes.len()
    );
    // What follows a load ends first.
    std::thread::sleep(Duration::from_secs(3));
    let (used, (), seconds) = used(workspace, cluster, || {
        std::thread::sleep(IDLE);
        Ok(())
    })?;
    #[allow(clippy::cast_precision_loss, reason = "three")]
    let servers = cluster.nodes.len() as f64;
    Ok(used.busiest_member() / seconds / servers)
}

/// CPU microseconds of the first server for each call: the middle of the loads.
fn cost(
    workspace: &Workspace,
    plan: &Plan,
    cluster: &Cluster,
    load: impl Fn() -> Result<Done, Error>,
) -> Result<f64, Error> {
    let mut costs = Vec::new();
    for _ in 0..plan.pairs {
        let (used, done, _) = used(workspace, cluster, &load)?;
        costs.push(used.nodes_cpu[0] / done.calls);
    }
    Ok(median(&costs).unwrap_or(f64::NAN))
}

/// What a piece of work uses, what it returns, and the seconds that it takes.
fn used<R>(
    workspace: &Workspace,
    cluster: &Cluster,
    work: impl FnOnce() -> Result<R, Error>,
) -> Result<(Counters, R, f64), Error> {
    let before = cluster.counters(workspace)?;
    let done = work()?;
    let (used, seconds) = cluster.counters(workspace)?.since(&before);
    Ok((used, done, seconds))
}
