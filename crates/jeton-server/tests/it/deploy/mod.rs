//! Files for deployment. The alerts, the dashboard and the manual use metrics that a server has.

mod files;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;

use jeton::SystemClock;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::Value;

use crate::access::TestCertificates;
use crate::harness::{ISS, ISSUER, TestServer};
use crate::hsm::configured;
use crate::raw_http::get;

fn root(file: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::read_to_string(root.join(file)).unwrap()
}

/// Traces to a collector that does not exist. Only a build with the feature `otel` has them, and their metrics.
const TRACES: &str = if cfg!(feature = "otel") {
    "[traces]\nendpoint = 'http://127.0.0.1:1'\n"
} else {
    ""
};

/// Whether a metric may be missing in this build.
fn is_of_another_build(metric: &str) -> bool {
    TRACES.is_empty() && metric.starts_with("jeton_trace_")
}

/// The metrics of a server with TLS, an HSM and traces.
fn metrics_over_tls() -> String {
    let certificates = TestCertificates::new();
    let fixture = {
        let (config, _) = configured("deploy", "");
        TestServer::with(&format!("{}{config}{TRACES}", certificates.tls()))
    };
    let mut roots = RootCertStore::empty();
    let ca = CertificateDer::from_pem_file(certificates.path("ca.pem")).unwrap();
    roots.add(ca).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let address = fixture.server().admin_address();
    let name = ServerName::try_from(address.ip().to_string()).unwrap();
    let connection = ClientConnection::new(Arc::new(config), name).unwrap();
    let mut stream = StreamOwned::new(connection, TcpStream::connect(address).unwrap());
    let request = format!("GET /metrics HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8(answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    answer
}

/// The series of a server: the labels of each name, with their values.
struct Series(BTreeMap<String, BTreeMap<String, BTreeSet<String>>>);

impl Series {
    fn of(text: &str) -> Series {
        let mut series: BTreeMap<String, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
        let is_series = |line: &&str| line.starts_with("jeton_") || line.starts_with("process_");
        for line in text.lines().filter(is_series) {
            let end = line.find(['{', ' ']).unwrap();
            let labels = series.entry(line[..end].to_owned()).or_default();
            let Some((inside, _)) = line[end..]
                .strip_prefix('{')
                .and_then(|rest| rest.rsplit_once('}'))
            else {
                continue;
            };
            for pair in inside.split("\",") {
                let (name, value) = pair.split_once("=\"").unwrap();
                let values = labels.entry(name.to_owned()).or_default();
                values.insert(value.trim_end_matches('"').to_owned());
            }
        }
        // What Prometheus adds.
        series.insert("up".to_owned(), BTreeMap::new());
        Series(series)
    }

    /// Returns the problems of an expression.
    fn problems(&self, expression: &str) -> Vec<String> {
        let mut problems = Vec::new();
        for (open, close) in [('(', ')'), ('{', '}'), ('[', ']')] {
            if expression.matches(open).count() != expression.matches(close).count() {
                problems.push(format!("{open}{close} do not match"));
            }
        }
        let mut found = 0;
        let mut rest = expression;
        while let Some(at) = rest.find(|c: char| c.is_ascii_alphabetic() || c == '_') {
            rest = &rest[at..];
            let end = rest
                .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
                .unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            rest = after;
            let is_metric =
                word == "up" || word.starts_with("jeton_") || word.starts_with("process_");
            if is_metric {
                found += 1;
                match self.0.get(word) {
                    None if is_of_another_build(word) => {}
                    None => problems.push(format!("there is no metric {word}")),
                    Some(labels) => problems.extend(label_problems(word, labels, after)),
                }
            }
            if let Some(inside) = after.strip_prefix('{') {
                rest = inside.split_once('}').map_or("", |(_, rest)| rest);
            } else if let Some(inside) = after.strip_prefix('[') {
                rest = inside.split_once(']').map_or("", |(_, rest)| rest);
            }
        }
        if found == 0 {
            problems.push("it has no metric".to_owned());
        }
        problems
    }
}

/// Checks the selector after a metric: labels that it has, with values that it has.
fn label_problems(
    metric: &str,
    labels: &BTreeMap<String, BTreeSet<String>>,
    after: &str,
) -> Vec<String> {
    let selector = after
        .strip_prefix('{')
        .and_then(|rest| rest.split_once('}'));
    let Some((selector, _)) = selector else {
        return Vec::new();
    };
    let mut problems = Vec::new();
    for matcher in selector.split(',') {
        let end = matcher.find(['=', '!']).unwrap();
        let (name, value) = (
            matcher[..end].trim(),
            matcher[end..].trim_matches(['=', '~', '!']),
        );
        // Labels that Prometheus adds.
        if ["job", "instance"].contains(&name) {
            continue;
        }
        let Some(known) = labels.get(name) else {
            problems.push(format!("{metric} has no label {name}"));
            continue;
        };
        for one in value.trim_matches('"').split('|') {
            if !known.contains(one) {
                problems.push(format!("{metric} has no {name}={one:?}"));
            }
        }
    }
    problems
}

/// The expressions of the alerts, by name. Each is on one line.
fn alerts() -> Vec<(String, String)> {
    let text = root("deploy/prometheus/alerts.yml");
    let mut alerts = Vec::new();
    let mut name = None;
    for line in text.lines().map(str::trim) {
        if let Some(alert) = line.strip_prefix("- alert: ") {
            assert!(name.replace(alert.to_owned()).is_none(), "{alert}");
        } else if let Some(expression) = line.strip_prefix("expr: ") {
            alerts.push((name.take().unwrap(), expression.to_owned()));
        }
    }
    assert!(name.is_none());
    assert_eq!(alerts.len(), text.matches("- alert: ").count());
    alerts
}

fn dashboard() -> Vec<(String, String)> {
    let board: Value = serde_json::from_str(&root("deploy/grafana/dashboard.json")).unwrap();
    let mut expressions = Vec::new();
    for panel in board["panels"].as_array().unwrap() {
        for target in panel["targets"].as_array().into_iter().flatten() {
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            expressions.push((text(&panel["title"]), text(&target["expr"])));
        }
    }
    expressions
}

#[test]
fn alerts_and_dashboard_use_metrics_that_exist() {
    let series = Series::of(&metrics_over_tls());
    let (alerts, panels) = (alerts(), dashboard());
    assert!(
        alerts.len() > 15 && panels.len() > 20,
        "{} {}",
        alerts.len(),
        panels.len()
    );
    let problems: Vec<_> = alerts
        .iter()
        .chain(&panels)
        .map(|(name, expression)| (name, series.problems(expression)))
        .filter(|(_, problems)| !problems.is_empty())
        .collect();
    assert!(problems.is_empty(), "{problems:#?}");
}

/// The check finds what would never fire.
#[test]
fn expressions_with_unknown_metrics_and_labels_are_found() {
    let series = Series::of(&metrics_over_tls());
    for (expression, problem) in [
        ("jeton_redy == 0", "there is no metric jeton_redy"),
        (
            "rate(jeton_calls[5m]) > 0",
            "there is no metric jeton_calls",
        ),
        (
            "jeton_calls_total{method=\"issue\"}",
            "jeton_calls_total has no label method",
        ),
        (
            "jeton_calls_total{call=\"issue\",outcome=\"failed\"}",
            "jeton_calls_total has no outcome=\"failed\"",
        ),
        (
            "sum(rate(jeton_calls_total{call=~\"issue|veryfy\"}[5m]))",
            "jeton_calls_total has no call=\"veryfy\"",
        ),
        ("rate(jeton_ready[5m] > 0", "() do not match"),
        ("1 > 0", "it has no metric"),
    ] {
        assert_eq!(series.problems(expression), [problem], "{expression}");
    }
    let fine = "jeton_ready{job=\"a\",instance=~\"$instance\"} == 0 or process_open_fds > 1";
    assert_eq!(series.problems(fine), [""; 0]);
}

#[test]
fn manual_has_every_metric_and_every_alert() {
    let manual = root("docs/operating.md");
    let (text, _) = metrics_over_tls().split_once("# EOF").map_or_else(
        || panic!("no end"),
        |(text, rest)| (text.to_owned(), rest.to_owned()),
    );
    let mut names = BTreeSet::new();
    for line in text.lines() {
        let Some(rest) = line.strip_prefix("# TYPE ") else {
            continue;
        };
        let (name, kind) = rest.split_once(' ').unwrap();
        names.insert(match kind {
            "info" => format!("{name}_info"),
            _ => name.to_owned(),
        });
    }
    assert!(names.len() > 30, "{names:?}");
    let missing: Vec<_> = names
        .iter()
        .filter(|name| !manual.contains(&format!("`{name}`")))
        .collect();
    assert!(missing.is_empty(), "not in docs/operating.md: {missing:?}");
    let words = manual.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let is_metric = |word: &&str| word.starts_with("jeton_") || word.starts_with("process_");
    let unknown: Vec<_> = words
        .filter(is_metric)
        .filter(|word| !names.contains(*word) && *word != "jeton_" && !is_of_another_build(word))
        .collect();
    assert!(unknown.is_empty(), "in docs/operating.md only: {unknown:?}");
    for (alert, _) in alerts() {
        assert!(
            manual.contains(&alert),
            "{alert} is not in docs/operating.md"
        );
    }
}

#[test]
fn metrics_require_their_own_right_for_all_issuers() {
    let client = |name: &str, may: &str, issuers: &str| {
        format!(
            "[[client]]\nname = '{name}'\nbearer_subject = '{name}'\nmay = ['{may}']\nissuers = ['{issuers}']\n"
        )
    };
    let config = format!(
        "bearer = {{issuer = '{ISS}', audience = 'api'}}\n{}{}{}{}{ISSUER}",
        client("prometheus", "metrics", "*"),
        client("root", "admin", "*"),
        client("tenant", "admin", ISS),
        client("verifier", "verify", "*"),
    );
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let start = |config: &str| TestServer::in_folder(config, &data, Arc::new(SystemClock));
    // Without clients, the server issues for everybody.
    let mut trial = start(ISSUER);
    let subjects = ["prometheus", "root", "tenant", "verifier", "unknown"];
    let tokens = subjects.map(|subject| (subject, trial.issue("access", subject).token));
    trial.server.take().unwrap().stop();
    let fixture = start(&config);
    let status = |subject: Option<&str>| {
        let token = tokens
            .iter()
            .find(|(name, _)| Some(*name) == subject)
            .map(|(_, token)| format!("Bearer {token}"));
        let headers: Vec<_> = token
            .iter()
            .map(|token| ("authorization", token.as_str()))
            .collect();
        get(fixture.server().admin_address(), "/metrics", &headers).status
    };
    assert_eq!(status(None), 401);
    for (subject, expected) in [
        ("prometheus", 200),
        ("root", 200),
        ("tenant", 403),
        ("verifier", 403),
        ("unknown", 401),
    ] {
        assert_eq!(status(Some(subject)), expected, "{subject}");
    }
    // The right for one issuer would show the others.
    let one = config.replace(
        "may = ['metrics']\nissuers = ['*']",
        &format!("may = ['metrics']\nissuers = ['{ISS}']"),
    );
    let error = TestServer::try_with(&one).err().unwrap().to_string();
    assert!(error.contains("the metrics are of all issuers"), "{error}");
}

#[test]
fn rejections_are_counted_by_reason() {
    let fixture = TestServer::plain();
    let issued = fixture.issue("access", "a");
    let mut changed = issued.token.clone();
    let last = if changed.pop() == Some('A') { 'B' } else { 'A' };
    changed.push(last);
    fixture.verify(&issued.token).unwrap();
    assert!(fixture.verify("nonsense").is_err());
    assert!(fixture.verify(&changed).is_err());
    let text = get(fixture.server().admin_address(), "/metrics", &[]).body;
    let rejected: u64 = text
        .lines()
        .filter_map(|line| line.strip_prefix("jeton_tokens_rejected_total{"))
        .map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap())
        .sum();
    assert_eq!(rejected, 2, "{text}");
    assert!(text.contains("jeton_tokens_rejected_total{reason=\"TOKEN_REVOKED\"} 0\n"));
}
