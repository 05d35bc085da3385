//! The measurements of a server under one load.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, de};

use super::Status;
use crate::servers::Latencies;
use crate::servers::{Algorithm, Call, Scenario};

/// One server in one scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServerRow {
    /// `failed-preflight` if the server failed a check before the load. A server that keeps the bugs of
    /// a published report is still loaded; this status marks its figures.
    pub status: Status,
    /// The reason if the status is not `ok`, one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The scenario's name, for example `1 core, 5×50`.
    pub scenario: String,
    /// The number of cores of the server.
    pub cores: u32,
    /// The number of connections.
    pub connections: u32,
    /// The number of calls in flight on each connection.
    pub in_flight: u32,
    /// The call.
    pub call: Call,
    /// The algorithm of the tokens.
    pub alg: Algorithm,
    /// The server.
    pub subject: ServerSubject,
    /// Calls per second of an open loop, in which latency counts from when a call was due; `None` for a
    /// closed loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// True if the machine has fewer cores than server and loader need: compare only CPU time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub oversubscribed: bool,
    /// The loader's name, if the figures were imported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loader: Option<String>,
    /// The measurements; `None` if there are none.
    #[serde(
        flatten,
        default,
        deserialize_with = "load",
        skip_serializing_if = "Option::is_none"
    )]
    pub load: Option<ServerLoad>,
}

/// Members that only a load has.
const OF_LOAD: [&str; 5] = [
    "requests_per_s",
    "repetitions",
    "latency_ms",
    "latencies",
    "statuses",
];

/// Reads the members of a load; `None` without them. `flatten` alone would take a load with an invalid member
/// for none.
fn load<'de, D: Deserializer<'de>>(members: D) -> Result<Option<ServerLoad>, D::Error> {
    let members = serde_json::Map::deserialize(members)?;
    if !OF_LOAD.iter().any(|name| members.contains_key(*name)) {
        return Ok(None);
    }
    let read = serde_path_to_error::deserialize(serde_json::Value::Object(members));
    read.map(Some)
        .map_err(|e: serde_path_to_error::Error<serde_json::Error>| {
            match e.path().to_string().as_str() {
                "." => de::Error::custom(e.inner()),
                place => de::Error::custom(format_args!(".{place}: {}", e.inner())),
            }
        })
}

/// The server of a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerSubject {
    /// The server's id, for example `go/fixed`.
    pub id: String,
    /// The server's name.
    pub name: String,
    /// The server's language.
    pub language: String,
    /// The server's libraries, with versions.
    pub libraries: String,
    /// True if the server keeps the bugs of a published report.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub as_published: bool,
    /// For a gateway that checks tokens: the id of the same gateway without the check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bare: Option<String>,
}

/// All repetitions of a load together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServerLoad {
    /// Tokens per second of successful calls, the median of the repetitions.
    pub requests_per_s: f64,
    /// CPU time of the server per token in microseconds, the median of the repetitions.
    pub cpu_us_per_request: Option<f64>,
    /// CPU time of the loader per token in microseconds.
    pub client_cpu_us_per_request: Option<f64>,
    /// The repetitions.
    pub repetitions: Vec<Repetition>,
    /// Latencies of all repetitions together: `average`, `fastest`, `p10` … `p99.99`, `slowest`.
    pub latency_ms: BTreeMap<String, f64>,
    /// The latencies as a histogram that can be added to others.
    pub latencies: Latencies,
    /// The number of calls by status, over all repetitions; `OK` means the expected response.
    pub statuses: BTreeMap<String, u64>,
    /// The number of verified tokens.
    pub verified: u64,
    /// True if the loader was saturated in a repetition, so that the server could have done more.
    pub client_bound: Option<bool>,
    /// Resident memory of all processes before the first load.
    pub base_rss_bytes: Option<u64>,
    /// The largest resident memory under load.
    pub peak_rss_bytes: Option<u64>,
}

/// One repetition.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Repetition {
    /// The duration of the measurement.
    pub seconds: f64,
    /// Tokens per second.
    pub requests_per_s: f64,
    /// CPU time of the server per token, in microseconds.
    pub cpu_us_per_request: Option<f64>,
    /// The median latency, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p50_ms: Option<f64>,
    /// Tokens per second of a second process of the same server: both are an A/A pair.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second_requests_per_s: Option<f64>,
    /// CPU time of that process per token, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second_cpu_us_per_request: Option<f64>,
}

impl ServerRow {
    /// Counts the tokens of all successful calls; a batch has several.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        let answers = self.load.as_ref().map_or(0, ServerLoad::answers);
        answers.saturating_mul(self.call.tokens().into())
    }

    /// Returns the scenario.
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
    /// The percentiles of a row: those of the published report, and more.
    pub const PERCENTILES: [f64; 9] = [10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99];

    /// Counts the calls without the expected response.
    #[must_use]
    pub fn errors(&self) -> u64 {
        let others = self.statuses.iter().filter(|(status, _)| *status != "OK");
        others.fold(0, |sum, (_, times)| sum.saturating_add(*times))
    }

    /// Counts the calls with the expected response.
    #[must_use]
    pub fn answers(&self) -> u64 {
        self.statuses.get("OK").copied().unwrap_or(0)
    }
}

/// Returns the figures of a histogram by name.
#[must_use]
pub fn latency_ms(latencies: &Latencies) -> BTreeMap<String, f64> {
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
