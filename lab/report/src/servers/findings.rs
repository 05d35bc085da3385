//! What a reader of server results must know first.

use jeton_lab_model::result::{ServerLoad, ServerRow};
use jeton_lab_model::units;

use super::{Compared, ScenarioTable, scenarios};
use crate::grouped::grouped;

/// Returns what a reader must know first: which server came out best how often, then servers with faults
/// and servers without figures.
pub(crate) fn findings(rows: &[ServerRow]) -> Vec<(String, String)> {
    let tables = scenarios(rows);
    let compared: Vec<&ScenarioTable<'_>> = tables
        .iter()
        .filter(|table| table.measured.len() > 1 && table.worthy().next().is_some())
        .filter(|table| !table.is_of_gateways())
        .collect();
    let mut found = best(&compared);
    for row in rows {
        let Some(reason) = &row.reason else { continue };
        let mark = match &row.load {
            Some(_) => "",
            None => " (not measured)",
        };
        let one = (format!("{}{mark}", row.subject.id), reason.clone());
        if !found.contains(&one) {
            found.push(one);
        }
    }
    found
}

/// Counts for each server, and for each set of servers that cannot be told apart, in how many loads it came
/// out best, by each quantity.
fn best(compared: &[&ScenarioTable<'_>]) -> Vec<(String, String)> {
    let mut counted = grouped(
        compared
            .iter()
            .map(|table| (table.leaders(), table.compared())),
    );
    // Those alone first, then those who came out best most often.
    counted.sort_by_key(|(leaders, loads)| (leaders.len() > 1, usize::MAX - loads.len()));
    let said = |loads: &[Compared]| {
        let said = Compared::ALL.into_iter().filter_map(|quantity| {
            let times = loads.iter().filter(|own| **own == quantity).count();
            let all = compared
                .iter()
                .filter(|table| table.compared() == quantity)
                .count();
            let (all, name) = (units::count(all, "load", "loads"), quantity.name());
            (times > 0).then(|| format!("{times} of {all} {name}"))
        });
        said.collect::<Vec<_>>().join("; in ")
    };
    let one = |(leaders, loads): (Vec<&str>, Vec<Compared>)| match leaders.as_slice() {
        [alone] => (
            (*alone).to_owned(),
            format!("alone the best in {}", said(&loads)),
        ),
        several => {
            let (several, loads) = (units::list(several), said(&loads));
            (
                "Undecided".to_owned(),
                format!("the repetitions of {several} overlap in {loads}"),
            )
        }
    };
    let found = counted.into_iter().map(one);
    found.chain(others(compared)).collect()
}

/// Counts who has the shortest p99 and the least memory: figures without an interval, and without a verdict.
#[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
fn others(compared: &[&ScenarioTable<'_>]) -> Option<(String, String)> {
    // On shared cores the loader delays answers too; at a fixed rate, p99 has a verdict.
    let is_timed = |table: &ScenarioTable<'_>| !table.oversubscribed && table.rate.is_none();
    let timed = compared.iter().copied().filter(|table| is_timed(table));
    let p99 = least(timed, |load| {
        let worth = Compared::Latency.worth(load);
        (worth > 0.0).then(|| worth.recip())
    });
    let memory = least(compared.iter().copied(), |load| {
        load.peak_rss_bytes.map(|bytes| bytes as f64)
    });
    let kinds = [("shortest p99: ", p99), ("least memory: ", memory)].into_iter();
    let said = kinds.filter_map(|(what, said)| Some(format!("{what}{}", said?)));
    let said = said.collect::<Vec<_>>().join("; ");
    (!said.is_empty()).then(|| ("Without a verdict".to_owned(), said))
}

/// Says which servers have the least of a figure, and in how many loads.
fn least<'t>(
    tables: impl Iterator<Item = &'t ScenarioTable<'t>>,
    figure: impl Fn(&ServerLoad) -> Option<f64>,
) -> Option<String> {
    let first = tables.filter_map(|table| {
        let sound = table.measured.iter();
        let sound = sound.filter(|(row, load)| row.reason.is_none() && load.answers() > 0);
        let figures =
            sound.filter_map(|(row, load)| Some((row.subject.id.as_str(), figure(load)?)));
        let mut figures: Vec<(&str, f64)> = figures.collect();
        figures.sort_by(|a, b| a.1.total_cmp(&b.1));
        match figures.as_slice() {
            [(id, _), _, ..] => Some((*id, ())),
            _ => None,
        }
    });
    let mut counts = grouped(first);
    counts.sort_by_key(|(_, times)| usize::MAX - times.len());
    let loads: usize = counts.iter().map(|(_, times)| times.len()).sum();
    let said = counts
        .iter()
        .map(|(id, times)| format!("{id} in {}", times.len()));
    let said: Vec<String> = said.collect();
    let loads_in_words = units::count(loads, "load", "loads");
    (loads > 0).then(|| format!("{} of {loads_in_words}", units::list(&said)))
}
