//! Exports a load as ghz's configuration file.

use serde::Serialize;

use super::{METHOD, PROTO, Plan, SERVICE};

/// In the order of ghz's own documentation.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Config {
    name: String,
    proto: &'static str,
    call: String,
    host: String,
    insecure: bool,
    connections: u32,
    /// For all connections together.
    concurrency: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    rps: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    load_schedule: Option<&'static str>,
    #[serde(rename = "async", skip_serializing_if = "std::ops::Not::not")]
    is_async: bool,
    duration: String,
    /// Waits for calls in flight at the end. By default ghz aborts them and reports errors that no
    /// server caused, as in jwt-with-grpc-performance-tests.
    duration_stop: &'static str,
    data: Data,
    /// Includes the latency of every call.
    format: &'static str,
}

#[derive(Serialize)]
struct Data {
    algorithm: &'static str,
}

/// Returns the load as a configuration for `ghz --config FILE`, to be run in the root of the
/// checkout.
///
/// In an open loop, ghz measures a latency from when it sent a call, not from when the call was
/// due. A server that stalls looks better than with the lab's loader. ghz has no warm-up.
///
/// # Errors
///
/// If the tool cannot express the load: ghz supports only whole calls per second.
pub fn ghz(plan: &Plan) -> Result<String, String> {
    let rps = plan.whole_rate("ghz")?;
    let config = Config {
        name: plan.name(),
        proto: PROTO,
        call: format!("{SERVICE}.{METHOD}"),
        host: plan.target.to_string(),
        insecure: true,
        connections: plan.connections,
        concurrency: plan.calls(),
        rps,
        load_schedule: rps.map(|_| "const"),
        is_async: rps.is_some(),
        duration: plan.duration(),
        duration_stop: "wait",
        data: Data {
            algorithm: plan.alg.name(),
        },
        format: "json",
    };
    let mut text = serde_json::to_string_pretty(&config)
        .expect("text, numbers and booleans can be written as JSON");
    text.push('\n');
    Ok(text)
}
