//! `jeton-lab load`.

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Subcommand};
use jeton_lab_load::loader::{self, Checker, Load as Plan, Loaded, Pace, Request};
use jeton_lab_model::servers::{Algorithm, Call};

use super::destination::Destination;
use crate::input;

/// Largest result or key file, in bytes.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// Load one gRPC server from this process, and print the measurements as JSON
///
/// Calls jwt.services.JwtService/GenerateJwt over HTTP/2 without TLS. Choose another call with --call;
/// the server must then have one issuer with a profile named after each algorithm. The batch calls use
/// 256 tokens. With issue-stream and verify-stream, each connection has one stream, and each message
/// counts as a call. With verify-revoked, each response must reject a revoked token. introspect is
/// RFC 7662 over HTTP/2.
///
/// pass, pass-different and pass-revoked are GET /api/ through a gateway, with the tokens of --tokens in
/// turn. The answer of what is behind the gateway must be `passed`, or status 401 with pass-revoked.
///
/// The output counts the status of every response. With --verify-with, one token in a thousand is
/// verified. In a closed loop, each call waits for the previous response. With --rate, calls are due
/// at a fixed rate, and latency counts from when a call was due.
///
/// The loader uses one thread; `client_bound` in the output tells whether that thread was saturated. For a
/// higher load, run several loaders, and add their result files with `jeton-lab load merge`.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  jeton-lab load 127.0.0.1:8420 --alg HS256 --connections 5 --in-flight 50 --seconds 10
  jeton-lab load 127.0.0.1:8420 --alg ES256 --rate 5000 --seconds 60 --verify-with public.pem
  jeton-lab load 127.0.0.1:8420 --call verify --alg v4.public
  jeton-lab load 127.0.0.1:8420 --call issue-stream --in-flight 200
  jeton-lab load 127.0.0.1:8080 --call pass-different --tokens tokens.txt
  jeton-lab load 10.0.0.7:8420 --alg HS256 -o load-$JOB_COMPLETION_INDEX.json
  jeton-lab load merge load-*.json -o load.json"
)]
pub(super) struct Load {
    #[command(subcommand)]
    command: Option<LoadCommand>,

    #[command(flatten)]
    one: One,
}

#[derive(Debug, Subcommand)]
enum LoadCommand {
    /// Add the result files of several loaders: histograms and counts, exactly
    Merge(Merge),
}

#[derive(Debug, Args)]
struct Merge {
    /// Result files of `jeton-lab load`
    #[arg(required = true, value_name = "FILES")]
    files: Vec<PathBuf>,

    #[command(flatten)]
    destination: Destination,
}

#[derive(Debug, Args)]
struct One {
    /// Address of the server
    #[arg(value_name = "HOST:PORT")]
    target: Option<String>,

    /// Call to make: generate-jwt, issue, issue-batch, issue-stream, verify, verify-batch, verify-stream, verify-revoked, introspect, pass, pass-different or pass-revoked
    #[arg(long, value_name = "NAME", default_value = "generate-jwt")]
    call: Call,

    /// Algorithm of the tokens: HS256, ES256, RS256, EdDSA, v4.public or v4.local
    #[arg(long, value_name = "NAME", default_value = "HS256")]
    alg: Algorithm,

    /// Number of connections
    #[arg(long, value_name = "N", default_value_t = 5)]
    connections: u32,

    /// Number of calls in flight on each connection
    #[arg(long, value_name = "N", default_value_t = 50)]
    in_flight: u32,

    /// Duration of the measurement, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    seconds: Duration,

    /// Duration of the warm-up before the measurement, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    warm_up: Duration,

    /// Run an open loop with this many calls per second, instead of a closed loop
    #[arg(long, value_name = "N")]
    rate: Option<f64>,

    /// Key to verify one token in a thousand: the secret's bytes for HS256, a PEM public key for ES256, a
    /// JWK Set for RS256 and EdDSA, a PASERK for v4.public
    #[arg(long, value_name = "FILE")]
    verify_with: Option<PathBuf>,

    /// File with the tokens for a gateway, one on each line
    #[arg(long, value_name = "FILE")]
    tokens: Option<PathBuf>,

    #[command(flatten)]
    destination: Destination,
}

impl Load {
    pub(super) fn run(self) -> Result<ExitCode, String> {
        match self.command {
            Some(LoadCommand::Merge(merge)) => merge.run(),
            None => self.one.run(),
        }
    }
}

