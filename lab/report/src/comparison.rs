//! Groups the rows and verdicts of a result by comparison, for a chart and its table.

mod columns;

use jeton_lab_model::result::{Row, RunResult, Status, Timing, Verdict};

use crate::grouped::{distinct, grouped};
use crate::section::Section;
use jeton_lab_model::{names, units};
use maud::{Markup, html};

pub(crate) use columns::{Shared, columns, reason, terminal_time};

/// The data of one chart and its table: one suite, one operation, one comparison.
#[derive(Default)]
pub(crate) struct Comparison<'a> {
    /// The HTML id of the heading, unique on the page.
    pub(crate) anchor: String,
    pub(crate) title: String,
    pub(crate) suite: &'a str,
    pub(crate) operation: &'a str,
    /// The factors that differ: one, or several if confounded.
    pub(crate) factors: Vec<&'a str>,
    pub(crate) confounded: bool,
    /// Measured subjects, the fastest first.
    pub(crate) entries: Vec<Entry<'a>>,
    /// Bare primitives: drawn, not compared.
    pub(crate) references: Vec<Entry<'a>>,
    /// Subjects of this comparison that have no time.
    pub(crate) missing: Vec<Entry<'a>>,
}

/// One row in a comparison.
pub(crate) struct Entry<'a> {
    pub(crate) row: &'a Row,
    pub(crate) name: String,
    pub(crate) role: Role<'a>,
}

/// The role of an entry in its comparison.
#[derive(Clone, Copy)]
pub(crate) enum Role<'a> {
    /// With its group.
    Baseline(Option<u32>),
    Compared(&'a Verdict),
    Reference,
    /// Without a verdict, measured or not.
    Alone,
}

impl<'a> Comparison<'a> {
    /// Returns the HTML id of the table.
    pub(crate) fn table_id(&self) -> String {
        let number = self.anchor.split('-').next().unwrap_or_default();
        format!("{number}-table")
    }

    pub(crate) fn baseline(&self) -> Option<&Entry<'a>> {
        let mut entries = self.entries.iter();
        entries.find(|entry| matches!(entry.role, Role::Baseline(_)))
    }

    /// Renders the tag of a comparison in which more than one factor differs.
    pub(crate) fn tag(&self) -> Markup {
        html! { @if self.confounded { span.tag.warn { "confounded" } } }
    }
}

/// The comparisons of one suite and operation, which are neighbours.
pub(crate) fn sets<'c, 'a>(
    comparisons: &'c [Comparison<'a>],
) -> impl Iterator<Item = &'c [Comparison<'a>]> {
    comparisons.chunk_by(|a, b| (a.suite, a.operation) == (b.suite, b.operation))
}

/// Returns the section of a set, for example "Libraries: sign", with the number of its comparisons.
pub(crate) fn of_set(set: &[Comparison<'_>]) -> Section {
    let count = units::count(set.len(), "comparison", "comparisons");
    Section::new(set_heading(&set[0])).beside(html! { small { (count) } })
}

/// Returns the heading of the set that begins with a comparison.
pub(crate) fn set_heading(first: &Comparison<'_>) -> String {
    format!("{}: {}", units::capitalised(first.suite), first.operation)
}

impl Role<'_> {
    pub(crate) fn group(self) -> Option<u32> {
        match self {
            Self::Compared(verdict) => Some(verdict.group),
            Self::Baseline(group) => group,
            Self::Reference | Self::Alone => None,
        }
    }
}

/// Returns the time of a row, if it was measured and can be drawn.
pub(crate) fn time(row: &Row) -> Option<&Timing> {
    row.ns_per_op.as_ref().filter(|t| {
        matches!(row.status, Status::Ok | Status::Disturbed)
            && t.median.is_finite()
            && t.median > 0.0
    })
}

/// Returns every comparison of the result, ordered by suite and operation as they first appear.
/// Measured rows without a verdict are included.
pub(crate) fn comparisons(result: &RunResult) -> Vec<Comparison<'_>> {
    let mut taken = vec![false; result.rows.measured.len()];
    let mut found = judged(result, &mut taken);
    add_unjudged(result, &taken, &mut found);
    found.retain(|comparison| !comparison.entries.is_empty());
    for comparison in &mut found {
        add_references_and_missing(result, comparison);
        let median = |entry: &Entry<'_>| time(entry.row).map_or(f64::MAX, |time| time.median);
        let entries = &mut comparison.entries;
        entries.sort_by(|a, b| median(a).total_cmp(&median(b)));
        let measured: Vec<_> = entries.iter().map(|e| &e.row.subject).collect();
        for (entry, name) in entries.iter_mut().zip(names::distinct(&measured)) {
            entry.name = name;
        }
    }
    order(result, &mut found);
    for (number, comparison) in found.iter_mut().enumerate() {
        comparison.anchor = names::anchor(number + 1, &comparison.title);
    }
    found
}

