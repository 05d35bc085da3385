//! Rows that differ in one factor: a panel for each operation and kind of token, with the rows of each
//! subject ordered by that factor.

use jeton_lab_model::result::Row;

use super::comparison::time;
use super::lines::Series;
use super::names;

/// The data of one chart.
pub(super) struct Panel<'a> {
    pub(super) operation: &'a str,
    pub(super) token: String,
    /// The rows of each subject, the smallest amount first.
    pub(super) subjects: Vec<Vec<&'a Row>>,
}

/// The factor that differs between the rows of one subject.
pub(super) struct Factor {
    /// Returns the amount of a row.
    pub(super) amount: fn(&Row) -> u64,
    /// A subject with fewer rows is not shown.
    pub(super) least: usize,
    /// Reports whether two rows of one operation and token belong in one chart.
    pub(super) alike: fn(&Row, &Row) -> bool,
}

/// Builds the panels from the rows with a time. Of two rows with the same amount, the first counts.
pub(super) fn panels<'a>(rows: impl Iterator<Item = &'a Row>, factor: &Factor) -> Vec<Panel<'a>> {
    let mut panels: Vec<Panel<'a>> = Vec::new();
    for row in rows.filter(|row| !row.reference && time(row).is_some()) {
        let token = names::token(&row.subject);
        let together = |panel: &Panel<'_>| {
            let first = panel.subjects[0][0];
            panel.operation == row.operation && panel.token == token && (factor.alike)(first, row)
        };
        let Some(index) = panels.iter().position(together) else {
            panels.push(Panel {
                operation: &row.operation,
                token,
                subjects: vec![vec![row]],
            });
            continue;
        };
        let subjects = &mut panels[index].subjects;
        let same = |rows: &&mut Vec<&Row>| rows[0].subject.id == row.subject.id;
        match subjects.iter_mut().find(same) {
            Some(rows) => rows.push(row),
            None => subjects.push(vec![row]),
        }
    }
    for panel in &mut panels {
        for rows in &mut panel.subjects {
            rows.sort_by_key(|row| (factor.amount)(row));
            rows.dedup_by_key(|row| (factor.amount)(row));
        }
        panel.subjects.retain(|rows| rows.len() >= factor.least);
    }
    panels.retain(|panel| !panel.subjects.is_empty());
    panels
}

impl Panel<'_> {
    /// Returns the shortest names that distinguish the subjects.
    pub(super) fn names(&self) -> Vec<String> {
        let first: Vec<_> = self.subjects.iter().map(|rows| &rows[0].subject).collect();
        names::distinct(&first)
    }

    /// Returns a line for each subject; `point` returns a row's position, value and interval.
    pub(super) fn series(
        &self,
        names: &[String],
        point: impl Fn(&Row) -> Option<(f64, f64, [f64; 2])>,
    ) -> Vec<Series> {
        let lines = self.subjects.iter().zip(names);
        lines
            .map(|(rows, name)| Series {
                name: name.clone(),
                points: rows.iter().filter_map(|row| point(row)).collect(),
            })
            .collect()
    }

    /// Returns the distinct amounts of all rows.
    pub(super) fn amounts(&self, factor: &Factor) -> Vec<u64> {
        let all = self.subjects.iter().flatten();
        let mut amounts: Vec<u64> = all.map(|row| (factor.amount)(row)).collect();
        amounts.sort_unstable();
        amounts.dedup();
        amounts
    }
}
