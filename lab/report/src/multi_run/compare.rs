//! Compares the same subjects in two results.

use std::collections::{BTreeSet, HashSet};

use serde::Serialize;

use super::band::{Around, Control, ControlsShow, Like, Noise, SetBy};
use super::machine::{Difference, machine, settings, system};
use super::same::{Work, row_of, unchanged};
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
        match told_to {
            true => Self::Judge,
            false => Self::Refuse,
        }
    }
}

/// The comparison of two results.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunComparison {
    /// The earlier run: the baseline.
    pub before: Side,
    /// The later run.
    pub after: Side,
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
    /// The disturbances, one sentence each.
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
    let pairs: Vec<Pair<'_>> = estimated(before, after, rows);
    let judged = pairs.iter().filter(|p| !p.unchanged).count();
    let controls = pairs.iter().filter(|p| p.unchanged).map(|pair| Control {
        row: pair.before,
        ratio: pair.ratio,
    });
    let noise = Noise::new([before, after], controls.collect(), judged);
    let around = |pair: &Pair<'_>| match pair.unchanged {
        true => noise.around_control(pair.before),
        false => noise.around(pair.before),
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
        before: side(before),
        after: side(after),
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

/// Returns the rows of both results, and those that cannot be compared.
fn matched<'a>(before: &'a RunResult, after: &'a RunResult) -> (Vec<Rows<'a>>, Vec<Unjudged>) {
    let (mut both, mut unjudged) = (Vec::new(), Vec::new());
    // Two suites may have a row of the same work: it counts once.
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
                let why = later.reason.as_deref().unwrap_or("no reason recorded");
                let reason = format!("{} in the later result: {why}", later.status.name());
                let broken = later.status != Status::Unavailable;
                leave(reason, broken.then_some(later.status));
            }
            Some(later) if later.claims != row.claims => {
                let (was, is) = (row.claims.bytes, later.claims.bytes);
                leave(
                    format!("the claims had {was} bytes and have {is} now"),
                    None,
                );
            }
            Some(later) if too_short(row) || too_short(later) => {
                leave("fewer than two rounds in one of the results".into(), None);
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

fn side(result: &RunResult) -> Side {
    let e = &result.environment;
    Side {
        command: result.command.clone(),
        started: e.started.clone(),
        rounds: e.rounds_finished,
        noise_floor: widest(result.noise_floor.floor, result.noise_floor.managed),
        disturbed: e.disturbance.reasons.clone(),
    }
}

fn measured(row: &Row) -> bool {
    row.ns_per_op.is_some() && matches!(row.status, Status::Ok | Status::Disturbed)
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
