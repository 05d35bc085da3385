//! A load as ghz reads it: its configuration file.

use serde::Serialize;

use super::{Inexpressible, METHOD, PROTO, Plan, SERVICE};

/// In the order in which ghz's own documentation has them.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Config {
    name: String,
    proto: &'static str,
    call: String,
    host: String,
    insecure: bool,
    connections: u32,
    /// Of all connections together.
    concurrency: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    rps: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    load_schedule: Option<&'static str>,
    #[serde(rename = "async", skip_serializing_if = "std::ops::Not::not")]
    is_async: bool,
    duration: String,
    /// Calls that are in flight at the end are waited for. Cut off, as by default, they are errors that
    /// no server made: the gRPC report has them.
    duration_stop: &'static str,
    data: Data,
    /// With every call's latency.
    format: &'static str,
}

#[derive(Serialize)]
struct Data {
    algorithm: &'static str,
}

/// The load as a configuration for `ghz --config FILE`, run in the checkout's root.
///
/// In an open loop ghz counts a latency from when it sent a call, and not from when the call was due:
/// a server that stands still looks better than to the lab's loader. It has no warm-up.
///
/// # Errors
/// [`Inexpressible`]: ghz takes whole calls a second.
pub fn ghz(plan: &Plan) -> Result<String, Inexpressible> {
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
        .expect("text, numbers and booleans have a JSON, and no map has other keys");
    text.push('\n');
    Ok(text)
}
