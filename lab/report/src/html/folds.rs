//! Sets of comparisons by suite and operation; a long page folds all sets except the first.

use maud::{Markup, html};

use super::comparison::Comparison;
use super::units;

/// With more comparisons than this, the page folds its groups of comparisons.
const UNFOLDED_MAX: usize = 16;

/// The comparisons of one suite and operation.
#[derive(Clone, Copy)]
pub(super) struct ComparisonSet<'c, 'a> {
    pub(super) comparisons: &'c [Comparison<'a>],
    fold: Fold,
}

#[derive(Clone, Copy)]
enum Fold {
    /// The page is short and nothing is folded.
    Never,
    Open,
    Closed,
}

/// Splits the comparisons into sets. They arrive ordered by suite and operation, so neighbours with
/// the same pair form a set.
pub(super) fn sets<'c, 'a>(comparisons: &'c [Comparison<'a>]) -> Vec<ComparisonSet<'c, 'a>> {
    let is_long = comparisons.len() > UNFOLDED_MAX;
    let parts = comparisons.chunk_by(|a, b| a.suite == b.suite && a.operation == b.operation);
    let sets = parts
        .enumerate()
        .map(|(number, comparisons)| ComparisonSet {
            comparisons,
            fold: match (is_long, number) {
                (false, _) => Fold::Never,
                (true, 0) => Fold::Open,
                (true, _) => Fold::Closed,
            },
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
        let open = match self.fold {
            Fold::Never => return html! { (heading) (body) },
            Fold::Open => true,
            Fold::Closed => false,
        };
        html! {
            details.fold open[open] {
                summary { (heading) " " small { (count) } }
                (body)
            }
        }
    }
}
