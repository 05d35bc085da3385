//! The same subjects in two results.

use std::collections::HashSet;

use serde::Serialize;

use super::machine::{Difference, machine, settings, system};
use super::same::{Work, row_of, unchanged};
use crate::judging::floor_for;
use crate::result::{Judgement, Row, RunResult, Status};
use crate::stats::interval::Ratio;
use crate::stats::unpaired::{between_runs, estimate};
use crate::stats::verdict::{Band, judge};

/// Two results, subject by subject.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunComparison {
    /// The earlier run: the baseline.
    pub before: Side,
    /// The later run.
    pub after: Side,
    /// What makes it another machine. Unless this is empty, no verdict is drawn: a ratio is the
    /// machines' as much as the subjects'.
    pub another_machine: Vec<Difference>,
    /// What is set differently on the same machine.
    pub settings: Vec<Difference>,
    /// Subjects and contracts that are the same code in both runs.
    pub unchanged: usize,
    /// How far those come to lie from one, from run to run, as a ratio above one: 0.012 is 1.2 %.
    /// `None` if there are none, and then nothing shows what the runs themselves differ by.
    pub between_runs: Option<f64>,
    /// What both measured, the largest change first and controls last.
    pub changes: Vec<Change>,
    /// What only one of them measured, or each in its own way.
    pub unjudged: Vec<Unjudged>,
}

/// What a comparison says of one of its two runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Side {
    /// The command that repeats it.
    pub command: String,
    /// When it began.
    pub started: String,
    /// Rounds that every row has.
    pub rounds: u32,
    /// Its own noise floor.
    pub noise_floor: Option<f64>,
    /// Why it was disturbed, a sentence each; empty if it was not.
    pub disturbed: Vec<String>,
}

/// One subject under one contract in both runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// The contract.
    pub contract: String,
    /// The subject's id.
    pub subject: String,
    /// The name of the claims set.
    pub claims: String,
    /// Threads.
    pub threads: u32,
    /// The library's version in each run.
    pub versions: [String; 2],
    /// Whether it is a control: the same code in both (version, driver sources, lockfile, runtime)
    /// on a system that is set up the same.
    pub unchanged: bool,
    /// The median of each run, nanoseconds.
    pub median_ns: [f64; 2],
    /// Allocations per operation in each run, where they are counted.
    pub allocs_per_op: [Option<f64>; 2],
    /// Later over earlier, geometric means: below one is faster.
    pub ratio: f64,
    /// Its interval, right together with those of all other changes in 95 % of cases.
    pub interval: [f64; 2],
    /// What is not believed around one: the widest of 2 %, both noise floors, and what unchanged
    /// subjects differ by between the runs.
    pub band: f64,
    /// The verdict; `None` on another machine, and of a control.
    pub verdict: Option<Judgement>,
    /// What the figures above were made of.
    #[serde(skip)]
    pub(super) estimate: Ratio,
}

/// What cannot be compared, and why.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Unjudged {
    /// The contract and subject.
    pub what: String,
    /// The subject's id.
    pub subject: String,
    /// Why, one line for people.
    pub reason: String,
    /// The status in the later run where it failed and the earlier one measured it.
    pub broken: Option<Status>,
}

impl Change {
    /// What was done, in a line.
    #[must_use]
    pub fn what(&self) -> String {
        let work = Work {
            contract: &self.contract,
            subject: &self.subject,
            claims: &self.claims,
            threads: self.threads,
        };
        work.to_string()
    }
}

/// Sets two results side by side.
///
/// The runs are not interleaved, so the intervals are unpaired (Welch's t on logarithms, allowing
/// for all that is judged), and nothing inside the widest of both noise floors is believed. Subjects
/// that are the same code in both runs, on a system that is set up the same, are controls: what they
/// differ by is what the runs differ by. It widens the band of the others, and is no verdict on them.
#[must_use]
pub fn compare(before: &RunResult, after: &RunResult) -> RunComparison {
    let another_machine = machine(&before.environment, &after.environment);
    let (rows, unjudged) = matched(before, after);
    let pairs: Vec<Pair<'_>> = estimated(before, after, rows);
    let judged = pairs.iter().filter(|p| !p.unchanged).count();
    let controls = |managed: Option<bool>| -> Vec<Ratio> {
        let controls = pairs.iter().filter(|p| p.unchanged);
        let of_kind = controls.filter(|p| managed.is_none_or(|m| p.managed() == m));
        of_kind.map(|p| p.ratio).collect()
    };
    // Compiled and managed code have other noise, if two of a kind are there to show it.
    let between = |managed: bool| {
        let own = Some(controls(Some(managed))).filter(|own| own.len() >= 2);
        between_runs(&own.unwrap_or_else(|| controls(None)), judged)
    };
    let floors = |managed: bool| {
        let floor = |r: &RunResult| floor_for(&r.noise_floor, std::iter::once(managed));
        widest(floor(before), floor(after))
    };
    let mut changes: Vec<Change> = pairs
        .iter()
        .map(|pair| {
            let band = Band::new(widest(floors(pair.managed()), between(pair.managed())));
            pair.change(band, another_machine.is_empty())
        })
        .collect();
    let size = |c: &Change| c.estimate.log_mean().abs();
    changes.sort_by(|a, b| {
        a.unchanged
            .cmp(&b.unchanged)
            .then(size(b).total_cmp(&size(a)))
    });
    let all = controls(None);
    RunComparison {
        before: side(before),
        after: side(after),
        settings: settings(&before.environment, &after.environment),
        another_machine,
        unchanged: all.len(),
        between_runs: between_runs(&all, judged),
        changes,
        unjudged,
    }
}

