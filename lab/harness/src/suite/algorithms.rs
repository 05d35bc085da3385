//! The suite `algorithms`: the cost of each algorithm, and the measurements of report 2.

use std::iter;

use super::Plan;
use super::libraries::FULL_PEERS;
use super::offered::{Offered, own};
use super::order::{Extent, Order};
use jeton_lab_model::result::RUNTIME_MARK;
use jeton_lab_model::{Case, Format, Operation};

const SUITE: &str = "algorithms";

/// The algorithms of jeton in a quick run of all suites.
const FEW_ALGS: [&str; 7] = [
    "HS256", "HS512", "RS256", "PS256", "ES256", "ES384", "EdDSA",
];

/// The libraries that repeat report 2 in its language. jeton for Java has no RSA1_5.
const REPORT_2_IN_JAVA: [&str; 3] = ["java/jeton", "java/json-web-token", "java/nimbus-jose-jwt"];

/// The content encryption used when the key management is compared.
const REPRESENTATIVE_ENC: &str = "A256GCM";

pub(super) fn plan(offered: &Offered, order: Order<'_>, plan: &mut Plan) {
    let extent = order.extent;
    if extent == Extent::Narrow {
        return;
    }
    if extent != Extent::Quick || order.reported.is_empty() {
        signatures(offered, extent, plan);
    }
    if extent > Extent::Quick {
        encryptions(offered, extent, plan);
    }
    report_2(order, plan);
    // The Java libraries are three hundred rows more; a request by name has few of them.
    if extent > Extent::Usual || extent == Extent::Usual && order.by_name {
        report_2_in_java(offered, order, plan);
    }
}

/// Adds every algorithm of jeton, with the same claims as the comparison of libraries.
fn signatures(offered: &Offered, extent: Extent, plan: &mut Plan) {
    let shown = |case: &&Case| {
        let alg = case.alg.as_deref().unwrap_or_default();
        extent > Extent::Quick || FEW_ALGS.contains(&alg)
    };
    for operation in [Operation::Sign, Operation::Verify] {
        let all = || offered.all(Format::Jwt, operation);
        let shown = all().filter(own).filter(shown);
        plan.add(SUITE, "JWT algorithms in jeton", shown);
        if extent == Extent::Full {
            by_peer(plan, "JWT algorithms", all());
        }
    }
}

/// Adds the encryptions: each key management with one content encryption, or all with all.
fn encryptions(offered: &Offered, extent: Extent, plan: &mut Plan) {
    for operation in [Operation::Encrypt, Operation::Decrypt] {
        let all = || offered.all(Format::Jwe, operation);
        let shown = all()
            .filter(own)
            .filter(|c| extent == Extent::Full || c.enc.as_deref() == Some(REPRESENTATIVE_ENC));
        let shown: Vec<&Case> = shown.collect();
        plan.add(SUITE, "JWE algorithms in jeton", cheapest_first(&shown));
        if extent == Extent::Full {
            by_peer(plan, "JWE algorithms", all());
        }
    }
}

/// Adds every row of report 2, with its claims and keys.
fn report_2(order: Order<'_>, plan: &mut Plan) {
    let cases = order.cases(2);
    for (title, operations) in [
        (
            "report 2's signatures",
            [Operation::Sign, Operation::Verify],
        ),
        (
            "report 2's encryptions",
            [Operation::Encrypt, Operation::Decrypt],
        ),
    ] {
        for operation in operations {
            let cases = cases.iter().filter(|c| c.operation == operation);
            let cases: Vec<&Case> = cases.copied().collect();
            plan.add(SUITE, title, cheapest_first(&cases));
        }
    }
}

/// Adds every row of report 2 in Java, each beside jeton: in the report's own library as its successor
/// maintains it, and in two others.
fn report_2_in_java(offered: &Offered, order: Order<'_>, plan: &mut Plan) {
    for row in order.cases(2) {
        let (alg, enc) = (row.alg.as_deref(), row.enc.as_deref());
        let same = offered.of(row.format, alg, enc, row.operation);
        let in_java = same.filter(|c| REPORT_2_IN_JAVA.iter().any(|driver| c.is_of(driver)));
        let as_in_row = |case: &Case| Case {
            key_bits: row.key_bits,
            claims: row.claims.clone(),
            threads: row.threads,
            ..case.clone()
        };
        let in_java: Vec<Case> = in_java.map(as_in_row).collect();
        let title = format!("report 2 in Java: {}", row.effective_alg());
        plan.add(SUITE, &title, iter::once(row).chain(&in_java));
    }
}

/// Orders the cheapest first; it is the baseline.
fn cheapest_first<'a>(cases: &[&'a Case]) -> impl Iterator<Item = &'a Case> {
    let is_cheapest = |c: &&&Case| matches!(c.alg.as_deref(), Some("dir" | "HS256"));
    let (cheapest, others): (Vec<&Case>, Vec<&Case>) = cases.iter().partition(|c| is_cheapest(c));
    cheapest.into_iter().chain(others)
}

/// Adds a comparison of algorithms within each library.
fn by_peer<'a>(plan: &mut Plan, what: &str, cases: impl Iterator<Item = &'a Case>) {
    let cases: Vec<&Case> = cases.filter(|c| !own(c)).collect();
    let is_peer = |c: &&&Case| FULL_PEERS.iter().any(|peer| c.is_of(peer));
    let mut drivers: Vec<&str> = Vec::new();
    for peer in cases.iter().filter(is_peer) {
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
        let of_peer: Vec<&Case> = cases
            .iter()
            .filter(|c| c.driver == driver)
            .copied()
            .collect();
        if let Some(first) = of_peer.first() {
            let title = if driver.contains(RUNTIME_MARK) {
                format!("{what} in {}", first.library_in_words())
            } else {
                format!("{what} in {}", first.library)
            };
            plan.add(SUITE, &title, of_peer.into_iter());
        }
    }
}
