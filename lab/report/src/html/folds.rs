//! Sets of comparisons by suite and operation; the page folds all sets except one.

use maud::{Markup, html};

use super::comparison::Comparison;
use super::units;

/// The comparisons of one suite and operation.
#[derive(Clone, Copy)]
pub(super) struct ComparisonSet<'c, 'a> {
    pub(super) comparisons: &'c [Comparison<'a>],
    is_open: bool,
}

/// Splits the comparisons into sets. They arrive ordered by suite and operation, so neighbours with
/// the same pair form a set. The set with the comparison `opened` is open.
pub(super) fn sets<'c, 'a>(
    comparisons: &'c [Comparison<'a>],
    opened: usize,
) -> Vec<ComparisonSet<'c, 'a>> {
    let mut first = 0;
    let parts = comparisons.chunk_by(|a, b| a.suite == b.suite && a.operation == b.operation);
    let sets = parts.map(|comparisons| {
        let range = first..first + comparisons.len();
        first = range.end;
        ComparisonSet {
            comparisons,
            is_open: range.contains(&opened),
        }
    });
    sets.collect()
}

impl ComparisonSet<'_, '_> {
    /// Returns the heading, for example "Libraries: sign".
    pub(super) fn heading(self) -> String {
        let first = &self.comparisons[0];
        format!("{}: {}", units::capitalised(first.suite), first.operation)
    }

    /// Returns the HTML id of the charts.
    pub(super) fn anchor(self) -> String {
        format!("group-{}", self.comparisons[0].anchor)
    }

    /// Renders the heading, with an optional id, and the body.
    pub(super) fn shown(self, id: Option<&str>, body: &Markup) -> Markup {
        let heading = html! { h3 id=[id] { (self.heading()) } };
        let count = units::count(self.comparisons.len(), "comparison", "comparisons");
        html! {
            details.fold open[self.is_open] {
                summary { (heading) " " small { (count) } }
                (body)
            }
        }
    }
}
