//! JWT or PASETO, with the same claims? And report 1, which asked it of another pair.

use super::catalogue::{Extent, Order};
use super::offered::{Offered, own};
use super::{Cell, Contract, Format, KeyForm, KeyHandling, Plan};
use crate::published::{self, REPORT_1_CONCURRENCY};

const SUITE: &str = "formats";

/// Report 1 compared this pair and called the difference "JWT against PASETO".
const REPORT_1: &str = "report 1's pair: golang-jwt ES256 or go-paseto v4.public";

/// The same question with one factor: format alone.
const SAME_ALG: &str = "JWT or v4.public, both Ed25519 in jeton";

/// The payloads of report 1 that its question is asked with again, with the format as the one factor.
const PAYLOADS: [&str; 5] = [
    "report1-string",
    "report1-complex",
    "report1-large",
    "report1-very-large",
    "text-100000",
];

pub(super) fn plan(offered: &Offered, order: Order, plan: &mut Plan) {
    let extent = order.extent;
    for contract in [Contract::Sign, Contract::Verify, Contract::RoundTrip] {
        let back = match contract {
            Contract::RoundTrip if extent < Extent::Usual => continue,
            Contract::RoundTrip => " there and back",
            _ => "",
        };
        let mut add = |title: &str, cells: &mut dyn Iterator<Item = &Cell>| {
            plan.add(SUITE, &format!("{title}{back}"), cells);
        };
        let signed = || offered.of(Format::V4Public, None, None, contract);
        let local = || offered.of(Format::V4Local, None, None, contract);
        let jwt = offered.jwt("EdDSA", contract).filter(own);
        add(SAME_ALG, &mut jwt.chain(signed().filter(own)));
        add("v4.public", &mut signed());
        add("v4.local", &mut local());
        add(REPORT_1, &mut report_1_pair(offered, contract));
        if extent >= Extent::Usual {
            let older = (contract != Contract::RoundTrip).then(older_pasetos);
            for format in older.into_iter().flatten() {
                add(format.name(), &mut offered.of(format, None, None, contract));
            }
            let opaque = offered.of(Format::Opaque, None, None, contract);
            plan.add_references(SUITE, opaque);
        }
    }
    if extent < Extent::Usual {
        return;
    }
    for contract in [Contract::Encrypt, Contract::Decrypt] {
        let jwe = offered.of(Format::Jwe, Some("dir"), Some("A256GCM"), contract);
        let local = offered.of(Format::V4Local, None, None, contract);
        let title = "JWE dir with A256GCM or v4.local, in jeton";
        plan.add(SUITE, title, jwe.filter(own).chain(local.filter(own)));
    }
    keys(offered, plan);
    if let Some(threads) = order.concurrency {
        report_1(offered, threads, plan);
        one_factor(offered, threads, plan);
    }
}

fn keys(offered: &Offered, plan: &mut Plan) {
    for format in [Format::V4Public, Format::V4Local] {
        let title = format!("Keys of {format}");
        let made = offered.of(format, None, None, Contract::GenerateKey);
        plan.add(SUITE, &title, made);
        let handling = KeyHandling::Text(KeyForm::Paserk);
        let loaded = offered.handled(handling, format, None, None, Contract::LoadKey);
        plan.add(SUITE, &title, loaded);
    }
    // The text of a key is a part of its format.
    let jwk = KeyHandling::Text(KeyForm::Jwk);
    let paserk = KeyHandling::Text(KeyForm::Paserk);
    let loading = Contract::LoadKey;
    let jwt = offered.handled(jwk, Format::Jwt, Some("EdDSA"), None, loading);
    let public = offered.handled(paserk, Format::V4Public, None, None, loading);
    for cell in jwt.filter(own).chain(public.filter(own)) {
        plan.add(SUITE, "", std::iter::once(cell));
    }
}

/// Everything that report 1 measured: payloads, sizes, concurrency, keys.
fn report_1(offered: &Offered, threads: u32, plan: &mut Plan) {
    let works = published::works(1, threads);
    let cells: Vec<Cell> = works.iter().filter_map(|w| offered.doing(w)).collect();
    let mut done: Vec<(Contract, String, u32)> = Vec::new();
    for first in &cells {
        let kind = (first.contract, first.claims.clone(), first.threads);
        if done.contains(&kind) {
            continue;
        }
        let same = |c: &&Cell| (c.contract, &c.claims, c.threads) == (kind.0, &kind.1, kind.2);
        let mut pair: Vec<&Cell> = cells.iter().filter(same).collect();
        pair.sort_by_key(|c| c.format.is_paseto());
        plan.add(SUITE, REPORT_1, pair.into_iter());
        done.push(kind);
    }
}

/// Report 1's question with the format as the one factor, where its answer depends on the payload.
fn one_factor(offered: &Offered, threads: u32, plan: &mut Plan) {
    let payloads = PAYLOADS.iter().map(|&claims| (claims, 1));
    let concurrent = (REPORT_1_CONCURRENCY, threads);
    for contract in [Contract::Sign, Contract::Verify] {
        for (claims, threads) in payloads.clone().chain([concurrent]) {
            let jwt = offered.jwt("EdDSA", contract).filter(own);
            let public = offered.of(Format::V4Public, None, None, contract);
            let cells: Vec<Cell> = jwt
                .chain(public.filter(own))
                .map(|cell| Cell {
                    claims: claims.to_owned(),
                    threads,
                    ..cell.clone()
                })
                .collect();
            plan.add(SUITE, SAME_ALG, cells.iter());
        }
    }
}

fn report_1_pair(offered: &Offered, contract: Contract) -> impl Iterator<Item = &Cell> {
    let es256 = offered.jwt("ES256", contract);
    let es256: Vec<&Cell> = es256.filter(|c| c.library == "golang-jwt").collect();
    // The report's own major version, where there is a driver for it.
    let fourth = es256.iter().find(|c| c.version.starts_with("4."));
    let es256 = fourth.or(es256.first()).copied();
    let signed = offered.of(Format::V4Public, None, None, contract);
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
