//! What a cluster of some size carries, computed from what a small one was seen to use.

/// What was measured. CPU times are in microseconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Constants {
    /// `Issue` and `Verify` of each algorithm, at the server.
    pub(super) es256: [f64; 2],
    pub(super) hs256: [f64; 2],
    /// A revocation, at the server that acknowledges it.
    pub(super) acknowledge: f64,
    /// A revocation, at a server that another one told.
    pub(super) apply: f64,
    /// A revocation, at the busiest member of the etcd: with one server, and for each further one.
    pub(super) member: f64,
    pub(super) member_per_node: f64,
    /// Bytes that the etcd sends for a revocation to each server.
    pub(super) sent_per_node: f64,
    /// Bytes of the database for a revocation.
    pub(super) stored: f64,
    /// CPU time that one server without calls costs the busiest member, in microseconds per second: at most.
    pub(super) idle_per_node: f64,
}

/// A cluster on paper.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub(super) nodes: f64,
    /// Cores of each server, and of each member.
    pub(super) cores: f64,
}

/// The share of all cores that is used: the rest is for peaks and for a zone that fails.
const USED: f64 = 0.5;
/// The share of a server's cores that may apply revocations.
const APPLYING: f64 = 0.1;
/// etcd's default quota in bytes.
pub(super) const QUOTA: f64 = 2.0 * 1024.0 * 1024.0 * 1024.0;

/// What it carries.
#[derive(Debug, Clone, Copy)]
pub(super) struct Capacity {
    /// Tokens per second of each algorithm: issued, or verified.
    pub(super) es256: [f64; 2],
    pub(super) hs256: [f64; 2],
    /// Revocations per second that the busiest member has the CPU time for.
    pub(super) by_etcd: f64,
    /// Revocations per second that a server has the CPU time to apply.
    pub(super) by_nodes: f64,
    /// Bytes per second from the etcd to the servers at the lower of both rates.
    pub(super) sent: f64,
    /// Cores of the busiest member that servers without calls use.
    pub(super) idle: f64,
}

impl Capacity {
    /// The lower of both limits.
    pub(super) fn revocations(&self) -> f64 {
        self.by_etcd.min(self.by_nodes)
    }
}

impl Constants {
    pub(super) fn carried_by(&self, shape: Shape) -> Capacity {
        let node = shape.cores * 1e6;
        let calls = |cost: f64| shape.nodes * node * USED / cost;
        let idle = shape.nodes * self.idle_per_node;
        let member = self.member + self.member_per_node * (shape.nodes - 1.0);
        let mut capacity = Capacity {
            es256: self.es256.map(calls),
            hs256: self.hs256.map(calls),
            by_etcd: (node * USED - idle).max(0.0) / member,
            by_nodes: node * APPLYING / self.apply,
            sent: 0.0,
            idle: idle / 1e6,
        };
        capacity.sent = capacity.revocations() * shape.nodes * self.sent_per_node;
        capacity
    }

    /// Revocations that the database has room for.
    pub(super) fn room(&self) -> f64 {
        QUOTA / self.stored
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONSTANTS: Constants = Constants {
        es256: [20.0, 50.0],
        hs256: [4.0, 5.0],
        acknowledge: 30.0,
        apply: 10.0,
        member: 60.0,
        member_per_node: 20.0,
        sent_per_node: 200.0,
        stored: 256.0,
        idle_per_node: 1000.0,
    };

    #[test]
    fn capacity_follows_from_the_constants() {
        let of = |nodes| CONSTANTS.carried_by(Shape { nodes, cores: 4.0 });
        let three = of(3.0);
        // Three servers of four cores, half used, at 20 µs each.
        assert!((three.es256[0] - 300_000.0).abs() < 1.0);
        assert!((three.hs256[1] - 1_200_000.0).abs() < 1.0);
        // Two cores less 3 ms, at 60 + 2 * 20 µs.
        assert!((three.by_etcd - 19_970.0).abs() < 1.0);
        // 0.4 cores at 10 µs.
        assert!((three.by_nodes - 40_000.0).abs() < 1.0);
        assert!((three.sent - 19_970.0 * 600.0).abs() < 1.0);
        let hundred = of(300.0);
        assert!((hundred.es256[0] - 100.0 * three.es256[0]).abs() < 1.0);
        assert!(hundred.by_etcd < three.by_etcd / 50.0);
        assert!((hundred.idle - 0.3).abs() < 1e-9);
        // So many that the members only hold the connections.
        assert!(of(2000.0).by_etcd.abs() < 1e-9);
        assert!((CONSTANTS.room() - 8_388_608.0).abs() < 1.0);
    }
}
