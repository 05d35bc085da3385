//! The page: what was measured, and what follows for larger clusters.

use std::fmt::Write as _;

use xtask::command::{Error, Workspace};

use super::Grouping;
use super::model::{Capacity, Constants, Shape};
use crate::origin;
use crate::pairs::Plan;

/// What the numbers mean for the plan of a cluster.
const WHAT_CHANGES: &str = "
### Ten times as many servers
Tokens grow with the servers: issuing and verifying read only the server's own memory. Revocations do not: the members
flush every one. Each server writes single tokens to an audit chain of its own, so servers do not conflict. Rules about
subjects, clients and keys have an order, so one transaction follows another. Give the members machines of their own with
disks that flush within a millisecond. The members send every revocation to every server: watch their network.

### A hundred times
One member spends more on passing revocations on than on accepting them. Three ways lead further:

1. Verify in the services, with a library and a follower of the revocations (`WatchRevocations`), which a server answers
   from its memory. Then servers issue and revoke only, and there are few of them.
2. One etcd for each issuer or region. Issuers share nothing: no key, no revocation, no audit chain.
3. Shorter tokens. A token of five minutes needs a revocation for five minutes at most, so fewer are in force.
";

/// Cores of each machine of the clusters on paper.
const CORES: f64 = 4.0;

pub(super) fn text(
    workspace: &Workspace,
    plan: &Plan,
    constants: &Constants,
    grouping: &[Grouping],
) -> Result<String, Error> {
    let mut text = format!(
        "# Cost of a cluster\n\n\
         `cargo xtask cluster-cost --pairs {}`, {}, commit {}, {}.\n\n\
         Three members of an etcd and up to three servers ran on one machine and shared its cores. So the rates are no\n\
         limits of a cluster on machines of its own. CPU time, bytes and transactions depend on that much less. The figures\n\
         are medians of {} loads. The kernel counts the CPU time of the servers, etcd its own.\n\n\
         ## Measured\n",
        plan.pairs,
        origin::day(workspace)?,
        origin::commit(workspace)?,
        origin::cpu(),
        plan.pairs,
    );
    measured(&mut text, constants, grouping);
    on_paper(&mut text, constants, grouping);
    Ok(text)
}

// Writing to a String cannot fail.
fn measured(text: &mut String, constants: &Constants, grouping: &[Grouping]) {
    let _ = write!(
        text,
        "| constant | value |\n|---|---:|\n\
         | `Issue`, `Verify` with ES256: CPU of the server | {:.1} µs, {:.1} µs |\n\
         | `Issue`, `Verify` with HS256: CPU of the server | {:.1} µs, {:.1} µs |\n\
         | a revocation: CPU of the server that acknowledges it | {:.1} µs |\n\
         | a revocation: CPU of each other server | {:.1} µs |\n\
         | a revocation: CPU of the busiest member, with one server | {:.1} µs |\n\
         | and for each further server | {:.1} µs |\n\
         | a revocation: bytes from the etcd to each further server | {:.0} |\n\
         | a revocation: bytes of the database in use | {:.0} |\n\
         | a server without calls: CPU of the busiest member, at most | {:.2} ms per second |\n\n",
        constants.es256[0],
        constants.es256[1],
        constants.hs256[0],
        constants.hs256[1],
        constants.acknowledge,
        constants.apply,
        constants.member,
        constants.member_per_node,
        constants.sent_per_node,
        constants.stored,
        constants.idle_per_node / 1e3,
    );
    text.push_str(
        "Revocations that wait at a server share a transaction. Each server extends an audit chain of its own, so their\n\
         transactions do not conflict.\n\n\
         | servers that revoke | in flight at each | revocations/s | in one transaction | transactions of a flush |\n\
         |---:|---:|---:|---:|---:|\n",
    );
    for one in grouping {
        let _ = writeln!(
            text,
            "| {} | {} | {:.0} | {:.1} | {:.1} |",
            one.servers, one.in_flight, one.per_second, one.per_commit, one.commits_per_flush
        );
    }
}

fn on_paper(text: &mut String, constants: &Constants, grouping: &[Grouping]) {
    let shapes = [3.0, 30.0, 300.0].map(|nodes| Shape {
        nodes,
        cores: CORES,
    });
    let of = shapes.map(|shape| constants.carried_by(shape));
    let _ = write!(
        text,
        "\n## On paper\n\
         Nobody has run these clusters. The table follows from the constants above: servers and members of {CORES:.0} cores, of\n\
         which half is used. A server may spend a tenth of its cores on the revocations of others. Networks, disks and the\n\
         balance between members are not in it.\n\n\
         | | 3 servers | 30 servers | 300 servers |\n|---|---:|---:|---:|\n"
    );
    let mut line = |name: &str, figure: &dyn Fn(&Capacity) -> String| {
        let [three, ten_times, hundred_times] = of.each_ref().map(figure);
        let _ = writeln!(text, "| {name} | {three} | {ten_times} | {hundred_times} |");
    };
    line("ES256 tokens issued per second", &|c| count(c.es256[0]));
    line("ES256 tokens verified per second", &|c| count(c.es256[1]));
    line("HS256 tokens issued per second", &|c| count(c.hs256[0]));
    line("HS256 tokens verified per second", &|c| count(c.hs256[1]));
    line("revocations per second that a member can pass on", &|c| {
        count(c.by_etcd)
    });
    line("revocations per second that a server can apply", &|c| {
        count(c.by_nodes)
    });
    line("MB per second from the etcd at the lower rate", &|c| {
        format!("{:.1}", c.sent / 1e6)
    });
    line(
        "cores of a member for servers without calls, at most",
        &|c| format!("{:.2}", c.idle),
    );
    // The largest that was seen with one server.
    let alone = grouping.iter().filter(|one| one.servers == 1);
    let largest = alone.map(|one| one.per_commit).fold(0.0, f64::max);
    for millis in [1.0, 10.0] {
        let name = format!("acknowledged per second, if a transaction takes {millis:.0} ms");
        line(&name, &|_| count(largest * 1000.0 / millis));
    }
    let _ = write!(
        text,
        "\nThe database has room for {} revocations that are in force, under etcd's default quota of 2 GiB. Each server\n\
         holds them in memory: 21 MB for a million ([measured](../service.md#revocation-memory-and-lookup-cost)).\n",
        count(constants.room()),
    );
    text.push_str(WHAT_CHANGES);
}

/// A rounded number: two digits, the rest is more than the constants tell.
fn count(value: f64) -> String {
    if !value.is_finite() {
        return "not measured".to_owned();
    }
    if value < 10.0 {
        return format!("{value:.1}");
    }
    let step = 10_f64.powf(value.log10().floor() - 1.0);
    let rounded = format!("{:.0}", (value / step).round() * step);
    let mut grouped = String::new();
    for (index, digit) in rounded.chars().enumerate() {
        if index > 0 && (rounded.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_two_digits() {
        for (value, shown) in [
            (0.0, "0.0"),
            (7.26, "7.3"),
            (99.6, "100"),
            (1_249.0, "1,200"),
            (1_251_000.0, "1,300,000"),
            (f64::INFINITY, "not measured"),
        ] {
            assert_eq!(count(value), shown);
        }
    }
}
