//! `cargo xtask service-cost`: measures the cost of a call for jeton's server and for the Go server of
//! jwt-with-grpc-performance-tests with its bugs fixed.
//!
//! The server and h2load have one core each, so neither waits for the other. The server's CPU time per
//! call is compared: the kernel counts it to the nanosecond, and it does not depend on the speed of the
//! load generator. Both servers stay up, and loads alternate between them. The ratios of the pairs give
//! an interval. The log is docs/reference/service-cost.md. The command fails if a ratio is below its
//! minimum, so that a regression is noticed.

pub(crate) mod instructions;
mod load;
pub(crate) mod message;
pub(crate) mod servers;
pub(crate) mod token_endpoint;

use std::fmt::Write as _;

use jeton_lab_stats::interval::Ratio;
use jeton_lab_stats::median::median;
use xtask::command::{Error, Workspace};

use crate::origin;
use crate::pairs::Plan;
use crate::verdict::ratio;
use load::{Call, Seen};
use servers::{Server, needs};

const LOG: &str = "docs/reference/service-cost.md";

/// Calls of one load: seconds of work for either server.
const CALLS: u64 = 60_000;
/// Batches of one load.
const BATCHES: u64 = 800;
/// Tokens of one batch.
const BATCH: usize = 256;

/// Loads both servers alternately and writes the log, also if a ratio is below its minimum.
pub(crate) fn run(workspace: &Workspace, plan: &Plan) -> Result<(), Error> {
    needs()?;
    eprintln!("== service-cost: building both servers");
    let go = Server::go(workspace)?;
    let jeton = Server::jeton(workspace)?;

    let mut lines = Vec::new();
    for (algorithm, minimum) in [("HS256", 2.8), ("ES256", 1.7)] {
        let call = Call::generate_jwt(algorithm, CALLS);
        lines.push(compare(
            workspace,
            plan,
            [&jeton, &go],
            &call,
            algorithm,
            minimum,
        )?);
    }
    let batch = tokens(workspace, plan, &jeton)?;
    let text = log(workspace, plan, &lines, &batch)?;
    std::fs::write(workspace.path(LOG), &text)
        .map_err(|error| Error::Usage(format!("{LOG}: {error}")))?;
    println!("{text}");
    eprintln!("== service-cost: log in {LOG}");
    let failures: Vec<String> = (lines.iter().filter_map(Line::failure))
        .chain(batch.failure())
        .collect();
    if failures.is_empty() {
        Ok(())
    } else {
        Err(Error::Failed(failures.join("; ")))
    }
}

/// GenerateJwt with one algorithm by both servers.
struct Line {
    algorithm: &'static str,
    jeton: Seen,
    go: Seen,
    /// The Go server's CPU time over jeton's.
    ratio: Ratio,
    /// What the interval of the ratio must not go below.
    minimum: f64,
}

impl Line {
    /// What is worse than it must be, if anything is.
    fn failure(&self) -> Option<String> {
        let [low, _] = self.ratio.interval();
        let reaches = low >= self.minimum;
        if !reaches {
            Some(format!(
                "{}: the ratio's interval begins at {low:.2}, minimum {}",
                self.algorithm, self.minimum
            ))
        } else if self.jeton.resident > self.go.resident {
            Some(format!(
                "{}: jeton's resident memory is {:.1} MiB, maximum {:.1} MiB (the Go server's)",
                self.algorithm, self.jeton.resident, self.go.resident
            ))
        } else {
            None
        }
    }
}

fn compare(
    workspace: &Workspace,
    plan: &Plan,
    [jeton, go]: [&Server; 2],
    call: &Call,
    algorithm: &'static str,
    minimum: f64,
) -> Result<Line, Error> {
    // The first load of each is a warm-up and does not count.
    jeton.load(workspace, call)?;
    go.load(workspace, call)?;
    let (mut by_jeton, mut by_go) = (Vec::new(), Vec::new());
    for pair in 0..plan.pairs {
        eprintln!(
            "== service-cost: {algorithm}, pair {} of {}",
            pair + 1,
            plan.pairs
        );
        if pair % 2 == 0 {
            by_jeton.push(jeton.load(workspace, call)?);
            by_go.push(go.load(workspace, call)?);
        } else {
            by_go.push(go.load(workspace, call)?);
            by_jeton.push(jeton.load(workspace, call)?);
        }
    }
    let cpu_us = |all: &[Seen]| -> Vec<f64> { all.iter().map(|seen| seen.cpu_us).collect() };
    Ok(Line {
        algorithm,
        ratio: ratio(&cpu_us(&by_go), &cpu_us(&by_jeton))?,
        jeton: middle(&by_jeton),
        go: middle(&by_go),
        minimum,
    })
}

