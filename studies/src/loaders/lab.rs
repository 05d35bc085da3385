//! One load by `jeton lab load`: its file has a histogram.

use std::collections::BTreeMap;

use base64_simd::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
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
        .arg(workspace.target().join("dist/jeton"))
        .args(["lab", "load", server.address(), "--alg", algorithm])
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

#[derive(Deserialize)]
struct Latencies {
    hdr: String,
}

fn read(said: &str) -> Result<Figures, &'static str> {
    let loaded: Loaded = serde_json::from_str(said).map_err(|_| "is not what a loader writes")?;
    let calls = match (loaded.statuses.get("OK"), loaded.statuses.len()) {
        (Some(calls), 1) => *calls,
        _ => return Err("not every call was answered with a token"),
    };
    let no_histogram = "has no histogram";
    let bytes = STANDARD
        .decode_to_vec(&loaded.latencies.hdr)
        .map_err(|_| no_histogram)?;
    let histogram: Histogram<u64> = Deserializer::new()
        .deserialize(&mut bytes.as_slice())
        .map_err(|_| no_histogram)?;
    #[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
    let ms = |quantile| histogram.value_at_quantile(quantile) as f64 / 1e6;
    #[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
    Ok(Figures {
        per_second: calls as f64 / loaded.seconds,
        p50_ms: ms(0.5),
        p99_ms: ms(0.99),
        client_bound: loaded.client_bound == Some(true),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};

    use super::*;

    /// 300 calls of 1 to 300 µs.
    fn said(statuses: &str) -> String {
        let mut histogram = Histogram::<u64>::new_with_bounds(1_000, 3_600_000_000_000, 3).unwrap();
        (1..=300).for_each(|us| histogram.record(us * 1_000).unwrap());
        let mut bytes = Vec::new();
        let mut serializer = V2DeflateSerializer::new();
        serializer.serialize(&histogram, &mut bytes).unwrap();
        format!(
            r#"{{"seconds":3.0,"statuses":{statuses},"latencies":{{"hdr":"{}"}},"client_bound":true}}"#,
            STANDARD.encode_to_string(bytes)
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
