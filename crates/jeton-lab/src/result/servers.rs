//! What a server came to under one load.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Status;
use crate::servers::loader::Latencies;
use crate::servers::{Algorithm, Call, Scenario};

/// One server in one scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServerRow {
    /// `failed-preflight` if it did something wrong before it was loaded: one that has the bugs of a
    /// published report on purpose is loaded all the same, and its figures are marked by this.
    pub status: Status,
    /// Why it is not `ok`, one line for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// As in `1 core, 5×50`.
    pub scenario: String,
    /// Cores of the server.
    pub cores: u32,
    /// Connections.
    pub connections: u32,
    /// Calls in flight on each.
    pub in_flight: u32,
    /// What was called; files without it are of `GenerateJwt`.
    #[serde(default)]
    pub call: Call,
    /// What the tokens are made with.
    pub alg: Algorithm,
    /// The server.
    pub subject: ServerSubject,
    /// Calls a second that were due in an open loop, whose latencies count from when each was due;
    /// none for a closed loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// The machine has fewer cores than server and loader ask for: only CPU time is compared.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub oversubscribed: bool,
    /// Who loaded it, if that was not the lab: its figures were imported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loader: Option<String>,
    /// What was measured; none if nothing was.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub load: Option<ServerLoad>,
}

/// The server of a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerSubject {
    /// `go/fixed`.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its language.
    pub language: String,
    /// What it is made of, with versions.
    pub libraries: String,
    /// Whether it has the bugs of a published report on purpose.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub as_published: bool,
}

/// All repetitions of a load together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServerLoad {
    /// Tokens a second, the median of the repetitions: errors are none.
    pub requests_per_s: f64,
    /// CPU time of the server for each token, microseconds, the median of the repetitions.
    pub cpu_us_per_request: Option<f64>,
    /// The loader's.
    pub client_cpu_us_per_request: Option<f64>,
    /// Each repetition.
    pub repetitions: Vec<Repetition>,
    /// Of all repetitions together: `average`, `fastest`, `p10` … `p99.99`, `slowest`.
    pub latency_ms: BTreeMap<String, f64>,
    /// The same as a histogram that adds up with others.
    pub latencies: Latencies,
    /// How many calls ended how, in all repetitions: `OK` has what was asked for.
    pub statuses: BTreeMap<String, u64>,
    /// How many tokens were verified.
    pub verified: u64,
    /// Whether the loader had no room left in any repetition: then the server could have done more.
    pub client_bound: Option<bool>,
    /// Resident memory before the first load, all of its processes.
    pub base_rss_bytes: Option<u64>,
    /// The most that was seen while it was loaded.
    pub peak_rss_bytes: Option<u64>,
}

/// One load.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Repetition {
    /// How long it was measured.
    pub seconds: f64,
    /// Tokens a second.
    pub requests_per_s: f64,
    /// CPU time of the server for each token, microseconds.
    pub cpu_us_per_request: Option<f64>,
}

impl ServerRow {
    /// The tokens of all calls that were answered: a batch has many.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        let answers = self.load.as_ref().map_or(0, ServerLoad::answers);
        answers * u64::from(self.call.tokens())
    }

    /// The scenario that it is of.
    #[must_use]
    pub fn of_scenario(&self) -> Scenario {
        Scenario {
            cores: self.cores,
            connections: self.connections,
            in_flight: self.in_flight,
            call: self.call,
            alg: self.alg,
        }
    }
}

impl ServerLoad {
    /// The percentiles that a row has: the report's, and those that it lacked.
    pub const PERCENTILES: [f64; 9] = [10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99];

    /// Calls that were not answered with what was asked for.
    #[must_use]
    pub fn errors(&self) -> u64 {
        let others = self.statuses.iter().filter(|(status, _)| *status != "OK");
        others.map(|(_, times)| times).sum()
    }

    /// Calls that were.
    #[must_use]
    pub fn answers(&self) -> u64 {
        self.statuses.get("OK").copied().unwrap_or(0)
    }
}

/// A histogram's figures by their names.
pub(crate) fn latency_ms(latencies: &Latencies) -> BTreeMap<String, f64> {
    let mut named = BTreeMap::new();
    let mut set = |name: String, value: Option<f64>| {
        if let Some(value) = value {
            named.insert(name, value);
        }
    };
    set("average".to_owned(), latencies.mean_ms());
    set("fastest".to_owned(), latencies.fastest_ms());
    set("slowest".to_owned(), latencies.slowest_ms());
    for percent in ServerLoad::PERCENTILES {
        set(format!("p{percent}"), latencies.percentile_ms(percent));
    }
    named
}
