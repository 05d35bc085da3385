//! The suite `formats`: JWT or PASETO with the same claims, and the measurements of report 1.

use super::Plan;
use super::offered::{Offered, own};
use super::order::{Extent, Order};
use jeton_lab_model::{Case, Format, KeyForm, KeyHandling, Operation};

const SUITE: &str = "formats";

/// The pair that report 1 compared as "JWT against PASETO".
const REPORT_1: &str = "report 1's pair: golang-jwt ES256 or go-paseto v4.public";

/// The same question with the format as the only factor.
const SAME_ALG: &str = "JWT or v4.public, both Ed25519 in jeton";

pub(super) fn plan(offered: &Offered, order: Order<'_>, plan: &mut Plan) {
    let extent = order.extent;
    for operation in [Operation::Sign, Operation::Verify, Operation::RoundTrip] {
        let back = match operation {
            Operation::RoundTrip if extent < Extent::Usual => continue,
            Operation::RoundTrip => " there and back",
            _ => "",
        };
        let mut add = |title: &str, cases: &mut dyn Iterator<Item = &Case>| {
            plan.add(SUITE, &format!("{title}{back}"), cases);
        };
        let signed = || offered.of(Format::V4Public, None, None, operation);
        let local = || offered.of(Format::V4Local, None, None, operation);
        let jwt = offered.jwt("EdDSA", operation).filter(own);
        add(SAME_ALG, &mut jwt.chain(signed().filter(own)));
        add("v4.public", &mut signed());
        add("v4.local", &mut local());
        add(REPORT_1, &mut report_1_pair(offered, operation));
        if extent >= Extent::Usual {
            let older = (operation != Operation::RoundTrip).then(older_pasetos);
            for format in older.into_iter().flatten() {
                add(
                    format.name(),
                    &mut offered.of(format, None, None, operation),
                );
            }
            let opaque = offered.of(Format::Opaque, None, None, operation);
            plan.add_references(SUITE, opaque);
        }
    }
    if order.repeats_pairs() {
        report_1(order, plan);
    }
    if extent < Extent::Usual {
        return;
    }
    for operation in [Operation::Encrypt, Operation::Decrypt] {
        let jwe = offered.of(Format::Jwe, Some("dir"), Some("A256GCM"), operation);
        let local = offered.of(Format::V4Local, None, None, operation);
        let title = "JWE dir with A256GCM or v4.local, in jeton";
        plan.add(SUITE, title, jwe.filter(own).chain(local.filter(own)));
    }
    keys(offered, plan);
}

fn keys(offered: &Offered, plan: &mut Plan) {
    for format in [Format::V4Public, Format::V4Local] {
        let title = format!("Keys of {format}");
        let made = offered.of(format, None, None, Operation::GenerateKey);
        plan.add(SUITE, &title, made);
        let handling = KeyHandling::Text(KeyForm::Paserk);
        let loaded = offered.handled(handling, format, None, None, Operation::LoadKey);
        plan.add(SUITE, &title, loaded);
    }
}

/// Adds what report 1 measured, and the same question with the format as the only factor: payloads, sizes,
/// concurrency, keys.
fn report_1(order: Order<'_>, plan: &mut Plan) {
    let kind = |case: &Case| {
        let is_own = own(&case);
        (is_own, case.operation, case.claims.clone(), case.threads)
    };
    let cases = order.cases(1);
    let mut done = Vec::new();
    for first in &cases {
        let kind_of_first = kind(first);
        if done.contains(&kind_of_first) {
            continue;
        }
        let same = cases.iter().filter(|case| kind(case) == kind_of_first);
        let mut pair: Vec<&Case> = same.copied().collect();
        pair.sort_by_key(|case| case.format.is_paseto());
        let title = match (own(first), first.operation) {
            // The key text depends on the format.
            (true, Operation::LoadKey) => {
                plan.add_references(SUITE, pair.into_iter());
                done.push(kind_of_first);
                continue;
            }
            (true, Operation::RoundTrip) => &format!("{SAME_ALG} there and back"),
            (true, _) => SAME_ALG,
            (false, _) => REPORT_1,
        };
        plan.add(SUITE, title, pair.into_iter());
        done.push(kind_of_first);
    }
}

fn report_1_pair(offered: &Offered, operation: Operation) -> impl Iterator<Item = &Case> {
    let es256 = offered.jwt("ES256", operation);
    let es256: Vec<&Case> = es256.filter(|c| c.library == "golang-jwt").collect();
    // Uses the report's own major version if there is a driver for it.
    let fourth = es256.iter().find(|c| c.version.starts_with("4."));
    let es256 = fourth.or(es256.first()).copied();
    let signed = offered.of(Format::V4Public, None, None, operation);
    es256
        .into_iter()
        .chain(signed.filter(|c| c.library == "go-paseto"))
}

fn older_pasetos() -> [Format; 6] {
    [
        Format::V3Public,
        Format::V3Local,
        Format::V2Public,
        Format::V2Local,
        Format::V1Public,
        Format::V1Local,
    ]
}
