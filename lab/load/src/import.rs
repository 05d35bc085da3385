//! Imports a ghz report as a result.
//!
//! A ghz report contains the latency of each call. So its histogram here is the same as every
//! other: it can be merged, and it has percentiles that ghz does not print. Unknown values are
//! absent: the server's CPU time and memory, the machine, and whether the loader was the
//! bottleneck.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use serde::Deserialize;

use super::loader::End;
use jeton_lab_model::result::{
    Disturbance, Environment, Repetition, Rows, RunResult, ServerLoad, ServerRow, ServerSubject,
    Status, latency_ms,
};
use jeton_lab_model::servers::{Algorithm, Call, Latencies, Scenario};
use jeton_lab_stats::median::median as middle;

/// The maximum size of a report, 32 MB: 300,000 calls. ghz uses about 100 bytes for each.
pub const REPORT_BYTES_MAX: u64 = 32_000_000;

/// How to make a report that can be imported.
const ADVICE: &str = "measure with the configuration of `jeton-lab export ghz`";

/// The method whose tokens are counted, in both notations of ghz.
const CALLS: [&str; 2] = [
    "jwt.services.JwtService.GenerateJwt",
    "jwt.services.JwtService/GenerateJwt",
];

/// Facts about the server that a report does not contain.
#[derive(Debug, Clone)]
pub struct Server {
    /// Its name in every table.
    pub name: String,
    /// The number of its cores.
    pub cores: u32,
}

/// One ghz report of a load in a closed loop.
#[derive(Debug)]
pub struct Report {
    alg: Algorithm,
    connections: u32,
    in_flight: u32,
    ended: Timestamp,
    measured: Duration,
    statuses: BTreeMap<String, u64>,
    latencies: Latencies,
}

/// The members of a report that are read.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Written<'r> {
    /// The end of the run, in RFC 3339.
    #[serde(borrow)]
    date: Cow<'r, str>,
    /// The duration in nanoseconds.
    total: u64,
    status_code_distribution: BTreeMap<String, u64>,
    options: Options,
    /// Every call, up to the first million.
    #[serde(borrow, default)]
    details: Option<Vec<Detail<'r>>>,
}

#[derive(Deserialize)]
struct Options {
    call: String,
    concurrency: u32,
    connections: u32,
    #[serde(default)]
    rps: u64,
    #[serde(default)]
    data: serde_json::Value,
}

#[derive(Deserialize)]
struct Detail<'r> {
    /// Nanoseconds.
    latency: u64,
    #[serde(borrow)]
    status: Cow<'r, str>,
}

impl Report {
    /// Reads a file written by `ghz --format json -o FILE`.
    ///
    /// # Errors
    ///
    /// A sentence that names the file and the problem.
    pub fn read(path: &Path) -> Result<Self, String> {
        let wrong = |what: &dyn std::fmt::Display| format!("{}: {what}", path.display());
        let mut text = String::new();
        let file = File::open(path).map_err(|e| wrong(&e))?;
        file.take(REPORT_BYTES_MAX + 1)
            .read_to_string(&mut text)
            .map_err(|e| wrong(&e))?;
        if text.len() as u64 > REPORT_BYTES_MAX {
            return Err(wrong(&format!(
                "has more than {} MB: measure for a shorter time",
                REPORT_BYTES_MAX / 1_000_000
            )));
        }
        Self::parse(&text).map_err(|what| wrong(&what))
    }

    fn parse(text: &str) -> Result<Self, String> {
        let no_report = |e| format!("is not a current ghz report in JSON ({e}): {ADVICE}");
        let written: Written<'_> = serde_json::from_str(text).map_err(no_report)?;
        let (alg, in_flight) = written.options.scenario()?;
        let ok = End::OK.name();
        let mut latencies = Latencies::default();
        for detail in written.details.unwrap_or_default() {
            if detail.status == ok {
                latencies.record(detail.latency);
            }
        }
        let tokens = (written.status_code_distribution.get(&ok)).copied();
        match tokens {
            None | Some(0) => return Err("contains no call that ended OK".to_owned()),
            Some(tokens) if tokens != latencies.count() => {
                return Err(format!(
                    "has {} latencies for {tokens} calls that ended OK: ghz keeps the first million, \
                     and none in a summary; {ADVICE}, for a shorter time",
                    latencies.count()
                ));
            }
            Some(_) => {}
        }
        let measured = Duration::from_nanos(written.total);
        if measured.is_zero() {
            return Err("total: must be above zero".to_owned());
        }
        let ended: Result<Timestamp, _> = written.date.parse();
        Ok(Self {
            alg,
            connections: written.options.connections,
            in_flight,
            ended: ended.map_err(|_| "date: not an RFC 3339 time".to_owned())?,
            measured,
            statuses: written.status_code_distribution,
            latencies,
        })
    }

