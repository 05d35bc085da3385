//! Conclusions of report 3: gRPC servers, measured by `jeton-lab servers`.

use super::evidence::{Finding, Judge, NONE, Open, Parts};
use super::{Conclusion, Rule};
use crate::servers::runs;
use jeton_lab_model::result::{ServerRow, VerdictKind};
use jeton_lab_model::servers::Scenario;
use jeton_lab_stats::interval::estimate;
use jeton_lab_stats::noise::{IdenticalPair, floor};
use jeton_lab_stats::verdict::{Band, judge};

/// The largest relative difference of a figure that equals the published one.
const NEAR: f64 = 0.10;

/// What the conclusions need without rows.
const SERVERS: &str = "the servers of the report: `jeton-lab run --all`, or `jeton-lab servers`";

pub(super) fn conclusions() -> Vec<Conclusion> {
    let answers: [(&str, Judge); 4] = [
        ("3.1a", |e, _| ratios(e.servers, 1)),
        ("3.1b", |e, _| ratios(e.servers, 3)),
        ("3.2a", |e, _| {
            memory(e.servers, "go/published", (18.0, 20.0))
        }),
        ("3.2b", |e, _| {
            memory(e.servers, "node/published", (105.0, 105.0))
        }),
    ];
    answers
        .map(|(id, answer)| (id, Rule::Figures(Vec::new(), answer)))
        .into()
}

/// Returns how many of the conclusions a machine with this number of cores can decide.
pub(super) fn answerable(cores: usize) -> usize {
    let of_memory = 2;
    // Server and loader need their own.
    of_memory + [1, 3].iter().filter(|served| *served < &cores).count()
}

/// The repetitions of a server in a scenario.
fn repetitions(rows: &[ServerRow], id: &str, scenario: Scenario) -> Result<Vec<f64>, Open> {
    if rows.is_empty() {
        return Err(SERVERS.into());
    }
    let found = rows
        .iter()
        .find(|row| row.subject.id == id && row.rate.is_none() && row.of_scenario() == scenario);
    let row = found.ok_or_else(|| format!("{id} in {} (`jeton-lab servers`)", scenario.name()))?;
    if row.oversubscribed {
        return Err(format!(
            "{} cores for server and loader: use `jeton-lab servers --cores {}` on such a machine",
            scenario.cores + 1,
            scenario.cores
        )
        .into());
    }
    let load = row.load.as_ref().filter(|load| load.answers() > 0);
    let load = load.ok_or_else(|| {
        let why = row.reason.as_deref().unwrap_or("no answers");
        format!("{id} in {}: {why}", scenario.name())
    })?;
    Ok(load.repetitions.iter().map(|r| r.requests_per_s).collect())
}

/// How far two processes of one server differ in scenarios with this number of cores.
fn noise(rows: &[ServerRow], cores: u32) -> Result<Band, Open> {
    let loads = rows.iter().filter(|row| row.cores == cores);
    let pairs = loads.filter_map(|row| {
        let repetitions = row.load.as_ref()?.repetitions.iter();
        let both = repetitions.map(|r| Some((r.requests_per_s, r.second_requests_per_s?)));
        let both: Option<Vec<_>> = both.collect();
        Some(both?.into_iter().unzip())
    });
    let pairs: Vec<(Vec<f64>, Vec<f64>)> = pairs.collect();
    let pairs = pairs
        .iter()
        .map(|(first, second)| IdenticalPair { first, second });
    match floor(&pairs.collect::<Vec<_>>(), &[]) {
        Ok(Some(floor)) => Ok(Band::new(Some(floor))),
        _ => Err("A/A pairs of servers, from two repetitions on".into()),
    }
}

/// Compares the patched Go and Node servers in the four scenarios with this number of cores.
fn ratios(rows: &[ServerRow], cores: u32) -> Result<Finding, Open> {
    let (mut parts, mut is_faster, mut scenarios) = (Parts::default(), true, Vec::new());
    for run in runs().iter().filter(|run| run.scenario.cores == cores) {
        if let Some(over_node) = run.over_node {
            let go = repetitions(rows, "go/fixed", run.scenario)?;
            let node = repetitions(rows, "node/fixed", run.scenario)?;
            scenarios.push((run.scenario.name(), over_node, go, node));
        }
    }
    let band = noise(rows, cores)?;
    for (name, over_node, go, node) in &scenarios {
        // As times: a smaller one is faster.
        let ratio = estimate(node, go, scenarios.len());
        let ratio = ratio.map_err(|why| format!("enough repetitions in {name}: {why}"))?;
        is_faster &= judge(&ratio, band) == VerdictKind::Faster;
        let [high, low] = ratio.interval().map(|end| 1.0 / end);
        let words = format!(
            "{:.2} ({low:.2} to {high:.2}; {over_node} published)",
            1.0 / ratio.ratio()
        );
        parts.add_words(words, is_near([low, high], [*over_node, *over_node]));
    }
    let (near, measured) = parts.judged("requests of Go to Node, both patched: ")?;
    let why_not = if is_faster {
        "Go serves more requests, with other ratios: the published Go server signed with an empty \
         key and one subject, and its loader shared the cores"
    } else {
        "Go does not serve more requests in every scenario if both servers do the same work on \
         their own cores"
    };
    let whys = ["every ratio is within 10 % of the published one", why_not];
    Ok(Finding::judged(near, measured, whys, NONE))
}

/// Whether values are near a published range. `None`: some are, and some are not.
fn is_near([low, high]: [f64; 2], [least, most]: [f64; 2]) -> Option<bool> {
    let (least, most) = (least * (1.0 - NEAR), most * (1.0 + NEAR));
    match (low, high) {
        (low, high) if low >= least && high <= most => Some(true),
        (low, high) if high < least || low > most => Some(false),
        _ => None,
    }
}

/// Compares the peak memory of a server on one core, in MB, with the published one.
#[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
fn memory(rows: &[ServerRow], id: &str, (low, high): (f64, f64)) -> Result<Finding, Open> {
    let mine = rows
        .iter()
        .filter(|row| row.subject.id == id && row.cores == 1);
    let loads: Vec<_> = mine.filter_map(|row| row.load.as_ref()).collect();
    let mb = |bytes: Option<u64>| bytes.map(|bytes| bytes as f64 / 1e6);
    let peaks: Vec<f64> = loads.iter().filter_map(|l| mb(l.peak_rss_bytes)).collect();
    let rest = loads
        .iter()
        .filter_map(|l| mb(l.base_rss_bytes))
        .reduce(f64::max);
    let end = |of: fn(f64, f64) -> f64| peaks.iter().copied().reduce(of);
    let ((Some(least), Some(most)), Some(rest)) = ((end(f64::min), end(f64::max)), rest) else {
        return Err(if rows.is_empty() {
            SERVERS.into()
        } else {
            format!("{id} on one core (`jeton-lab servers`)").into()
        });
    };
    let measured = format!(
        "{id}: peaks of {least:.0} to {most:.0} MB in {} scenarios on one core, {rest:.0} MB before",
        peaks.len()
    );
    let whys = [
        "within 10 % of the published value",
        "resident memory of all its processes, read every 50 ms; the method of the published \
         figure is unknown",
    ];
    match is_near([least, most], [low, high]) {
        Some(near) => Ok(Finding::judged(near, measured, whys, NONE)),
        None => Err(Open::Undecided {
            measured,
            rows: Vec::new(),
        }),
    }
}