impl One {
    fn run(self) -> Result<ExitCode, String> {
        let Some(target) = &self.target else {
            return Err("the server's address is required: jeton-lab load HOST:PORT".to_owned());
        };
        let target = looked_up(target)?;
        let request = self.request(target)?;
        let plan = Plan::new(
            target,
            request,
            self.connections,
            self.in_flight,
            self.seconds,
        )
        .and_then(|plan| plan.warm_up(self.warm_up))
        .and_then(|plan| {
            plan.pace(
                self.rate
                    .map_or(Pace::Closed, |per_second| Pace::Open { per_second }),
            )
        })?;
        let checker = self.checker()?;
        let loaded =
            loader::run(&plan, checker).map_err(|e| format!("cannot start the loader: {e}"))?;
        write(&loaded, &self.destination, &[])
    }

    fn request(&self, target: SocketAddr) -> Result<Request, String> {
        match &self.tokens {
            Some(file) if self.call.is_of_a_gateway() => {
                let text = read(file)?;
                Request::pass(self.call, self.alg, &String::from_utf8_lossy(&text))
                    .map_err(|why| format!("{}: {why}", file.display()))
            }
            None if !self.call.is_of_a_gateway() => Request::prepare(target, self.call, self.alg)
                .map_err(|end| {
                    format!(
                        "cannot prepare {} with {}: the server's response to the issue call is {}",
                        self.call,
                        self.alg,
                        end.name()
                    )
                }),
            Some(_) => Err(format!(
                "--tokens: {} has tokens of the server: remove the option",
                self.call
            )),
            None => Err(format!(
                "--call {}: a gateway issues no tokens: pass --tokens FILE with a token on each line",
                self.call
            )),
        }
    }

    fn checker(&self) -> Result<Option<Checker>, String> {
        let Some(file) = &self.verify_with else {
            return Ok(None);
        };
        let bytes = read(file)?;
        Checker::read(self.alg, &bytes)
            .map(Some)
            .map_err(|why| format!("{}: {why}", file.display()))
    }
}

impl Merge {
    fn run(self) -> Result<ExitCode, String> {
        let mut all = Vec::new();
        for file in &self.files {
            let text = read(file)?;
            let loaded = Loaded::read(&String::from_utf8_lossy(&text));
            all.push(loaded.map_err(|why| {
                format!(
                    "{}: not a result file of jeton-lab load: {why}",
                    file.display()
                )
            })?);
        }
        let merged = Loaded::merge(&all)?;
        let sources: Vec<&PathBuf> = self.files.iter().collect();
        write(&merged, &self.destination, &sources)
    }
}

fn write(
    loaded: &Loaded,
    destination: &Destination,
    sources: &[&PathBuf],
) -> Result<ExitCode, String> {
    let mut json = serde_json::to_string_pretty(loaded).map_err(|e| e.to_string())?;
    json.push('\n');
    destination.text(&json, sources)
}

fn read(file: &Path) -> Result<Vec<u8>, String> {
    use std::io::Read;
    input::must_be_a_name(file).map_err(|failure| failure.with_hint())?;
    let unreadable = |e: std::io::Error| format!("cannot read {}: {e}", file.display());
    let mut bytes = Vec::new();
    let opened = std::fs::File::open(file).map_err(unreadable)?;
    opened
        .take(FILE_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(format!(
            "{}: larger than {} MiB",
            file.display(),
            FILE_BYTES_MAX >> 20
        ));
    }
    if bytes.is_empty() {
        Err(format!("{}: the file is empty", file.display()))
    } else {
        Ok(bytes)
    }
}

/// Resolves a name to its first address: a load has one server.
fn looked_up(target: &str) -> Result<SocketAddr, String> {
    let mut found = target
        .to_socket_addrs()
        .map_err(|e| format!("{target}: {e}; expected HOST:PORT, for example 127.0.0.1:8420"))?;
    found
        .next()
        .ok_or_else(|| format!("{target}: the name has no address"))
}

pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text
        .parse()
        .map_err(|_| "expected a number of seconds, for example 3 or 0.5".to_owned())?;
    Duration::try_from_secs_f64(seconds)
        .map_err(|_| "expected a number of seconds, for example 3 or 0.5".to_owned())
}
