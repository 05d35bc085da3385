//! Conclusions of report 3: gRPC servers, measured by `jeton lab servers`.

use super::evidence::{Finding, Missing};
use super::{Claim, claim, of};
use crate::servers::runs;
use crate::source::REPORT_3;
use jeton_lab_model::result::{Answer, ClaimAnswered, ServerLoad, ServerRow};

/// The largest relative difference of a ratio that equals the published one.
const NEAR: f64 = 0.10;

pub(super) fn answers(rows: &[ServerRow]) -> Vec<ClaimAnswered> {
    let claims: Vec<Claim> = vec![
        claim("3.1a", ratios(rows, 1)),
        claim("3.1b", ratios(rows, 3)),
        claim("3.2a", memory(rows, "go/published", (18.0, 20.0))),
        claim("3.2b", memory(rows, "node/published", (105.0, 105.0))),
    ];
    of(REPORT_3, claims)
}

/// Compares the patched Go and Node servers in the four scenarios with this number of cores.
fn ratios(rows: &[ServerRow], cores: u32) -> Result<Finding, Missing> {
    let published = runs();
    let published = published.iter().filter(|run| run.scenario.cores == cores);
    let (mut measured, mut all_near, mut all_faster) = (Vec::new(), true, true);
    for run in published {
        let Some(over_node) = run.over_node else {
            continue;
        };
        let of = |id: &str| {
            let found = rows.iter().find(|row| {
                row.subject.id == id && row.rate.is_none() && row.of_scenario() == run.scenario
            });
            let row = found.ok_or_else(|| format!("{id} in {}", run.scenario.name()))?;
            if row.oversubscribed {
                return Err(format!(
                    "{}: the machine has too few cores, so requests are not compared",
                    run.scenario.name()
                ));
            }
            let load = row.load.as_ref().filter(|load| load.answers() > 0);
            load.map(|load| load.requests_per_s)
                .ok_or_else(|| format!("{id} in {}", run.scenario.name()))
        };
        let (go, node) = (of("go/fixed")?, of("node/fixed")?);
        let ratio = go / node;
        all_near &= (ratio / over_node - 1.0).abs() <= NEAR;
        all_faster &= ratio > 1.0;
        measured.push(format!("{ratio:.2} ({over_node} published)"));
    }
    if measured.is_empty() {
        return Err("rows of `jeton lab servers`".to_owned());
    }
    let (answer, why) = match (all_near, all_faster) {
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
    let figures = format!("ratio of Go to Node, both patched: {}", measured.join(", "));
    Ok(Finding::new(answer, figures, why, Vec::new()))
}

/// Compares the peak memory of a server on one core, in MB, with the published one.
#[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
fn memory(rows: &[ServerRow], id: &str, (low, high): (f64, f64)) -> Result<Finding, Missing> {
    let mine = rows
        .iter()
        .filter(|row| row.subject.id == id && row.cores == 1);
    let loads: Vec<&ServerLoad> = mine.filter_map(|row| row.load.as_ref()).collect();
    let mb = |bytes: Option<u64>| bytes.map(|bytes| bytes as f64 / 1e6);
    let peak = loads
        .iter()
        .filter_map(|l| mb(l.peak_rss_bytes))
        .reduce(f64::max);
    let rest = loads
        .iter()
        .filter_map(|l| mb(l.base_rss_bytes))
        .reduce(f64::max);
    let (Some(peak), Some(rest)) = (peak, rest) else {
        return Err(format!("{id} on one core: no rows"));
    };
    let holds = peak >= low * (1.0 - NEAR) && peak <= high * (1.0 + NEAR);
    let (answer, why) = if holds {
        (Answer::Holds, "within 10 % of the published value")
    } else {
        (
            Answer::DoesNotHold,
            "resident memory of all its processes, read every 50 ms; the method of the published \
             figure is unknown",
        )
    };
    let figures = format!("{id}: at most {peak:.0} MB under load, {rest:.0} MB before");
    Ok(Finding::new(answer, figures, why, Vec::new()))
}
