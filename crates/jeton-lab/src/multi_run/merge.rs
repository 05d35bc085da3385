//! Several runs of one plan as one result.
//!
//! Rounds of several runs are more rounds, in which every subject still stands beside every other;
//! and they are rounds of several lives of every process, which one run does not have. From
//! [`LIVES`] runs on, verdicts take each run as one value (the geometric mean of its rounds): rounds
//! of one run share their processes and their hour, and only then is that in the intervals. Below,
//! every round is a value, as in one run.

use std::collections::BTreeMap;
use std::fmt;

use super::machine::{Difference, machine, settings};
use super::same::{Work, counterpart};
use super::servers::{has_servers_alone, of_servers};
use super::untimed;
use crate::published;
use crate::result::{
    AaPair, Disturbance, Environment, MergedRun, NoiseFloor, Row, Rows, RunResult, SCHEMA, Status,
    Timing, Verdict,
};
use crate::stats::median::median_interval;
use crate::stats::outliers::beyond_outer_fences;
use crate::verdicts::{self, AaRounds, ComparisonInput, Entrant};

/// Runs from which each counts as one value: with fewer, their intervals would tell nothing.
pub const LIVES: usize = 6;

/// A result and what it is called: the file it comes from.
#[derive(Debug, Clone)]
pub struct Named {
    /// For people.
    pub name: String,
    /// The result.
    pub result: RunResult,
}

/// Why results cannot be merged.
#[derive(Debug, Clone, PartialEq)]
pub enum Unmergeable {
    /// It takes two.
    TooFew,
    /// The first has rows of servers, and the second others, or others too.
    ServersBeside(String, String),
    /// None of them has rows with times.
    NothingTimed,
    /// Two of them have rows of the same attack on the same library, or of the same pair.
    Overlap(String, String, String),
    /// Two of them are one and the same run.
    Twice(String, String),
    /// They were not measured on the same machine, as it was set up.
    AnotherMachine(String, String, Vec<Difference>),
    /// One has a row that another does not have.
    AnotherPlan {
        /// The result that has it.
        with: String,
        /// The result that does not.
        without: String,
        /// The row.
        row: String,
    },
    /// A row is not the same work or the same code in both.
    AnotherSubject(String, String, Difference),
    /// A result has rows whose rounds do not stand beside each other.
    Ragged(String, String),
    /// Nothing was measured in all of them.
    NothingMeasured,
}

impl fmt::Display for Unmergeable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFew => f.write_str("a merge takes two results or more"),
            Self::ServersBeside(servers, other) => write!(
                f,
                "{servers} has rows of servers, and {other} has others: results of `jeton lab servers` are \
                 merged with each other alone, for a server and a driver may have one name in a result and \
                 are not the same code"
            ),
            Self::NothingTimed => f.write_str(
                "none of them was made by `jeton lab run`: attacks and interop stand beside a run's rows",
            ),
            Self::Overlap(a, b, what) => {
                write!(f, "{a} and {b} both have rows of {what}: leave one of them out")
            }
            Self::Twice(a, b) => write!(f, "{a} and {b} are the same run: its rounds count once"),
            Self::AnotherMachine(a, b, differences) => {
                let list: Vec<String> = differences.iter().map(ToString::to_string).collect();
                write!(
                    f,
                    "{a} and {b} were not measured on the same machine ({}): `jeton lab compare --across-cpus` sets them side by side",
                    list.join("; ")
                )
            }
            Self::AnotherPlan { with, without, row } => write!(
                f,
                "{with} and {without} are not runs of one plan: only {with} has {row}"
            ),
            Self::AnotherSubject(a, b, difference) => write!(
                f,
                "{a} and {b} did not measure the same ({difference}): `jeton lab compare` sets them side by side"
            ),
            Self::Ragged(name, row) => write!(
                f,
                "{name} has not as many rounds of {row} as of its other rows: they do not stand beside each other"
            ),
            Self::NothingMeasured => f.write_str("no row was measured in all of them"),
        }
    }
}

impl std::error::Error for Unmergeable {}

