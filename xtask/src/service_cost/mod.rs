//! `cargo xtask service-cost`: what a call costs jeton's server, and what it costs the Go server of
//! the gRPC report with its bugs fixed.
//!
//! A server has one core and h2load another, so that neither waits for the other's work. What is
//! compared is the server's CPU time for each call: the kernel counts it to the nanosecond, and it
//! does not depend on how fast the loader is. Both servers stay up; they are loaded in turns, and the
//! ratios of the pairs have an interval. The log is docs/service-cost.md.

mod load;
pub(crate) mod message;
pub(crate) mod servers;

use std::fmt::Write as _;

use crate::command::{Error, Workspace, output};
use crate::interval::{Ratio, median};
use crate::pairs::Plan;
use load::{Call, Seen};
use servers::{Server, needs};

const LOG: &str = "docs/service-cost.md";

/// Calls of one load: seconds of work for either server.
const CALLS: u64 = 60_000;
/// Batches of one load.
const BATCHES: u64 = 800;
/// Tokens of one batch.
const BATCH: usize = 256;

/// Loads both servers in turns and writes the log, also where a goal is missed.
pub(crate) fn run(workspace: &Workspace, plan: &Plan) -> Result<(), Error> {
    needs()?;
    eprintln!("== service-cost: building both servers");
    let go = Server::go(workspace)?;
    let jeton = Server::jeton(workspace)?;

    let mut lines = Vec::new();
    for (algorithm, goal) in [("HS256", 2.8), ("ES256", 1.7)] {
        let call = Call::generate_jwt(algorithm, CALLS);
        lines.push(compare(
            workspace,
            plan,
            [&jeton, &go],
            &call,
            algorithm,
            goal,
        )?);
    }
    let batch = tokens(workspace, plan, &jeton)?;
    let text = log(workspace, plan, &lines, &batch)?;
    std::fs::write(workspace.path(LOG), &text)
        .map_err(|error| Error::Usage(format!("{LOG}: {error}")))?;
    println!("{text}");
    eprintln!("== service-cost: log in {LOG}");
    let missed =
        lines.iter().filter(|line| !line.reaches()).count() + usize::from(!batch.reaches());
    if missed == 0 {
        Ok(())
    } else {
        Err(Error::Failed(format!(
            "{missed} goals are missed: see {LOG}"
        )))
    }
}

/// GenerateJwt with one algorithm by both servers.
struct Line {
    algorithm: &'static str,
    jeton: Seen,
    go: Seen,
    /// The Go server's CPU time over jeton's.
    ratio: Ratio,
    goal: f64,
}

impl Line {
    fn reaches(&self) -> bool {
        self.ratio.interval()[0] >= self.goal && self.jeton.resident <= self.go.resident
    }
}

fn compare(
    workspace: &Workspace,
    plan: &Plan,
    [jeton, go]: [&Server; 2],
    call: &Call,
    algorithm: &'static str,
    goal: f64,
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
    let logs = by_jeton
        .iter()
        .zip(&by_go)
        .map(|(jeton, go)| (go.cpu_us / jeton.cpu_us).ln());
    Ok(Line {
        algorithm,
        ratio: Ratio::of(logs.collect()),
        jeton: middle(&by_jeton),
        go: middle(&by_go),
        goal,
    })
}

/// Tokens by the batch over tokens one by one, of one server, in the same run.
struct Batch {
    one_by_one: f64,
    by_the_batch: f64,
    ratio: Ratio,
}

impl Batch {
    const GOAL: f64 = 10.0;

    fn reaches(&self) -> bool {
        self.ratio.interval()[0] >= Self::GOAL
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
    let logs = batched
        .iter()
        .zip(&singly)
        .map(|(batch, one)| (batch / one).ln());
    Ok(Batch {
        ratio: Ratio::of(logs.collect()),
        one_by_one: median(singly).unwrap_or(f64::NAN),
        by_the_batch: median(batched).unwrap_or(f64::NAN),
    })
}

/// The middle of each figure.
fn middle(all: &[Seen]) -> Seen {
    let of =
        |figure: fn(&Seen) -> f64| median(all.iter().map(figure).collect()).unwrap_or(f64::NAN);
    Seen {
        cpu_us: of(|seen| seen.cpu_us),
        per_second: of(|seen| seen.per_second),
        resident: of(|seen| seen.resident),
    }
}

fn log(workspace: &Workspace, plan: &Plan, lines: &[Line], batch: &Batch) -> Result<String, Error> {
    let day = output(workspace.command("date").args(["-u", "+%F"]))?;
    let commit = output(
        workspace
            .command("git")
            .args(["rev-parse", "--short", "HEAD"]),
    )?;
    let mut text = format!(
        "# What a call costs the server\n\n\
         `cargo xtask service-cost --pairs {}`, {}, commit {}, {}.\n\n\
         `GenerateJwt` signs a token and verifies it. jeton's server beside the Go server of the gRPC \
         report with its bugs\nfixed (`servers/go/fixed`: current grpc-go and golang-jwt), each on one \
         core, h2load on another with 5\nconnections of 50 calls in flight; loaded in turns, {} pairs. \
         CPU time is the server's own, as the kernel\ncounts it; the ratio is Go over jeton, with its \
         95 % interval (Student's t over the pairs' log ratios).\n\n\
         | algorithm | jeton, µs of CPU a call | Go | ratio | goal | jeton, calls/s | Go | jeton, MiB resident | Go | |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---:|---|\n",
        plan.pairs,
        day.trim(),
        commit.trim(),
        crate::soak::cpu(),
        plan.pairs,
    );
    for line in lines {
        let [low, high] = line.ratio.interval();
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "| {} | {:.1} | {:.1} | {:.2} ({low:.2} to {high:.2}) | {} | {:.0} | {:.0} | {:.1} | {:.1} | {} |",
            line.algorithm,
            line.jeton.cpu_us,
            line.go.cpu_us,
            line.ratio.middle(),
            line.goal,
            line.jeton.per_second,
            line.go.per_second,
            line.jeton.resident,
            line.go.resident,
            verdict(line.reaches()),
        );
    }
    let [low, high] = batch.ratio.interval();
    let _ = write!(
        text,
        "\n`IssueBatch` of {BATCH} HS256 tokens beside `Issue` of one, the same load:\n\n\
         | tokens/s by `Issue` | by `IssueBatch` | ratio | goal | |\n|---:|---:|---:|---:|---|\n\
         | {:.0} | {:.0} | {:.1} ({low:.1} to {high:.1}) | {} | {} |\n",
        batch.one_by_one,
        batch.by_the_batch,
        batch.ratio.middle(),
        Batch::GOAL,
        verdict(batch.reaches()),
    );
    Ok(text)
}

fn verdict(reached: bool) -> &'static str {
    if reached { "reached" } else { "**missed**" }
}
