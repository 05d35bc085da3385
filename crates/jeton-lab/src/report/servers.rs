//! Servers side by side: for each scenario what each server came to, in the order of what is
//! compared, and what the gRPC report published of the same.

use super::units;
use crate::published::servers::{PublishedRun, runs};
use crate::result::{ServerLoad, ServerRow};
use crate::servers::Scenario;

/// The steps of the report's histograms.
const STEPS: u32 = 10;

/// One scenario.
#[derive(Debug)]
pub struct ScenarioTable<'a> {
    /// As in `1 core, 5×50, HS256`.
    pub title: String,
    /// Server and loader share cores: only CPU time is compared.
    pub oversubscribed: bool,
    /// Calls a second that were due, for an open loop.
    pub rate: Option<f64>,
    /// Those that were measured, the best first.
    pub measured: Vec<(&'a ServerRow, &'a ServerLoad)>,
    /// Those that were not, with the reason in each.
    pub missing: Vec<&'a ServerRow>,
    /// The report's own figures.
    pub published: Vec<PublishedRun>,
}

/// Every scenario of a result, in the order of its rows.
#[must_use]
pub fn scenarios(rows: &[ServerRow]) -> Vec<ScenarioTable<'_>> {
    let published = runs();
    let mut keys: Vec<(Scenario, Option<u64>)> = Vec::new();
    for row in rows {
        let key = (row.of_scenario(), row.rate.map(f64::to_bits));
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys.into_iter()
        .map(|(scenario, rate)| {
            let of = |row: &&ServerRow| {
                row.of_scenario() == scenario && row.rate.map(f64::to_bits) == rate
            };
            let of: Vec<&ServerRow> = rows.iter().filter(of).collect();
            table(scenario, &of, &published)
        })
        .collect()
}

fn table<'a>(
    scenario: Scenario,
    of: &[&'a ServerRow],
    published: &[PublishedRun],
) -> ScenarioTable<'a> {
    let oversubscribed = of.iter().any(|row| row.oversubscribed);
    let measured = of.iter().filter_map(|row| Some((*row, row.load.as_ref()?)));
    let mut measured: Vec<(&ServerRow, &ServerLoad)> = measured.collect();
    measured
        .sort_by(|(_, a), (_, b)| worth(b, oversubscribed).total_cmp(&worth(a, oversubscribed)));
    ScenarioTable {
        title: scenario.name(),
        oversubscribed,
        rate: of.first().and_then(|row| row.rate),
        measured,
        missing: of
            .iter()
            .copied()
            .filter(|row| row.load.is_none())
            .collect(),
        published: published
            .iter()
            .filter(|run| run.scenario == scenario)
            .cloned()
            .collect(),
    }
}

/// What rows are compared by: tokens a second, or tokens for a second of CPU time.
fn worth(load: &ServerLoad, oversubscribed: bool) -> f64 {
    if oversubscribed {
        load.cpu_us_per_request.map_or(0.0, f64::recip)
    } else {
        load.requests_per_s
    }
}

impl ScenarioTable<'_> {
    /// What the figures say: the best of those without a mark over each of the others, and the
    /// report's pair as published beside the same pair here.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let mut said = Vec::new();
        let sound: Vec<_> = (self.measured.iter())
            .filter(|(row, load)| row.reason.is_none() && load.tokens() > 0)
            .collect();
        if let Some(((best, best_load), others)) = sound.split_first() {
            let over: Vec<String> = others
                .iter()
                .map(|(row, load)| {
                    let ratio =
                        worth(best_load, self.oversubscribed) / worth(load, self.oversubscribed);
                    format!("{} × {}", units::times(ratio), row.subject.id)
                })
                .collect();
            if !over.is_empty() {
                let what = if self.oversubscribed {
                    "tokens for the same CPU time"
                } else {
                    "tokens a second"
                };
                said.push(format!(
                    "{}: {what} {}.",
                    best.subject.id,
                    units::list(&over)
                ));
            }
        }
        said.extend(self.beside_the_report());
        said
    }

    fn beside_the_report(&self) -> Option<String> {
        let published = self.published.iter().find_map(|run| run.over_node)?;
        let of = |id: &str| {
            let (_, load) = self.measured.iter().find(|(row, _)| row.subject.id == id)?;
            Some(worth(load, self.oversubscribed)).filter(|worth| *worth > 0.0)
        };
        let pair = |kind: &str| Some(of(&format!("go/{kind}"))? / of(&format!("node/{kind}"))?);
        let measured: Vec<String> = [
            ("as published", "published"),
            ("with its bugs fixed", "fixed"),
        ]
        .into_iter()
        .filter_map(|(words, kind)| Some(format!("{} {words}", units::times(pair(kind)?))))
        .collect();
        if measured.is_empty() {
            return None;
        }
        let by = if self.oversubscribed {
            ", by CPU time"
        } else {
            ""
        };
        Some(format!(
            "Go over Node.js: {} in the report; here {}{by}.",
            units::times(published),
            units::list(&measured)
        ))
    }
}

/// The least and the most tokens a second of the repetitions.
#[must_use]
pub fn spread(load: &ServerLoad) -> (f64, f64) {
    let rates = || load.repetitions.iter().map(|r| r.requests_per_s);
    let low = rates().fold(f64::INFINITY, f64::min);
    (low, rates().fold(0.0, f64::max))
}

/// What must be known of a row before its figures are read.
#[must_use]
pub fn marks(row: &ServerRow, load: &ServerLoad) -> Vec<&'static str> {
    let mut marks = Vec::new();
    if row.subject.as_published {
        marks.push("as published");
    }
    if row.reason.is_some() {
        marks.push("marked");
    }
    if load.client_bound == Some(true) && !row.oversubscribed {
        marks.push("client-bound");
    }
    marks
}

/// The report's histogram of a row.
#[must_use]
pub fn histogram(load: &ServerLoad) -> Vec<(f64, u64)> {
    load.latencies.steps(STEPS)
}

/// How calls ended, as words: `OK 12,034, Unavailable 3`.
#[must_use]
pub fn statuses(load: &ServerLoad) -> String {
    let ended = load.statuses.iter();
    let ended: Vec<String> = ended
        .map(|(status, times)| format!("{status} {}", units::whole(*times)))
        .collect();
    ended.join(", ")
}

/// Milliseconds with three digits.
#[must_use]
pub fn ms(value: Option<f64>) -> String {
    value.map_or_else(String::new, |ms| {
        let decimals = match ms {
            ms if ms < 1.0 => 3,
            ms if ms < 10.0 => 2,
            ms if ms < 100.0 => 1,
            _ => 0,
        };
        units::fixed(ms, decimals)
    })
}

/// Mebibytes.
#[must_use]
#[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
pub fn mebibytes(bytes: Option<u64>) -> String {
    bytes.map_or_else(String::new, |bytes| {
        units::fixed(bytes as f64 / f64::from(1 << 20), 0)
    })
}
