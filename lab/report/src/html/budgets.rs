//! Which tokens fit a cookie or a header line, with the limits of browsers and servers.

use maud::{Markup, html};

use crate::recommendation::budgets::{Budget, USUAL};

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
            code { "jeton lab report results.json --need header-budget=4096" } "."
        }
        div.scroll tabindex="0" role="region" aria-labelledby="budgets" {
            table.figures {
                caption { "Tokens that fit, by claims set" }
                thead { tr {
                    th.text scope="col" { "Claims set" }
                    th scope="col" { "Tokens, bytes" }
                    @for budget in &USUAL {
                        th.text scope="col" { (units::capitalised(budget.carrier.name())) " of " (units::whole(budget.bytes)) }
                    }
                } }
                tbody { @for set in sets { (line(set)) } }
            }
        }
        ul.note {
            @for budget in &USUAL { li { (units::whole(budget.bytes)) " bytes: " (budget.whose) "." } }
        }
    }
}

fn line(set: &Set<'_>) -> Markup {
    let ends = set.sizes.first().zip(set.sizes.last());
    html! {
        tr {
            th scope="row" { (set.claims.name) " " small { (units::whole(set.claims.bytes)) " bytes" } }
            td {
                @if let Some((shortest, longest)) = ends {
                    (units::whole(shortest.bytes))
                    @if longest.bytes != shortest.bytes { " – " (units::whole(longest.bytes)) }
                }
            }
            @for budget in &USUAL { td.text { (fits(&set.sizes, budget)) } }
        }
    }
}

/// Reports which sizes fit the budget. A kind of token with several sizes counts with its longest.
fn fits(sizes: &[Size], budget: &Budget) -> Markup {
    let does = |size: &&Size| budget.carrier.with(size.bytes) <= budget.bytes;
    let too_long: Vec<&Size> = sizes.iter().filter(|size| !does(size)).collect();
    if too_long.is_empty() {
        return html! { span.tag.good { "all fit" } };
    }
    if too_long.len() == sizes.len() {
        return html! { span.tag.bad { "none fit" } };
    }
    let mut kinds: Vec<&str> = too_long.iter().map(|size| size.token.as_str()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    html! {
        span.tag.warn { "not all" } " "
        small {
            @if kinds.len() <= NAMED_MAX { (units::list(&kinds)) " too long" }
            @else { (units::count(kinds.len(), "kind of token", "kinds of token")) " too long" }
        }
    }
}
