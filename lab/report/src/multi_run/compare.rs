//! Compares the same subjects in two results.

use std::collections::BTreeSet;

use serde::Serialize;

use super::band::{Around, Control, ControlsShow, Like, Noise, SetBy};
use super::machine::{Difference, machine, settings};
use super::runs::{Work, by_work, in_common, measured, runs, unchanged, unchanged_driver};
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
        let (operation, subject, claims) = (&self.operation, &self.subject, &self.claims);
        let threads = self.threads;
        Work {
            operation,
            subject,
            claims,
            threads,
        }
        .to_string()
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
    let earlier = side(before, rows.iter().map(|rows| rows.0));
    let later = side(after, rows.iter().map(|rows| rows.1));
    let pairs = estimated(before, after, &rows);
    let (controls, judged): (Vec<&Pair<'_>>, Vec<&Pair<'_>>) =
        pairs.iter().partition(|p| p.unchanged);
    let controls = controls.into_iter().map(|pair| Control {
        row: pair.before,
        ratio: pair.ratio,
    });
    let noise = Noise::new([before, after], controls.collect(), judged.len());
    let mut changes: Vec<Change> = pairs
        .iter()
        .map(|pair| pair.change(noise.around(pair.before, pair.unchanged), has_verdicts))
        .collect();
    let size = |c: &Change| c.estimate.log_mean().abs();
    changes.sort_by(|a, b| {
        let by_size = size(b).total_cmp(&size(a));
        a.unchanged.cmp(&b.unchanged).then(by_size)
    });
    let kinds: BTreeSet<Like> = pairs.iter().map(|pair| Like::of(pair.before)).collect();
    RunComparison {
        before: earlier,
        after: later,
        same_run: in_common(runs, before, after),
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

impl Unjudged {
    fn new(work: Work<'_>, reason: impl Into<String>, broken: Option<Status>, open: Open) -> Self {
        Self {
            what: work.to_string(),
            subject: work.subject.to_owned(),
            reason: reason.into(),
            broken,
            open,
        }
    }
}

impl Open {
    /// What a subject that the earlier run measured leaves open.
    fn unless(is_unchanged: bool) -> Self {
        if is_unchanged {
            Self::Nothing
        } else {
            Self::Changed
        }
    }
}

/// Returns the rows of both results, and those that cannot be compared.
fn matched<'a>(before: &'a RunResult, after: &'a RunResult) -> (Vec<Rows<'a>>, Vec<Unjudged>) {
    let (mut both, mut unjudged) = (Vec::new(), Vec::new());
    let ((works, earlier), (later_works, later)) = (by_work(before), by_work(after));
    for work in works {
        let copies = [earlier.get(&work), later.get(&work)];
        let mut sides = copies.into_iter().zip(["earlier", "later"]);
        let twice = sides.find(|(copies, _)| copies.is_some_and(|copies| copies.differ));
        let [Some(own), later] = copies else {
            continue;
        };
        let row = own.row;
        let left = match (twice, later.map(|copies| copies.row)) {
            (Some((_, side)), _) => {
                let reason = format!("is a duplicate in the {side} result, with different figures");
                let open = if own.measured {
                    Open::Undecided
                } else {
                    Open::Nothing
                };
                Some(Unjudged::new(work, reason, None, open))
            }
            (None, Some(later)) => obstacle((before, row), (after, later)),
            (None, None) if measured(row).is_none() => {
                let reason = format!("{}; not in the later result", failed(row, "earlier"));
                Some(Unjudged::new(work, reason, None, Open::Nothing))
            }
            (None, None) => {
                let open = Open::unless(unchanged_driver(before, after, row.subject.driver()));
                Some(Unjudged::new(
                    work,
                    "only in the earlier result",
                    None,
                    open,
                ))
            }
        };
        match (left, later) {
            (None, Some(later)) => both.push((row, later.row)),
            (left, _) => unjudged.extend(left),
        }
    }
    for work in later_works
        .into_iter()
        .filter(|work| !earlier.contains_key(work))
    {
        let row = later[&work].row;
        let reason = match measured(row) {
            Some(_) => "only in the later result".to_owned(),
            None => format!("{}; not in the earlier result", failed(row, "later")),
        };
        unjudged.push(Unjudged::new(work, reason, None, Open::Nothing));
    }
    (both, unjudged)
}

/// Returns why the times of two rows with the same work cannot be compared.
fn obstacle(before: (&RunResult, &Row), after: (&RunResult, &Row)) -> Option<Unjudged> {
    let (row, later) = (before.1, after.1);
    let open = || Open::unless(unchanged(before, after));
    let (reason, broken, open) = match (measured(row), measured(later)) {
        (None, Some(_)) => (failed(row, "earlier"), None, Open::Nothing),
        (None, None) => {
            let (now, was) = (failed(later, "later"), row.status.name());
            (
                format!("{now}; {was} in the earlier result"),
                None,
                Open::Nothing,
            )
        }
        (Some(_), None) => {
            // A missing runtime is no failure of the subject, but sources that no longer build are.
            let is_broken = later.status != Status::Unavailable
                || later
                    .reason
                    .as_deref()
                    .is_some_and(|why| why.contains(BUILD_FAILED));
            (
                failed(later, "later"),
                is_broken.then_some(later.status),
                open(),
            )
        }
        (Some(_), Some(_)) if later.claims != row.claims => {
            let (was, is) = (row.claims.bytes, later.claims.bytes);
            (
                format!("the claims had {was} bytes and have {is} now"),
                None,
                open(),
            )
        }
        (Some(own), Some(others)) if own.rounds.len().min(others.rounds.len()) < 2 => (
            "fewer than two rounds in one of the results".to_owned(),
            None,
            open(),
        ),
        (Some(_), Some(_)) => return None,
    };
    Some(Unjudged::new(Work::of(row), reason, broken, open))
}

fn failed(row: &Row, side: &str) -> String {
    let why = row.reason.as_deref().unwrap_or("no reason recorded");
    format!("{} in the {side} result: {why}", row.status.name())
}

fn estimated<'a>(before: &RunResult, after: &RunResult, rows: &[Rows<'a>]) -> Vec<Pair<'a>> {
    let is_control = |(earlier, later): &Rows<'_>| unchanged((before, earlier), (after, later));
    let unchanged: Vec<bool> = rows.iter().map(is_control).collect();
    let controls = unchanged.iter().filter(|is_control| **is_control).count();
    let rounds = |row: &'a Row| row.ns_per_op.as_ref().map(|t| t.rounds.as_slice());
    let pairs = rows
        .iter()
        .zip(unchanged)
        .filter_map(|(&(before, after), unchanged)| {
            let comparisons = if unchanged {
                controls
            } else {
                rows.len() - controls
            };
            // Both have at least two rounds of positive times; reading the files ensured it.
            let ratio = estimate(rounds(after)?, rounds(before)?, comparisons).ok()?;
            Some(Pair {
                before,
                after,
                unchanged,
                ratio,
            })
        });
    pairs.collect()
}

fn side<'a>(result: &RunResult, rows: impl Iterator<Item = &'a Row>) -> Side {
    let (e, noise) = (&result.environment, &result.noise_floor);
    Side {
        command: result.command.clone(),
        started: e.started.clone(),
        rounds: e.rounds_finished,
        noise_floor: noise
            .floor
            .into_iter()
            .chain(noise.managed)
            .reduce(f64::max),
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
