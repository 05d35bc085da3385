//! What a reader of server results must know first.

use jeton_lab_model::result::{ServerLoad, ServerRow};
use jeton_lab_model::units;

use super::{Compared, ScenarioTable, scenarios};

/// Returns what a reader must know first: which server came out best how often, then servers with faults
/// and servers without figures.
#[must_use]
pub fn findings(rows: &[ServerRow]) -> Vec<(String, String)> {
    let tables = scenarios(rows);
    let compared: Vec<&ScenarioTable<'_>> = tables
        .iter()
        .filter(|table| table.measured.len() > 1 && table.best().is_some())
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
    let mut quantities: Counts<Compared> = Vec::new();
    let mut counted: Vec<(Vec<&str>, Counts<Compared>)> = Vec::new();
    for table in compared {
        let quantity = table.compared();
        count(&mut quantities, quantity);
        let leaders = table.leaders();
        match counted.iter_mut().find(|(known, _)| *known == leaders) {
            Some((_, times)) => count(times, quantity),
            None => counted.push((leaders, vec![(quantity, 1)])),
        }
    }
    let total = |times: &[(Compared, usize)]| times.iter().map(|(_, times)| times).sum::<usize>();
    // Those alone first, then those who came out best most often.
    counted.sort_by_key(|(leaders, times)| (leaders.len() > 1, usize::MAX - total(times)));
    let said = |times: &[(Compared, usize)]| {
        let one = |(quantity, times): &(Compared, usize)| {
            let all = quantities.iter().find(|(known, _)| known == quantity);
            let all = all.map_or(*times, |(_, all)| *all);
            let loads = units::count(all, "load", "loads");
            format!("{times} of {loads} {}", quantity.name())
        };
        let said: Vec<String> = times.iter().map(one).collect();
        said.join("; in ")
    };
    let one = |(leaders, times): (Vec<&str>, Counts<Compared>)| match leaders.as_slice() {
        [alone] => (
            (*alone).to_owned(),
            format!("alone the best in {}", said(&times)),
        ),
        several => (
            "Undecided".to_owned(),
            format!(
                "the repetitions of {} overlap in {}",
                units::list(several),
                said(&times)
            ),
        ),
    };
    let mut found: Vec<_> = counted.into_iter().map(one).collect();
    found.extend(others(compared));
    found
}

/// How often each of several things occurred.
type Counts<T> = Vec<(T, usize)>;

fn count<T: PartialEq>(counts: &mut Counts<T>, one: T) {
    match counts.iter_mut().find(|(known, _)| *known == one) {
        Some((_, times)) => *times += 1,
        None => counts.push((one, 1)),
    }
}

/// Counts who has the shortest p99 and the least memory: figures without an interval, and without a verdict.
fn others(compared: &[&ScenarioTable<'_>]) -> Option<(String, String)> {
    let counted = |tables: &[&&ScenarioTable<'_>], figure: fn(&ServerLoad) -> Option<f64>| {
        let mut counts: Counts<&str> = Vec::new();
        let mut loads = 0;
        for table in tables {
            let sound = table.measured.iter();
            let sound = sound.filter(|(row, load)| row.reason.is_none() && load.answers() > 0);
            let figures =
                sound.filter_map(|(row, load)| Some((row.subject.id.as_str(), figure(load)?)));
            let mut figures: Vec<(&str, f64)> = figures.collect();
            figures.sort_by(|a, b| a.1.total_cmp(&b.1));
            if let [(id, _), _, ..] = figures.as_slice() {
                loads += 1;
                count(&mut counts, *id);
            }
        }
        counts.sort_by_key(|(_, times)| usize::MAX - times);
        let one = |(id, times): &(&str, usize)| format!("{id} in {times}");
        let said = units::list(&counts.iter().map(one).collect::<Vec<_>>());
        (loads > 0).then(|| format!("{said} of {}", units::count(loads, "load", "loads")))
    };
    let all: Vec<&&ScenarioTable<'_>> = compared.iter().collect();
    // On shared cores the loader delays answers too; at a fixed rate, p99 has a verdict.
    let is_timed = |table: &&&ScenarioTable<'_>| !table.oversubscribed && table.rate.is_none();
    let timed: Vec<&&ScenarioTable<'_>> = compared.iter().filter(is_timed).collect();
    let p99 = counted(&timed, |load| {
        let worth = Compared::Latency.worth(load);
        (worth > 0.0).then(|| worth.recip())
    });
    #[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
    let memory = counted(&all, |load| load.peak_rss_bytes.map(|bytes| bytes as f64));
    let kinds = [("shortest p99: ", p99), ("least memory: ", memory)];
    let said = kinds
        .into_iter()
        .filter_map(|(what, said)| Some(format!("{what}{}", said?)));
    let said: Vec<String> = said.collect();
    (!said.is_empty()).then(|| ("Without a verdict".to_owned(), said.join("; ")))
}
