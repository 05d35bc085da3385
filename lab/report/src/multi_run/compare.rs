//! Compares the same subjects in two results.

use std::collections::BTreeSet;

use serde::Serialize;

use super::band::{Around, Control, ControlsShow, Like, Noise, SetBy};
use super::machine::{Difference, machine, settings, system};
use super::runs::has_run_in_common;
use super::same::{Work, by_work, measured, unchanged, unchanged_driver};
use jeton_lab_model::result::{Row, RunResult, Status, VerdictKind};
use jeton_lab_stats::interval::Ratio;
use jeton_lab_stats::unpaired::estimate;
use jeton_lab_stats::verdict::{Band, judge};

/// Whether runs from different CPUs or machines are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AcrossCpus {
    /// They are not compared: the ratios include the difference of the machines.
    Refuse,
    /// They are compared as if they came from one machine.
    Judge,
}

impl AcrossCpus {
    /// Compares them if the user asked for it.
    #[must_use]
    pub fn when(told_to: bool) -> Self {
        if told_to { Self::Judge } else { Self::Refuse }
    }
}

/// The comparison of two results.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunComparison {
    /// The earlier run: the baseline.
    pub before: Side,
    /// The later run.
    pub after: Side,
    /// True if both results have times of the same run, and so show nothing about a change.
    pub same_run: bool,
    /// The differences between the machines. Unless this is empty, there are verdicts only with
    /// [`AcrossCpus::Judge`].
    pub another_machine: Vec<Difference>,
    /// Settings that differ on the same machine.
    pub settings: Vec<Difference>,
    /// The number of controls: subjects and operations with unchanged code.
    pub unchanged: usize,
    /// The common shift and spread of the controls, by kind and threads; empty without
    /// controls.
    pub between_runs: Vec<ControlsShow>,
    /// The subjects of both results, the largest change first and controls last.
    pub changes: Vec<Change>,
    /// The subjects of one result only, or with different work.
    pub unjudged: Vec<Unjudged>,
}

/// One of the two runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Side {
    /// The command that repeats the run.
    pub command: String,
    /// The start of the run.
    pub started: String,
    /// The rounds that every row has.
    pub rounds: u32,
    /// The noise floor.
    pub noise_floor: Option<f64>,
    /// The disturbances of the run and of compared rows, one sentence each.
    pub disturbed: Vec<String>,
}

/// One subject and operation in both runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// The operation.
    #[serde(rename = "contract")]
    pub operation: String,
    /// The subject's id.
    pub subject: String,
    /// The name of the claims set.
    pub claims: String,
    /// The number of threads.
    pub threads: u32,
    /// The library's version in each run.
    pub versions: [String; 2],
    /// True for a control: unchanged code (version, driver sources, lockfile, runtime) on a system with
    /// unchanged settings.
    pub unchanged: bool,
    /// The median of each run, in nanoseconds.
    pub median_ns: [f64; 2],
    /// Allocations per operation in each run, if counted.
    pub allocs_per_op: [Option<f64>; 2],
    /// The ratio of later to earlier, geometric means, without the common shift of the controls: below
    /// one is faster.
    pub ratio: f64,
    /// The interval of the ratio, simultaneous over all changes at 95 %.
    pub interval: [f64; 2],
    /// The measured ratio of later to earlier, with the common shift.
    pub measured_ratio: f64,
    /// The noise band around one: the widest of 2 %, both noise floors, and the spread of the controls
    /// (for a control, of the other controls).
    pub band: f64,
    /// What set the band.
    pub band_set_by: SetBy,
    /// The verdict; `None` for different machines, and for a control.
    pub verdict: Option<VerdictKind>,
    /// The estimated ratio behind the figures.
    #[serde(skip)]
    pub(super) estimate: Ratio,
    /// The common shift of the controls, a natural logarithm, even if it is kept.
    #[serde(skip)]
    pub(super) log_shift_seen: f64,
}

/// A subject that cannot be compared, with the reason.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Unjudged {
    /// The operation and subject.
    pub what: String,
    /// The subject's id.
    pub subject: String,
    /// The reason, one line.
    pub reason: String,
    /// The status in the later run, if it failed there and the earlier run measured it.
    pub broken: Option<Status>,
    /// What it leaves open.
    #[serde(skip)]
    pub(super) open: Open,
}

/// What a subject that cannot be compared leaves open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Open {
    /// Nothing: its code is the same, or the earlier run did not measure it.
    Nothing,
    /// Its code may have changed, and the earlier run measured it.
    Changed,
    /// The outcome: the earlier run measured it, and rows of one result contradict each other.
    Undecided,
}

impl Change {
    /// Describes operation and subject in one line.
    #[must_use]
    pub fn what(&self) -> String {
        let work = Work {
            operation: &self.operation,
            subject: &self.subject,
            claims: &self.claims,
            threads: self.threads,
        };
        work.to_string()
    }
}

