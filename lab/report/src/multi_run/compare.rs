//! Compares the same subjects in two results.

use std::collections::BTreeSet;

use serde::Serialize;

use super::band::{Around, ControlsShow, Like, Noise, SetBy};
use super::machine::{Difference, machine, settings};
use super::runs::{Copies, Work, by_work, in_common, measured, runs, unchanged, unchanged_driver};
use jeton_lab_model::result::{Row, RunResult, Status, VerdictKind};
use jeton_lab_stats::interval::Ratio;
use jeton_lab_stats::unpaired::estimate;
use jeton_lab_stats::verdict::{Band, judge};

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunComparison {
    /// The earlier run: the baseline.
    pub before: Side,
    pub after: Side,
    /// True if both results have times of the same run, and so show nothing about a change.
    pub same_run: bool,
    /// The differences between the machines. Unless this is empty, there are verdicts only if the user asked
    /// for them.
    pub another_machine: Vec<Difference>,
    /// Settings that differ on the same machine.
    pub settings: Vec<Difference>,
    /// The number of controls: subjects and operations with unchanged code.
    pub unchanged: usize,
    /// The common shift and spread of the controls, by kind and threads; empty without controls.
    pub between_runs: Vec<ControlsShow>,
    /// The subjects of both results, the largest change first and controls last.
    pub changes: Vec<Change>,
    /// The subjects of one result only, or with different work.
    pub unjudged: Vec<Unjudged>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Side {
    pub command: String,
    pub started: String,
    /// The rounds that every row has.
    pub rounds: u32,
    pub noise_floor: Option<f64>,
    /// The disturbances of the run and of compared rows, one sentence each.
    pub disturbed: Vec<String>,
}

/// One subject and operation in both runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    #[serde(rename = "contract")]
    pub operation: String,
    pub subject: String,
    pub claims: String,
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
    pub what: String,
    pub subject: String,
    pub reason: String,
    /// The status in the later run, if it failed there and the earlier run measured it.
    pub broken: Option<Status>,
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
///
/// Ratios of different machines include the difference of the machines: they have verdicts only with
/// `across_cpus`.
#[must_use]
pub fn compare(before: &RunResult, after: &RunResult, across_cpus: bool) -> RunComparison {
    let another_machine = machine(&before.environment, &after.environment);
    let has_verdicts = another_machine.is_empty() || across_cpus;
    let (rows, unjudged) = matched(before, after);
    let is_control = |rows: &Rows<'_>| unchanged((before, rows.0), (after, rows.1));
    let (controls, changed): (Vec<Rows<'_>>, Vec<Rows<'_>>) =
        rows.iter().copied().partition(is_control);
    let (controls, changed) = (estimated(controls), estimated(changed));
    let noise = Noise {
        runs: [before, after],
        controls: controls
            .iter()
            .map(|((row, _), ratio)| (*row, *ratio))
            .collect(),
        comparisons: changed.len(),
    };
    let of = |(rows, ratio): &(Rows<'_>, Ratio), unchanged: bool| {
        let around = noise.around(rows.0, unchanged);
        change(*rows, *ratio, around, unchanged, has_verdicts)
    };
    let mut changes: Vec<Change> = changed.iter().map(|pair| of(pair, false)).collect();
    changes.extend(controls.iter().map(|pair| of(pair, true)));
    let size = |c: &Change| c.estimate.log_mean().abs();
    changes.sort_by(|a, b| {
        a.unchanged
            .cmp(&b.unchanged)
            .then(size(b).total_cmp(&size(a)))
    });
    let all = controls.iter().chain(&changed);
    let kinds: BTreeSet<Like> = all.map(|((row, _), _)| Like::of(row)).collect();
    RunComparison {
        before: side(before, rows.iter().map(|rows| rows.0)),
        after: side(after, rows.iter().map(|rows| rows.1)),
        same_run: in_common(runs, before, after),
        settings: settings(&before.environment, &after.environment),
        another_machine,
        unchanged: controls.len(),
        between_runs: noise.shown(kinds),
        changes,
        unjudged,
    }
}

fn change(
    (before, after): Rows<'_>,
    ratio: Ratio,
    around: Around,
    unchanged: bool,
    has_verdict: bool,
) -> Change {
    let estimate = ratio.without_shift(around.log_shift);
    let band = Band::new(Some(around.width));
    let median = |row: &Row| row.ns_per_op.as_ref().map_or(f64::NAN, |t| t.median);
    Change {
        operation: before.operation.clone(),
        subject: before.subject.id.clone(),
        claims: before.claims.name.clone(),
        threads: before.threads,
        versions: [before, after].map(|row| row.subject.version.clone()),
        unchanged,
        median_ns: [before, after].map(median),
        allocs_per_op: [before, after].map(|row| row.allocs_per_op),
        ratio: estimate.ratio(),
        interval: estimate.interval(),
        measured_ratio: ratio.ratio(),
        band: around.width,
        band_set_by: around.set_by,
        verdict: (has_verdict && !unchanged).then(|| judge(&estimate, band)),
        estimate,
        log_shift_seen: around.log_shift_seen,
    }
}

type Rows<'a> = (&'a Row, &'a Row);

fn estimated(rows: Vec<Rows<'_>>) -> Vec<(Rows<'_>, Ratio)> {
    let comparisons = rows.len();
    let rounds = |row: &Row| row.ns_per_op.as_ref().map(|timing| timing.rounds.clone());
    let ratios = rows.into_iter().filter_map(|(before, after)| {
        // Both have at least two rounds of positive times; reading the files ensured it.
        let ratio = estimate(&rounds(after)?, &rounds(before)?, comparisons).ok()?;
        Some(((before, after), ratio))
    });
    ratios.collect()
}

/// What is in the reason of a driver that could not be built. A merged result puts the run before it.
const BUILD_FAILED: &str = "build failed (";

/// Why the times of a subject cannot be compared: the reason, the status if it broke, and what is open.
type Obstacle = (String, Option<Status>, Open);

/// Returns the rows of both results, and those that cannot be compared.
fn matched<'a>(before: &'a RunResult, after: &'a RunResult) -> (Vec<Rows<'a>>, Vec<Unjudged>) {
    let (mut both, mut unjudged) = (Vec::new(), Vec::new());
    let ((works, earlier), (later_works, later)) = (by_work(before), by_work(after));
    let duplicate = |side: &str, own: &Copies<'_>| {
        let reason = format!("is a duplicate in the {side} result, with different figures");
        let open = if own.measured {
            Open::Undecided
        } else {
            Open::Nothing
        };
        (reason, None, open)
    };
    let added = later_works.into_iter();
    let added = added.filter(|work| !earlier.contains_key(work));
    for work in works.into_iter().chain(added) {
        let obstacle = match (earlier.get(&work), later.get(&work)) {
            (None, None) => None,
            (Some(own), _) if own.differ => Some(duplicate("earlier", own)),
            (Some(own), Some(other)) if other.differ => Some(duplicate("later", own)),
            (Some(own), Some(other)) => {
                let obstacle = obstacle((before, own.row), (after, other.row));
                both.extend(obstacle.is_none().then_some((own.row, other.row)));
                obstacle
            }
            (Some(own), None) if measured(own.row).is_none() => {
                let reason = format!("{}; not in the later result", failed(own.row, "earlier"));
                Some((reason, None, Open::Nothing))
            }
            (Some(own), None) => {
                let is_unchanged = unchanged_driver(before, after, own.row.subject.driver());
                let open = Open::unless(is_unchanged);
                Some(("only in the earlier result".to_owned(), None, open))
            }
            (None, Some(other)) => {
                let reason = match measured(other.row) {
                    Some(_) => "only in the later result".to_owned(),
                    None => format!("{}; not in the earlier result", failed(other.row, "later")),
                };
                Some((reason, None, Open::Nothing))
            }
        };
        unjudged.extend(obstacle.map(|(reason, broken, open)| Unjudged {
            what: work.to_string(),
            subject: work.subject.to_owned(),
            reason,
            broken,
            open,
        }));
    }
    (both, unjudged)
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