    fn began(&self) -> Timestamp {
        self.ended
            .checked_sub(self.measured)
            .unwrap_or(Timestamp::MIN)
    }

    #[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
    fn repetition(&self) -> Repetition {
        let seconds = self.measured.as_secs_f64();
        Repetition {
            seconds,
            requests_per_s: self.latencies.count() as f64 / seconds,
            cpu_us_per_request: None,
            p50_ms: self.latencies.percentile_ms(50.0),
            second_requests_per_s: None,
            second_cpu_us_per_request: None,
        }
    }
}

impl Options {
    /// Returns the algorithm, and the calls in flight on each connection.
    fn scenario(&self) -> Result<(Algorithm, u32), String> {
        if !CALLS.contains(&self.call.as_str()) {
            return Err(format!("measures a call other than {}: {ADVICE}", CALLS[0]));
        }
        let named = self.data["algorithm"].as_str().unwrap_or_default();
        let alg = Algorithm::of_the_report(named)?;
        // Latencies of an open loop count from when a call was due, here and in every table.
        if self.rps > 0 {
            return Err(
                "is an open loop (rps), in which ghz measures a latency from when it sent a call, \
                 not from when the call was due: only closed loops can be imported"
                    .to_owned(),
            );
        }
        match self.concurrency.checked_rem(self.connections) {
            Some(0) if self.concurrency > 0 => Ok((alg, self.concurrency / self.connections)),
            _ => Err(format!(
                "has {} calls in flight on {} connections, which do not divide evenly",
                self.concurrency, self.connections
            )),
        }
    }
}

/// Returns a result with a row for each scenario of these reports. Several reports of one scenario
/// are its repetitions. None without a report.
#[must_use]
pub fn result(reports: &[Report], server: &Server, command: &str) -> Option<RunResult> {
    let mut scenarios = BTreeMap::<Scenario, Vec<&Report>>::new();
    for report in reports {
        let scenario = Scenario {
            cores: server.cores,
            connections: report.connections,
            in_flight: report.in_flight,
            call: Call::GenerateJwt,
            alg: report.alg,
        };
        scenarios.entry(scenario).or_default().push(report);
    }
    let rows = scenarios
        .into_iter()
        .filter_map(|(scenario, of)| row(scenario, &of, server));
    let began = reports.iter().map(Report::began).min()?;
    let measured: Duration = reports.iter().map(|report| report.measured).sum();
    let environment = Environment {
        started: began.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        elapsed_s: measured.as_secs_f64(),
        complete: true,
        jeton: env!("CARGO_PKG_VERSION").to_owned(),
        disturbance: Disturbance {
            unwatched: vec!["the machine: ghz does not report it".to_owned()],
            ..Disturbance::default()
        },
        ..Environment::default()
    };
    let rows = Rows {
        servers: rows.collect(),
        ..Rows::default()
    };
    Some(RunResult::without_verdicts(
        command.to_owned(),
        0,
        environment,
        rows,
    ))
}

