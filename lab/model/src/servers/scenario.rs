//! The eight scenarios of jwt-with-grpc-performance-tests, and others.

use serde::{Deserialize, Serialize};

use super::{Algorithm, Call};

/// A scenario: cores of the server, connections with calls in flight on each, one call and one
/// algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Scenario {
    /// Cores of the server.
    pub cores: u32,
    /// Connections.
    pub connections: u32,
    /// Calls in flight on each.
    pub in_flight: u32,
    /// The call.
    #[serde(default)]
    pub call: Call,
    /// The algorithm of the tokens.
    pub alg: Algorithm,
}

impl Scenario {
    /// Returns the scenarios of the report, in its order.
    #[must_use]
    pub fn report() -> Vec<Self> {
        let mut all = Vec::new();
        for (cores, few, many) in [(1, 1, 5), (3, 3, 15)] {
            for alg in Algorithm::REPORT {
                all.extend([few, many].map(|connections| Self {
                    cores,
                    connections,
                    in_flight: 50,
                    call: Call::GenerateJwt,
                    alg,
                }));
            }
        }
        all
    }

    /// Returns scenarios for the other calls, on one core. A batch and an RSA signature take
    /// milliseconds, so fewer calls in flight fill a core; more would only wait.
    #[must_use]
    pub fn beyond() -> Vec<Self> {
        use Algorithm::{EdDsa, Es256, Hs256, Rs256, V4Local, V4Public};
        let calls: [(Call, &[Algorithm], u32); 9] = [
            (Call::Issue, &[Hs256, Es256, EdDsa, V4Public, V4Local], 50),
            (Call::Issue, &[Rs256], 10),
            (Call::IssueBatch, &[Hs256, Es256, EdDsa], 1),
            (Call::IssueStream, &[Hs256, Es256, EdDsa], 50),
            (Call::Verify, &Algorithm::ALL, 50),
            (Call::VerifyBatch, &[Hs256, Es256, EdDsa], 1),
            (Call::VerifyStream, &[Hs256, Es256, EdDsa], 50),
            (Call::VerifyRevoked, &[Hs256, EdDsa, V4Public, V4Local], 50),
            (Call::Introspect, &[Hs256, Es256, V4Local], 50),
        ];
        let mut all = Vec::new();
        for (call, algorithms, in_flight) in calls {
            all.extend(algorithms.iter().map(|&alg| Self {
                cores: 1,
                connections: 5,
                in_flight,
                call,
                alg,
            }));
        }
        all
    }

    /// Returns scenarios for gateways, on one core. One call at a time shows the latency. Many show the CPU time, without
    /// the wake-ups of a server that waits.
    #[must_use]
    pub fn gateways() -> Vec<Self> {
        let loads = [
            (Call::Pass, 1, 1),
            (Call::Pass, 5, 10),
            (Call::PassDifferent, 1, 1),
            (Call::PassDifferent, 5, 10),
            (Call::PassRevoked, 5, 10),
        ];
        let scenario = |(call, connections, in_flight)| Self {
            cores: 1,
            connections,
            in_flight,
            call,
            alg: Algorithm::Es256,
        };
        loads.map(scenario).to_vec()
    }

    /// For example `1 core, 5×50`.
    #[must_use]
    pub fn load(&self) -> String {
        let cores = match self.cores {
            1 => "1 core".to_owned(),
            cores => format!("{cores} cores"),
        };
        format!("{cores}, {}×{}", self.connections, self.in_flight)
    }

    /// For example `1 core, 5×50, HS256`, or `1 core, 5×50, Verify, HS256`.
    #[must_use]
    pub fn name(&self) -> String {
        let call = self.call.title();
        let parts = [Some(self.load()), call, Some(self.alg.to_string())];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use crate::servers::*;

    #[test]
    fn report_has_eight_scenarios() {
        let names: Vec<String> = Scenario::report().iter().map(Scenario::name).collect();
        assert_eq!(names.len(), 8);
        assert_eq!(names[0], "1 core, 1×50, HS256");
        assert_eq!(names[7], "3 cores, 15×50, ES256");
    }

    #[test]
    fn scenarios_cover_every_call() {
        let all = Scenario::beyond();
        let gateways = Scenario::gateways();
        for call in Call::ALL {
            let is_in = |set: &[Scenario]| set.iter().any(|scenario| scenario.call == call);
            let is_beyond = call != Call::GenerateJwt && !call.is_of_a_gateway();
            assert_eq!(is_in(&all), is_beyond, "{call}");
            assert_eq!(is_in(&gateways), call.is_of_a_gateway(), "{call}");
        }
        assert_eq!(gateways[0].name(), "1 core, 1×1, one token often, ES256");
        assert_eq!(all[0].name(), "1 core, 5×50, Issue, HS256");
        assert_eq!(all[6].name(), "1 core, 5×1, IssueBatch of 256, HS256");
        assert_eq!(all[9].name(), "1 core, 5×50, IssueStream, HS256");
    }
}