/// Compares two results.
///
/// The runs are not interleaved, so the intervals are unpaired (Welch's t on logarithms, simultaneous
/// over all changes), and differences inside the widest of both noise floors do not count. Subjects
/// with unchanged code, on a system with unchanged settings, are controls: they show how far the runs
/// themselves differ. Their common shift is attributed to the machine and removed from every ratio.
/// Their remaining spread widens the band of the others, and is no verdict on the controls.
#[must_use]
pub fn compare(before: &RunResult, after: &RunResult, across_cpus: AcrossCpus) -> RunComparison {
    let another_machine = machine(&before.environment, &after.environment);
    let has_verdicts = another_machine.is_empty() || across_cpus == AcrossCpus::Judge;
    let (rows, unjudged) = matched(before, after);
    let [earlier, later] = [
        side(before, rows.iter().map(|rows| rows.0)),
        side(after, rows.iter().map(|rows| rows.1)),
    ];
    let pairs: Vec<Pair<'_>> = estimated(before, after, rows);
    let judged = pairs.iter().filter(|p| !p.unchanged).count();
    let controls = pairs.iter().filter(|p| p.unchanged).map(|pair| Control {
        row: pair.before,
        ratio: pair.ratio,
    });
    let noise = Noise::new([before, after], controls.collect(), judged);
    let around = |pair: &Pair<'_>| {
        if pair.unchanged {
            noise.around_control(pair.before)
        } else {
            noise.around(pair.before)
        }
    };
    let mut changes: Vec<Change> = pairs
        .iter()
        .map(|pair| pair.change(around(pair), has_verdicts))
        .collect();
    let size = |c: &Change| c.estimate.log_mean().abs();
    changes.sort_by(|a, b| {
        a.unchanged
            .cmp(&b.unchanged)
            .then(size(b).total_cmp(&size(a)))
    });
    let kinds: BTreeSet<Like> = pairs.iter().map(|pair| Like::of(pair.before)).collect();
    RunComparison {
        before: earlier,
        after: later,
        same_run: has_run_in_common(before, after),
        settings: settings(&before.environment, &after.environment),
        another_machine,
        unchanged: noise.controls(),
        between_runs: noise.shown(kinds),
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
    fn change(&self, around: Around, has_verdict: bool) -> Change {
        let (before, after) = (self.before, self.after);
        let estimate = self.ratio.without_shift(around.log_shift);
        let band = Band::new(Some(around.width));
        let median = |row: &Row| row.ns_per_op.as_ref().map_or(f64::NAN, |t| t.median);
        Change {
            operation: before.operation.clone(),
            subject: before.subject.id.clone(),
            claims: before.claims.name.clone(),
            threads: before.threads,
            versions: [before, after].map(|row| row.subject.version.clone()),
            unchanged: self.unchanged,
            median_ns: [before, after].map(median),
            allocs_per_op: [before, after].map(|row| row.allocs_per_op),
            ratio: estimate.ratio(),
            interval: estimate.interval(),
            measured_ratio: self.ratio.ratio(),
            band: around.width,
            band_set_by: around.set_by,
            verdict: (has_verdict && !self.unchanged).then(|| judge(&estimate, band)),
            estimate,
            log_shift_seen: around.log_shift_seen,
        }
    }
}

type Rows<'a> = (&'a Row, &'a Row);

/// What is in the reason of a driver that could not be built. A merged result puts the run before it.
const BUILD_FAILED: &str = "build failed (";

/// Returns the rows of both results, and those that cannot be compared.
fn matched<'a>(before: &'a RunResult, after: &'a RunResult) -> (Vec<Rows<'a>>, Vec<Unjudged>) {
    let (mut both, mut unjudged) = (Vec::new(), Vec::new());
    let mut leave = |work: Work<'_>, (reason, broken, open): Left| {
        unjudged.push(Unjudged {
            what: work.to_string(),
            subject: work.subject.to_owned(),
            reason,
            broken,
            open,
        });
    };
    let ((works, earlier), (later_works, later)) = (by_work(before), by_work(after));
    for work in works {
        let copies = [earlier.get(&work), later.get(&work)];
        let twice = copies
            .iter()
            .zip(["earlier", "later"])
            .find(|(copies, _)| copies.is_some_and(|copies| copies.differ));
        if let Some((_, side)) = twice {
            let reason = format!("is a duplicate in the {side} result, with different figures");
            let open = if earlier.get(&work).is_some_and(|copies| copies.measured) {
                Open::Undecided
            } else {
                Open::Nothing
            };
            leave(work, (reason, None, open));
            continue;
        }
        let [Some(row), later] = copies.map(|copies| copies.map(|copies| copies.row)) else {
            continue;
        };
        match later {
            Some(later) => match obstacle((before, row), (after, later)) {
                Some(left) => leave(work, left),
                None => both.push((row, later)),
            },
            None if !measured(row) => {
                let reason = format!("{}; not in the later result", failed(row, "earlier"));
                leave(work, (reason, None, Open::Nothing));
            }
            None => {
                let same_system = system(&before.environment, &after.environment).is_empty();
                let driver = row.subject.driver();
                let open = if same_system && unchanged_driver(before, after, driver) {
                    Open::Nothing
                } else {
                    Open::Changed
                };
                leave(work, ("only in the earlier result".into(), None, open));
            }
        }
    }
    for work in later_works {
        let (None, Some(new)) = (earlier.get(&work), later.get(&work)) else {
            continue;
        };
        let reason = if measured(new.row) {
            "only in the later result".to_owned()
        } else {
            format!("{}; not in the earlier result", failed(new.row, "later"))
        };
        leave(work, (reason, None, Open::Nothing));
    }
    (both, unjudged)
}