/// Returns why the times of two rows with the same work cannot be compared.
fn obstacle(before: (&RunResult, &Row), after: (&RunResult, &Row)) -> Option<Obstacle> {
    let (row, later) = (before.1, after.1);
    let nothing = |reason| Some((reason, None, Open::Nothing));
    let (reason, broken) = match (measured(row), measured(later)) {
        (None, Some(_)) => return nothing(failed(row, "earlier")),
        (None, None) => {
            let (now, was) = (failed(later, "later"), row.status.name());
            return nothing(format!("{now}; {was} in the earlier result"));
        }
        (Some(_), None) => {
            // A missing runtime is no failure of the subject, but sources that no longer build are.
            let why = later.reason.as_deref();
            let no_build = why.is_some_and(|why| why.contains(BUILD_FAILED));
            let is_broken = later.status != Status::Unavailable || no_build;
            (failed(later, "later"), is_broken.then_some(later.status))
        }
        (Some(_), Some(_)) if later.claims != row.claims => {
            let (was, is) = (row.claims.bytes, later.claims.bytes);
            let reason = format!("the claims had {was} bytes and have {is} now");
            (reason, None)
        }
        (Some(own), Some(others)) if own.rounds.len().min(others.rounds.len()) < 2 => (
            "fewer than two rounds in one of the results".to_owned(),
            None,
        ),
        (Some(_), Some(_)) => return None,
    };
    Some((reason, broken, Open::unless(unchanged(before, after))))
}

fn failed(row: &Row, side: &str) -> String {
    let why = row.reason.as_deref().unwrap_or("no reason recorded");
    format!("{} in the {side} result: {why}", row.status.name())
}

fn side<'a>(result: &RunResult, rows: impl Iterator<Item = &'a Row>) -> Side {
    let (e, noise) = (&result.environment, &result.noise_floor);
    let floors = noise.floor.into_iter().chain(noise.managed);
    Side {
        command: result.command.clone(),
        started: e.started.clone(),
        rounds: e.rounds_finished,
        noise_floor: floors.reduce(f64::max),
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

pub(super) fn first_few(mut lines: Vec<String>) -> Vec<String> {
    const SHOWN: usize = 3;
    let more = lines.len().saturating_sub(SHOWN);
    if more > 0 {
        lines.truncate(SHOWN);
        lines.push(format!("and {more} more"));
    }
    lines
}