/// Makes one result of several runs of the same plan on the same machine, in the order of their
/// beginnings: all rounds, the seeds listed, what disturbed any of them in its taint, the noise floor
/// and the verdicts drawn again. A row that one of them could not measure is not measured, and says
/// in which.
///
/// Results of servers are merged with each other alone: repetitions are added where the load is the same.
///
/// Rows that have no times (of attacks, of interop) stand beside those of the runs, if they are about
/// the same code; what is concluded from all of them is concluded again.
///
/// # Errors
/// [`Unmergeable`], with what is not the same and in which two.
pub fn merge(mut results: Vec<Named>, command: &str) -> Result<RunResult, Unmergeable> {
    if results.len() < 2 {
        return Err(Unmergeable::TooFew);
    }
    results.sort_by_key(|run| began(&run.result));
    let has_servers = |named: &&Named| !named.result.rows.servers.is_empty();
    if let Some(servers) = results.iter().find(has_servers) {
        let is_other = |named: &&Named| !has_servers_alone(&named.result.rows);
        return match results.iter().find(is_other) {
            None => of_servers(&results, command),
            Some(other) => {
                let (servers, other) = (servers.name.clone(), other.name.clone());
                Err(Unmergeable::ServersBeside(servers, other))
            }
        };
    }
    let is_timed = |named: &&Named| !named.result.rows.measured.is_empty();
    let timed: Vec<Named> = results.iter().filter(is_timed).cloned().collect();
    let whole = match timed.as_slice() {
        [] => return Err(Unmergeable::NothingTimed),
        [one] => RunResult {
            command: command.to_owned(),
            runs: runs(&one.result),
            recommendation: None,
            ..one.result.clone()
        },
        several => of_one_plan(several, command)?,
    };
    untimed::join(whole, &results)
}

/// One result of two runs or more, in the order of their beginnings.
fn of_one_plan(results: &[Named], command: &str) -> Result<RunResult, Unmergeable> {
    let first = &results[0];
    for (i, later) in results.iter().enumerate() {
        for earlier in &results[..i] {
            not_twice(earlier, later)?;
        }
        same_plan(first, later)?;
        level(later)?;
    }
    let runs: Vec<MergedRun> = results.iter().flat_map(|n| runs(&n.result)).collect();
    let rows: Vec<Row> = first
        .result
        .rows
        .measured
        .iter()
        .map(|row| merged_row(row, results))
        .collect::<Result<_, _>>()?;
    if rows.iter().all(|row| row.ns_per_op.is_none()) {
        return Err(Unmergeable::NothingMeasured);
    }
    let noise_floor = noise_floor(results, &rows, &runs);
    let verdicts = verdicts(&first.result, &rows, &noise_floor, &runs);
    let (environment, published) = (environment(results), published::tables(&rows));
    let rows = Rows::from(rows);
    let answers = published::answers(&rows, &noise_floor, &environment.disturbance);
    Ok(RunResult {
        schema: SCHEMA,
        command: command.to_owned(),
        seed: first.result.seed,
        environment,
        noise_floor,
        published,
        verdicts,
        claims_answered: answers,
        recommendation: None,
        runs,
        rows,
    })
}

fn began(result: &RunResult) -> Option<jiff::Timestamp> {
    result.environment.started.parse().ok()
}

/// The timed runs that a result is made of: its own, if it is not merged.
fn runs(result: &RunResult) -> Vec<MergedRun> {
    if !result.runs.is_empty() {
        let timed = result.runs.iter().filter(|run| run.rounds > 0);
        return timed.cloned().collect();
    }
    vec![MergedRun {
        started: result.environment.started.clone(),
        command: result.command.clone(),
        seed: result.seed,
        rounds: result.environment.rounds_finished,
    }]
}

fn not_twice(a: &Named, b: &Named) -> Result<(), Unmergeable> {
    let theirs = runs(&b.result);
    if runs(&a.result).iter().any(|run| theirs.contains(run)) {
        return Err(Unmergeable::Twice(a.name.clone(), b.name.clone()));
    }
    Ok(())
}

