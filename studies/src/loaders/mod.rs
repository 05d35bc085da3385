//! `cargo xtask loaders`: does `jeton-lab load` measure what an independent loader measures?
//!
//! The same closed loop, of the same server on the same cores, by h2load, by `jeton-lab load` and by
//! `jeton-lab load` once more, in random order; that is a round, and there are ten. The first two are
//! compared: the interval of their ratio has to lie inside the bound. The two that are alike are the
//! noise floor: no loader agrees with another better than with itself. The log is
//! docs/reference/load-generator-check.md.

mod h2load;
mod lab;

use std::collections::hash_map::RandomState;
use std::fmt::Write as _;
use std::hash::{BuildHasher, Hasher};

use jeton_lab_stats::interval::Ratio;
use jeton_lab_stats::median::median;
use xtask::command::{Error, Workspace};

use crate::origin;
use crate::pairs::Plan;
use crate::service_cost::servers::{Server, needs};
use crate::verdict::{self, Verdict};

const LOG: &str = "docs/reference/load-generator-check.md";
/// How far apart they may be, unless the noise floor is wider.
const BOUND: f64 = 0.10;
/// The core that the loaders run on. The servers have the first.
const LOADER_CORE: &str = "1";
/// Connections, and calls in flight on each, as in the gRPC report.
const CONNECTIONS: u32 = 5;
const IN_FLIGHT: u32 = 50;
/// How long is measured, and how long the server is loaded before that.
const SECONDS: u32 = 3;
const WARM_UP_SECONDS: u32 = 1;

/// What one loader said of one load.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Figures {
    per_second: f64,
    p50_ms: f64,
    p99_ms: f64,
    /// The lab's loader says that its own core was full; h2load says nothing of it.
    client_bound: bool,
}

/// The figures that are compared.
type Figure = (&'static str, fn(&Figures) -> f64);
const COMPARED: [Figure; 3] = [
    ("calls/s", |f| f.per_second),
    ("p50, ms", |f| f.p50_ms),
    ("p99, ms", |f| f.p99_ms),
];

/// Who makes the calls of one load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Loader {
    H2load,
    Lab,
    LabAgain,
}

/// Loads both servers by both loaders and writes the log, also where they disagree.
pub(crate) fn run(workspace: &Workspace, plan: &Plan) -> Result<(), Error> {
    needs()?;
    eprintln!("== loaders: building both servers");
    let servers = [
        ("rust/jeton", Server::jeton(workspace)?),
        ("go/fixed", Server::go(workspace)?),
    ];
    let mut lines = Vec::new();
    for (name, server) in &servers {
        for algorithm in ["HS256", "ES256"] {
            let what = format!("{name} {algorithm}");
            lines.extend(compare(workspace, plan, server, &what, algorithm)?);
        }
    }
    let text = log(workspace, plan, &lines)?;
    std::fs::write(workspace.path(LOG), &text)
        .map_err(|error| Error::Usage(format!("{LOG}: {error}")))?;
    println!("{text}");
    eprintln!("== loaders: log in {LOG}");
    let verdicts: Vec<Verdict> = lines.iter().filter_map(Line::verdict).collect();
    Verdict::all_agree(&verdicts)
}

/// One figure of one server and algorithm by both ways.
struct Line {
    what: String,
    figure: &'static str,
    lab: f64,
    h2load: f64,
    ratio: Ratio,
    /// Of the lab's loader with itself.
    floor: f64,
    /// The lab's loader had no room left in most of its loads: what it measured is itself.
    client_bound: bool,
}

impl Line {
    fn bound(&self) -> f64 {
        BOUND.max(self.floor)
    }

    /// None where they differ and the lab's loader was the one that was measured.
    fn verdict(&self) -> Option<Verdict> {
        let verdict = Verdict::of(&self.ratio, self.bound());
        (verdict == Verdict::Agree || !self.client_bound).then_some(verdict)
    }
}