fn judged<'a>(result: &'a RunResult, taken: &mut [bool]) -> Vec<Comparison<'a>> {
    let titled = result.verdicts.iter();
    let titled = titled.map(|verdict| (&verdict.comparison, verdict));
    let comparison = |(title, verdicts): (&String, Vec<&'a Verdict>)| {
        let factors = verdicts.iter().flat_map(|verdict| &verdict.factors);
        let mut entries: Vec<Entry<'a>> = Vec::new();
        for verdict in &verdicts {
            let (baseline, group) = (&verdict.baseline, verdict.baseline_group);
            let compared = (&verdict.subject, Role::Compared(verdict));
            for (id, role) in [(baseline, Role::Baseline(group)), compared] {
                let is_known = entries.iter().any(|entry| entry.row.subject.id == *id);
                if let (false, Some(row)) = (is_known, place_of(result, verdict, id)) {
                    taken[row] = true;
                    entries.push(entry(&result.rows.measured[row], role));
                }
            }
        }
        Comparison {
            title: title.clone(),
            suite: &verdicts[0].suite,
            operation: &verdicts[0].operation,
            confounded: verdicts.iter().any(|verdict| verdict.confounded),
            factors: distinct(factors.map(String::as_str)),
            entries,
            ..Comparison::default()
        }
    };
    grouped(titled).into_iter().map(comparison).collect()
}

/// Finds the index of a verdict's row. A row of several suites is in the file once, under the first
/// suite. If each suite has its own row, the suite decides.
fn place_of(result: &RunResult, verdict: &Verdict, id: &str) -> Option<usize> {
    let rows = result.rows.measured.iter().enumerate();
    let about = rows.filter(|(_, row)| verdict.is_about(row, id) && time(row).is_some());
    let nearest = about.min_by_key(|(_, row)| row.suite != verdict.suite)?;
    Some(nearest.0)
}

/// Adds measured rows without a verdict to the chart of the same work, or to a new chart.
fn add_unjudged<'a>(result: &'a RunResult, taken: &[bool], found: &mut Vec<Comparison<'a>>) {
    let rows = result.rows.measured.iter().zip(taken);
    let rows = rows.filter(|(row, taken)| !*taken && !row.reference && time(row).is_some());
    for (row, _) in rows {
        let is_same = |e: &Entry<'_>| same_work(e.row, row) && same_token(e.row, row);
        let is_home = |c: &Comparison<'_>| {
            !c.confounded && c.suite == row.suite && c.entries.iter().any(is_same)
        };
        let home = found.iter().position(is_home).unwrap_or_else(|| {
            let (suite, operation, claims) = (&row.suite, &row.operation, &row.claims.name);
            let threads = match row.threads {
                0 | 1 => String::new(),
                several => format!(", {several} threads"),
            };
            let token = names::token(&row.subject);
            found.push(Comparison {
                title: format!("{suite}: {operation}, {token}, {claims} claims{threads}"),
                suite,
                operation,
                ..Comparison::default()
            });
            found.len() - 1
        });
        found[home].entries.push(entry(row, Role::Alone));
    }
}

/// Adds the bare primitives of the compared subjects, and the subjects without a time. Bare primitives may
/// belong to any suite; subjects without a time belong to the comparison's suite.
fn add_references_and_missing<'a>(result: &'a RunResult, comparison: &mut Comparison<'a>) {
    for row in &result.rows.measured {
        let belongs = comparison.entries.iter().any(|entry| {
            let is_same = if row.reference {
                names::primitive(&entry.row.subject) == names::primitive(&row.subject)
            } else {
                row.suite == comparison.suite && same_token(entry.row, row)
            };
            is_same && same_work(entry.row, row)
        });
        let role = if row.reference {
            Role::Reference
        } else {
            Role::Alone
        };
        match time(row) {
            _ if !belongs => {}
            None => comparison.missing.push(entry(row, role)),
            Some(_) if row.reference => comparison.references.push(entry(row, role)),
            Some(_) => {}
        }
    }
}

/// Orders by suite and operation, as the rows first name them.
fn order<'a>(result: &RunResult, found: &mut [Comparison<'a>]) {
    let first = |is_it: &dyn Fn(&Row) -> bool| result.rows.measured.iter().position(is_it);
    let last = usize::MAX;
    let place = |wanted: &Comparison<'a>| {
        let of_suite = |row: &Row| row.suite == wanted.suite;
        let of_operation = |row: &Row| row.operation == wanted.operation;
        // All rows of a comparison may belong to another suite.
        let operation = first(&|row| of_suite(row) && of_operation(row));
        let operation = operation.or_else(|| first(&of_operation));
        (
            first(&of_suite).unwrap_or(last),
            wanted.suite,
            operation.unwrap_or(last),
            wanted.confounded,
        )
    };
    found.sort_by_key(place);
}

/// Reports whether operation, claims and threads are the same.
fn same_work(a: &Row, b: &Row) -> bool {
    a.operation == b.operation && a.claims.name == b.claims.name && a.threads == b.threads
}

fn same_token(a: &Row, b: &Row) -> bool {
    names::token(&a.subject) == names::token(&b.subject)
}

/// Creates an entry that is named by its library.
pub(crate) fn entry<'a>(row: &'a Row, role: Role<'a>) -> Entry<'a> {
    Entry {
        row,
        name: row.subject.library.clone(),
        role,
    }
}
