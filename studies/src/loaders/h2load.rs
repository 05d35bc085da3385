//! One load by h2load: it prints a mean and a deviation, and its log has every request.

use std::path::Path;

use xtask::command::{Error, Workspace, output};

use super::{CONNECTIONS, Figures, IN_FLIGHT, LOADER_CORE, SECONDS, WARM_UP_SECONDS};
use crate::service_cost::message;
use crate::service_cost::servers::Server;

/// An answer with a token has more bytes than this; one with an error has none.
const LEAST_ANSWER: u64 = 100;

pub(super) fn load(
    workspace: &Workspace,
    server: &Server,
    algorithm: &str,
) -> Result<Figures, Error> {
    let (body, log) = (server.scratch("body"), server.scratch("requests"));
    std::fs::write(&body, message::generate_jwt(algorithm)).map_err(|e| failed(&body, &e))?;
    // h2load writes behind what a log has.
    match std::fs::remove_file(&log) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(failed(&log, &error));
        }
        _ => {}
    }
    let mut h2load = workspace.command("taskset");
    h2load
        .args(["-c", LOADER_CORE, "h2load", "-t", "1"])
        .args(["-c", &CONNECTIONS.to_string()])
        .args(["-m", &IN_FLIGHT.to_string()])
        .args(["-D", &SECONDS.to_string()])
        .arg(format!("--warm-up-time={WARM_UP_SECONDS}"))
        .arg(format!("--log-file={}", log.display()))
        .arg("-d")
        .arg(&body)
        .args(["-H", "content-type: application/grpc", "-H", "te: trailers"])
        .arg(format!(
            "http://{}/jwt.services.JwtService/GenerateJwt",
            server.address()
        ));
    let said = output(&mut h2load)?;
    let requests = std::fs::read_to_string(&log).map_err(|e| failed(&log, &e))?;
    read(&said, &requests).ok_or_else(|| {
        Error::Failed(format!(
            "not every call of h2load was answered with a token:\n{said}"
        ))
    })
}

fn failed(path: &Path, error: &std::io::Error) -> Error {
    Error::Usage(format!("{}: {error}", path.display()))
}

/// What h2load says and its log, if every call was answered, and with more than an error: those of
/// gRPC have the status 200 too.
fn read(said: &str, requests: &str) -> Option<Figures> {
    let line = |beginning: &str| said.lines().find_map(|line| line.strip_prefix(beginning));
    let part = |line: &str, end: &str| -> Option<String> {
        let part = line.split(", ").find_map(|part| part.strip_suffix(end))?;
        Some(part.to_owned())
    };
    let data = part(line("traffic: ")?, " data")?;
    let bytes: u64 = data.split(['(', ')']).nth(1)?.parse().ok()?;
    let succeeded: u64 = part(line("requests: ")?, " succeeded")?.parse().ok()?;
    let mut took_us = Vec::new();
    for request in requests.lines() {
        let mut columns = request.split('\t').skip(1);
        if columns.next()? != "200" {
            return None;
        }
        took_us.push(columns.next()?.parse::<u64>().ok()?);
    }
    let calls = took_us.len() as u64;
    if calls == 0 || succeeded != calls || bytes < calls * LEAST_ANSWER {
        return None;
    }
    took_us.sort_unstable();
    #[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
    Some(Figures {
        per_second: calls as f64 / f64::from(SECONDS),
        p50_ms: percentile(&took_us, 50) as f64 / 1e3,
        p99_ms: percentile(&took_us, 99) as f64 / 1e3,
        client_bound: false,
    })
}

/// The least of the sorted values that so many of a hundred do not exceed.
fn percentile(sorted: &[u64], percent: usize) -> u64 {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted[rank.max(1) - 1]
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const SAID: &str = "\
finished in 4.01s, 100.00 req/s, 1.02MB/s
requests: 300 total, 300 started, 300 done, 300 succeeded, 0 failed, 0 errored, 0 timeout
traffic: 1.02MB (1065726) total, 17.20KB (17612) headers (space savings 95.73%), 1.96MB (2058864) data
";

    /// 300 requests of 1 to 300 µs.
    fn requests() -> String {
        (1..=300)
            .rev()
            .map(|us| format!("1795340320840648\t200\t{us}\n"))
            .collect()
    }

    #[test]
    fn percentiles_are_those_of_every_request() {
        let figures = read(SAID, &requests()).unwrap();
        assert_eq!(figures.per_second.to_string(), "100");
        assert_eq!(figures.p50_ms.to_string(), "0.15");
        assert_eq!(figures.p99_ms.to_string(), "0.297");
    }

    #[test]
    fn load_with_errors_has_no_figure() {
        let lost = requests().replacen("\t200\t", "\t-1\t", 1);
        assert_eq!(read(SAID, &lost), None);
        assert_eq!(read(SAID, ""), None);
        let empty = SAID.replace("1.96MB (2058864) data", "0B (0) data");
        assert_eq!(read(&empty, &requests()), None);
        let fewer = requests().lines().skip(1).collect::<Vec<_>>().join("\n");
        assert_eq!(read(SAID, &fewer), None);
    }
}