/// The reason, the status if it broke, and what that leaves open.
type Left = (String, Option<Status>, Open);

/// Returns why the times of two rows with the same work cannot be compared.
fn obstacle(before: (&RunResult, &Row), after: (&RunResult, &Row)) -> Option<Left> {
    let ((before_run, row), (after_run, later)) = (before, after);
    let open = || {
        let same_system = system(&before_run.environment, &after_run.environment).is_empty();
        if same_system && unchanged(before, after) {
            Open::Nothing
        } else {
            Open::Changed
        }
    };
    match (measured(row), measured(later)) {
        (false, true) => return Some((failed(row, "earlier"), None, Open::Nothing)),
        (false, false) => {
            let (now, was) = (failed(later, "later"), row.status.name());
            let reason = format!("{now}; {was} in the earlier result");
            return Some((reason, None, Open::Nothing));
        }
        (true, false) => {
            // A missing runtime is no failure of the subject, but sources that no longer build are.
            let is_broken = later.status != Status::Unavailable
                || (later.reason.as_deref()).is_some_and(|why| why.contains(BUILD_FAILED));
            let broken = is_broken.then_some(later.status);
            return Some((failed(later, "later"), broken, open()));
        }
        (true, true) => {}
    }
    let reason = if later.claims != row.claims {
        let (was, is) = (row.claims.bytes, later.claims.bytes);
        format!("the claims had {was} bytes and have {is} now")
    } else if too_short(row) || too_short(later) {
        "fewer than two rounds in one of the results".to_owned()
    } else {
        return None;
    };
    Some((reason, None, open()))
}

fn failed(row: &Row, side: &str) -> String {
    let why = row.reason.as_deref().unwrap_or("no reason recorded");
    format!("{} in the {side} result: {why}", row.status.name())
}

fn estimated<'a>(before: &RunResult, after: &RunResult, rows: Vec<Rows<'a>>) -> Vec<Pair<'a>> {
    let same_system = system(&before.environment, &after.environment).is_empty();
    let is_control =
        |(earlier, later): Rows<'a>| same_system && unchanged((before, earlier), (after, later));
    let all = rows.len();
    let controls = rows.iter().filter(|rows| is_control(**rows)).count();
    let rounds = |row: &'a Row| row.ns_per_op.as_ref().map(|t| t.rounds.as_slice());
    rows.into_iter()
        .filter_map(|(earlier, later)| {
            let unchanged = is_control((earlier, later));
            let comparisons = if unchanged { controls } else { all - controls };
            // Both have at least two rounds of positive times; reading the files ensured it.
            let ratio = estimate(rounds(later)?, rounds(earlier)?, comparisons).ok()?;
            Some(Pair {
                before: earlier,
                after: later,
                unchanged,
                ratio,
            })
        })
        .collect()
}

fn side<'a>(result: &RunResult, rows: impl Iterator<Item = &'a Row>) -> Side {
    let e = &result.environment;
    Side {
        command: result.command.clone(),
        started: e.started.clone(),
        rounds: e.rounds_finished,
        noise_floor: widest(result.noise_floor.floor, result.noise_floor.managed),
        disturbed: disturbances(result, rows),
    }
}

/// Returns the disturbances of the run. A run that states none may still have disturbed rows.
fn disturbances<'a>(result: &RunResult, rows: impl Iterator<Item = &'a Row>) -> Vec<String> {
    let run = &result.environment.disturbance;
    if !run.reasons.is_empty() {
        return run.reasons.clone();
    }
    if run.disturbed {
        return vec!["no reason recorded".to_owned()];
    }
    let disturbed = rows.filter(|row| row.status == Status::Disturbed);
    let sentence = |row: &Row| {
        let why = row.reason.as_deref().unwrap_or("no reason recorded");
        format!("{}: {why}", Work::of(row))
    };
    first_few(disturbed.map(sentence).collect())
}

/// Returns the first few of these lines, and the number of the others.
pub(super) fn first_few(mut lines: Vec<String>) -> Vec<String> {
    const SHOWN: usize = 3;
    let more = lines.len().saturating_sub(SHOWN);
    if more > 0 {
        lines.truncate(SHOWN);
        lines.push(format!("and {more} more"));
    }
    lines
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