fn row(scenario: Scenario, of: &[&Report], server: &Server) -> Option<ServerRow> {
    let mut latencies = Latencies::default();
    let mut statuses = BTreeMap::<String, u64>::new();
    for report in of {
        latencies.add(&report.latencies);
        for (status, times) in &report.statuses {
            *statuses.entry(status.clone()).or_default() += times;
        }
    }
    let repetitions: Vec<Repetition> = of.iter().map(|report| report.repetition()).collect();
    let rates: Vec<f64> = repetitions.iter().map(|r| r.requests_per_s).collect();
    Some(ServerRow {
        status: Status::Ok,
        reason: None,
        scenario: scenario.load(),
        cores: scenario.cores,
        connections: scenario.connections,
        in_flight: scenario.in_flight,
        call: scenario.call,
        alg: scenario.alg,
        subject: ServerSubject {
            id: server.name.clone(),
            name: server.name.clone(),
            language: "not known".to_owned(),
            libraries: "not known".to_owned(),
            as_published: false,
            bare: None,
        },
        rate: None,
        oversubscribed: false,
        loader: Some("ghz".to_owned()),
        load: Some(ServerLoad {
            requests_per_s: middle(&rates)?,
            cpu_us_per_request: None,
            client_cpu_us_per_request: None,
            repetitions,
            latency_ms: latency_ms(&latencies),
            latencies,
            statuses,
            verified: 0,
            client_bound: None,
            base_rss_bytes: None,
            peak_rss_bytes: None,
        }),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Returns a report of this many calls that ended OK, as ghz 0.93 writes it.
    fn report(latencies_ms: &[u64]) -> serde_json::Value {
        let details: Vec<_> = latencies_ms
            .iter()
            .map(|ms| {
                serde_json::json!({"timestamp": "2026-11-22T09:00:00.5Z", "latency": ms * 1_000_000,
                    "error": "", "status": "OK"})
            })
            .collect();
        serde_json::json!({
            "endReason": "timeout", "date": "2026-11-22T10:00:10+01:00",
            "options": {
                "call": "jwt.services.JwtService.GenerateJwt", "host": "127.0.0.1:8420",
                "insecure": true, "load-schedule": "const", "concurrency": 10,
                "concurrency-schedule": "const", "total": 200, "connections": 5,
                "duration": 2_000_000_000u64, "data": {"algorithm": "HS256"}, "binary": false,
                "CPUs": 2},
            "count": latencies_ms.len(), "total": 2_000_000_000u64, "average": 1, "fastest": 1,
            "slowest": 1, "rps": 1.5, "errorDistribution": {},
            "statusCodeDistribution": {"OK": latencies_ms.len()},
            "latencyDistribution": [], "histogram": [], "details": details})
    }

    fn edited(place: &str, value: serde_json::Value) -> String {
        let mut report = report(&[1, 2, 3]);
        *report.pointer_mut(place).unwrap() = value;
        Report::parse(&report.to_string()).unwrap_err()
    }

    #[test]
    fn import_reports_of_one_scenario_are_repetitions() {
        let reports =
            [&[1, 2, 3][..], &[4]].map(|ms| Report::parse(&report(ms).to_string()).unwrap());
        let server = Server {
            name: "go/mine".to_owned(),
            cores: 1,
        };
        let result = result(&reports, &server, "jeton-lab import").unwrap();
        assert_eq!(result.environment.started, "2026-11-22T09:00:08Z");
        let [row] = result.rows.servers.as_slice() else {
            unreachable!("one scenario is one row")
        };
        assert_eq!(
            (row.scenario.as_str(), row.in_flight, row.loader.as_deref()),
            ("1 core, 5×2", 2, Some("ghz"))
        );
        let load = row.load.as_ref().unwrap();
        assert_eq!((load.answers(), load.latencies.count()), (4, 4));
        assert_eq!(load.latencies.slowest_ms(), Some(4.0));
        let rates: Vec<f64> = load.repetitions.iter().map(|r| r.requests_per_s).collect();
        assert_eq!(rates, [1.5, 0.5]);
        assert_eq!(load.cpu_us_per_request, None);
    }

    #[test]
    fn import_errors_are_counted_without_latency() {
        let mut mixed = report(&[1]);
        mixed["statusCodeDistribution"]["Unavailable"] = 2.into();
        let failed = serde_json::json!({"timestamp": "2026-11-22T09:00:00Z", "latency": 9,
            "error": "rpc error: \"gone\"", "status": "Unavailable"});
        let details = mixed["details"].as_array_mut().unwrap();
        details.extend([failed.clone(), failed]);
        let read = Report::parse(&mixed.to_string()).unwrap();
        assert_eq!(
            (read.latencies.count(), read.statuses["Unavailable"]),
            (1, 2)
        );
    }

    #[test]
    fn import_of_unusable_report_names_what_is_wrong() {
        let nothing = serde_json::Value::Null;
        for (place, value, said) in [
            ("/details", nothing.clone(), "0 latencies for 3 calls"),
            ("/statusCodeDistribution/OK", 4.into(), "3 latencies for 4"),
            (
                "/statusCodeDistribution/OK",
                0.into(),
                "no call that ended OK",
            ),
            ("/options", nothing, "not a current ghz report"),
            ("/options/concurrency", 11.into(), "do not divide evenly"),
            ("/options/connections", 0.into(), "do not divide evenly"),
            ("/options/call", "a.B.C".into(), "a call other than"),
            ("/options/data", serde_json::json!([]), "HS256 and ES256"),
            ("/total", 0.into(), "must be above zero"),
            ("/date", "yesterday".into(), "not an RFC 3339 time"),
            (
                "/details/0/latency",
                (-1).into(),
                "not a current ghz report",
            ),
        ] {
            let why = edited(place, value);
            assert!(why.contains(said), "{place}: {why}");
        }
        let mut open = report(&[1]);
        open["options"]["rps"] = 100.into();
        let why = Report::parse(&open.to_string()).unwrap_err();
        assert!(why.contains("only closed loops"), "{why}");
        assert!(Report::parse("Summary:\n  Count: 200").is_err());
    }
}
