//! Which library, doing the same work? And report 4, two libraries of one language.

use super::catalogue::{Extent, Order};
use super::offered::{Offered, own};
use super::{Cell, Contract, Format, KeyForm, KeyHandling, Plan};
use crate::published;

const SUITE: &str = "libraries";

/// The algorithms that libraries are compared under.
const ALGS: [&str; 4] = ["HS256", "ES256", "EdDSA", "RS256"];

/// The algorithm that shows what a key costs: to make, to load, to parse in each call. An RSA key
/// is luck: the next one takes five times as long.
const KEY_ALG: &str = "ES256";

/// The encryptions that libraries are compared under: with a key that both sides have, and with a
/// public one.
const JWES: [(&str, &str); 2] = [("dir", "A256GCM"), ("RSA-OAEP-256", "A256GCM")];

/// What is added to them when there is time: one of each kind of key management, and both kinds of
/// content encryption.
const MORE_JWES: [(&str, &str); 2] = [("ECDH-ES+A256KW", "A256GCM"), ("A128KW", "A128CBC-HS256")];

/// Who has the full matrix, and each key handling, beside the baseline: a peer of each language.
pub(super) const FULL_PEERS: [&str; 5] = [
    "rust/josekit",
    "go/go-jose",
    "node/jose",
    "java/nimbus-jose-jwt",
    "python/joserfc",
];

pub(super) fn plan(offered: &Offered, order: Order, plan: &mut Plan) {
    let extent = order.extent;
    let algs: &[&str] = match extent {
        Extent::Narrow => &["HS256"],
        Extent::Quick => &["HS256", "ES256"],
        _ => &ALGS,
    };
    // An older version stands in the pairs of the reports that had it, and beside the others if
    // somebody asks for it.
    let shown = |cell: &&Cell| order.by_name || cell.superseded_by.is_none();
    for &alg in algs {
        for contract in [Contract::Sign, Contract::Verify] {
            plan.add(SUITE, alg, offered.jwt(alg, contract).filter(shown));
            plan.add_references(SUITE, offered.of(Format::Bare, Some(alg), None, contract));
        }
        // The finer questions take half an hour more; who asks for a library or a contract by name
        // has few.
        let few = order.by_name || order.by_contract;
        if extent >= Extent::Usual && (few || extent == Extent::Full) {
            let signatures = offered.jwt(alg, Contract::VerifySignature);
            plan.add(SUITE, alg, signatures.filter(shown));
            let there_and_back = offered.jwt(alg, Contract::RoundTrip);
            let title = format!("{alg} there and back");
            plan.add(SUITE, &title, there_and_back.filter(shown));
        }
    }
    if extent < Extent::Usual {
        return;
    }
    let more: &[(&str, &str)] = match extent {
        Extent::Full => &MORE_JWES,
        _ => &[],
    };
    for (alg, enc) in JWES.iter().chain(more) {
        for contract in [Contract::Encrypt, Contract::Decrypt] {
            let cells = offered.of(Format::Jwe, Some(alg), Some(enc), contract);
            plan.add(SUITE, &format!("JWE {alg} with {enc}"), cells);
        }
    }
    keys(offered, plan);
    key_handling(offered, plan);
    if order.concurrency.is_some() {
        report_4(offered, plan);
    }
}

/// What it costs to make a key, and to load one.
fn keys(offered: &Offered, plan: &mut Plan) {
    let title = format!("Keys of {KEY_ALG}");
    plan.add(SUITE, &title, offered.jwt(KEY_ALG, Contract::GenerateKey));
    for form in [KeyForm::Jwk, KeyForm::Pem] {
        let handling = KeyHandling::Text(form);
        let loading = Contract::LoadKey;
        let cells = offered.handled(handling, Format::Jwt, Some(KEY_ALG), None, loading);
        plan.add(SUITE, &format!("{title} from {}", form.name()), cells);
    }
}

/// What it costs to parse a key in each call, library by library.
fn key_handling(offered: &Offered, plan: &mut Plan) {
    for contract in [Contract::Sign, Contract::Verify] {
        let prepared: Vec<&Cell> = offered.jwt(KEY_ALG, contract).collect();
        let handling = KeyHandling::ParsedPerCall;
        let parsed = offered.handled(handling, Format::Jwt, Some(KEY_ALG), None, contract);
        for cell in parsed.filter(|c| own(c) || FULL_PEERS.iter().any(|p| c.is_of(p))) {
            let same = prepared.iter().filter(|c| c.driver == cell.driver).copied();
            let library = cell.library_in_words();
            let title = format!("{KEY_ALG} in {library}: the key's handling");
            plan.add(SUITE, &title, same.chain([cell]));
        }
    }
}

/// Report 4's two libraries, each algorithm and size of key; and the check that was timed in place of
/// the whole work, as a reference.
fn report_4(offered: &Offered, plan: &mut Plan) {
    let works = published::works(4, 1);
    let cells: Vec<Cell> = works.iter().filter_map(|w| offered.doing(w)).collect();
    for contract in [Contract::Sign, Contract::Verify, Contract::VerifyParsed] {
        let mut done: Vec<String> = Vec::new();
        for first in cells.iter().filter(|c| c.contract == contract) {
            let weak = first.subject().is_weak();
            let alg = match first.key_bits {
                Some(bits) if weak => format!("{} ({bits} bits, weak)", first.effective_alg()),
                Some(bits) => format!("{} ({bits} bits)", first.effective_alg()),
                None => first.effective_alg(),
            };
            if done.contains(&alg) {
                continue;
            }
            let same = |c: &&Cell| {
                c.contract == contract && c.alg == first.alg && c.key_bits == first.key_bits
            };
            let title = format!("report 4's pair: {alg}");
            // The library that its deltas are to comes first.
            let mut pair: Vec<&Cell> = cells.iter().filter(same).collect();
            pair.sort_by_key(|c| c.library != "pascaldekloe");
            plan.add(SUITE, &title, pair.into_iter());
            done.push(alg);
        }
    }
}