/// Both were measured on the same machine, as it was set up.
pub(super) fn same_machine(first: &Named, other: &Named) -> Result<(), Unmergeable> {
    let (a, b) = (&first.result.environment, &other.result.environment);
    let mut differences = machine(a, b);
    differences.extend(settings(a, b));
    if differences.is_empty() {
        return Ok(());
    }
    let (a, b) = (first.name.clone(), other.name.clone());
    Err(Unmergeable::AnotherMachine(a, b, differences))
}

fn same_plan(first: &Named, other: &Named) -> Result<(), Unmergeable> {
    let (a, b) = (&first.result, &other.result);
    let names = || (first.name.clone(), other.name.clone());
    same_machine(first, other)?;
    for (with, without) in [(first, other), (other, first)] {
        let lacks = |row: &&Row| counterpart(&without.result, row).is_none();
        if let Some(row) = with.result.rows.measured.iter().find(lacks) {
            return Err(Unmergeable::AnotherPlan {
                with: with.name.clone(),
                without: without.name.clone(),
                row: Work::of(row).to_string(),
            });
        }
    }
    let differ = |difference| {
        let (a, b) = names();
        Err(Unmergeable::AnotherSubject(a, b, difference))
    };
    if let Some(difference) = code(&a.environment, &b.environment, "driver") {
        return differ(difference);
    }
    for row in &a.rows.measured {
        if let Some(difference) = counterpart(b, row).and_then(|o| same_work(row, o)) {
            return differ(difference);
        }
    }
    Ok(())
}

/// A driver or a server that both have, and that is not the same code in both.
pub(super) fn code(a: &Environment, b: &Environment, kind: &str) -> Option<Difference> {
    let both = a.drivers.iter().filter_map(|(driver, hash)| {
        let other = b.drivers.get(driver)?;
        (other != hash).then_some((driver, hash, other))
    });
    let short = |hash: &String| hash.chars().take(8).collect();
    let mut differ = both.map(|(driver, before, after)| Difference {
        what: format!("sources or lockfile of the {kind} {driver}"),
        before: short(before),
        after: short(after),
    });
    differ.next()
}

/// What is not the same about two rows that have the same name.
fn same_work(a: &Row, b: &Row) -> Option<Difference> {
    let size = |row: &Row| row.token_bytes.map(|b| format!("{b} bytes"));
    let both = size(a).zip(size(b));
    let facts = [
        (
            "version",
            a.subject.version.clone(),
            b.subject.version.clone(),
        ),
        (
            "claims",
            format!("{} bytes", a.claims.bytes),
            format!("{} bytes", b.claims.bytes),
        ),
        (
            "token",
            both.clone().map_or_else(String::new, |(a, _)| a),
            both.map_or_else(String::new, |(_, b)| b),
        ),
    ];
    let differs = facts.into_iter().find(|(_, a, b)| a != b);
    differs.map(|(what, before, after)| Difference {
        what: format!("{what} of {}", Work::of(a)),
        before,
        after,
    })
}

/// All rows that were measured have as many rounds: those of one round stand beside each other.
fn level(named: &Named) -> Result<(), Unmergeable> {
    let rounds = named.result.environment.rounds_finished as usize;
    let uneven = |row: &&Row| measured(row).is_some_and(|t| t.rounds.len() != rounds);
    match named.result.rows.measured.iter().find(uneven) {
        Some(row) => Err(Unmergeable::Ragged(
            named.name.clone(),
            Work::of(row).to_string(),
        )),
        None => Ok(()),
    }
}

fn measured(row: &Row) -> Option<&Timing> {
    let ok = matches!(row.status, Status::Ok | Status::Disturbed);
    row.ns_per_op.as_ref().filter(|_| ok)
}

