//! What does each algorithm cost? And report 2, which asked it of one library.

use super::catalogue::{Extent, Order};
use super::libraries::FULL_PEERS;
use super::offered::{Offered, own};
use super::{Cell, Contract, Format, Plan};
use crate::driver::RUNTIME_MARK;
use crate::published;

const SUITE: &str = "algorithms";

/// The algorithms of jeton that a quick run of everything shows.
const FEW_ALGS: [&str; 7] = [
    "HS256", "HS512", "RS256", "PS256", "ES256", "ES384", "EdDSA",
];

/// The content encryption that stands for all where the key management is what is asked for.
const REPRESENTATIVE_ENC: &str = "A256GCM";

pub(super) fn plan(offered: &Offered, order: Order, plan: &mut Plan) {
    let extent = order.extent;
    if extent == Extent::Narrow {
        return;
    }
    if extent != Extent::Quick || order.concurrency.is_none() {
        signatures(offered, extent, plan);
    }
    if extent > Extent::Quick {
        encryptions(offered, extent, plan);
    }
    if extent >= Extent::Quick && order.concurrency.is_some() {
        report_2(offered, plan);
    }
}

/// What every algorithm of jeton costs with the claims that libraries are compared under.
fn signatures(offered: &Offered, extent: Extent, plan: &mut Plan) {
    let shown = |cell: &&Cell| {
        let alg = cell.alg.as_deref().unwrap_or_default();
        extent > Extent::Quick || FEW_ALGS.contains(&alg)
    };
    for contract in [Contract::Sign, Contract::Verify] {
        let all = || offered.all(Format::Jwt, contract);
        let shown = all().filter(own).filter(shown);
        plan.add(SUITE, "JWT algorithms in jeton", shown);
        if extent == Extent::Full {
            by_peer(plan, "JWT algorithms", all());
        }
    }
}

/// The same of encryptions: each key management with one content encryption, or all with all.
fn encryptions(offered: &Offered, extent: Extent, plan: &mut Plan) {
    for contract in [Contract::Encrypt, Contract::Decrypt] {
        let all = || offered.all(Format::Jwe, contract);
        let shown = all()
            .filter(own)
            .filter(|c| extent == Extent::Full || c.enc.as_deref() == Some(REPRESENTATIVE_ENC));
        let shown: Vec<&Cell> = shown.collect();
        plan.add(SUITE, "JWE algorithms in jeton", cheapest_first(&shown));
        if extent == Extent::Full {
            by_peer(plan, "JWE algorithms", all());
        }
    }
}

/// Every row of report 2, with its claims and its keys.
fn report_2(offered: &Offered, plan: &mut Plan) {
    let works = published::works(2, 1);
    let cells: Vec<Cell> = works.iter().filter_map(|w| offered.doing(w)).collect();
    for (title, contracts) in [
        ("report 2's signatures", [Contract::Sign, Contract::Verify]),
        (
            "report 2's encryptions",
            [Contract::Encrypt, Contract::Decrypt],
        ),
    ] {
        for contract in contracts {
            let cells: Vec<&Cell> = cells.iter().filter(|c| c.contract == contract).collect();
            plan.add(SUITE, title, cheapest_first(&cells));
        }
    }
}

/// The cheapest is what the others are measured against.
fn cheapest_first<'a>(cells: &[&'a Cell]) -> impl Iterator<Item = &'a Cell> {
    let is_cheapest = |c: &&&Cell| matches!(c.alg.as_deref(), Some("dir" | "HS256"));
    let (cheapest, others): (Vec<&Cell>, Vec<&Cell>) = cells.iter().partition(|c| is_cheapest(c));
    cheapest.into_iter().chain(others)
}

/// Each library's algorithms in a comparison of their own.
fn by_peer<'a>(plan: &mut Plan, what: &str, cells: impl Iterator<Item = &'a Cell>) {
    let cells: Vec<&Cell> = cells.filter(|c| !own(c)).collect();
    let is_peer = |c: &&&Cell| FULL_PEERS.iter().any(|peer| c.is_of(peer));
    let mut drivers: Vec<&str> = Vec::new();
    for peer in cells.iter().filter(is_peer) {
        if !drivers.contains(&peer.driver.as_str()) {
            drivers.push(&peer.driver);
        }
    }
    let order = |driver: &&str| {
        FULL_PEERS
            .iter()
            .position(|peer| driver.split(RUNTIME_MARK).next() == Some(peer))
    };
    drivers.sort_by_key(order);
    for driver in drivers {
        let of_peer: Vec<&Cell> = cells
            .iter()
            .filter(|c| c.driver == driver)
            .copied()
            .collect();
        if let Some(first) = of_peer.first() {
            let title = match driver.contains(RUNTIME_MARK) {
                true => format!("{what} in {}", first.library_in_words()),
                false => format!("{what} in {}", first.library),
            };
            plan.add(SUITE, &title, of_peer.into_iter());
        }
    }
}
