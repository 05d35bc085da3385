//! The suite `formats`: JWT or PASETO with the same claims, and the measurements of report 1.

use super::Plan;
use super::offered::{Offered, own};
use super::order::{Extent, Order};
use jeton_lab_model::claims::REPORT_1_CONCURRENCY;
use jeton_lab_model::{Case, Format, KeyForm, KeyHandling, Operation};

const SUITE: &str = "formats";

/// The pair that report 1 compared as "JWT against PASETO".
const REPORT_1: &str = "report 1's pair: golang-jwt ES256 or go-paseto v4.public";

/// The same question with the format as the only factor.
const SAME_ALG: &str = "JWT or v4.public, both Ed25519 in jeton";

/// The payloads of report 1, measured again with the format as the only factor.
const PAYLOADS: [&str; 5] = [
    "report1-string",
    "report1-complex",
    "report1-large",
    "report1-very-large",
    "text-100000",
];

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
    if let Some(threads) = order.concurrency {
        report_1(offered, order, plan);
        one_factor(offered, threads, plan);
    }
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
    // The key text depends on the format.
    let jwk = KeyHandling::Text(KeyForm::Jwk);
    let paserk = KeyHandling::Text(KeyForm::Paserk);
    let loading = Operation::LoadKey;
    let jwt = offered.handled(jwk, Format::Jwt, Some("EdDSA"), None, loading);
    let public = offered.handled(paserk, Format::V4Public, None, None, loading);
    for case in jwt.filter(own).chain(public.filter(own)) {
        plan.add(SUITE, "", std::iter::once(case));
    }
}

/// Adds everything that report 1 measured: payloads, sizes, concurrency, keys.
fn report_1(offered: &Offered, order: Order<'_>, plan: &mut Plan) {
    let works = order.works(1);
    let cases: Vec<Case> = works.filter_map(|w| offered.doing(w)).collect();
    let mut done: Vec<(Operation, String, u32)> = Vec::new();
    for first in &cases {
        let kind = (first.operation, first.claims.clone(), first.threads);
        if done.contains(&kind) {
            continue;
        }
        let same = |c: &&Case| (c.operation, &c.claims, c.threads) == (kind.0, &kind.1, kind.2);
        let mut pair: Vec<&Case> = cases.iter().filter(same).collect();
        pair.sort_by_key(|c| c.format.is_paseto());
        plan.add(SUITE, REPORT_1, pair.into_iter());
        done.push(kind);
    }
}

/// Adds report 1's question with the format as the only factor, for payloads that matter.
fn one_factor(offered: &Offered, threads: u32, plan: &mut Plan) {
    let payloads = PAYLOADS.iter().map(|&claims| (claims, 1));
    let concurrent = (REPORT_1_CONCURRENCY, threads);
    for operation in [Operation::Sign, Operation::Verify] {
        for (claims, threads) in payloads.clone().chain([concurrent]) {
            let jwt = offered.jwt("EdDSA", operation).filter(own);
            let public = offered.of(Format::V4Public, None, None, operation);
            let cases: Vec<Case> = jwt
                .chain(public.filter(own))
                .map(|case| Case {
                    claims: claims.to_owned(),
                    threads,
                    ..case.clone()
                })
                .collect();
            plan.add(SUITE, SAME_ALG, cases.iter());
        }
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
