//! What a reader of server results must know first.

use itertools::Itertools as _;
use jeton_lab_model::result::{ServerLoad, ServerRow};
use jeton_lab_model::units;

use super::{Compared, ScenarioTable, scenarios};
use crate::grouped::{distinct, grouped};

/// Returns what a reader must know first: which server came out best how often, then servers with faults
/// and servers without figures.
pub(super) fn findings(rows: &[ServerRow]) -> Vec<(String, String)> {
    let mut tables = scenarios(rows);
    tables.retain(|table| table.measured.len() > 1 && !table.leaders().is_empty());
    tables.retain(|table| !table.is_of_gateways());
    let faults = rows.iter().filter_map(|row| {
        let mark = if row.load.is_some() {
            ""
        } else {
            " (not measured)"
        };
        Some((format!("{}{mark}", row.subject.id), row.reason.clone()?))
    });
    distinct(best(&tables).into_iter().chain(faults))
}

/// Counts for each server, and for each set of servers that cannot be told apart, in how many loads it came
/// out best, by each quantity.
fn best(tables: &[ScenarioTable<'_>]) -> Vec<(String, String)> {
    let leaders = tables.iter();
    let mut counted = grouped(leaders.map(|table| (table.leaders(), table.compared)));
    // Those alone first, then those who came out best most often.
    counted.sort_by_key(|(leaders, loads)| (leaders.len() > 1, usize::MAX - loads.len()));
    let quantities = [
        (Compared::Tokens, "by tokens per second"),
        (Compared::CpuTime, "on shared cores, by CPU time"),
        (Compared::Latency, "at a fixed rate, by p99 latency"),
    ];
    let said = |loads: &[Compared]| {
        let said = quantities.into_iter().filter_map(|(quantity, name)| {
            let times = loads.iter().filter(|own| **own == quantity).count();
            let all = tables.iter().filter(|table| table.compared == quantity);
            let all = units::count(all.count(), "load", "loads");
            (times > 0).then(|| format!("{times} of {all} {name}"))
        });
        said.collect::<Vec<_>>().join("; in ")
    };
    let one = |(leaders, loads): (Vec<&str>, Vec<Compared>)| {
        let (names, loads) = (units::list(&leaders), said(&loads));
        if leaders.len() == 1 {
            (names, format!("alone the best in {loads}"))
        } else {
            let overlap = format!("the repetitions of {names} overlap in {loads}");
            ("Undecided".to_owned(), overlap)
        }
    };
    let found = counted.into_iter().map(one);
    found.chain(others(tables)).collect()
}

/// Counts who has the shortest p99 and the least memory: figures without an interval, and without a verdict.
fn others(tables: &[ScenarioTable<'_>]) -> Option<(String, String)> {
    // On shared cores the loader delays answers too; at a fixed rate, p99 has a verdict.
    let timed = tables
        .iter()
        .filter(|table| table.compared == Compared::Tokens);
    let p99 = least(timed, |load| {
        let worth = Compared::Latency.worth(load);
        (worth > 0.0).then(|| worth.recip())
    });
    let memory = least(tables.iter(), |load| Some(load.peak_rss_bytes? as f64));
    let p99 = p99.map(|said| format!("shortest p99: {said}"));
    let memory = memory.map(|said| format!("least memory: {said}"));
    let said = [p99, memory].into_iter().flatten().join("; ");
    (!said.is_empty()).then(|| ("Without a verdict".to_owned(), said))
}

fn least<'t>(
    tables: impl Iterator<Item = &'t ScenarioTable<'t>>,
    figure: impl Fn(&ServerLoad) -> Option<f64>,
) -> Option<String> {
    let first = tables.filter_map(|table| {
        let figures = table.sound();
        let figures = figures.filter_map(|(row, load)| Some((&row.subject.id, figure(load)?)));
        let figures: Vec<_> = figures.sorted_by(|a, b| a.1.total_cmp(&b.1)).collect();
        (figures.len() > 1).then(|| (figures[0].0, ()))
    });
    let mut counts = grouped(first);
    counts.sort_by_key(|(_, times)| usize::MAX - times.len());
    let loads: usize = counts.iter().map(|(_, times)| times.len()).sum();
    let said = counts.iter();
    let said = units::list(said.map(|(id, times)| format!("{id} in {}", times.len())));
    let loads_in_words = units::count(loads, "load", "loads");
    (loads > 0).then(|| format!("{said} of {loads_in_words}"))
}
