//! One load by `jeton-lab load`: its file has a histogram.

use std::collections::BTreeMap;

use jeton_lab_model::servers::Latencies;
use serde::Deserialize;
use xtask::command::{Error, Workspace, output};

use super::{CONNECTIONS, Figures, IN_FLIGHT, LOADER_CORE, SECONDS, WARM_UP_SECONDS};
use crate::service_cost::servers::Server;

pub(super) fn load(
    workspace: &Workspace,
    server: &Server,
    algorithm: &str,
) -> Result<Figures, Error> {
    let mut load = workspace.command("taskset");
    load.args(["-c", LOADER_CORE])
        .arg(workspace.target().join("dist/jeton-lab"))
        .args(["load", server.address(), "--alg", algorithm])
        .args(["--connections", &CONNECTIONS.to_string()])
        .args(["--in-flight", &IN_FLIGHT.to_string()])
        .args(["--seconds", &SECONDS.to_string()])
        .args(["--warm-up", &WARM_UP_SECONDS.to_string()]);
    let said = output(&mut load)?;
    read(&said).map_err(|why| Error::Failed(format!("the lab's load: {why}:\n{said}")))
}

#[derive(Deserialize)]
struct Loaded {
    seconds: f64,
    statuses: BTreeMap<String, u64>,
    latencies: Latencies,
    client_bound: Option<bool>,
}

fn read(said: &str) -> Result<Figures, &'static str> {
    let loaded: Loaded = serde_json::from_str(said).map_err(|_| "is not the output of a load")?;
    let calls = match (loaded.statuses.get("OK"), loaded.statuses.len()) {
        (Some(calls), 1) => *calls,
        _ => return Err("not every call was answered with a token"),
    };
    let percentile = |percent| loaded.latencies.percentile_ms(percent);
    let (Some(p50_ms), Some(p99_ms)) = (percentile(50.0), percentile(99.0)) else {
        return Err("has no latencies");
    };
    #[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
    Ok(Figures {
        per_second: calls as f64 / loaded.seconds,
        p50_ms,
        p99_ms,
        client_bound: loaded.client_bound == Some(true),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// 300 calls of 1 to 300 µs.
    fn said(statuses: &str) -> String {
        let mut latencies = Latencies::default();
        (1..=300).for_each(|us| latencies.record(us * 1_000));
        let latencies = serde_json::to_string(&latencies).unwrap();
        format!(
            r#"{{"seconds":3.0,"statuses":{statuses},"latencies":{latencies},"client_bound":true}}"#
        )
    }

    #[test]
    fn lab_file_equals_a_log_of_every_request() {
        let figures = read(&said(r#"{"OK":300}"#)).unwrap();
        assert_eq!(figures.per_second.to_string(), "100");
        for (ms, exact) in [(figures.p50_ms, 0.150), (figures.p99_ms, 0.297)] {
            // The histogram counts in steps of half a microsecond here.
            assert!((ms / exact - 1.0).abs() < 5e-3, "{ms}");
        }
        assert!(figures.client_bound);
    }

    #[test]
    fn load_with_errors_has_no_figure() {
        assert!(read(&said(r#"{"OK":300,"Unavailable":1}"#)).is_err());
        assert!(read(&said("{}")).is_err());
        assert!(read("{}").is_err());
    }
}
