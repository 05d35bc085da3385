//! Conclusions of report 3: gRPC servers, measured by `jeton-lab servers`.

use super::evidence::{Finding, Open, Parts};
use super::{Claim, claim, of};
use crate::servers::runs;
use crate::source::REPORT_3;
use jeton_lab_model::result::{Answer, ClaimAnswered, ServerLoad, ServerRow, VerdictKind};
use jeton_lab_model::servers::Scenario;
use jeton_lab_stats::interval::estimate;
use jeton_lab_stats::noise::{IdenticalPair, floor};
use jeton_lab_stats::verdict::{Band, judge};

/// The largest relative difference of a figure that equals the published one.
const NEAR: f64 = 0.10;

/// What the conclusions need without rows.
const SERVERS: &str = "the servers of the report: `jeton-lab run --all`, or `jeton-lab servers`";

pub(super) fn answers(rows: &[ServerRow]) -> Vec<ClaimAnswered> {
    let claims: Vec<Claim> = vec![
        claim("3.1a", ratios(rows, 1)),
        claim("3.1b", ratios(rows, 3)),
        claim("3.2a", memory(rows, "go/published", (18.0, 20.0))),
        claim("3.2b", memory(rows, "node/published", (105.0, 105.0))),
    ];
    of(REPORT_3, claims)
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
    let rows = rows.iter().filter(|row| row.cores == cores);
    let loads = rows.filter_map(|row| row.load.as_ref());
    let pairs: Vec<(Vec<f64>, Vec<f64>)> = loads
        .filter_map(|load| {
            let both = load.repetitions.iter();
            let both = both.map(|r| Some((r.requests_per_s, r.second_requests_per_s?)));
            both.collect::<Option<Vec<_>>>()
                .map(|both| both.into_iter().unzip())
        })
        .collect();
    let pairs: Vec<IdenticalPair<'_>> = pairs
        .iter()
        .map(|(first, second)| IdenticalPair { first, second })
        .collect();
    match floor(&pairs, &[]) {
        Ok(Some(floor)) => Ok(Band::new(Some(floor))),
        _ => Err("A/A pairs of servers, from two repetitions on".into()),
    }
}

/// Compares the patched Go and Node servers in the four scenarios with this number of cores.
fn ratios(rows: &[ServerRow], cores: u32) -> Result<Finding, Open> {
    let published = runs();
    let published = published.iter().filter(|run| run.scenario.cores == cores);
    let mut parts = Parts::default();
    let mut is_faster = true;
    let mut scenarios = Vec::new();
    for run in published {
        let Some(over_node) = run.over_node else {
            continue;
        };
        let go = repetitions(rows, "go/fixed", run.scenario)?;
        let node = repetitions(rows, "node/fixed", run.scenario)?;
        scenarios.push((run, over_node, go, node));
    }
    let band = noise(rows, cores)?;
    for (run, over_node, go, node) in &scenarios {
        let enough = |why| format!("enough repetitions in {}: {why}", run.scenario.name());
        // As times: a smaller one is faster.
        let ratio = estimate(node, go, scenarios.len()).map_err(enough)?;
        let kind = judge(&ratio, band);
        is_faster &= kind == VerdictKind::Faster;
        let [low, high] = ratio.interval().map(|end| 1.0 / end);
        let (low, high) = (low.min(high), low.max(high));
        let near = [over_node * (1.0 - NEAR), over_node * (1.0 + NEAR)];
        let agrees = match (low, high) {
            (low, high) if low >= near[0] && high <= near[1] => Some(true),
            (low, high) if high < near[0] || low > near[1] => Some(false),
            _ => None,
        };
        let words = format!(
            "{:.2} ({low:.2} to {high:.2}; {over_node} published)",
            1.0 / ratio.ratio()
        );
        parts.add_words(words, agrees);
    }
    let (near, measured) = parts.judged("requests of Go to Node, both patched: ")?;
    let (answer, why) = match (near, is_faster) {
        (true, _) => (
            Answer::Holds,
            "every ratio is within 10 % of the published one",
        ),
        (false, true) => (
            Answer::DoesNotHold,
            "Go serves more requests, with other ratios: the published Go server signed with an empty \
             key and one subject, and its loader shared the cores",
        ),
        (false, false) => (
            Answer::DoesNotHold,
            "Go does not serve more requests in every scenario if both servers do the same work on \
             their own cores",
        ),
    };
    Ok(Finding::new(answer, measured, why, Vec::new()))
}

/// Compares the peak memory of a server on one core, in MB, with the published one.
#[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
fn memory(rows: &[ServerRow], id: &str, (low, high): (f64, f64)) -> Result<Finding, Open> {
    let mine = rows
        .iter()
        .filter(|row| row.subject.id == id && row.cores == 1);
    let loads: Vec<&ServerLoad> = mine.filter_map(|row| row.load.as_ref()).collect();
    let mb = |bytes: Option<u64>| bytes.map(|bytes| bytes as f64 / 1e6);
    let peaks: Vec<f64> = loads.iter().filter_map(|l| mb(l.peak_rss_bytes)).collect();
    let rest = loads
        .iter()
        .filter_map(|l| mb(l.base_rss_bytes))
        .reduce(f64::max);
    let least = peaks.iter().copied().reduce(f64::min);
    let most = peaks.iter().copied().reduce(f64::max);
    let (Some(least), Some(most), Some(rest)) = (least, most, rest) else {
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
    let (low, high) = (low * (1.0 - NEAR), high * (1.0 + NEAR));
    let (answer, why) = match (least, most) {
        (least, most) if least >= low && most <= high => {
            (Answer::Holds, "within 10 % of the published value")
        }
        (least, most) if most < low || least > high => (
            Answer::DoesNotHold,
            "resident memory of all its processes, read every 50 ms; the method of the published \
             figure is unknown",
        ),
        _ => {
            return Err(Open::Undecided {
                measured,
                rows: Vec::new(),
            });
        }
    };
    Ok(Finding::new(answer, measured, why, Vec::new()))
}
