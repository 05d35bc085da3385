//! `jeton lab load`.

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Subcommand};
use jeton_lab::servers::loader::{self, Checker, Load as Plan, Loaded, Pace, Request};
use jeton_lab::servers::{Algorithm, Call};

use super::destination::Destination;
use super::sentence;
use crate::input;

/// The largest file of a loader or a key that is read.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// Load one gRPC server from this process, and print what came back as JSON
///
/// Calls jwt.services.JwtService/GenerateJwt over plain HTTP/2, or another --call of a server that has
/// one issuer with a profile named after each algorithm: issue, issue-batch (256 tokens), issue-stream,
/// verify, verify-batch (256 tokens), verify-stream, verify-revoked (each answer must be the refusal of
/// a token that was revoked) or introspect (RFC 7662, over HTTP/2). Every answer's status is counted,
/// and one token in a thousand is verified if there is a key for it. With issue-stream and verify-stream
/// each connection has one stream, whose messages count as calls. In a closed loop each call follows the
/// answer to the one before; with --rate calls are due at that rate whatever the server does, and
/// a latency counts from when its call was due.
///
/// One thread does it: `client_bound` says whether that thread had no room left. Several loaders side
/// by side write a file each, and `jeton lab load merge` adds them as if one had seen it all.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  jeton lab load 127.0.0.1:8420 --alg HS256 --connections 5 --in-flight 50 --seconds 10
  jeton lab load 127.0.0.1:8420 --alg ES256 --rate 5000 --seconds 60 --verify-with public.pem
  jeton lab load 127.0.0.1:8420 --call verify --alg v4.public
  jeton lab load 127.0.0.1:8420 --call issue-stream --in-flight 200
  jeton lab load 10.0.0.7:8420 --alg HS256 -o load-$JOB_COMPLETION_INDEX.json
  jeton lab load merge load-*.json -o load.json"
)]
pub(super) struct Load {
    #[command(subcommand)]
    verb: Option<Verb>,

    #[command(flatten)]
    one: One,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Add the files of several loaders: histograms and counts, exactly
    Merge(Merge),
}

#[derive(Debug, Args)]
struct Merge {
    /// The files
    #[arg(required = true, value_name = "FILES")]
    files: Vec<PathBuf>,

    #[command(flatten)]
    destination: Destination,
}

#[derive(Debug, Args)]
struct One {
    /// Where the server listens
    #[arg(value_name = "HOST:PORT")]
    target: Option<String>,

    /// What is called: generate-jwt, issue, issue-batch, issue-stream, verify, verify-batch, verify-stream, verify-revoked or introspect
    #[arg(long, value_name = "NAME", default_value = "generate-jwt")]
    call: Call,

    /// What the tokens are made with: HS256, ES256, RS256, EdDSA, v4.public or v4.local
    #[arg(long, value_name = "NAME", default_value = "HS256")]
    alg: Algorithm,

    /// How many connections
    #[arg(long, value_name = "N", default_value_t = 5)]
    connections: u32,

    /// How many calls in flight on each
    #[arg(long, value_name = "N", default_value_t = 50)]
    in_flight: u32,

    /// How long is measured
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    seconds: Duration,

    /// How long the server is loaded before that
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    warm_up: Duration,

    /// Calls a second of an open loop, instead of a closed one
    #[arg(long, value_name = "N")]
    rate: Option<f64>,

    /// The key that one token in a thousand is verified with: for HS256 the secret's bytes, for ES256
    /// the public key in PEM, for RS256 and EdDSA a JWK set, for v4.public a PASERK
    #[arg(long, value_name = "FILE")]
    verify_with: Option<PathBuf>,

    #[command(flatten)]
    destination: Destination,
}

impl Load {
    pub(super) fn run(self) -> Result<ExitCode, String> {
        match self.verb {
            Some(Verb::Merge(merge)) => merge.run(),
            None => self.one.run(),
        }
    }
}

impl One {
    fn run(self) -> Result<ExitCode, String> {
        let Some(target) = &self.target else {
            return Err("whom to load is missing: jeton lab load HOST:PORT".to_owned());
        };
        let target = looked_up(target)?;
        let request = Request::prepare(target, self.call, self.alg).map_err(|end| {
            format!(
                "{} of {} wants tokens, and the server answers the call for them with: {}",
                self.call,
                self.alg,
                end.name()
            )
        })?;
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
        })
        .map_err(sentence)?;
        let checker = self.checker()?;
        let loaded =
            loader::run(&plan, checker).map_err(|e| format!("the loader cannot start: {e}"))?;
        write(&loaded, &self.destination, &[])
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
                    "{} is no file that jeton lab load wrote: {why}",
                    file.display()
                )
            })?);
        }
        let merged = Loaded::merge(&all).map_err(sentence)?;
        let sources: Vec<&PathBuf> = self.files.iter().collect();
        write(&merged, &self.destination, &sources)
    }
}

fn write(
    loaded: &Loaded,
    destination: &Destination,
    sources: &[&PathBuf],
) -> Result<ExitCode, String> {
    let mut json = serde_json::to_string_pretty(loaded).map_err(sentence)?;
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
            "{} has more than {} MB, which no such file has",
            file.display(),
            FILE_BYTES_MAX >> 20
        ));
    }
    match bytes.is_empty() {
        true => Err(format!("{} is empty", file.display())),
        false => Ok(bytes),
    }
}

/// The first address of a name: what is loaded is one server.
fn looked_up(target: &str) -> Result<SocketAddr, String> {
    let mut found = target
        .to_socket_addrs()
        .map_err(|e| format!("{target}: {e}; a server is HOST:PORT, as in 127.0.0.1:8420"))?;
    found
        .next()
        .ok_or_else(|| format!("{target}: no address has that name"))
}

pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text
        .parse()
        .map_err(|_| "a number of seconds, as in 3 or 0.5".to_owned())?;
    Duration::try_from_secs_f64(seconds)
        .map_err(|_| "a number of seconds, as in 3 or 0.5".to_owned())
}
