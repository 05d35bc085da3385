//! The suite `libraries`: libraries with the same operations, and the measurements of report 4.

use super::Plan;
use super::offered::{Offered, own};
use super::order::{Extent, Order};
use jeton_lab_model::{Case, Format, KeyForm, KeyHandling, Operation};

const SUITE: &str = "libraries";

/// The algorithms for the comparison of libraries.
const ALGS: [&str; 4] = ["HS256", "ES256", "EdDSA", "RS256"];

/// The algorithm for the cost of generating, loading and parsing keys. RSA is unsuitable: the time to
/// generate an RSA key varies by a factor of five.
const KEY_ALG: &str = "ES256";

/// The encryptions for the comparison of libraries: with a shared key and with a public key.
const JWES: [(&str, &str); 2] = [("dir", "A256GCM"), ("RSA-OAEP-256", "A256GCM")];

/// Further encryptions in longer runs: one of each kind of key management, and both kinds of content
/// encryption.
const MORE_JWES: [(&str, &str); 2] = [("ECDH-ES+A256KW", "A256GCM"), ("A128KW", "A128CBC-HS256")];

/// One library per language that gets the full matrix and each key handling, in addition to the
/// baseline.
pub(super) const FULL_PEERS: [&str; 5] = [
    "rust/josekit",
    "go/go-jose",
    "node/jose",
    "java/nimbus-jose-jwt",
    "python/joserfc",
];

pub(super) fn plan(offered: &Offered, order: Order<'_>, plan: &mut Plan) {
    let extent = order.extent;
    let algs: &[&str] = match extent {
        Extent::Narrow => &["HS256"],
        Extent::Quick => &["HS256", "ES256"],
        _ => &ALGS,
    };
    // Older versions appear in the reports' pairs that used them, and elsewhere only on request.
    let shown = |case: &&Case| order.by_name || case.superseded_by.is_none();
    for &alg in algs {
        for operation in [Operation::Sign, Operation::Verify] {
            plan.add(SUITE, alg, offered.jwt(alg, operation).filter(shown));
            plan.add_references(SUITE, offered.of(Format::Bare, Some(alg), None, operation));
        }
        // The detailed comparisons take another half hour; a request by name has few of them.
        let few = order.by_name || order.by_operation;
        if extent >= Extent::Usual && (few || extent == Extent::Full) {
            let signatures = offered.jwt(alg, Operation::VerifySignature);
            plan.add(SUITE, alg, signatures.filter(shown));
            let there_and_back = offered.jwt(alg, Operation::RoundTrip);
            let title = format!("{alg} there and back");
            plan.add(SUITE, &title, there_and_back.filter(shown));
        }
    }
    if order.repeats_pairs() {
        report_4(order, plan);
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
}

/// Adds generating and loading keys.
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

/// Adds parsing a key in each call, library by library.
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

/// Adds report 4's two libraries with each algorithm and key size, and the signature check that the
/// report timed instead of the whole verification, as a reference.
fn report_4(order: Order<'_>, plan: &mut Plan) {
    let cases = order.cases(4);
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
            let same = |c: &&&Case| {
                c.operation == operation && c.alg == first.alg && c.key_bits == first.key_bits
            };
            let title = format!("report 4's pair: {alg}");
            // The reference of the report's deltas comes first.
            let mut pair: Vec<&Case> = cases.iter().filter(same).copied().collect();
            pair.sort_by_key(|c| c.library != "pascaldekloe");
            plan.add(SUITE, &title, pair.into_iter());
            done.push(alg);
        }
    }
}
