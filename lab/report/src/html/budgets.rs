//! Which tokens fit a cookie or a header line, with the limits of browsers and servers.

use maud::{Markup, html};

use crate::recommendation::budgets::{Budget, USUAL};
use crate::table::{Column, Page, Value};

use super::units;
use jeton_lab_model::result::ClaimsSet;

/// With more kinds of token than this, only their number is shown.
const NAMED_MAX: usize = 3;

/// The tokens of one claims set.
pub(super) struct Set<'a> {
    pub(super) claims: &'a ClaimsSet,
    /// Smallest first.
    pub(super) sizes: Vec<Size>,
}

/// Tokens of one kind and length, and the libraries that made them.
pub(super) struct Size {
    pub(super) token: String,
    pub(super) bytes: u64,
    pub(super) makers: Vec<String>,
}

pub(super) fn section(sets: &[Set<'_>]) -> Markup {
    html! {
        h3 #budgets { "Cookie and header limits" }
        p {
            "Bytes around a token count too: " code { (USUAL[0].carrier.around()) } ", and "
            code { (USUAL[1].carrier.around()) } ". Set your own limit: "
            code { "jeton-lab report results.json --need header-budget=4096" } "."
        }
        (Page::new("Tokens that fit, by claims set", "").labelled_by("budgets").figures().table(&columns(), sets))
        ul.note {
            @for budget in &USUAL { li { (units::whole(budget.bytes)) " bytes: " (budget.whose) "." } }
        }
    }
}

fn columns<'a>() -> Vec<Column<'a, Set<'a>>> {
    let claims = Column::text("claims set", |set: &Set<'_>| {
        let (name, bytes) = (&set.claims.name, units::whole(set.claims.bytes));
        Value::text(format!("{name} {bytes} bytes"))
            .on_page(html! { (name) " " small { (bytes) " bytes" } })
    });
    let lengths = Column::number("bytes", |set: &Set<'_>| {
        let ends = set.sizes.first().zip(set.sizes.last());
        ends.map_or_else(Value::none, |(shortest, longest)| {
            let shown = if longest.bytes == shortest.bytes {
                units::whole(shortest.bytes)
            } else {
                let [low, high] = [shortest, longest].map(|size| units::whole(size.bytes));
                format!("{low} – {high}")
            };
            Value::number(longest.bytes, shown)
        })
    });
    let limit = |budget: &'static Budget| {
        let title = format!(
            "{} of {}",
            budget.carrier.name(),
            units::whole(budget.bytes)
        );
        Column::text(&title, move |set: &Set<'_>| fits(&set.sizes, budget))
    };
    let columns = [claims, lengths.titled("tokens, bytes")].into_iter();
    columns.chain(USUAL.iter().map(limit)).collect()
}

/// Reports which sizes fit the budget. A kind of token with several sizes counts with its longest.
fn fits(sizes: &[Size], budget: &Budget) -> Value {
    let does = |size: &&Size| budget.carrier.with(size.bytes) <= budget.bytes;
    let too_long: Vec<&Size> = sizes.iter().filter(|size| !does(size)).collect();
    if too_long.is_empty() {
        let all = "all fit";
        return Value::text(all).on_page(html! { span.tag.good { (all) } });
    }
    if too_long.len() == sizes.len() {
        let none = "none fit";
        return Value::text(none).on_page(html! { span.tag.bad { (none) } });
    }
    let mut kinds: Vec<&str> = too_long.iter().map(|size| size.token.as_str()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let which = if kinds.len() <= NAMED_MAX {
        units::list(&kinds)
    } else {
        units::count(kinds.len(), "kind of token", "kinds of token")
    };
    Value::text(format!("not all: {which} too long"))
        .on_page(html! { span.tag.warn { "not all" } " " small { (which) " too long" } })
}