/// Tokens per second of batches over those of single calls, by one server in the same run.
struct Batch {
    one_by_one: f64,
    by_the_batch: f64,
    ratio: Ratio,
}

impl Batch {
    /// What the interval of the ratio must not go below.
    const MINIMUM: f64 = 10.0;

    fn failure(&self) -> Option<String> {
        let [low, _] = self.ratio.interval();
        let reaches = low >= Self::MINIMUM;
        (!reaches).then(|| {
            format!(
                "IssueBatch: the ratio's interval begins at {low:.1}, minimum {}",
                Self::MINIMUM
            )
        })
    }
}

fn tokens(workspace: &Workspace, plan: &Plan, jeton: &Server) -> Result<Batch, Error> {
    let (one, many) = (Call::issue(CALLS), Call::issue_batch(BATCHES, BATCH));
    let (mut singly, mut batched) = (Vec::new(), Vec::new());
    jeton.load(workspace, &one)?;
    jeton.load(workspace, &many)?;
    for pair in 0..plan.pairs {
        eprintln!(
            "== service-cost: IssueBatch, pair {} of {}",
            pair + 1,
            plan.pairs
        );
        singly.push(jeton.load(workspace, &one)?.per_second);
        #[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
        batched.push(jeton.load(workspace, &many)?.per_second * BATCH as f64);
    }
    Ok(Batch {
        ratio: ratio(&batched, &singly)?,
        one_by_one: median(&singly).unwrap_or(f64::NAN),
        by_the_batch: median(&batched).unwrap_or(f64::NAN),
    })
}

/// The middle of each figure.
fn middle(all: &[Seen]) -> Seen {
    let of = |figure: fn(&Seen) -> f64| {
        let figures: Vec<f64> = all.iter().map(figure).collect();
        median(&figures).unwrap_or(f64::NAN)
    };
    Seen {
        cpu_us: of(|seen| seen.cpu_us),
        per_second: of(|seen| seen.per_second),
        resident: of(|seen| seen.resident),
    }
}

fn log(workspace: &Workspace, plan: &Plan, lines: &[Line], batch: &Batch) -> Result<String, Error> {
    let mut text = format!(
        "# Cost of a service call\n\n\
         `cargo xtask service-cost --pairs {}`, {}, commit {}, {}.\n\n\
         `GenerateJwt` signs a token and verifies it. The table compares jeton's server with \
         `servers/go/fixed`: the Go server of\n\
         [jwt-with-grpc-performance-tests](https://github.com/satazor/jwt-with-grpc-performance-tests) \
         with its bugs fixed and current\nversions of grpc-go and golang-jwt. Each server has one core. \
         h2load has another, with 5 connections of 50 calls in flight.\nLoads alternate, in {} pairs. The \
         kernel counts the server's CPU time. The ratio is Go over jeton, with its 95 % interval\n\
         (Student's t over the pairs' log ratios).\n\n\
         | algorithm | jeton, µs of CPU per call | Go | ratio | jeton, calls/s | Go | jeton, MiB resident | Go |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|\n",
        plan.pairs,
        origin::day(workspace)?,
        origin::commit(workspace)?,
        origin::cpu(),
        plan.pairs,
    );
    for line in lines {
        let [low, high] = line.ratio.interval();
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "| {} | {:.1} | {:.1} | {:.2} ({low:.2} to {high:.2}) | {:.0} | {:.0} | {:.1} | {:.1} |",
            line.algorithm,
            line.jeton.cpu_us,
            line.go.cpu_us,
            line.ratio.ratio(),
            line.jeton.per_second,
            line.go.per_second,
            line.jeton.resident,
            line.go.resident,
        );
    }
    let [low, high] = batch.ratio.interval();
    let _ = write!(
        text,
        "\nThe same load with `IssueBatch` of {BATCH} HS256 tokens and with `Issue` of one:\n\n\
         | tokens/s by `Issue` | by `IssueBatch` | ratio |\n|---:|---:|---:|\n\
         | {:.0} | {:.0} | {:.1} ({low:.1} to {high:.1}) |\n",
        batch.one_by_one,
        batch.by_the_batch,
        batch.ratio.ratio(),
    );
    Ok(text)
}