struct Pair<'a> {
    before: &'a Row,
    after: &'a Row,
    unchanged: bool,
    ratio: Ratio,
}

impl Pair<'_> {
    fn managed(&self) -> bool {
        self.before.subject.is_managed()
    }

    fn change(&self, band: Band, same_machine: bool) -> Change {
        let (before, after) = (self.before, self.after);
        let median = |row: &Row| row.ns_per_op.as_ref().map_or(f64::NAN, |t| t.median);
        Change {
            contract: before.contract.clone(),
            subject: before.subject.id.clone(),
            claims: before.claims.name.clone(),
            threads: before.threads,
            versions: [before, after].map(|row| row.subject.version.clone()),
            unchanged: self.unchanged,
            median_ns: [before, after].map(median),
            allocs_per_op: [before, after].map(|row| row.allocs_per_op),
            ratio: self.ratio.ratio(),
            interval: self.ratio.interval(),
            band: band.believed_beyond(),
            verdict: (same_machine && !self.unchanged).then(|| judge(&self.ratio, band)),
            estimate: self.ratio,
        }
    }
}

type Rows<'a> = (&'a Row, &'a Row);

/// Rows that both measured, and what cannot be set side by side.
fn matched<'a>(before: &'a RunResult, after: &'a RunResult) -> (Vec<Rows<'a>>, Vec<Unjudged>) {
    let (mut both, mut unjudged) = (Vec::new(), Vec::new());
    // Two suites may each have a row of the same work: it counts once.
    let mut seen = HashSet::new();
    for row in before.rows.measured.iter().filter(|row| measured(row)) {
        let work = Work::of(row);
        if !seen.insert(work) {
            continue;
        }
        let mut leave = |reason: String, broken| {
            unjudged.push(Unjudged {
                what: work.to_string(),
                subject: row.subject.id.clone(),
                reason,
                broken,
            });
        };
        match row_of(after, work) {
            None => leave("only in the earlier result".into(), None),
            Some(later) if !measured(later) => {
                let why = later.reason.as_deref().unwrap_or("no reason was given");
                let reason = format!("{} in the later result: {why}", later.status.name());
                let broken = later.status != Status::Unavailable;
                leave(reason, broken.then_some(later.status));
            }
            Some(later) if later.claims != row.claims => {
                let (was, is) = (row.claims.bytes, later.claims.bytes);
                leave(format!("its claims had {was} bytes and have {is}"), None);
            }
            Some(later) if too_short(row) || too_short(later) => {
                leave("has fewer than two rounds in one of them".into(), None);
            }
            Some(later) => both.push((row, later)),
        }
    }
    for row in after.rows.measured.iter().filter(|row| measured(row)) {
        let work = Work::of(row);
        if seen.insert(work) && row_of(before, work).is_none_or(|earlier| !measured(earlier)) {
            unjudged.push(Unjudged {
                what: work.to_string(),
                subject: row.subject.id.clone(),
                reason: "only in the later result".into(),
                broken: None,
            });
        }
    }
    (both, unjudged)
}

fn estimated<'a>(before: &RunResult, after: &RunResult, rows: Vec<Rows<'a>>) -> Vec<Pair<'a>> {
    let same_system = system(&before.environment, &after.environment).is_empty();
    let is_control =
        |(earlier, later): Rows<'a>| same_system && unchanged((before, earlier), (after, later));
    let comparisons = rows.iter().filter(|rows| !is_control(**rows)).count();
    let rounds = |row: &'a Row| row.ns_per_op.as_ref().map(|t| t.rounds.as_slice());
    rows.into_iter()
        .filter_map(|(earlier, later)| {
            // Both were measured in two rounds or more, all of them times: so the reader saw to it.
            let ratio = estimate(rounds(later)?, rounds(earlier)?, comparisons).ok()?;
            Some(Pair {
                before: earlier,
                after: later,
                unchanged: is_control((earlier, later)),
                ratio,
            })
        })
        .collect()
}

fn side(result: &RunResult) -> Side {
    let e = &result.environment;
    Side {
        command: result.command.clone(),
        started: e.started.clone(),
        rounds: e.rounds_finished,
        noise_floor: widest(result.noise_floor.floor, result.noise_floor.managed),
        disturbed: e.taint.reasons.clone(),
    }
}

fn measured(row: &Row) -> bool {
    row.ns_per_op.is_some() && matches!(row.status, Status::Ok | Status::Tainted)
}

fn too_short(row: &Row) -> bool {
    row.ns_per_op.as_ref().is_some_and(|t| t.rounds.len() < 2)
}

fn widest(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.max(b)),
        (a, b) => a.or(b),
    }
}