fn merged_row(row: &Row, results: &[Named]) -> Result<Row, Unmergeable> {
    let work = Work::of(row);
    let mut merged = row.clone();
    let (mut rounds, mut unsettled, mut weights) = (Vec::new(), false, Vec::new());
    let (mut bytes, mut allocs) = (Vec::new(), Vec::new());
    for (i, named) in results.iter().enumerate() {
        // Every result has every row: the plans are the same.
        let Some(own) = counterpart(&named.result, row) else {
            continue;
        };
        let Some(timing) = measured(own) else {
            let why = own.reason.as_deref().unwrap_or("no reason was given");
            merged.status = own.status;
            merged.reason = Some(format!("in run {} of {}: {why}", i + 1, results.len()));
            merged.ns_per_op = None;
            return Ok(merged);
        };
        rounds.extend_from_slice(&timing.rounds);
        unsettled |= timing.unsettled;
        weights.push(timing.rounds.len() as f64);
        bytes.push(own.bytes_per_op);
        allocs.push(own.allocs_per_op);
        merged.peak_rss_bytes = merged.peak_rss_bytes.max(own.peak_rss_bytes);
        if own.status == Status::Disturbed {
            merged.status = Status::Disturbed;
            merged.reason.clone_from(&own.reason);
        }
    }
    merged.bytes_per_op = mean(&bytes, &weights);
    merged.allocs_per_op = mean(&allocs, &weights);
    let median = median_interval(&rounds)
        .map_err(|_| Unmergeable::Ragged("one".into(), work.to_string()))?;
    merged.ns_per_op = Some(Timing {
        median: median.median,
        interval: median.interval,
        outliers: beyond_outer_fences(&rounds),
        unsettled,
        rounds,
    });
    Ok(merged)
}

/// The mean over all rounds; `None` if one of the runs did not count.
fn mean(values: &[Option<f64>], weights: &[f64]) -> Option<f64> {
    let values: Vec<f64> = values.iter().copied().collect::<Option<_>>()?;
    let first = *values.first()?;
    if values.iter().all(|v| *v == first) {
        return Some(first);
    }
    let sum: f64 = values.iter().zip(weights).map(|(v, w)| v * w).sum();
    Some(sum / weights.iter().sum::<f64>())
}

/// One value for each run, if there are enough of them; else the rounds as they are.
fn lives(rounds: &[f64], runs: &[MergedRun]) -> Vec<f64> {
    if runs.len() < LIVES {
        return rounds.to_vec();
    }
    let mut rest = rounds;
    let means = runs.iter().map(|run| {
        let (own, others) = rest.split_at(rest.len().min(run.rounds as usize));
        rest = others;
        (own.iter().map(|t| t.ln()).sum::<f64>() / own.len() as f64).exp()
    });
    means.collect()
}

/// Pairs that every run has, their rounds one after the other. Where results do not hold the rounds
/// of their pairs, the widest floor of them all stands.
fn noise_floor(results: &[Named], rows: &[Row], runs: &[MergedRun]) -> NoiseFloor {
    let mut pooled: Vec<(&AaPair, [Vec<f64>; 2], usize)> = Vec::new();
    for (run, named) in results.iter().enumerate() {
        for pair in &named.result.noise_floor.pairs {
            // A subject may have two pairs, with other claims: the first goes to the first.
            let same = |(p, _, held): &&mut (&AaPair, [Vec<f64>; 2], usize)| {
                (&p.subject, &p.operation, run) == (&pair.subject, &pair.operation, *held)
            };
            match pooled.iter_mut().find(same) {
                Some((_, rounds, held)) => {
                    rounds[0].extend_from_slice(&pair.rounds[0]);
                    rounds[1].extend_from_slice(&pair.rounds[1]);
                    *held += 1;
                }
                None => pooled.push((pair, pair.rounds.clone(), 1)),
            }
        }
    }
    let total: usize = runs.iter().map(|run| run.rounds as usize).sum();
    let mut whole: Vec<_> = pooled
        .into_iter()
        .filter(|(_, rounds, held)| *held == results.len() && rounds[0].len() == total)
        .collect();
    let aa_pairs: Vec<AaRounds> = whole
        .iter()
        .map(|(pair, rounds, _)| AaRounds {
            subject: pair.subject.clone(),
            operation: pair.operation.clone(),
            managed: rows
                .iter()
                .any(|r| r.subject.id == pair.subject && r.subject.is_managed()),
            rounds: [0, 1].map(|side| lives(&rounds[side], runs)),
        })
        .collect();
    let floors = results.iter().map(|n| &n.result.noise_floor);
    let widest =
        |floor: fn(&NoiseFloor) -> Option<f64>| floors.clone().filter_map(floor).reduce(f64::max);
    if aa_pairs.is_empty() {
        return NoiseFloor {
            floor: widest(|n| n.floor),
            managed: widest(|n| n.managed),
            pairs: Vec::new(),
        };
    }
    let mut judged = verdicts::noise_floor(&aa_pairs);
    // The file keeps every round, whatever they were judged by.
    for pair in &mut judged.pairs {
        let same = |(p, _, _): &(&AaPair, [Vec<f64>; 2], usize)| {
            (&p.subject, &p.operation) == (&pair.subject, &pair.operation)
        };
        if let Some(at) = whole.iter().position(same) {
            pair.rounds = whole.remove(at).1;
        }
    }
    judged
}

