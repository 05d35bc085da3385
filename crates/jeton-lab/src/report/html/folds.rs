//! Comparisons by suite and contract, each group under its heading; in a long page all but the first
//! are folded.

use maud::{Markup, html};

use super::comparison::Comparison;
use super::units;

/// A page of more comparisons is folded: nobody reads a hundred charts from top to bottom.
const UNFOLDED_MAX: usize = 16;

/// Comparisons of one suite and contract.
#[derive(Clone, Copy)]
pub(super) struct ComparisonSet<'c, 'a> {
    pub(super) comparisons: &'c [Comparison<'a>],
    fold: Fold,
}

#[derive(Clone, Copy)]
enum Fold {
    /// The page is short: there is nothing to open.
    Never,
    Open,
    Closed,
}

/// The groups in their order. Comparisons arrive ordered by suite and contract: neighbours with the
/// same pair are a group.
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
    /// "Libraries: sign".
    pub(super) fn heading(self) -> String {
        let first = &self.comparisons[0];
        format!("{}: {}", units::capitalised(first.suite), first.operation)
    }

    /// The HTML id of its charts.
    pub(super) fn anchor(self) -> String {
        format!("group-{}", self.comparisons[0].anchor)
    }

    /// Its heading, with an id if it has one, and what is below it.
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
