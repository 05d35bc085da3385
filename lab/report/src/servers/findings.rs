//! What a reader of server results must know first.

use jeton_lab_model::result::ServerRow;
use jeton_lab_model::units;

use super::{ScenarioTable, scenarios};

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
        let mark = match (row.subject.as_published, &row.load) {
            (true, _) => " (original)",
            (false, Some(_)) => "",
            (false, None) => " (not measured)",
        };
        let one = (format!("{}{mark}", row.subject.id), reason.clone());
        if !found.contains(&one) {
            found.push(one);
        }
    }
    found
}

/// Counts for each server, and for each set of servers that cannot be told apart, in how many loads it came
/// out best.
fn best(compared: &[&ScenarioTable<'_>]) -> Vec<(String, String)> {
    let mut counted: Vec<(Vec<&str>, usize)> = Vec::new();
    for leaders in compared.iter().map(|table| table.leaders()) {
        match counted.iter_mut().find(|(known, _)| *known == leaders) {
            Some((_, times)) => *times += 1,
            None => counted.push((leaders, 1)),
        }
    }
    // Those alone first, then those who came out best most often.
    counted.sort_by_key(|(leaders, times)| (leaders.len() > 1, usize::MAX - times));
    let loads = units::count(compared.len(), "load", "loads");
    let mut quantities: Vec<&str> = Vec::new();
    for table in compared {
        if !quantities.contains(&table.compared().name()) {
            quantities.push(table.compared().name());
        }
    }
    let by = quantities.join(" or ");
    let one = |(leaders, times): (Vec<&str>, usize)| match leaders.as_slice() {
        [alone] => (
            (*alone).to_owned(),
            format!("alone the best in {times} of {loads}, by {by}"),
        ),
        several => (
            "Undecided".to_owned(),
            format!(
                "the repetitions of {} overlap in {times} of {loads}",
                units::list(several)
            ),
        ),
    };
    counted.into_iter().map(one).collect()
}
