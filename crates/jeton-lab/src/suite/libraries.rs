//! Which library, doing the same work? And report 4, two libraries of one language.

use super::catalogue::{Extent, Order};
use super::offered::{Offered, own};
use super::{Case, Format, KeyForm, KeyHandling, Operation, Plan};
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
    let shown = |case: &&Case| order.by_name || case.superseded_by.is_none();
    for &alg in algs {
        for operation in [Operation::Sign, Operation::Verify] {
            plan.add(SUITE, alg, offered.jwt(alg, operation).filter(shown));
            plan.add_references(SUITE, offered.of(Format::Bare, Some(alg), None, operation));
        }
        // The finer questions take half an hour more; who asks for a library or a contract by name
        // has few.
        let few = order.by_name || order.by_operation;
        if extent >= Extent::Usual && (few || extent == Extent::Full) {
            let signatures = offered.jwt(alg, Operation::VerifySignature);
            plan.add(SUITE, alg, signatures.filter(shown));
            let there_and_back = offered.jwt(alg, Operation::RoundTrip);
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
        for operation in [Operation::Encrypt, Operation::Decrypt] {
            let cases = offered.of(Format::Jwe, Some(alg), Some(enc), operation);
            plan.add(SUITE, &format!("JWE {alg} with {enc}"), cases);
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
    plan.add(SUITE, &title, offered.jwt(KEY_ALG, Operation::GenerateKey));
    for form in [KeyForm::Jwk, KeyForm::Pem] {
        let handling = KeyHandling::Text(form);
        let loading = Operation::LoadKey;
        let cases = offered.handled(handling, Format::Jwt, Some(KEY_ALG), None, loading);
        plan.add(SUITE, &format!("{title} from {}", form.name()), cases);
    }
}

/// What it costs to parse a key in each call, library by library.
fn key_handling(offered: &Offered, plan: &mut Plan) {
    for operation in [Operation::Sign, Operation::Verify] {
        let prepared: Vec<&Case> = offered.jwt(KEY_ALG, operation).collect();
        let handling = KeyHandling::ParsedPerCall;
        let parsed = offered.handled(handling, Format::Jwt, Some(KEY_ALG), None, operation);
        for case in parsed.filter(|c| own(c) || FULL_PEERS.iter().any(|p| c.is_of(p))) {
            let same = prepared.iter().filter(|c| c.driver == case.driver).copied();
            let library = case.library_in_words();
            let title = format!("{KEY_ALG} in {library}: the key's handling");
            plan.add(SUITE, &title, same.chain([case]));
        }
    }
}

/// Report 4's two libraries, each algorithm and size of key; and the check that was timed in place of
/// the whole work, as a reference.
fn report_4(offered: &Offered, plan: &mut Plan) {
    let works = published::works(4, 1);
    let cases: Vec<Case> = works.iter().filter_map(|w| offered.doing(w)).collect();
    for operation in [Operation::Sign, Operation::Verify, Operation::VerifyParsed] {
        let mut done: Vec<String> = Vec::new();
        for first in cases.iter().filter(|c| c.operation == operation) {
            let weak = first.subject().is_weak();
            let alg = match first.key_bits {
                Some(bits) if weak => format!("{} ({bits} bits, weak)", first.effective_alg()),
                Some(bits) => format!("{} ({bits} bits)", first.effective_alg()),
                None => first.effective_alg(),
            };
            if done.contains(&alg) {
                continue;
            }
            let same = |c: &&Case| {
                c.operation == operation && c.alg == first.alg && c.key_bits == first.key_bits
            };
            let title = format!("report 4's pair: {alg}");
            // The library that its deltas are to comes first.
            let mut pair: Vec<&Case> = cases.iter().filter(same).collect();
            pair.sort_by_key(|c| c.library != "pascaldekloe");
            plan.add(SUITE, &title, pair.into_iter());
            done.push(alg);
        }
    }
}
