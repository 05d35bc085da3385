//! The eight scenarios of the gRPC report, and others that a user asks for.

use serde::{Deserialize, Serialize};

use super::Algorithm;

/// So many cores for a server, so many connections with so many calls in flight, one algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Scenario {
    /// Cores of the server.
    pub cores: u32,
    /// Connections.
    pub connections: u32,
    /// Calls in flight on each.
    pub in_flight: u32,
    /// What it is asked for.
    pub alg: Algorithm,
}

impl Scenario {
    /// The report's, in its order.
    #[must_use]
    pub fn report() -> Vec<Self> {
        let mut all = Vec::new();
        for (cores, few, many) in [(1, 1, 5), (3, 3, 15)] {
            for alg in Algorithm::ALL {
                all.extend([few, many].map(|connections| Self {
                    cores,
                    connections,
                    in_flight: 50,
                    alg,
                }));
            }
        }
        all
    }

    /// As in `1 core, 5×50, HS256`.
    #[must_use]
    pub fn name(&self) -> String {
        let cores = match self.cores {
            1 => "1 core".to_owned(),
            cores => format!("{cores} cores"),
        };
        format!(
            "{cores}, {}×{}, {}",
            self.connections, self.in_flight, self.alg
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_has_eight() {
        let names: Vec<String> = Scenario::report().iter().map(Scenario::name).collect();
        assert_eq!(names.len(), 8);
        assert_eq!(names[0], "1 core, 1×50, HS256");
        assert_eq!(names[7], "3 cores, 15×50, ES256");
    }
}