fn compare(
    workspace: &Workspace,
    plan: &Plan,
    server: &Server,
    what: &str,
    algorithm: &str,
) -> Result<Vec<Line>, Error> {
    let (mut by_lab, mut again, mut by_h2load) = (Vec::new(), Vec::new(), Vec::new());
    for pair in 0..plan.pairs {
        eprintln!("== loaders: {what}, round {} of {}", pair + 1, plan.pairs);
        for loader in in_random_order() {
            match loader {
                Loader::H2load => by_h2load.push(h2load::load(workspace, server, algorithm)?),
                Loader::Lab => by_lab.push(lab::load(workspace, server, algorithm)?),
                Loader::LabAgain => again.push(lab::load(workspace, server, algorithm)?),
            }
        }
    }
    let bound = by_lab.iter().filter(|f| f.client_bound).count();
    (COMPARED.into_iter())
        .map(|(name, figure)| {
            let of = |loads: &[Figures]| -> Vec<f64> { loads.iter().map(figure).collect() };
            let (lab, lab_again, h2load) = (of(&by_lab), of(&again), of(&by_h2load));
            Ok(Line {
                what: what.to_owned(),
                figure: name,
                ratio: verdict::ratio(&lab, &h2load)?,
                floor: verdict::ratio(&lab, &lab_again)?.farthest(),
                lab: median(&lab).unwrap_or(f64::NAN),
                h2load: median(&h2load).unwrap_or(f64::NAN),
                client_bound: bound * 2 > by_lab.len(),
            })
        })
        .collect()
}

/// What drifts within a round falls on none of them more than on another.
fn in_random_order() -> [Loader; 3] {
    let mut order = [Loader::H2load, Loader::Lab, Loader::LabAgain];
    // Every state has its own random keys.
    let random = RandomState::new().build_hasher().finish();
    order.swap(0, (random % 3) as usize);
    order.swap(1, 1 + (random / 3 % 2) as usize);
    order
}

fn log(workspace: &Workspace, plan: &Plan, lines: &[Line]) -> Result<String, Error> {
    let mut text = format!(
        "# The load generator against h2load\n\n\
         `cargo xtask loaders --pairs {}`, {}, commit {}, {}.\n\n\
         `jeton-lab load` and h2load make the same load: `GenerateJwt` in a closed loop of {CONNECTIONS} \
         connections with {IN_FLIGHT} calls in flight on\neach. A load is measured for {SECONDS} s after \
         {WARM_UP_SECONDS} s of warm-up. The server has one core and the load generator another. There are\n\
         {} rounds, each in random order. h2load's percentiles come from its log of every request. The \
         ratio is the lab's figure over\nh2load's, with its 95 % interval (Student's t over the rounds' log \
         ratios).\n\n\
         The noise floor is how far the lab's load generator is from itself in a second load of each \
         round. The bound is the larger\nof {:.0} % and the noise floor. Figures agree if the whole interval is inside the bound, \
         and are apart if all of it is outside. If the core of the\nlab's load generator was full in most \
         loads, a figure that does not agree is *client-bound*. The lab marks such rows and\ncompares them \
         by CPU time.\n\n\
         | server, algorithm | figure | lab | h2load | ratio | noise floor | bound | |\n\
         |---|---|---:|---:|---:|---:|---:|---|\n",
        plan.pairs,
        origin::day(workspace)?,
        origin::commit(workspace)?,
        origin::cpu(),
        plan.pairs,
        BOUND * 100.0,
    );
    for line in lines {
        let [low, high] = line.ratio.interval();
        let decimals = if line.lab < 100.0 { 2 } else { 0 };
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "| {} | {} | {:.decimals$} | {:.decimals$} | {:.3} ({low:.3} to {high:.3}) | {:.1} % | {:.1} % | {} |",
            line.what,
            line.figure,
            line.lab,
            line.h2load,
            line.ratio.ratio(),
            line.floor * 100.0,
            line.bound() * 100.0,
            line.verdict().map_or("client-bound", Verdict::cell),
        );
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn round_has_each_loader_once_in_any_order() {
        let all = [Loader::H2load, Loader::Lab, Loader::LabAgain];
        let mut first = Vec::new();
        for _ in 0..1000 {
            let order = in_random_order();
            assert!(all.iter().all(|loader| order.contains(loader)));
            if !first.contains(&order[0]) {
                first.push(order[0]);
            }
        }
        assert_eq!(first.len(), 3);
    }

    fn line(ratio: f64, floor: f64, client_bound: bool) -> Line {
        Line {
            what: "x".into(),
            figure: "calls/s",
            lab: 1.0,
            h2load: 1.0,
            ratio: verdict::ratio(&[ratio; 3], &[1.0; 3]).unwrap(),
            floor,
            client_bound,
        }
    }

    #[test]
    fn loaders_agree_within_a_tenth_or_the_noise() {
        assert_eq!(line(1.09, 0.0, false).verdict(), Some(Verdict::Agree));
        assert_eq!(line(1.12, 0.0, false).verdict(), Some(Verdict::Apart));
        assert_eq!(line(1.12, 0.15, false).verdict(), Some(Verdict::Agree));
        assert_eq!(line(0.5, 0.0, true).verdict(), None);
        assert_eq!(line(1.01, 0.0, true).verdict(), Some(Verdict::Agree));
    }
}
