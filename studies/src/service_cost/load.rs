//! One load of a server, and what was seen of it.

use std::path::Path;

use xtask::command::{Error, Workspace, output};

use super::message;

/// The core that h2load runs on. The server has the first.
const LOADER_CORE: &str = "1";
/// Connections, and calls in flight on each, as in the report.
const CONNECTIONS: &str = "5";
const IN_FLIGHT: &str = "50";
/// An answer with a token has more bytes than this; one with an error has none.
const LEAST_ANSWER: u64 = 100;

/// What is called, and how often.
pub(super) struct Call {
    path: &'static str,
    /// Each as `name: value`.
    headers: Vec<String>,
    body: Vec<u8>,
    times: u64,
}

impl Call {
    pub(super) fn generate_jwt(algorithm: &str, times: u64) -> Self {
        Self::grpc(
            "jwt.services.JwtService/GenerateJwt",
            message::generate_jwt(algorithm),
            times,
        )
    }

    pub(super) fn issue(times: u64) -> Self {
        Self::grpc(
            "jeton.v1.TokenService/Issue",
            message::issue(message::HS256_PROFILE),
            times,
        )
    }

    pub(super) fn issue_batch(times: u64, tokens: usize) -> Self {
        Self::grpc(
            "jeton.v1.TokenService/IssueBatch",
            message::issue_batch(message::HS256_PROFILE, tokens),
            times,
        )
    }

    /// `Issue` of a token as the token endpoint gives it, by a caller with this bearer token.
    pub(super) fn issue_as_client(bearer: &str, times: u64) -> Self {
        let mut call = Self::grpc(
            "jeton.v1.TokenService/Issue",
            message::issue_access_token("access"),
            times,
        );
        call.headers.push(format!("authorization: Bearer {bearer}"));
        call
    }

    /// Client credentials, by a client with this value of `Authorization`.
    pub(super) fn client_credentials(authorization: &str, times: u64) -> Self {
        Self {
            path: "token",
            headers: vec![
                "content-type: application/x-www-form-urlencoded".to_owned(),
                format!("authorization: {authorization}"),
            ],
            body: b"grant_type=client_credentials&scope=read".to_vec(),
            times,
        }
    }

    fn grpc(path: &'static str, body: Vec<u8>, times: u64) -> Self {
        let headers = ["content-type: application/grpc", "te: trailers"];
        Self {
            path,
            headers: headers.map(str::to_owned).to_vec(),
            body,
            times,
        }
    }

    pub(super) fn times(&self) -> u64 {
        self.times
    }

    /// Makes the calls, from a core that is not the server's.
    pub(super) fn make(
        &self,
        workspace: &Workspace,
        scratch: &Path,
        address: &str,
    ) -> Result<f64, Error> {
        let body = scratch.join("body");
        std::fs::write(&body, &self.body)
            .map_err(|error| Error::Usage(format!("{}: {error}", body.display())))?;
        let mut h2load = workspace.command("taskset");
        h2load
            .args(["-c", LOADER_CORE, "h2load", "-t", "1"])
            .args(["-c", CONNECTIONS, "-m", IN_FLIGHT])
            .args(["-n", &self.times.to_string()])
            .arg("-d")
            .arg(&body);
        for header in &self.headers {
            h2load.arg("-H").arg(header);
        }
        h2load.arg(format!("http://{address}/{}", self.path));
        let said = output(&mut h2load)?;
        read(&said, self.times).ok_or_else(|| {
            Error::Failed(format!(
                "not every call of {} was answered with what it asks for:\n{said}",
                self.path
            ))
        })
    }
}

/// Calls a second, if every call was answered and with more than an error.
fn read(said: &str, calls: u64) -> Option<f64> {
    let line = |beginning: &str| said.lines().find_map(|line| line.strip_prefix(beginning));
    let succeeded = line("requests: ")?
        .split(", ")
        .find_map(|part| part.strip_suffix(" succeeded"))?;
    let data = line("traffic: ")?
        .split(", ")
        .find_map(|part| part.strip_suffix(" data"))?;
    let bytes: u64 = data.split(['(', ')']).nth(1)?.parse().ok()?;
    let per_second = line("finished in ")?
        .split(", ")
        .find_map(|part| part.strip_suffix(" req/s"))?;
    let whole = succeeded.parse() == Ok(calls) && bytes >= calls * LEAST_ANSWER;
    whole.then(|| per_second.parse().ok())?
}

/// What was seen of a server under one load.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    /// CPU time of the server for each call, in microseconds.
    pub cpu_us: f64,
    /// Calls a second.
    pub per_second: f64,
    /// Resident memory after it, in MiB.
    pub resident: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "\
starting benchmark...
finished in 1.24s, 48387.10 req/s, 12.34MB/s
requests: 60000 total, 60000 started, 60000 done, 60000 succeeded, 0 failed, 0 errored, 0 timeout
status codes: 60000 2xx, 0 3xx, 0 4xx, 0 5xx
traffic: 15.33MB (16078385) total, 1.21MB (1263295) headers (space savings 93.12%), 12.36MB (12960000) data
";

    #[test]
    fn whole_answers_have_a_rate() {
        assert_eq!(read(SAID, 60_000), Some(48_387.10));
    }

    #[test]
    fn errors_are_no_throughput() {
        assert_eq!(read(SAID, 60_001), None);
        let empty = SAID.replace("12.36MB (12960000) data", "0B (0) data");
        assert_eq!(read(&empty, 60_000), None);
        assert_eq!(read("", 1), None);
    }
}