/// The comparisons of the first result over the merged rounds. One whose baseline was not measured
/// in every run is left out: what stood against it stands against nothing.
fn verdicts(
    first: &RunResult,
    rows: &[Row],
    noise: &NoiseFloor,
    runs: &[MergedRun],
) -> Vec<Verdict> {
    let mut order: Vec<&str> = Vec::new();
    let mut comparisons: BTreeMap<&str, Vec<&Verdict>> = BTreeMap::new();
    for verdict in &first.verdicts {
        let title = verdict.comparison.as_str();
        if !order.contains(&title) {
            order.push(title);
        }
        comparisons.entry(title).or_default().push(verdict);
    }
    let entrant = |verdict: &Verdict, id: &str, factors: &[String]| {
        let row = rows.iter().find(|r| verdict.is_about(r, id))?;
        Some(Entrant {
            id: id.to_owned(),
            managed: row.subject.is_managed(),
            factors: factors.to_vec(),
            rounds: lives(&measured(row)?.rounds, runs),
        })
    };
    let mut judged = Vec::new();
    for title in order {
        let planned = &comparisons[title];
        let Some(baseline) = entrant(planned[0], &planned[0].baseline, &[]) else {
            continue;
        };
        let others = planned
            .iter()
            .filter_map(|v| entrant(v, &v.subject, &v.factors));
        let input = ComparisonInput {
            suite: planned[0].suite.clone(),
            operation: planned[0].operation.clone(),
            claims: planned[0].claims.clone(),
            threads: planned[0].threads,
            title: title.to_owned(),
            entrants: std::iter::once(baseline).chain(others).collect(),
        };
        judged.extend(verdicts::verdicts(&input, noise));
    }
    judged
}

pub(super) fn environment(results: &[Named]) -> Environment {
    let all = || results.iter().map(|n| &n.result.environment);
    let mut merged = results[0].result.environment.clone();
    merged.elapsed_s = all().map(|e| e.elapsed_s).sum();
    merged.complete = all().all(|e| e.complete);
    merged.rounds_planned = all().map(|e| e.rounds_planned).sum();
    merged.rounds_finished = all().map(|e| e.rounds_finished).sum();
    for e in all() {
        merged.runtimes.extend(e.runtimes.clone());
        merged.drivers.extend(e.drivers.clone());
    }
    let weights: Vec<f64> = all().map(|e| e.elapsed_s).collect();
    let share = |value: fn(&Disturbance) -> Option<f64>| {
        let values: Vec<Option<f64>> = all().map(|e| value(&e.disturbance)).collect();
        mean(&values, &weights).filter(|m| m.is_finite())
    };
    let mut disturbance = Disturbance {
        disturbed: all().any(|e| e.disturbance.disturbed),
        reasons: Vec::new(),
        steal: share(|t| t.steal),
        load: share(|t| t.load),
        shared: share(|t| t.shared),
        unwatched: Vec::new(),
    };
    for (i, e) in all().enumerate() {
        let run = |reason: &String| format!("run {} of {}: {reason}", i + 1, results.len());
        disturbance
            .reasons
            .extend(e.disturbance.reasons.iter().map(run));
        for line in &e.disturbance.unwatched {
            if !disturbance.unwatched.contains(line) {
                disturbance.unwatched.push(line.clone());
            }
        }
    }
    merged.disturbance = disturbance;
    merged
}
