//! Tests whose cases are data or combinations: each case is a test with a name.
//!
//! `cargo test -p jeton --test vectors rfc7515::` runs one module.

#![allow(clippy::unwrap_used, clippy::panic)]

mod attack_tokens;
mod decryption;
mod json_suite;
mod jwe_round_trip;
mod misuses;
mod ml_dsa_jose;
mod paserk;
mod paseto_keys;
mod paseto_tokens;
mod rfc7515;
mod rfc7516;
mod rfc7517;
mod rfc7519;
mod rfc7520_jwe;
mod rfc7520_jws;
mod rfc7797;
mod rfc8037;
mod support;
mod weak_keys;
mod wycheproof_jwe;
mod wycheproof_jws;

use libtest_mimic::Arguments;
use support::Trial;

/// A module and its tests.
type Module = (&'static str, fn() -> Vec<Trial>);

const MODULES: [Module; 18] = [
    ("attack_tokens", attack_tokens::trials),
    ("json_suite", json_suite::trials),
    ("jwe_round_trip", jwe_round_trip::trials),
    ("misuses", misuses::trials),
    ("ml_dsa_jose", ml_dsa_jose::trials),
    ("paserk", paserk::trials),
    ("paseto_tokens", paseto_tokens::trials),
    ("rfc7515", rfc7515::trials),
    ("rfc7516", rfc7516::trials),
    ("rfc7517", rfc7517::trials),
    ("rfc7519", rfc7519::trials),
    ("rfc7520_jwe", rfc7520_jwe::trials),
    ("rfc7520_jws", rfc7520_jws::trials),
    ("rfc7797", rfc7797::trials),
    ("rfc8037", rfc8037::trials),
    ("weak_keys", weak_keys::trials),
    ("wycheproof_jwe", wycheproof_jwe::trials),
    ("wycheproof_jws", wycheproof_jws::trials),
];

fn main() {
    let arguments = Arguments::from_args();
    let mut all = Vec::new();
    for (module, trials) in MODULES {
        // Reading vectors and generating keys takes time. A filter with a module needs no others.
        if filtered_module(&arguments).is_some_and(|wanted| wanted != module) {
            continue;
        }
        let trials = trials();
        assert!(!trials.is_empty(), "{module}: no vectors found");
        all.extend(trials.into_iter().map(|trial| trial.named_in(module)));
    }
    libtest_mimic::run(&arguments, all).exit()
}

/// The module with which the filter begins.
fn filtered_module(arguments: &Arguments) -> Option<&str> {
    let (wanted, _) = arguments.filter.as_deref()?.split_once("::")?;
    MODULES
        .iter()
        .any(|(module, _)| *module == wanted)
        .then_some(wanted)
}
