//! The published figures of the gRPC report's servers, for every run.

use super::draft::{Fields, read};
use super::source::REPORT_3;
use jeton_lab_model::servers::{Algorithm, Call, Scenario};

const RUNS: &str = include_str!("../data/report3-runs.csv");
const STATUS: &str = include_str!("../data/report3-status.csv");
const HISTOGRAMS: &str = include_str!("../data/report3-histograms.csv");
const SENTENCES: &str = include_str!("../data/report3-sentences.csv");

/// The machine and date of all figures, shown with them.
pub const MACHINE: &str = REPORT_3.machine;

/// One of the report's servers in one of its scenarios.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedRun {
    /// The scenario.
    pub scenario: Scenario,
    /// The server: `Node.js` or `Go`.
    pub server: String,
    /// The number of calls.
    pub count: Option<f64>,
    /// Calls per second.
    pub requests_per_s: Option<f64>,
    /// Latencies in milliseconds: `average`, `fastest`, `p10` … `p99`, `slowest`.
    pub latency_ms: Vec<(&'static str, Option<f64>)>,
    /// The number of calls by status, including those that the loader cut off at its end.
    pub statuses: Vec<(String, String)>,
    /// The number of calls by latency: the upper bound in milliseconds, and the count.
    pub histogram: Vec<(f64, f64)>,
    /// The printed peak memory.
    pub peak_memory: String,
    /// The printed ratio to the requests of Node.js; `None` for Node.js.
    pub over_node: Option<f64>,
}

/// Returns all sixteen, in the report's order.
#[must_use]
pub fn runs() -> Vec<PublishedRun> {
    let runs = read(RUNS);
    let (statuses, histograms, sentences) = (read(STATUS), read(HISTOGRAMS), read(SENTENCES));
    runs.iter()
        .filter_map(|run| {
            let of = |fields: &&Fields| {
                ["cores", "alg", "connections"]
                    .iter()
                    .all(|name| fields.text(name) == run.text(name))
            };
            let by = |fields: &&Fields| of(fields) && fields.text("server") == run.text("server");
            let sentence = sentences.iter().find(of);
            let is_go = run.text("server") == "Go";
            let memory = if is_go {
                "go_peak_memory"
            } else {
                "node_peak_memory"
            };
            Some(PublishedRun {
                scenario: scenario(run)?,
                server: run.text("server").to_owned(),
                count: run.number("count"),
                requests_per_s: run.number("requests_per_s"),
                latency_ms: latencies(run),
                statuses: statuses
                    .iter()
                    .filter(by)
                    .map(|s| (s.text("status").to_owned(), s.text("responses").to_owned()))
                    .collect(),
                histogram: histograms
                    .iter()
                    .filter(by)
                    .filter_map(|h| h.number("upper_bound_ms").zip(h.number("count")))
                    .collect(),
                peak_memory: sentence.map_or("", |s| s.text(memory)).to_owned(),
                over_node: sentence
                    .filter(|_| is_go)
                    .and_then(|s| s.number("go_over_node")),
            })
        })
        .collect()
}

pub(super) fn scenario(run: &Fields) -> Option<Scenario> {
    Some(Scenario {
        cores: run.text("cores").parse().ok()?,
        connections: run.text("connections").parse().ok()?,
        in_flight: run.text("calls_per_connection").parse().ok()?,
        call: Call::GenerateJwt,
        alg: run.text("alg").parse::<Algorithm>().ok()?,
    })
}

fn latencies(run: &Fields) -> Vec<(&'static str, Option<f64>)> {
    [
        ("average", "average_ms"),
        ("fastest", "fastest_ms"),
        ("p10", "p10_ms"),
        ("p25", "p25_ms"),
        ("p50", "p50_ms"),
        ("p75", "p75_ms"),
        ("p90", "p90_ms"),
        ("p95", "p95_ms"),
        ("p99", "p99_ms"),
        ("slowest", "slowest_ms"),
    ]
    .into_iter()
    .map(|(name, column)| (name, run.number(column)))
    .collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn published_scenarios_have_both_servers() {
        let runs = runs();
        assert_eq!(runs.len(), 16);
        for scenario in Scenario::report() {
            let of: Vec<_> = runs.iter().filter(|r| r.scenario == scenario).collect();
            assert_eq!(of.len(), 2, "{}", scenario.name());
            for run in of {
                assert!(run.count.is_some() && run.requests_per_s.is_some());
                assert!(run.latency_ms.iter().all(|(_, ms)| ms.is_some()), "{run:?}");
                assert!(!run.statuses.is_empty() && !run.peak_memory.is_empty());
                assert_eq!(run.histogram.len(), 11, "{}", scenario.name());
                assert_eq!(run.over_node.is_some(), run.server == "Go");
            }
        }
    }
}
