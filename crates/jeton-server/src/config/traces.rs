//! Traces over OpenTelemetry.

use std::path::PathBuf;

use http::Uri;
use serde::Deserialize;

use super::problem::Problem;
use crate::limits::{
    REQUESTS_PER_MINUTE_MAX, SAMPLED_PARENTS_PER_MINUTE, TRACE_ENDPOINT_BYTES, TRACE_SAMPLE_RATIO,
    TRACE_SERVICE_NAME_BYTES,
};

/// Where spans are sent, and which. Only a build with the feature `otel` sends any.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Traces {
    /// The collector's URL for OTLP over HTTP, such as `https://collector.example:4318`. `/v1/traces` is appended.
    pub endpoint: String,
    /// The attribute `service.name` of all spans.
    #[serde(default = "service_name")]
    pub service_name: String,
    /// The share of requests without a parent span that are sampled, from 0 to 1.
    #[serde(default = "sample_ratio")]
    pub sample_ratio: f64,
    /// How many requests per minute are sampled because their parent is. With 0, the parent's flag selects no request,
    /// and [`sample_ratio`](Traces::sample_ratio) decides.
    #[serde(default = "sampled_parents_per_minute")]
    pub sampled_parents_per_minute: u32,
    /// A file with headers for the collector, one `name: value` in a line.
    #[serde(default)]
    pub headers_file: Option<PathBuf>,
    /// PEM file: certificate authorities of the collector. Default: those of the operating system.
    #[serde(default)]
    pub ca: Option<PathBuf>,
}

fn service_name() -> String {
    "jeton".to_owned()
}

fn sample_ratio() -> f64 {
    TRACE_SAMPLE_RATIO
}

fn sampled_parents_per_minute() -> u32 {
    SAMPLED_PARENTS_PER_MINUTE
}

pub(super) fn problem(traces: Option<&Traces>) -> Option<Problem> {
    let traces = traces?;
    let wrong = |key: &str, what: String| Some(Problem::new(format!("traces.{key}"), what));
    let Some(uri) = endpoint(&traces.endpoint) else {
        return wrong(
            "endpoint",
            "expected a URL such as \"https://collector.example:4318\", without user, query or fragment".to_owned(),
        );
    };
    let is_tls = uri.scheme_str() == Some("https");
    if traces.ca.is_some() && !is_tls {
        return wrong("ca", "requires an `endpoint` with https".to_owned());
    }
    if traces.headers_file.is_some() && !is_tls && !is_loopback(&uri) {
        return wrong(
            "headers_file",
            "requires an `endpoint` with https or on this machine: its headers are credentials"
                .to_owned(),
        );
    }
    let name = &traces.service_name;
    if name.is_empty()
        || name.len() > TRACE_SERVICE_NAME_BYTES
        || name.chars().any(char::is_control)
    {
        let max = TRACE_SERVICE_NAME_BYTES;
        return wrong(
            "service_name",
            format!("must have 1 to {max} bytes without control characters"),
        );
    }
    if !(0.0..=1.0).contains(&traces.sample_ratio) {
        return wrong("sample_ratio", "must be between 0 and 1".to_owned());
    }
    if traces.sampled_parents_per_minute > REQUESTS_PER_MINUTE_MAX {
        return wrong(
            "sampled_parents_per_minute",
            format!("must be at most {REQUESTS_PER_MINUTE_MAX}"),
        );
    }
    None
}

/// Parses a URL without the parts that a base address cannot have.
fn endpoint(text: &str) -> Option<Uri> {
    let uri: Uri = (text.len() <= TRACE_ENDPOINT_BYTES)
        .then(|| text.parse().ok())
        .flatten()?;
    let is_http = matches!(uri.scheme_str(), Some("http" | "https"));
    let has_user = uri.authority()?.as_str().contains('@');
    (is_http && !has_user && !text.contains(['?', '#'])).then_some(uri)
}

fn is_loopback(uri: &Uri) -> bool {
    let host = uri.host().unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let address = host.parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use crate::Config;

    fn error(keys: &str) -> Option<String> {
        let config = Config::from_toml(&format!("[traces]\n{keys}"));
        config.err().map(|error| error.to_string())
    }

    #[test]
    fn endpoint_is_a_url_without_credentials() {
        for valid in [
            "http://127.0.0.1:4318",
            "http://[::1]:4318",
            "https://collector.example",
            "https://collector.example:4318/base/",
        ] {
            assert_eq!(error(&format!("endpoint = '{valid}'")), None, "{valid}");
        }
        let long = format!("https://{}.example", "a".repeat(2048));
        for invalid in [
            "",
            "collector.example:4318",
            "grpc://collector.example",
            "https://user:s3cret@collector.example",
            "https://collector.example/?key=s3cret",
            "https://collector.example/#s3cret",
            &long,
        ] {
            let error = error(&format!("endpoint = '{invalid}'")).expect(invalid);
            assert!(
                error.starts_with("line 2: `traces.endpoint`: expected a URL"),
                "{error}"
            );
            assert!(!error.contains("s3cret"), "{error}");
        }
        assert!(error("").is_some_and(|error| error.contains("missing field `endpoint`")));
    }

    #[test]
    fn values_out_of_range_are_errors() {
        let with = |keys: &str| error(&format!("endpoint = 'http://collector.example'\n{keys}"));
        for (keys, expected) in [
            (
                "sample_ratio = 1.1",
                "`traces.sample_ratio`: must be between 0 and 1",
            ),
            (
                "sample_ratio = -0.1",
                "`traces.sample_ratio`: must be between 0 and 1",
            ),
            (
                "sample_ratio = nan",
                "`traces.sample_ratio`: must be between 0 and 1",
            ),
            (
                "sampled_parents_per_minute = 1000001",
                "`traces.sampled_parents_per_minute`: must be at most 1000000",
            ),
            (
                "service_name = ''",
                "`traces.service_name`: must have 1 to 256 bytes without control characters",
            ),
            ("ca = 'a'", "`traces.ca`: requires an `endpoint` with https"),
            (
                "headers_file = 'a'",
                "`traces.headers_file`: requires an `endpoint` with https or on this machine: its headers are \
                 credentials",
            ),
        ] {
            assert_eq!(with(keys), Some(format!("line 3: {expected}")), "{keys}");
        }
        for keys in [
            "sample_ratio = 0.0",
            "sample_ratio = 1",
            "sampled_parents_per_minute = 0",
        ] {
            assert_eq!(with(keys), None, "{keys}");
        }
        let local = "endpoint = 'http://localhost:4318'\nheaders_file = 'a'";
        assert_eq!(error(local), None);
    }
}
